package zalo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// handle is Prepared.Handle: the hidden article of a post. Its Slug is the mark in the title.
type handle struct {
	article.Draft

	Token string `json:"token,omitempty"` // of article/create, until the id is known
	ID    string `json:"id,omitempty"`
}

func parseHandle(text string) (h handle, ok bool) {
	return h, json.Unmarshal([]byte(text), &h) == nil && h.Slug != ""
}

// markOf returns the mark of a submission's hidden article.
func markOf(submission network.Submission) string {
	sum := sha256.Sum256([]byte(submission.Key))
	return "dl-" + hex.EncodeToString(sum[:5])
}

const (
	processingDelay = 2 * time.Second
	preparing       = 10 // times Options.Process: how long Zalo may work on a hidden article
)

// Prepare creates the hidden article that Publish shows, and waits until Zalo has fetched
// its images. The response names a token, for which article/verify returns the id. If it is
// lost, the article is found by the mark in its title (article.Creator).
func (z *Zalo) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	h, ok := parseHandle(submission.Handle)
	switch {
	case !ok:
		h.Draft = z.creator.Begin(markOf(submission))
		return article.Prepared(h, false, article.Shortly)
	case h.ID != "":
		return article.Prepared(h, true, 0)
	case h.Token == "":
		return z.settle(ctx, account, submission, h)
	}
	id, err := z.verify(ctx, account, h.Token)
	switch e := network.AsError(err); {
	case err == nil:
		return z.adopt(h, id)
	case isProcessing(err) && time.Now().Before(h.Until):
		return article.Prepared(h, false, processingDelay)
	case isProcessing(err):
		e.Class, e.Code = network.Transient, network.CodeMediaExpired // it is created again
		return network.Prepared{}, e
	case e.Class != network.Rejected:
		return network.Prepared{}, err
	}
	refused := network.AsError(err)
	switch found, err := z.find(ctx, account, h.Slug); {
	case err != nil:
		return network.Prepared{}, err
	case found.ID != "": // the token is too old
		return z.adopt(h, found.ID)
	default:
		refused.Class, refused.Code = network.Transient, network.CodeMediaExpired
		return network.Prepared{}, refused
	}
}

func (z *Zalo) adopt(h handle, id string) (network.Prepared, error) {
	h.Draft, h.ID, h.Token = h.Settled(), id, ""
	return article.Prepared(h, true, 0)
}

// settle finds the hidden article, or creates it if no call for it can be unfinished.
func (z *Zalo) settle(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (network.Prepared, error) {
	switch found, err := z.find(ctx, account, h.Slug); {
	case err != nil:
		return network.Prepared{}, err
	case found.ID != "":
		return z.adopt(h, found.ID)
	}
	create, after, err := z.creator.Absent(&h.Draft)
	switch {
	case err != nil:
		return network.Prepared{}, err
	case !create:
		return article.Prepared(h, false, after)
	}
	body, secrets, err := z.body(ctx, account, submission)
	body.Title = z.draftTitle(submission, h.Slug)
	if err == nil {
		h.Token, _, err = z.write(ctx, account, "/create", body, secrets)
	}
	switch e := network.AsError(err); {
	case e != nil && e.Class == network.Ambiguous:
		return article.Prepared(h, false, z.creator.Lost(&h.Draft))
	case e != nil:
		z.creator.Refused(h.Draft)
		return network.Prepared{}, e
	}
	h.Until = time.Now().Add(preparing * z.options.Process)
	return article.Prepared(h, false, article.Shortly)
}

// write sends an article that is created or replaced, and returns its token.
func (z *Zalo) write(
	ctx context.Context, account network.Account, path string, body entity, secrets []secret.Text,
) (string, *call.Response, error) {
	made, res, err := send[reference](ctx, z, account, z.options.ArticlePath+path, call.Request{
		Create: true, Secrets: secrets,
	}, body)
	if err == nil && made.Token == "" {
		err = res.MalformedError("it contains no token")
	}
	return made.Token, res, err
}

// verify returns the article that a token of article/create or article/update stands for.
// Until Zalo has finished it, the error is one of isProcessing.
// https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/GetArticleId.java
func (z *Zalo) verify(ctx context.Context, account network.Account, token string) (string, error) {
	made, res, err := send[reference](ctx, z, account, z.options.ArticlePath+"/verify", call.Request{},
		map[string]string{"token": token})
	if err == nil && made.ID == "" {
		err = res.NewError(network.Transient, codeProcessing, "Zalo has not finished the article.")
	}
	return made.ID, err
}

// listed is an article in a list.
type listed struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Link   string `json:"link_view"`
	Views  number `json:"total_view"`
	Shares number `json:"total_share"`
}

const (
	pageSize = 10 // the most that Zalo returns
	maxPages = 3  // of newest articles in which one is searched for
)

// page returns articles, the newest first. Their list has one of two names.
// https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/GetListArticle.java
func (z *Zalo) page(ctx context.Context, account network.Account, number int) ([]listed, *call.Response, error) {
	res, err := z.do(ctx, account, z.options.ArticlePath+"/getslice?"+url.Values{
		"offset": {strconv.Itoa(number * pageSize)}, "limit": {strconv.Itoa(pageSize)}, "type": {"normal"},
	}.Encode(), call.Request{})
	if err != nil {
		return nil, res, err
	}
	data, err := dataOf[struct {
		Medias   []listed `json:"medias"`
		Articles []listed `json:"articles"`
	}](res)
	return append(data.Medias, data.Articles...), res, err
}

// find returns the article whose id or mark is given; without one, its ID is empty.
func (z *Zalo) find(ctx context.Context, account network.Account, mark string) (listed, error) {
	for number := range maxPages {
		articles, _, err := z.page(ctx, account, number)
		if err != nil {
			return listed{}, err
		}
		for _, one := range articles {
			if one.ID == mark || strings.Contains(one.Title, "["+mark+"]") {
				return one, nil
			}
		}
		if len(articles) < pageSize {
			break
		}
	}
	return listed{}, nil
}
