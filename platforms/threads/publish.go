package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Prepare creates the containers of a post and waits until Threads has processed
// them.
func (t *Threads) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	if err := t.Service.RequireRemoteID(account); err != nil {
		return network.Prepared{}, err
	}
	if len(submission.Media) != len(submission.MediaIDs) {
		return network.Prepared{}, &network.Error{
			Class: network.Rejected, Code: "missing_attachments",
			Field:   "attachments",
			Message: "An attachment of the post is missing in storage.",
		}
	}
	prepared, err := container.Prepare(ctx, title, submission.Handle, len(submission.Media),
		builder{t, account, submission})
	if err != nil || !prepared.Ready {
		return prepared, err
	}
	// Recent rate limits are useful, but not required.
	if quotas, err := t.quotas.Refresh(ctx, account); err == nil {
		prepared.Rates = quotas.Posts.RateStatus(bucketPosts)
		if submission.ReplyTo != "" {
			prepared.Rates = quotas.Replies.RateStatus(bucketReplies)
		}
	}
	return prepared, nil
}

// Publish publishes the prepared container (POST threads_publish).
func (t *Threads) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	id, err := container.ID(submission.Handle)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := t.do(ctx, account, graph.Call{
		Method: http.MethodPost, Form: url.Values{"creation_id": {id}}, Create: true,
	},
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
	post, ok := container.ReadBack(ctx, func(ctx context.Context) (*call.Response, error) {
		return t.get(ctx, account, "permalink,timestamp,text,media_type,children,replied_to", receipt.RemoteID)
	})
	if ok {
		receipt.URL, receipt.CreatedAt = post.Permalink, post.Timestamp.Time
		receipt.Differences = differences(submission, post)
	}
	return receipt, nil
}

// differences returns what Threads made otherwise than the submission asked. Polls,
// topics, spoilers and who may reply cannot be read.
func differences(submission network.Submission, post container.Node) message.Messages {
	var c matching.Comparison
	c.Wording(submission.Text, post.Text) // a hashtag loses its mark
	if post.Type != "" {
		c.Media(len(submission.MediaIDs), post.MediaCount())
	}
	c.Reply(submission.ReplyTo, post.RepliedTo.ID)
	return c.Differences()
}

// Delete removes a post, which an account can do 100 times a day.
// https://developers.facebook.com/docs/threads/posts/delete-posts
func (t *Threads) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := t.do(ctx, account, graph.Call{Method: http.MethodDelete}, remoteID)
	if err == nil {
		return nil
	}
	if e := network.AsError(err); e.Code == "100/33" || strings.HasSuffix(e.Code, "/4279009") {
		return nil // it does not exist
	}
	return err
}
