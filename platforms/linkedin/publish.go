package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Settings of an account.
const (
	settingVisibility = "visibility" // PUBLIC (also when empty) or CONNECTIONS
	settingCard       = "link_card"  // "first": the first link of a text without attachments gets a card
)

// preparedSettings are the account's settings at the time when the post was
// prepared. All attempts share them, because LinkedIn detects a repeated post by
// its content.
type preparedSettings struct {
	Visibility string `json:"visibility"`
	Card       string `json:"card,omitempty"`
}

func readSettings(account network.Account, submission network.Submission) preparedSettings {
	c := preparedSettings{Visibility: "PUBLIC"}
	if account.Settings[settingVisibility] == "CONNECTIONS" && !isOrganization(account) {
		c.Visibility = "CONNECTIONS"
	}
	if links := rules.Links(submission.Text); account.Settings[settingCard] == "first" &&
		len(submission.MediaIDs) == 0 && len(links) > 0 {
		c.Card = links[0].Target
	}
	return c
}

// Prepare makes no call. It fixes what could change before the last attempt.
func (l *LinkedIn) Prepare(
	_ context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	if submission.Handle != "" {
		return network.Prepared{Handle: submission.Handle, Ready: true}, nil
	}
	handle, err := json.Marshal(readSettings(account, submission))
	if err != nil {
		return network.Prepared{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	return network.Prepared{Handle: string(handle), Ready: true}, nil
}

// body is a post of the Posts API. It depends on the submission only, byte for
// byte.
type body struct {
	Author       string       `json:"author"`
	Commentary   string       `json:"commentary"`
	Visibility   string       `json:"visibility"`
	Distribution distribution `json:"distribution"`
	Content      *content     `json:"content,omitempty"`
	Lifecycle    string       `json:"lifecycleState"`
	NoReshare    bool         `json:"isReshareDisabledByAuthor"`
}

type distribution struct {
	Feed     string   `json:"feedDistribution"`
	Targets  []string `json:"targetEntities"`
	Channels []string `json:"thirdPartyDistributionChannels"`
}

type content struct {
	Media      *attached   `json:"media,omitempty"`
	MultiImage *multiImage `json:"multiImage,omitempty"`
	Article    *article    `json:"article,omitempty"`
	Poll       *poll       `json:"poll,omitempty"`
}

// media returns the URNs of the attachments in their order.
func (c *content) media() []string {
	switch {
	case c == nil:
	case c.Media != nil:
		return []string{c.Media.ID}
	case c.MultiImage != nil:
		ids := make([]string, len(c.MultiImage.Images))
		for i, image := range c.MultiImage.Images {
			ids[i] = image.ID
		}
		return ids
	}
	return nil
}

// choices returns the choices of a poll.
func (c *content) choices() []string {
	if c == nil || c.Poll == nil {
		return nil
	}
	texts := make([]string, len(c.Poll.Options))
	for i, o := range c.Poll.Options {
		texts[i] = o.Text
	}
	return texts
}

type attached struct {
	ID      string `json:"id"`
	AltText string `json:"altText,omitempty"`
	Title   string `json:"title,omitempty"` // of a document, which needs one
}

type multiImage struct {
	Images []attached `json:"images"`
}

type article struct {
	Source string `json:"source"`
	Title  string `json:"title"`
}

func bodyOf(account network.Account, submission network.Submission) body {
	var c preparedSettings
	if json.Unmarshal([]byte(submission.Handle), &c) != nil { // not prepared
		c = readSettings(account, submission)
	}
	b := body{
		Author: account.RemoteID, Commentary: encodeLittleText(submission.Text), Visibility: c.Visibility,
		Distribution: distribution{Feed: "MAIN_FEED", Targets: []string{}, Channels: []string{}},
		Lifecycle:    "PUBLISHED",
	}
	options, _ := submission.Options.(PostOptions)
	if options.Visibility != "" {
		b.Visibility = strings.ToUpper(options.Visibility)
	}
	b.NoReshare = options.NoReshare
	media := make([]attached, len(submission.MediaIDs))
	for i, id := range submission.MediaIDs {
		media[i].ID, media[i].AltText = splitStaged(id)
		if isDocument(id) {
			media[i].Title, media[i].AltText = cmp.Or(options.DocumentTitle, media[i].AltText), ""
		}
	}
	switch {
	case options.Poll != nil:
		b.Content = options.Poll.content()
	case len(media) == 1:
		b.Content = &content{Media: &media[0]}
	case len(media) > 1:
		b.Content = &content{MultiImage: &multiImage{Images: media}}
	case c.Card != "":
		// The API does not read the page, and requires a title.
		title := c.Card
		if u, err := url.Parse(c.Card); err == nil && u.Host != "" {
			title = strings.TrimPrefix(u.Host, "www.")
		}
		b.Content = &content{Article: &article{Source: c.Card, Title: title}}
	}
	return b
}

// Publish creates a post (Posts API, POST /rest/posts), or a comment if it
// replies to a post.
//
// LinkedIn detects a repeated post if the body is identical byte for byte, and
// names the existing post in its refusal.
func (l *LinkedIn) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	if submission.ReplyTo != "" {
		return l.comment(ctx, account, submission)
	}
	encoded, err := call.JSON(bodyOf(account, submission))
	if err != nil {
		return network.Receipt{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := l.rest(ctx, account, "/rest/posts", call.Request{Method: http.MethodPost, Body: encoded, Create: true})
	if err != nil {
		return network.Receipt{}, l.refinePostRefusal(ctx, account, submission, err)
	}
	urn := res.Header.Get("X-Restli-Id")
	if !strings.HasPrefix(urn, "urn:li:") {
		return network.Receipt{}, res.MalformedError("it contains no x-restli-id")
	}
	return network.Receipt{
		RemoteID: urn, URL: l.permalink(account, urn), CreatedAt: createdAt(urn), SentAt: res.Sent,
		RequestID: res.RequestID, Differences: l.readBack(ctx, account, submission, urn),
	}, nil
}

// readBackTimeout is short, because the post is published already.
const readBackTimeout = 10 * time.Second

// readBack reads an organization's post, because the response has only its URN, and returns what LinkedIn made
// otherwise than the submission asked. What cannot be read is no difference; a member's token can read no post.
func (l *LinkedIn) readBack(
	ctx context.Context, account network.Account, submission network.Submission, urn string,
) message.Messages {
	if !isOrganization(account) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readBackTimeout)
	defer cancel()
	res, err := l.rest(ctx, account, "/rest/posts/"+escape(urn), call.Request{Method: http.MethodGet})
	if err != nil {
		return nil
	}
	var there body
	if res.Decode(&there) != nil {
		return nil
	}
	asked := bodyOf(account, submission)
	var c matching.Comparison
	c.Wording(submission.Text, decodeLittleText(there.Commentary)) // links may be shortened
	c.MediaIDs(asked.Content.media(), there.Content.media())
	c.Poll(asked.Content.choices(), there.Content.choices())
	c.Visibility(asked.Visibility, there.Visibility, "PUBLIC", "LOGGED_IN", "CONNECTIONS")
	return c.Differences()
}

// refinePostRefusal refines the refusal of a post.
func (l *LinkedIn) refinePostRefusal(
	ctx context.Context, account network.Account, submission network.Submission, err error,
) error {
	var e *network.Error
	if !errors.As(err, &e) {
		return err
	}
	refineMediaError(e, submission.MediaIDs)
	if e.Class == network.Throttled {
		e.Rates = l.markQuotaExhausted(e, submission)
	}
	if e.Existing == nil {
		return e
	}
	e.Existing.URL = l.permalink(account, e.Existing.RemoteID)
	// LinkedIn remembers posts after they were deleted, and was observed to name
	// posts that never existed. Organizations can verify it; a member's token
	// cannot.
	if isOrganization(account) {
		_, err := l.rest(ctx, account, "/rest/posts/"+escape(e.Existing.RemoteID), call.Request{Method: http.MethodGet})
		if found := network.AsError(err); found != nil && found.Status == http.StatusNotFound {
			e.Existing = nil
		}
	}
	return e
}

// markQuotaExhausted adds the state of an exhausted daily quota to a refusal.
func (l *LinkedIn) markQuotaExhausted(e *network.Error, submission network.Submission) []network.RateStatus {
	if e.RetryAt.IsZero() {
		return nil
	}
	use := network.CallPublish
	if submission.ReplyTo != "" {
		use = network.CallReply
	}
	for _, q := range l.quotas() {
		if q.Scope == e.Scope && q.Cost(use) > 0 {
			return []network.RateStatus{{Bucket: q.Bucket, Scope: q.Scope, Limit: q.Requests, ResetAt: e.RetryAt}}
		}
	}
	return nil
}

func (l *LinkedIn) permalink(account network.Account, urn string) string {
	host, _ := l.host(account.BaseURL, l.options.WebHost)
	thread, id, ok := splitComment(urn)
	if !ok {
		return host + "/feed/update/" + urn
	}
	short := "urn:li:comment:(" + strings.TrimPrefix(thread, "urn:li:") + "," + id + ")"
	return host + "/feed/update/" + thread + "?commentUrn=" + escape(short)
}

// Delete removes a post or comment. LinkedIn returns the same response if it does
// not exist (Posts API, Delete Posts: idempotent).
func (l *LinkedIn) Delete(ctx context.Context, account network.Account, remoteID string) error {
	path := "/rest/posts/" + escape(remoteID)
	if thread, id, ok := splitComment(remoteID); ok {
		path = "/rest/socialActions/" + escape(thread) + "/comments/" + escape(id) + "?actor=" +
			escape(account.RemoteID)
	}
	_, err := l.rest(ctx, account, path, call.Request{
		Method: http.MethodDelete, Header: http.Header{"X-Restli-Method": {"DELETE"}},
	})
	var e *network.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusGone) {
		return nil
	}
	return err
}

// millis converts a time in LinkedIn's format.
func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
