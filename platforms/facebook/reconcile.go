package facebook

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// pageSize is the most that Facebook gives at once.
const pageSize = 100

// slack is by how much earlier the listing begins than the window: clocks
// differ, and Facebook's is known only once it has answered.
const slack = time.Hour

// listed is a post or comment as a listing gives it.
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
	Type   string `json:"type"` // of a comment's
	Target struct {
		ID string `json:"id"`
	} `json:"target"`
	Sub struct {
		Data []attachment `json:"data"`
	} `json:"subattachments"`
}

// media are the ids of the photos; the card of a link is none.
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
	slices.Sort(ids)
	return ids
}

// Reconcile asks for the video, whose id is known; or reads what the Page has
// published, or the comments under the post that was answered.
//
// Photos are proof: no other post has them. Where there are none, the text has
// to be the same.
func (f *Facebook) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{Class: network.Rejected, Code: "unknown_account",
			Message: "The Page's id is not known: identify it before reconciling."}
	}
	path, replyTo := "/"+url.PathEscape(account.RemoteID)+"/published_posts", ""
	query := url.Values{
		"fields": {"id,message,created_time,attachments{media_type,target,subattachments}"},
		"since":  {strconv.FormatInt(window.From.Add(-slack).Unix(), 10)}, "limit": {strconv.Itoa(pageSize)},
	}
	if submission.ReplyTo != "" {
		replyTo = parent(submission)
		path = "/" + url.PathEscape(replyTo) + "/comments"
		query.Set("fields", "id,message,created_time,from,attachment")
		query.Set("order", "reverse_chronological")
	} else if len(submission.MediaIDs) == 1 {
		if id, _, ok := videoOf(submission.MediaIDs[0]); ok {
			return f.findVideo(ctx, account, id, window)
		}
	}
	wanted := slices.Sorted(slices.Values(submission.MediaIDs))
	s := search{from: window.From.Truncate(time.Second), window: window, matches: func(l listed) bool {
		if replyTo != "" && l.From.ID != account.RemoteID || !slices.Equal(l.media(), wanted) {
			return false
		}
		return len(wanted) > 0 || normal(l.Message) == normal(submission.Text)
	}}
	for range maxPages {
		var page graph.Page[listed]
		res, err := f.get(ctx, account, path, query, &page)
		if err != nil {
			return network.Finding{}, err
		}
		if s.read(page, res) {
			break
		}
		query.Set("after", page.After())
	}
	return s.finding(func(id string) network.Receipt {
		return network.Receipt{RemoteID: id, URL: f.permalink(account, id, replyTo)}
	}), nil
}

// search goes through pages, newest first.
type search struct {
	from     time.Time
	window   network.Window
	matches  func(listed) bool
	found    []listed
	seen     int
	complete bool
}

// read takes one page in and says whether the whole window has been seen.
func (s *search) read(page graph.Page[listed], res *call.Response) bool {
	// A clock that is behind dates posts before we sent them. The window only
	// ever grows: a post missed is a post made twice.
	if earlier := s.window.From.Add(res.Skew()).Truncate(time.Second); earlier.Before(s.from) {
		s.from = earlier
	}
	s.complete = page.After() == ""
	for _, l := range page.Data {
		if l.Created.Before(s.from) || l.ID == s.window.SinceID {
			s.complete = true
			break
		}
		s.seen++
		if !s.window.Known[l.ID] && s.matches(l) {
			s.found = append(s.found, l)
		}
	}
	return s.complete
}

func (s *search) finding(receipt func(id string) network.Receipt) network.Finding {
	since := s.from.UTC().Format(time.RFC3339)
	switch {
	case len(s.found) == 1:
		r, proof := receipt(s.found[0].ID), "the same text and no photos"
		r.CreatedAt = s.found[0].Created.Time
		if ids := s.found[0].media(); len(ids) > 0 {
			proof = "the photos that were uploaded for this post (" + strings.Join(ids, ", ") + ")"
		}
		return network.Finding{Found: true, Conclusive: true, Receipt: r,
			Evidence: fmt.Sprintf("Among %d posts of the Page since %s, %s has %s.", s.seen, since, r.RemoteID, proof)}
	case len(s.found) > 1:
		return network.Finding{Evidence: fmt.Sprintf(
			"%d posts of the Page since %s have the same text: which of them is this one cannot be told.", len(s.found), since)}
	default:
		return network.Finding{Conclusive: s.complete,
			Evidence: fmt.Sprintf("None of %d posts of the Page since %s has the same text and photos.", s.seen, since)}
	}
}

// findVideo asks whether a video is published.
// https://developers.facebook.com/docs/graph-api/reference/video
func (f *Facebook) findVideo(ctx context.Context, account network.Account, id string, window network.Window) (network.Finding, error) {
	var video struct {
		ID        string     `json:"id"`
		Created   graph.Time `json:"created_time"`
		Published bool       `json:"published"`
	}
	_, err := f.get(ctx, account, "/"+url.PathEscape(id), url.Values{"fields": {"id,created_time,published"}}, &video)
	switch {
	case gone(err):
		return network.Finding{Conclusive: true, Evidence: "Facebook has no video " + id + "."}, nil
	case err != nil:
		return network.Finding{}, err
	case !video.Published || window.Known[id]:
		return network.Finding{Conclusive: true, Evidence: "Facebook has the video " + id + ", which this call did not publish."}, nil
	}
	return network.Finding{Found: true, Conclusive: true, Evidence: "The video " + id + ", which was uploaded for this post, is published.",
		Receipt: network.Receipt{RemoteID: id, URL: f.permalink(account, id, ""), CreatedAt: video.Created.Time}}, nil
}

// normal brings a text into the one form in which what was sent and what is
// listed are equal.
func normal(text string) string {
	return strings.Join(strings.Fields(norm.NFC.String(text)), " ")
}
