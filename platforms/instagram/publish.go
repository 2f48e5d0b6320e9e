package instagram

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

// commentHandle is the Handle of a reply. A reply is a comment, which needs no
// preparation.
const commentHandle = `{"comment":true}`

func join(ids []string) string { return strings.Join(ids, ",") }

// Prepare creates the containers of a post and waits until Instagram has
// processed them.
func (i *Instagram) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	if submission.ReplyTo != "" {
		return network.Prepared{Handle: commentHandle, Ready: true}, rejectAttachments(submission)
	}
	if err := i.Service.RequireRemoteID(account); err != nil {
		return network.Prepared{}, err
	}
	if len(submission.Media) == 0 || len(submission.Media) != len(submission.MediaIDs) {
		return network.Prepared{}, &network.Error{
			Class: network.Rejected, Code: "too_few_attachments",
			Field:   "attachments",
			Message: "Instagram requires an image or a video.",
		}
	}
	prepared, err := container.Prepare(ctx, title, submission.Handle, len(submission.Media),
		builder{i, account, submission})
	if err != nil || !prepared.Ready {
		return prepared, err
	}
	// Recent rate limits are useful, but not required.
	if quotas, err := i.quotas.Refresh(ctx, account); err == nil {
		prepared.Rates = quotas.Posts.RateStatus(bucketPosts)
	}
	return prepared, nil
}

func rejectAttachments(submission network.Submission) error {
	if len(submission.MediaIDs) == 0 {
		return nil
	}
	return &network.Error{
		Class: network.Rejected, Code: "too_many_attachments", Field: "attachments",
		Message: "Replies on Instagram are comments, which cannot have attachments.",
	}
}

// Publish publishes the prepared container (POST media_publish), or comments on
// the post that is replied to.
func (i *Instagram) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
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
	if post, ok := i.readBack(ctx, account, receipt.RemoteID, "permalink,timestamp,caption,media_type,children"); ok {
		receipt.URL, receipt.CreatedAt = post.Permalink, post.Timestamp.Time
		receipt.Differences = differences(submission, post)
	}
	return receipt, nil
}

// differences returns what Instagram made otherwise than the submission asked. Stories
// have no caption; collaborators, the location and comments are not compared.
func differences(submission network.Submission, post container.Node) message.Messages {
	var c matching.Comparison
	if options, _ := submission.Options.(PostOptions); options.Kind != kindStory {
		c.Wording(submission.Text, post.Caption)
	}
	if post.Type != "" {
		c.Media(len(submission.MediaIDs), post.MediaCount())
	}
	return c.Differences()
}

// isUnsettled reports whether the container's state must be read after a refusal:
// it is not documented which of these errors a published container returns.
func isUnsettled(e *network.Error) bool {
	for _, code := range []string{"/2207006", "/2207008", "/2207027"} {
		if e.Status != 0 && strings.HasSuffix(e.Code, code) {
			return true
		}
	}
	return false
}

// comment replies to a post. All segments of a thread are comments on its first
// post, because Instagram does not nest comments further.
//
// Only the message is sent: Instagram was observed to create a comment and
// respond 400 because of an unsupported parameter.
func (i *Instagram) comment(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	if err := rejectAttachments(submission); err != nil {
		return network.Receipt{}, err
	}
	parent := commentParent(submission)
	receipt, err := i.send(ctx, account, url.Values{"message": {submission.Text}}, parent, "comments")
	if err != nil {
		return network.Receipt{}, err
	}
	post, _ := i.readBack(ctx, account, parent, "permalink")
	receipt.URL = post.Permalink // comments have none
	return receipt, nil
}

// commentParent returns the post to comment on.
func commentParent(submission network.Submission) string {
	if submission.RootID != "" {
		return submission.RootID
	}
	return submission.ReplyTo
}

// send makes the call that publishes.
func (i *Instagram) send(
	ctx context.Context, account network.Account, form url.Values, parts ...string,
) (network.Receipt, error) {
	address, err := i.address(account, parts...)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := i.API.Do(ctx, graph.Call{
		Method: http.MethodPost, URL: address, Form: form, Token: account.Token, Create: true,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	id, err := graph.CreatedID(res)
	if err != nil {
		return network.Receipt{}, err
	}
	return network.Receipt{RemoteID: id, SentAt: res.Sent, RequestID: res.RequestID}, nil
}

// readBack reads fields of a post.
func (i *Instagram) readBack(ctx context.Context, account network.Account, id, fields string) (container.Node, bool) {
	return container.ReadBack(ctx, func(ctx context.Context) (*call.Response, error) {
		return i.get(ctx, account, url.Values{"fields": {fields}}, id)
	})
}
