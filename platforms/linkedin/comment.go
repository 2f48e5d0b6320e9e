package linkedin

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// A comment's URN names its thread and its number: urn:li:comment:(urn:li:activity:1,2).
func splitComment(urn string) (thread, id string, ok bool) {
	inner, ok := strings.CutPrefix(urn, "urn:li:comment:(")
	if !ok {
		return "", "", false
	}
	thread, id, ok = strings.Cut(strings.TrimSuffix(inner, ")"), ",")
	return thread, id, ok && thread != "" && id != ""
}

// threadOf is what a reply to a post or comment is written under. LinkedIn nests
// comments one deep and no deeper, so all segments of a thread stand side by
// side under its first post.
func threadOf(replyTo string) string {
	if thread, _, ok := splitComment(replyTo); ok {
		return thread
	}
	return replyTo
}

// comment is one as the Comments API gives it; what is sent has the first three.
type comment struct {
	Actor   string   `json:"actor"`
	Object  string   `json:"object"`
	Message message  `json:"message"`
	Content []entity `json:"content,omitempty"`

	URN     string `json:"$URN,omitempty"`
	ID      string `json:"id,omitempty"`
	Created *stamp `json:"created,omitempty"`
}

type message struct {
	Text string `json:"text"`
}

type entity struct {
	Entity struct {
		Image string `json:"image,omitempty"`
	} `json:"entity"`
}

type stamp struct {
	Time int64 `json:"time"`
}

func (c comment) receipt(l *LinkedIn, account network.Account) network.Receipt {
	r := network.Receipt{RemoteID: c.URN, URL: l.permalink(account, c.URN)}
	if c.Created != nil {
		r.CreatedAt = millis(c.Created.Time)
	}
	return r
}

// images are the pictures of a comment.
func (c comment) images() []string {
	var urns []string
	for _, e := range c.Content {
		if e.Entity.Image != "" {
			urns = append(urns, e.Entity.Image)
		}
	}
	return urns
}

// comment answers a post (Comments API, Create Comment). Its text is no "little"
// text: what is sent is what shows.
func (l *LinkedIn) comment(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	thread := threadOf(submission.ReplyTo)
	c := comment{Actor: account.RemoteID, Object: thread, Message: message{submission.Text}}
	for _, id := range submission.MediaIDs {
		var e entity
		e.Entity.Image, _ = splitStaged(id)
		c.Content = append(c.Content, e)
	}
	encoded, err := call.JSON(c)
	if err != nil {
		return network.Receipt{}, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	res, err := l.rest(ctx, account, "/rest/socialActions/"+escape(thread)+"/comments", call.Request{Method: http.MethodPost, Body: encoded, Create: true})
	var e *network.Error
	if errors.As(err, &e) {
		lost(e, submission.MediaIDs)
		if e.Class == network.Throttled {
			e.Rates = l.spent(e, submission)
		}
	}
	if err != nil {
		return network.Receipt{}, err
	}
	var made comment
	if err := res.Decode(&made); err != nil {
		return network.Receipt{}, err
	}
	if _, _, ok := splitComment(made.URN); !ok {
		return network.Receipt{}, res.MalformedError("it has no URN of the comment")
	}
	receipt := made.receipt(l, account)
	receipt.SentAt, receipt.RequestID = res.Sent, res.RequestID
	return receipt, nil
}
