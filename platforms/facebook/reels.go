package facebook

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// A staged video of a reel or story is reel:id or story:id.
const (
	reelPrefix  = "reel:"
	storyPrefix = "story:"
)

// edges are where reels and stories with a video are published.
// https://developers.facebook.com/docs/video-api/guides/reels-publishing
// https://developers.facebook.com/docs/page-stories-api
const (
	edgeReels        = "video_reels"
	edgeVideoStories = "video_stories"
	edgePhotoStories = "photo_stories"
)

func edgeOf(account network.Account, edge string) string {
	return "/" + url.PathEscape(account.RemoteID) + "/" + edge
}

// stageReel uploads the video of a reel or story. Publish finishes it.
func (f *Facebook) stageReel(
	ctx context.Context, account network.Account, media network.Media, kind string, data io.ReadCloser,
) (network.Staged, error) {
	edge, prefix := edgeReels, reelPrefix
	if kind == kindStory {
		edge, prefix = edgeVideoStories, storyPrefix
	}
	closing := true
	defer func() {
		if closing {
			_ = data.Close()
		}
	}()
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{
		Method: http.MethodPost, URL: edgeOf(account, edge), Form: url.Values{"upload_phase": {"start"}},
	})
	if err != nil {
		return network.Staged{}, err
	}
	var begun struct {
		Video string `json:"video_id"`
	}
	if err := res.Decode(&begun); err != nil {
		return network.Staged{}, err
	}
	if begun.Video == "" {
		return network.Staged{}, res.MalformedError("it contains no video id")
	}
	root, err := f.service.Host(account.BaseURL, f.options.UploadHost)
	if err != nil {
		return network.Staged{}, err
	}
	closing = false // the call closes it
	_, err = f.api.Do(ctx, graph.Call{
		Method: http.MethodPost, URL: root + "/video-upload/" + f.options.Version + "/" + url.PathEscape(begun.Video),
		Token: account.Token, Scheme: "OAuth", Timeout: f.options.UploadTimeout,
		Header: http.Header{"Offset": {"0"}, "File_size": {strconv.FormatInt(media.Bytes, 10)}},
		Body:   &call.Body{Type: "application/octet-stream", Length: media.Bytes, Reader: data, Closer: data},
	})
	if err != nil {
		return network.Staged{}, err
	}
	return network.Staged{RemoteID: prefix + begun.Video, Ready: true, ExpiresAt: f.photoExpiresAt()}, nil
}

// publishReel finishes the upload of a reel, or of a story with a video, or makes
// a story of a photo.
func (f *Facebook) publishReel(
	ctx context.Context, account network.Account, submission network.Submission, kind string,
) (network.Receipt, error) {
	staged := submission.MediaIDs[0]
	edge, form := edgePhotoStories, url.Values{"photo_id": {staged}}
	video, isReel := strings.CutPrefix(staged, reelPrefix)
	storyVideo, isStoryVideo := strings.CutPrefix(staged, storyPrefix)
	switch {
	case kind == kindReel && isReel:
		edge, form = edgeReels, url.Values{
			"upload_phase": {"finish"}, "video_id": {video}, "video_state": {"PUBLISHED"},
		}
		if submission.Text != "" {
			form.Set("description", submission.Text)
		}
	case kind == kindStory && isStoryVideo:
		edge, form = edgeVideoStories, url.Values{"upload_phase": {"finish"}, "video_id": {storyVideo}}
	case kind == kindReel || isReel || strings.Contains(staged, ":"):
		return network.Receipt{}, &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired,
			Message: "The video was uploaded for another kind of post. It is uploaded again.",
		}
	}
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{
		Method: http.MethodPost, URL: edgeOf(account, edge), Form: form, Create: true,
	})
	if err != nil {
		return network.Receipt{}, asMediaExpired(err, []string{staged, video, storyVideo})
	}
	var body struct {
		Success bool   `json:"success"`
		PostID  string `json:"post_id"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Receipt{}, err
	}
	receipt := network.Receipt{RemoteID: body.PostID, SentAt: res.Sent, RequestID: res.RequestID}
	if isReel {
		receipt.RemoteID = video
	}
	if !body.Success || receipt.RemoteID == "" {
		return network.Receipt{}, res.MalformedError("it does not confirm that the post is published")
	}
	receipt.URL = f.permalink(account, receipt.RemoteID, "")
	return receipt, nil
}

// findStory searches the Page's stories, which are in no other listing, for the
// one with the submission's photo or video. No other story has it.
// https://developers.facebook.com/docs/page-stories-api
func (f *Facebook) findStory(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	media := strings.TrimPrefix(submission.MediaIDs[0], storyPrefix)
	query := url.Values{"fields": {"post_id,media_id,creation_time"}, "limit": {strconv.Itoa(pageSize)}}
	for range maxPages {
		var page graph.Page[struct {
			PostID  string `json:"post_id"`
			MediaID string `json:"media_id"`
		}]
		if _, err := f.get(ctx, account, edgeOf(account, "stories"), query, &page); err != nil {
			return network.Finding{}, err
		}
		for _, story := range page.Data {
			if story.MediaID != media || window.Known[story.PostID] {
				continue
			}
			return network.Finding{
				Found: true, Conclusive: true,
				Evidence: message.One("story_found", "The story {id} shows what was uploaded for this post.",
					story.PostID),
				Receipt: network.Receipt{RemoteID: story.PostID, URL: f.permalink(account, story.PostID, "")},
			}, nil
		}
		if page.NextCursor() == "" {
			return network.Finding{
					Conclusive: true,
					Evidence: message.One("no_story",
						"None of the Page's stories shows what was uploaded for this post."),
				},
				nil
		}
		query.Set("after", page.NextCursor())
	}
	return network.Finding{Evidence: message.One("more_stories", "The Page has more stories than could be read.")}, nil
}

// kindOf is the kind of a post: a reel, a story, or neither.
func kindOf(options network.PostOptions, media int) string {
	o, _ := options.(PostOptions)
	if media != 1 || o.Kind == kindPost {
		return ""
	}
	return o.Kind
}

// stagesReel reports whether an attachment is the video of a reel or story.
func stagesReel(media network.Media) (kind string, ok bool) {
	kind = kindOf(media.Options, 1)
	return kind, kind != "" && rules.IsVideoOrAudio(media.MediaInfo)
}
