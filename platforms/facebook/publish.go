package facebook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/graph"
	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Publish creates a post on the Page, or a comment if it replies to a post, or
// finishes the upload of a video, which publishes it.
// https://developers.facebook.com/docs/graph-api/reference/page/feed
func (f *Facebook) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	options, _ := submission.Options.(PostOptions)
	if kind := kindOf(options, len(submission.MediaIDs)); submission.ReplyTo == "" && kind != "" {
		return f.publishReel(ctx, account, submission, kind)
	}
	if submission.ReplyTo == "" && len(submission.MediaIDs) == 1 {
		if id, session, ok := videoOf(submission.MediaIDs[0]); ok {
			return f.publishVideo(ctx, account, submission, id, session)
		}
	}
	path, form := "/"+url.PathEscape(account.RemoteID)+"/feed", url.Values{}
	if submission.Text != "" {
		form.Set("message", submission.Text)
	}
	switch {
	case submission.ReplyTo != "":
		path = "/" + url.PathEscape(parentID(submission)) + "/comments"
		if len(submission.MediaIDs) > 0 {
			form.Set("attachment_id", submission.MediaIDs[0])
		}
	case len(submission.MediaIDs) > 0:
		for i, id := range submission.MediaIDs {
			one, _ := json.Marshal(map[string]string{"media_fbid": id}) // marshaling strings cannot fail
			form.Set("attached_media["+strconv.Itoa(i)+"]", string(one))
		}
	case options.Link != "":
		form.Set("link", options.Link)
	case account.Settings[settingCard] != "off":
		if links := rules.Links(submission.Text); len(links) > 0 {
			form.Set("link", links[0].Target)
		}
	}
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{
		Method: http.MethodPost, URL: path, Form: form, Create: true,
	})
	if err != nil {
		return network.Receipt{}, asMediaExpired(err, submission.MediaIDs)
	}
	id, err := graph.CreatedID(res)
	if err != nil {
		return network.Receipt{}, err
	}
	replyTo := ""
	if submission.ReplyTo != "" {
		replyTo = parentID(submission)
	}
	return network.Receipt{
		RemoteID: id, URL: f.permalink(account, id, replyTo), SentAt: res.Sent,
		RequestID: res.RequestID, Differences: f.readBack(ctx, account, submission, id),
	}, nil
}

// readBackTimeout is short, because the post is published already.
const readBackTimeout = 10 * time.Second

// readBack reads a post or comment, because the response has only its id, and returns what Facebook made otherwise than
// the submission asked. What cannot be read is no difference.
func (f *Facebook) readBack(
	ctx context.Context, account network.Account, submission network.Submission, id string,
) message.Messages {
	ctx, cancel := context.WithTimeout(ctx, readBackTimeout)
	defer cancel()
	fields := postFields
	if submission.ReplyTo != "" {
		fields = commentFields
	}
	var post listed
	if _, err := f.get(ctx, account, "/"+url.PathEscape(id), url.Values{"fields": {fields}}, &post); err != nil {
		return nil
	}
	var c matching.Comparison
	c.Text(submission.Text, post.Message)
	c.MediaIDs(submission.MediaIDs, post.media())
	return c.Differences()
}

// parentID returns the id to comment on. Facebook nests comments one level deep,
// so all segments of a thread are comments on its first post.
func parentID(submission network.Submission) string {
	if submission.RootID != "" {
		return submission.RootID
	}
	return submission.ReplyTo
}

// asMediaExpired converts the refusal of a post whose photos Facebook no longer
// has; the message names one of them.
func asMediaExpired(err error, mediaIDs []string) error {
	var e *network.Error
	if !errors.As(err, &e) || e.Code != codeNotFound {
		return err
	}
	for _, id := range mediaIDs {
		if id != "" && strings.Contains(e.Message, "'"+id+"'") {
			e.Class, e.Code = network.Transient, network.CodeMediaExpired
		}
	}
	return e
}

// publishVideo finishes the upload. The video's id, which is known before, is the
// id of the post.
func (f *Facebook) publishVideo(
	ctx context.Context, account network.Account, submission network.Submission, id, session string,
) (network.Receipt, error) {
	form := url.Values{"upload_phase": {"finish"}, "upload_session_id": {session}}
	if submission.Text != "" {
		form.Set("description", submission.Text)
	}
	res, err := f.do(ctx, account, f.options.VideoHost, graph.Call{
		Method: http.MethodPost, URL: videos(account), Form: form, Create: true,
	})
	if err != nil {
		return network.Receipt{}, asMediaExpired(err, []string{session})
	}
	var body struct {
		Success bool `json:"success"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Receipt{}, err
	}
	if !body.Success {
		return network.Receipt{}, res.MalformedError("it does not confirm that the video is published")
	}
	return network.Receipt{RemoteID: id, URL: f.permalink(account, id, ""), SentAt: res.Sent, RequestID: res.RequestID},
		nil
}

// Delete removes a post, comment or video.
// https://developers.facebook.com/docs/graph-api/reference/page-post
func (f *Facebook) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := f.do(ctx, account, f.options.GraphHost, graph.Call{
		Method: http.MethodDelete, URL: "/" + url.PathEscape(remoteID),
	})
	if isNotFound(err) {
		return nil
	}
	return err
}
