package threads

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

// Prepare makes the containers of a post and waits until Threads has processed
// them.
func (t *Threads) Prepare(ctx context.Context, account network.Account, submission network.Submission) (network.Prepared, error) {
	if err := t.Service.RequireRemoteID(account); err != nil {
		return network.Prepared{}, err
	}
	if len(submission.Media) != len(submission.MediaIDs) {
		return network.Prepared{}, &network.Error{Class: network.Rejected, Code: "missing_attachments", Field: "attachments",
			Message: "An attachment of the post is missing in storage."}
	}
	prepared, err := container.Prepare(ctx, title, submission.Handle, len(submission.Media), builder{t, account, submission})
	if err != nil || !prepared.Ready {
		return prepared, err
	}
	// Only what is said close to the call is worth hearing. That it is not said
	// keeps no post back.
	if said, err := t.allowances(ctx, account); err == nil {
		prepared.Rates = said.posts.RateStatus(bucketPosts)
		if submission.ReplyTo != "" {
			prepared.Rates = said.replies.RateStatus(bucketReplies)
		}
	}
	return prepared, nil
}

// Publish shows the prepared container to the world (POST threads_publish).
func (t *Threads) Publish(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	id, err := container.ID(submission.Handle)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := t.do(ctx, account, graph.Call{Method: http.MethodPost, Form: url.Values{"creation_id": {id}}, Create: true},
		account.RemoteID, "threads_publish")
	if err != nil {
		if e := network.AsError(err); e.Status != 0 && strings.HasSuffix(e.Code, "/4279009") {
			return network.Receipt{}, container.ResolveRefusal(ctx, title, builder{t, account, submission}, id, e)
		}
		return network.Receipt{}, err
	}
	receipt := network.Receipt{SentAt: res.Sent, RequestID: res.RequestID}
	if receipt.RemoteID, err = graph.CreatedID(res); err != nil {
		return network.Receipt{}, err
	}
	receipt.URL, receipt.CreatedAt = t.permalink(ctx, account, receipt.RemoteID)
	return receipt, nil
}

// permalink asks for the address and time of a post. Without a response there is
// none: the post is out all the same.
func (t *Threads) permalink(ctx context.Context, account network.Account, id string) (string, time.Time) {
	ctx, cancel := context.WithTimeout(ctx, permalinkTimeout)
	defer cancel()
	res, err := t.get(ctx, account, "permalink,timestamp", id)
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

// Delete removes a post, which accounts may do 100 times a day.
// https://developers.facebook.com/docs/threads/posts/delete-posts
func (t *Threads) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := t.do(ctx, account, graph.Call{Method: http.MethodDelete}, remoteID)
	if err == nil {
		return nil
	}
	if e := network.AsError(err); e.Code == "100/33" || strings.HasSuffix(e.Code, "/4279009") {
		return nil // it is not there
	}
	return err
}
