package instagram

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// permalinkTimeout bounds the question for a post's address: the post is out,
// and whoever waits wants to know that.
const permalinkTimeout = 10 * time.Second

// commentHandle is the Handle of what answers a post: a comment needs nothing
// before its one call.
const commentHandle = `{"comment":true}`

func join(ids []string) string { return strings.Join(ids, ",") }

// Prepare makes the containers of a post and waits until Instagram has processed
// them.
func (i *Instagram) Prepare(ctx context.Context, account network.Account, submission network.Submission) (network.Prepared, error) {
	if submission.ReplyTo != "" {
		return network.Prepared{Handle: commentHandle, Ready: true}, rejectAttachments(submission)
	}
	if err := i.Service.RequireRemoteID(account); err != nil {
		return network.Prepared{}, err
	}
	if len(submission.Media) == 0 || len(submission.Media) != len(submission.MediaIDs) {
		return network.Prepared{}, &network.Error{Class: network.Rejected, Code: "too_few_attachments", Field: "attachments",
			Message: "Instagram takes no post without a picture or video."}
	}
	prepared, err := container.Prepare(ctx, title, submission.Handle, len(submission.Media), builder{i, account, submission})
	if err != nil || !prepared.Ready {
		return prepared, err
	}
	// Only what is said close to the call is worth hearing. That it is not said
	// keeps no post back.
	if allowance, err := i.allowance(ctx, account); err == nil {
		prepared.Rates = allowance.RateStatus(bucketPosts)
	}
	return prepared, nil
}

func rejectAttachments(submission network.Submission) error {
	if len(submission.MediaIDs) == 0 {
		return nil
	}
	return &network.Error{Class: network.Rejected, Code: "too_many_attachments", Field: "attachments",
		Message: "Replies on Instagram are comments, which take no attachments."}
}

// Publish shows the prepared container to the world (POST media_publish), or
// comments on the post that is answered.
func (i *Instagram) Publish(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	if submission.ReplyTo != "" {
		return i.comment(ctx, account, submission)
	}
	id, err := container.ID(submission.Handle)
	if err != nil {
		return network.Receipt{}, err
	}
	receipt, err := i.send(ctx, account, url.Values{"creation_id": {id}}, account.RemoteID, "media_publish")
	if err != nil {
		if e := network.AsError(err); isUnsettled(e) {
			return network.Receipt{}, container.ResolveRefusal(ctx, title, builder{i, account, submission}, id, e)
		}
		return network.Receipt{}, err
	}
	receipt.URL, receipt.CreatedAt = i.permalink(ctx, account, receipt.RemoteID)
	return receipt, nil
}

// isUnsettled knows the refusals after which the container has to be asked: what
// they say of one that is published already is not documented.
func isUnsettled(e *network.Error) bool {
	for _, code := range []string{"/2207006", "/2207008", "/2207027"} {
		if e.Status != 0 && strings.HasSuffix(e.Code, code) {
			return true
		}
	}
	return false
}

// comment answers a post. Segments of a thread all stand under its first post:
// Instagram has no comments on the comments on comments.
//
// Nothing but the message is sent along. A comment was once made by a call that
// was answered 400, for a parameter that it did not like.
func (i *Instagram) comment(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	if err := rejectAttachments(submission); err != nil {
		return network.Receipt{}, err
	}
	parent := commentParent(submission)
	receipt, err := i.send(ctx, account, url.Values{"message": {submission.Text}}, parent, "comments")
	if err != nil {
		return network.Receipt{}, err
	}
	receipt.URL, _ = i.permalink(ctx, account, parent) // comments have none of their own
	return receipt, nil
}

// commentParent is the post under which a comment goes.
func commentParent(submission network.Submission) string {
	if submission.RootID != "" {
		return submission.RootID
	}
	return submission.ReplyTo
}

// send makes the one call that cannot be taken back.
func (i *Instagram) send(ctx context.Context, account network.Account, form url.Values, parts ...string) (network.Receipt, error) {
	address, err := i.address(account, parts...)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := i.API.Do(ctx, graph.Call{Method: http.MethodPost, URL: address, Form: form, Token: account.Token, Create: true})
	if err != nil {
		return network.Receipt{}, err
	}
	id, err := graph.CreatedID(res)
	if err != nil {
		return network.Receipt{}, err
	}
	return network.Receipt{RemoteID: id, SentAt: res.Sent, RequestID: res.RequestID}, nil
}

// permalink asks for the address and time of a post. Without a response there is
// none: the post is out all the same.
func (i *Instagram) permalink(ctx context.Context, account network.Account, id string) (string, time.Time) {
	ctx, cancel := context.WithTimeout(ctx, permalinkTimeout)
	defer cancel()
	res, err := i.get(ctx, account, url.Values{"fields": {"permalink,timestamp"}}, id)
	if err != nil {
		return "", time.Time{}
	}
	var answer struct {
		Permalink string     `json:"permalink"`
		Timestamp graph.Time `json:"timestamp"`
	}
	if res.Decode(&answer) != nil {
		return "", time.Time{}
	}
	return answer.Permalink, answer.Timestamp.Time
}
