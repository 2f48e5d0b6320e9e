package scheduling

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// checkContent lets every target's network count the post's characters.
func (c *check) checkContent(
	ctx context.Context, p post.Post, overrides map[uuid.UUID]*post.Override, accounts []account.Account,
) {
	c.targets = accounts
	seen := map[[3]string]bool{}
	add := func(problem apperr.FieldError) {
		key := [3]string{problem.Field, problem.Code, problem.Message}
		if !seen[key] {
			seen[key] = true
			c.problems = append(c.problems, problem)
		}
	}
	if p.Content == "" && len(p.AttachmentIDs) == 0 {
		// Also when every account has a text of its own: accounts may be added.
		add(apperr.FieldError{Field: "content", Code: "empty", Message: "Write something, or attach a file."})
	}
	for _, a := range accounts {
		o := overrides[a.ID]
		segments := p.Segments(post.Target{AccountID: a.ID, Network: a.Network, Override: o})
		if !c.checkReadable(segments, a, o, add) {
			continue
		}
		adapter, ok := c.scheduler.Networks.Get(a.Network)
		if !ok {
			c.add("accounts", "unsupported_network", "This installation cannot publish to {network}.", a.Network)
			continue
		}
		limits, err := c.lookup.limits(ctx, adapter, a)
		if err != nil {
			// An unavailable instance must not prevent scheduling a post: it is checked
			// again before it is sent.
			continue
		}
		options := c.options(p, a, o, adapter, add)
		for i, s := range segments {
			for _, found := range adapter.Check(c.networkContent(p, i, s, options, limits), limits) {
				add(apperr.FieldError{
					Field: fieldOfSegment(i, s, a, o, found.Field), Code: found.Code,
					Message: found.Message, Params: found.Params,
				})
			}
		}
	}
}

// checkReadable checks whether a post's text is valid for any network.
func (c *check) checkReadable(
	segments []post.Segment, a account.Account, o *post.Override, add func(apperr.FieldError),
) bool {
	ok := true
	for i, s := range segments {
		switch {
		case !isValidText(s.Content): // storable has already reported it
		case s.Content == "" && len(s.AttachmentIDs) == 0:
			add(apperr.FieldError{
				Field: fieldOf(i, a, o, "content"), Code: "empty",
				Message: "Write something, or attach a file.",
			})
		default:
			continue
		}
		ok = false
	}
	return ok
}

// isValidText reports whether the database can store a text: Postgres does not allow
// NUL.
func isValidText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func (c *check) items(ids []uuid.UUID) []media.Item {
	items := make([]media.Item, len(ids))
	for i, id := range ids {
		items[i] = c.files[id]
	}
	return items
}

// limitsTimeout is how long a user waits for an instance's limits.
const limitsTimeout = 3 * time.Second

// MediaInfos describes files for an adapter.
func MediaInfos(files []media.Item) []network.MediaInfo {
	infos := make([]network.MediaInfo, len(files))
	for i, f := range files {
		infos[i] = network.MediaInfo{
			MIMEType: f.MIMEType, Bytes: f.Bytes, Width: f.Width, Height: f.Height,
			Duration: durationOf(f), Pages: f.Pages, AltText: f.AltText,
			FrameRate: f.FrameRate, VideoCodec: f.VideoCodec, AudioCodec: f.AudioCodec, AudioRate: f.AudioRate,
			PixelFormat: f.PixelFormat,
		}
	}
	return infos
}

// durationOf returns the duration of a video. Animations are images for networks.
func durationOf(f media.Item) time.Duration {
	if f.Kind != media.Video {
		return 0
	}
	return f.Duration
}
