package zalo

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// The statuses of an article.
const (
	statusShown  = "show"
	statusHidden = "hide"
)

// entity is an article, as it is sent and as article/getdetail returns it.
// https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/CreateNormalArticle.java
type entity struct {
	ID          string `json:"id,omitempty"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Author      string `json:"author"`
	Description string `json:"description"`
	Cover       cover  `json:"cover"`
	Body        []part `json:"body"`
	Status      string `json:"status"`
	Comment     string `json:"comment"`
}

type cover struct {
	Type   string `json:"cover_type"`
	URL    string `json:"photo_url"`
	Status string `json:"status"`
}

// part is a part of the body.
type part struct {
	Type    string `json:"type"`
	Content string `json:"content,omitempty"` // HTML of a text
	URL     string `json:"url,omitempty"`     // of an image
}

// draftTitle is the title while the article is hidden: it ends with a mark by which the
// article is found.
func (z *Zalo) draftTitle(submission network.Submission, mark string) string {
	mark = " [" + mark + "]"
	return shorten(z.articleOf(submission).Title, z.options.MaxTitle-len(mark)) + mark
}

// articleOf returns the title and the body. A title that is too long is cut off, and also
// begins the body.
func (z *Zalo) articleOf(submission network.Submission) article.Article {
	options, _ := submission.Options.(PostOptions)
	written := article.Of(options.Title, submission)
	if short := shorten(written.Title, z.options.MaxTitle); short != written.Title {
		return article.Of(short, submission)
	}
	return written
}

// body returns an article as it is sent: article/update replaces all of it, like
// article/create. secrets are the addresses of the images.
func (z *Zalo) body(
	ctx context.Context, account network.Account, submission network.Submission,
) (e entity, secrets []secret.Text, err error) {
	options, _ := submission.Options.(PostOptions)
	written := z.articleOf(submission)
	text := strings.Join(strings.Fields(article.PlainText(written.HTML)), " ")
	e = entity{
		Type: "normal", Title: written.Title, Status: statusHidden, Comment: statusShown,
		Author:      shorten(cmp.Or(options.Author, account.Name, account.RemoteID), z.options.MaxAuthor),
		Description: shorten(cmp.Or(options.Description, text, written.Title), z.options.MaxDescription),
	}
	if options.Comments == commentsClosed {
		e.Comment = statusHidden
	}
	for _, paragraph := range paragraphs(written.HTML) {
		e.Body = append(e.Body, part{Type: "text", Content: paragraph})
	}
	for i, media := range submission.Media {
		address, err := graph.FetchURL(ctx, title, account, media, time.Duration(z.options.FetchSeconds)*time.Second)
		if err != nil {
			return e, nil, err
		}
		secrets = append(secrets, secret.NewText(address))
		if i == 0 {
			e.Cover = cover{"photo", address, statusShown}
			continue
		}
		e.Body = append(e.Body, part{Type: "image", URL: address})
	}
	if len(e.Body) == 0 { // Zalo needs one
		e.Body = []part{{Type: "text", Content: "<p>" + html.EscapeString(written.Title) + "</p>"}}
	}
	return e, secrets, nil
}

// paragraphs returns the blocks of HTML: each is a part of the body.
func paragraphs(source string) []string {
	nodes, _ := html.ParseFragment(strings.NewReader(source), &html.Node{
		Type: html.ElementNode, Data: "body", DataAtom: atom.Body,
	}) // reading from memory does not fail
	var blocks []string
	for _, node := range nodes {
		var out bytes.Buffer
		_ = html.Render(&out, node) // as above
		if block := strings.TrimSpace(out.String()); block != "" {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// shorten cuts a text off at a space. Zalo may count an emoji as two characters, as Java does.
func shorten(text string, limit int) string {
	units := utf16.Encode([]rune(text))
	if len(units) <= limit {
		return text
	}
	text = strings.TrimRight(string(utf16.Decode(units[:limit-1])), string(unicode.ReplacementChar))
	if space := strings.LastIndexByte(text, ' '); space > len(text)/2 {
		text = text[:space]
	}
	return strings.TrimRight(text, " ,.;:–-") + "…"
}
