package facebook

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// pageSize is Facebook's maximum.
const pageSize = 100

// clockSlack is how much earlier than the window the listing starts: clocks
// differ, and Facebook's clock is known only after its first response.
const clockSlack = time.Hour

// The fields of a listed post and comment.
const (
	postFields    = "id,message,created_time,attachments{media_type,target,subattachments}"
	commentFields = "id,message,created_time,from,attachment"
)

// listed is a post or comment in a listing.
type listed struct {
	ID      string     `json:"id"`
	Message string     `json:"message"`
	Created graph.Time `json:"created_time"`
	From    struct {
		ID string `json:"id"`
	} `json:"from"`
	Attachments struct {
		Data []attachment `json:"data"`
	} `json:"attachments"`
	Attachment *attachment `json:"attachment"` // of a comment
}

type attachment struct {
	Kind   string `json:"media_type"`
	Type   string `json:"type"` // of a comment's attachment
	Target struct {
		ID string `json:"id"`
	} `json:"target"`
	Sub struct {
		Data []attachment `json:"data"`
	} `json:"subattachments"`
}

// media returns the ids of the photos in their order. Link cards are not counted.
func (l listed) media() []string {
	all := l.Attachments.Data
	if l.Attachment != nil {
		all = append(slices.Clone(all), *l.Attachment)
	}
	var ids []string
	for _, a := range all {
		switch {
		case len(a.Sub.Data) > 0:
			for _, s := range a.Sub.Data {
				ids = append(ids, s.Target.ID)
			}
		case a.Kind == "photo" || a.Type == "photo":
			ids = append(ids, a.Target.ID)
		}
	}
	return ids
}

// Reconcile reads the video, whose id is known; or the Page's published posts; or
// the comments under the post that was replied to.
//
// Photos are proof, because no other post has them. Without photos, the text is
// compared (package matching).
func (f *Facebook) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{
			Class: network.Rejected, Code: "unknown_account",
			Message: "The Page's id is not known. Reconnect the account.",
		}
	}
	if kind := kindOf(submission.Options, len(submission.MediaIDs)); submission.ReplyTo == "" && kind != "" {
		if video, ok := strings.CutPrefix(submission.MediaIDs[0], reelPrefix); ok && kind == kindReel {
			return f.findVideo(ctx, account, video, window)
		}
		return f.findStory(ctx, account, submission, window)
	}
	path, replyTo := "/"+url.PathEscape(account.RemoteID)+"/published_posts", ""
	query := url.Values{
		"fields": {postFields},
		"since":  {strconv.FormatInt(window.From.Add(-clockSlack).Unix(), 10)}, "limit": {strconv.Itoa(pageSize)},
	}
	if submission.ReplyTo != "" {
		replyTo = parentID(submission)
		path = "/" + url.PathEscape(replyTo) + "/comments"
		query.Set("fields", commentFields)
		query.Set("order", "reverse_chronological")
	} else if len(submission.MediaIDs) == 1 {
		if id, _, ok := videoOf(submission.MediaIDs[0]); ok {
			return f.findVideo(ctx, account, id, window)
		}
	}
	wanted, compare := slices.Sorted(slices.Values(submission.MediaIDs)), matching.NewComparer(submission.Text)
	s := search{
		from: window.From.Truncate(time.Second), window: window, posts: matching.New(window),
		compare: func(l listed) (p matching.Post, own bool) {
			same := slices.Equal(slices.Sorted(slices.Values(l.media())), wanted)
			return matching.Post{
				Receipt: network.Receipt{
					RemoteID: l.ID, URL: f.permalink(account, l.ID, replyTo), CreatedAt: l.Created.Time,
				},
				Verdict: compare.Compare(l.Message), MediaCountEqual: same, ReplyTargetEqual: true,
				HasUploadedMedia: same && len(wanted) > 0,
			}, replyTo == "" || l.From.ID == account.RemoteID
		},
	}
	for range maxPages {
		var page graph.Page[listed]
		res, err := f.get(ctx, account, path, query, &page)
		if err != nil {
			return network.Finding{}, err
		}
		if s.read(page, res) {
			break
		}
		query.Set("after", page.NextCursor())
	}
	var late message.Message
	if replyTo != "" && len(wanted) == 0 {
		// A second post with the same text or photos is refused; a comment is
		// not.
		late = message.New("comments_listed_late", "{network} may list a comment late, and accepts duplicates.",
			"Facebook")
	}
	finding := s.posts.Result(s.from, s.complete, late)
	if finding.Found {
		finding.Receipt.Differences = f.readBack(ctx, account, submission, finding.Receipt.RemoteID)
	}
	return finding, nil
}

// search reads a listing, newest first.
type search struct {
	from     time.Time
	window   network.Window
	posts    *matching.Search
	compare  func(listed) (p matching.Post, own bool)
	complete bool
}

// read adds one page and reports whether the whole window has been read.
func (s *search) read(page graph.Page[listed], res *call.Response) bool {
	// A clock that is behind dates posts before the local send time. The window
	// is only ever extended: missing a post would publish it twice.
	if earlier := s.window.From.Add(res.ClockSkew()).Truncate(time.Second); earlier.Before(s.from) {
		s.from = earlier
	}
	s.complete = page.NextCursor() == ""
	for _, l := range page.Data {
		if l.Created.Before(s.from) || l.ID == s.window.SinceID {
			s.complete = true
			break
		}
		if p, own := s.compare(l); own {
			s.posts.Add(p)
		}
	}
	return s.complete
}

// findVideo reads whether a video is published.
// https://developers.facebook.com/docs/graph-api/reference/video
func (f *Facebook) findVideo(
	ctx context.Context, account network.Account, id string, window network.Window,
) (network.Finding, error) {
	var video struct {
		ID        string     `json:"id"`
		Created   graph.Time `json:"created_time"`
		Published bool       `json:"published"`
	}
	_, err := f.get(ctx, account, "/"+url.PathEscape(id), url.Values{"fields": {"id,created_time,published"}}, &video)
	switch {
	case isNotFound(err):
		return network.Finding{Conclusive: true, Evidence: message.One("no_video", "Facebook has no video {id}.", id)},
			nil
	case err != nil:
		return network.Finding{}, err
	case !video.Published || window.Known[id]:
		return network.Finding{
				Conclusive: true,
				Evidence: message.One("other_video", "Facebook has the video {id}, which this call did not publish.",
					id),
			},
			nil
	}
	return network.Finding{
		Found: true, Conclusive: true,
		Evidence: message.One("video_published", "The video {id}, which was uploaded for this post, is published.", id),
		Receipt:  network.Receipt{RemoteID: id, URL: f.permalink(account, id, ""), CreatedAt: video.Created.Time},
	}, nil
}
