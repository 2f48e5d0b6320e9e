package facebook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dateline/platforms/graph"
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
		RequestID: res.RequestID,
	}, nil
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
