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

// Publish makes a post on the Page, a comment where it answers another post, or
// ends the upload of a video and so publishes it.
// https://developers.facebook.com/docs/graph-api/reference/page/feed
func (f *Facebook) Publish(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
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
		path = "/" + url.PathEscape(parent(submission)) + "/comments"
		if len(submission.MediaIDs) > 0 {
			form.Set("attachment_id", submission.MediaIDs[0])
		}
	case len(submission.MediaIDs) > 0:
		for i, id := range submission.MediaIDs {
			one, _ := json.Marshal(map[string]string{"media_fbid": id}) // strings always marshal
			form.Set("attached_media["+strconv.Itoa(i)+"]", string(one))
		}
	case account.Settings[settingCard] != "off":
		if links := rules.Links(submission.Text); len(links) > 0 {
			form.Set("link", links[0].Target)
		}
	}
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{Method: http.MethodPost, URL: path, Form: form, Create: true})
	if err != nil {
		return network.Receipt{}, dropped(err, submission.MediaIDs)
	}
	id, err := graph.CreatedID(res)
	if err != nil {
		return network.Receipt{}, err
	}
	replyTo := ""
	if submission.ReplyTo != "" {
		replyTo = parent(submission)
	}
	return network.Receipt{RemoteID: id, URL: f.permalink(account, id, replyTo), SentAt: res.Sent, RequestID: res.RequestID}, nil
}

// parent is what a reply is written under. Facebook nests comments one deep and
// no deeper, so all segments of a thread stand side by side under its first
// post.
func parent(submission network.Submission) string {
	if submission.RootID != "" {
		return submission.RootID
	}
	return submission.ReplyTo
}

// dropped knows the refusal of a post whose photos Facebook does not have any
// more: it names one of them.
func dropped(err error, mediaIDs []string) error {
	var e *network.Error
	if !errors.As(err, &e) || e.Code != codeGone {
		return err
	}
	for _, id := range mediaIDs {
		if id != "" && strings.Contains(e.Message, "'"+id+"'") {
			e.Class, e.Code = network.Transient, network.CodeMediaExpired
		}
	}
	return e
}

// publishVideo ends the upload. The video's id, which is known before, stands
// for the post.
func (f *Facebook) publishVideo(ctx context.Context, account network.Account, submission network.Submission, id, session string) (network.Receipt, error) {
	form := url.Values{"upload_phase": {"finish"}, "upload_session_id": {session}}
	if submission.Text != "" {
		form.Set("description", submission.Text)
	}
	res, err := f.do(ctx, account, f.options.VideoHost, graph.Call{Method: http.MethodPost, URL: videos(account), Form: form, Create: true})
	if err != nil {
		return network.Receipt{}, dropped(err, []string{session})
	}
	var answer struct {
		Success bool `json:"success"`
	}
	if err := res.Decode(&answer); err != nil {
		return network.Receipt{}, err
	}
	if !answer.Success {
		return network.Receipt{}, res.MalformedError("it does not say that the video is published")
	}
	return network.Receipt{RemoteID: id, URL: f.permalink(account, id, ""), SentAt: res.Sent, RequestID: res.RequestID}, nil
}

// Delete removes a post, comment or video.
// https://developers.facebook.com/docs/graph-api/reference/page-post
func (f *Facebook) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := f.do(ctx, account, f.options.GraphHost, graph.Call{Method: http.MethodDelete, URL: "/" + url.PathEscape(remoteID)})
	if gone(err) {
		return nil
	}
	return err
}
