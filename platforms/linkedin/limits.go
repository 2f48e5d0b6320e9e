package linkedin

import (
	"cmp"
	"context"
	"time"

	"dateline/platforms/network"
)

// TextLimits are the limits of texts, in UTF-16 code units (see Count).
type TextLimits struct {
	Post    int `json:"post"`    // Posts API, commentary; default 3000
	Comment int `json:"comment"` // Comments API; default 1250
	AltText int `json:"alt_text"`
	// Fold and FoldLines are the number of characters or lines after which the
	// feed hides the rest behind "see more". LinkedIn does not publish them;
	// default 210 and 3.
	Fold      int `json:"fold"`
	FoldLines int `json:"fold_lines"`
}

func (t *TextLimits) setDefaults() {
	t.Post = cmp.Or(t.Post, 3000)
	t.Comment = cmp.Or(t.Comment, 1250)
	t.AltText = cmp.Or(t.AltText, 4086)
	t.Fold = cmp.Or(t.Fold, 210)
	t.FoldLines = cmp.Or(t.FoldLines, 3)
}

// MediaLimits are the limits of attachments (Images API, MultiImage API, Videos
// API, Documents API).
type MediaLimits struct {
	Images          int   `json:"images"`
	ImageBytes      int64 `json:"image_bytes"`
	ImagePixels     int64 `json:"image_pixels"`
	MinVideoBytes   int64 `json:"min_video_bytes"`
	VideoBytes      int64 `json:"video_bytes"`
	MinVideoSeconds int   `json:"min_video_seconds"`
	VideoSeconds    int   `json:"video_seconds"`
	DocumentBytes   int64 `json:"document_bytes"`
	DocumentPages   int   `json:"document_pages"`
}

func (m *MediaLimits) setDefaults() {
	m.Images = cmp.Or(m.Images, 20)
	// Not in the Images API, which only limits the pixels; this is the limit of
	// LinkedIn's own upload page.
	m.ImageBytes = cmp.Or(m.ImageBytes, 8<<20)
	m.ImagePixels = cmp.Or(m.ImagePixels, 36_152_320-1)
	m.MinVideoBytes = cmp.Or(m.MinVideoBytes, 75<<10)
	m.VideoBytes = cmp.Or(m.VideoBytes, 500<<20)
	m.MinVideoSeconds = cmp.Or(m.MinVideoSeconds, 3)
	m.VideoSeconds = cmp.Or(m.VideoSeconds, 30*60)
	m.DocumentBytes = cmp.Or(m.DocumentBytes, 100<<20)
	m.DocumentPages = cmp.Or(m.DocumentPages, 300)
}

// QuotaLimits are the calls per day that LinkedIn accepts. It shows an app's
// limits only in the developer portal, so these are the limits of its development
// tier, for forecasts.
type QuotaLimits struct {
	MemberPosts int `json:"member_posts"`
	AppPosts    int `json:"app_posts"`
	Reads       int `json:"reads"` // calls per member and day that read metrics; default 500
}

func (q *QuotaLimits) setDefaults() {
	q.MemberPosts = cmp.Or(q.MemberPosts, 100)
	q.AppPosts = cmp.Or(q.AppPosts, 500)
	q.Reads = cmp.Or(q.Reads, 500)
}

// idempotencyWindow is the number of seconds for which a second post with the
// same content is certain to be refused. LinkedIn was observed to refuse it for a
// day and longer; only an hour is relied on.
const idempotencyWindow = 3600

const (
	bucketMemberPosts    = "member_posts"
	bucketAppPosts       = "app_posts"
	bucketMemberComments = "member_comments"
	bucketAppComments    = "app_comments"
)

// Limits are the same for every account: LinkedIn has no call that reports them.
func (l *LinkedIn) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	if _, err := l.host(account.BaseURL, ""); err != nil {
		return network.Limits{}, err
	}
	text, media := l.options.Text, l.options.Media
	return network.Limits{
		AllowedBy:        "LinkedIn",
		RejectsRepeats:   true,
		MaxCharacters:    text.Post,
		MaxMedia:         media.Images,
		MIMETypes:        []string{"image/jpeg", "image/png", "image/gif", "video/mp4", "application/pdf"},
		MaxImageBytes:    media.ImageBytes,
		MaxImagePixels:   media.ImagePixels,
		MaxVideoBytes:    media.VideoBytes,
		MinVideoDuration: time.Duration(media.MinVideoSeconds) * time.Second,
		MaxVideoDuration: time.Duration(media.VideoSeconds) * time.Second,
		// https://www.linkedin.com/help/linkedin/answer/a548372 (video sharing, supported specifications)
		Video:               network.VideoLimits{MinFrameRate: 10, MaxFrameRate: 60, MaxPixels: 4096 * 2304},
		MaxDocumentBytes:    media.DocumentBytes,
		MaxDocumentPages:    media.DocumentPages,
		MaxAltText:          text.AltText,
		SupportsReply:       true,
		Poll:                pollLimits(),
		Visibilities:        visibilities(account),
		IdempotencyWindow:   idempotencyWindow,
		FinishesWithin:      network.UsualFinish,
		IdempotentPostsOnly: true, // comments are not known to be refused as duplicates
		Quotas:              l.quotas(),
	}, nil
}

// quotas are counted per resource and per day, from 00:00 UTC (API concepts, Rate
// limiting).
func (l *LinkedIn) quotas() []network.Quota {
	const day = 24 * time.Hour
	posts := map[network.CallKind]int{network.CallPublish: 1, network.CallReply: 0}
	comments := map[network.CallKind]int{network.CallReply: 1}
	daily := func(bucket string, scope network.Scope, requests int, costs map[network.CallKind]int) network.Quota {
		return network.Quota{
			Bucket: bucket, Scope: scope, Requests: requests, Per: day, FixedWindow: true,
			Default: true, Costs: costs,
		}
	}
	q := l.options.Quotas
	return []network.Quota{
		daily(bucketMemberPosts, network.ScopeAccount, q.MemberPosts, posts),
		daily(bucketAppPosts, network.ScopeApp, q.AppPosts, posts),
		daily(bucketMemberComments, network.ScopeAccount, q.MemberPosts, comments),
		daily(bucketAppComments, network.ScopeApp, q.AppPosts, comments),
	}
}
