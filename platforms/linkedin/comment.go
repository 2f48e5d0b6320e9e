package linkedin

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// The URN of a comment contains its thread and its id:
// urn:li:comment:(urn:li:activity:1,2).
func splitComment(urn string) (thread, id string, ok bool) {
	inner, ok := strings.CutPrefix(urn, "urn:li:comment:(")
	if !ok {
		return "", "", false
	}
	thread, id, ok = strings.Cut(strings.TrimSuffix(inner, ")"), ",")
	return thread, id, ok && thread != "" && id != ""
}

// threadOf returns what to comment on. LinkedIn nests comments one level deep, so
// all segments of a thread are comments on its first post.
func threadOf(replyTo string) string {
	if thread, _, ok := splitComment(replyTo); ok {
		return thread
	}
	return replyTo
}

// comment is a comment of the Comments API; requests contain the first three
// fields.
type comment struct {
	Actor   string         `json:"actor"`
	Object  string         `json:"object"`
	Message commentMessage `json:"message"`
	Content []entity       `json:"content,omitempty"`

	URN     string     `json:"$URN,omitempty"`
	ID      string     `json:"id,omitempty"`
	Created *timestamp `json:"created,omitempty"`
}

type commentMessage struct {
	Text string `json:"text"`
}

type entity struct {
	Entity struct {
		Image string `json:"image,omitempty"`
	} `json:"entity"`
}

type timestamp struct {
	Time int64 `json:"time"`
}

func (c comment) receipt(l *LinkedIn, account network.Account) network.Receipt {
	r := network.Receipt{RemoteID: c.URN, URL: l.permalink(account, c.URN)}
	if c.Created != nil {
		r.CreatedAt = millis(c.Created.Time)
	}
	return r
}

// images returns the images of a comment.
func (c comment) images() []string {
	var urns []string
	for _, e := range c.Content {
		if e.Entity.Image != "" {
			urns = append(urns, e.Entity.Image)
		}
	}
	return urns
}

// comment replies to a post (Comments API, Create Comment). The text of comments
// is plain, not "little" text.
func (l *LinkedIn) comment(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	thread := threadOf(submission.ReplyTo)
	c := comment{Actor: account.RemoteID, Object: thread, Message: commentMessage{submission.Text}}
	for _, id := range submission.MediaIDs {
		var e entity
		e.Entity.Image, _ = splitStaged(id)
		c.Content = append(c.Content, e)
	}
	encoded, err := call.JSON(c)
	if err != nil {
		return network.Receipt{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := l.rest(ctx, account, "/rest/socialActions/"+escape(thread)+"/comments", call.Request{
		Method: http.MethodPost, Body: encoded, Create: true,
	})
	var e *network.Error
	if errors.As(err, &e) {
		refineMediaError(e, submission.MediaIDs)
		if e.Class == network.Throttled {
			e.Rates = l.markQuotaExhausted(e, submission)
		}
	}
	if err != nil {
		return network.Receipt{}, err
	}
	var created comment
	if err := res.Decode(&created); err != nil {
		return network.Receipt{}, err
	}
	if _, _, ok := splitComment(created.URN); !ok {
		return network.Receipt{}, res.MalformedError("it contains no URN of the comment")
	}
	receipt := created.receipt(l, account)
	receipt.SentAt, receipt.RequestID = res.Sent, res.RequestID
	var differences matching.Comparison
	differences.Wording(submission.Text, created.Message.Text)
	differences.MediaIDs(c.images(), created.images())
	receipt.Differences = differences.Differences()
	return receipt, nil
}
