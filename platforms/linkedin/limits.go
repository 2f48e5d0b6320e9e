package linkedin

import (
	"cmp"
	"context"
	"time"

	"dateline/platforms/network"
)

// TextLimits are of texts, in UTF-16 code units (see Count).
type TextLimits struct {
	Post    int `json:"post"`    // Posts API, commentary; default 3000
	Comment int `json:"comment"` // Comments API; default 1250
	AltText int `json:"alt_text"`
	// Fold and FoldLines are after how many characters or lines the feed hides the
	// rest behind "see more". LinkedIn does not publish them; default 210 and 3.
	Fold      int `json:"fold"`
	FoldLines int `json:"fold_lines"`
}

func (t *TextLimits) defaults() {
	t.Post = cmp.Or(t.Post, 3000)
	t.Comment = cmp.Or(t.Comment, 1250)
	t.AltText = cmp.Or(t.AltText, 4086)
	t.Fold = cmp.Or(t.Fold, 210)
	t.FoldLines = cmp.Or(t.FoldLines, 3)
}

// MediaLimits are of attachments (Images API, MultiImage API, Videos API).
type MediaLimits struct {
	Images          int   `json:"images"`
	ImageBytes      int64 `json:"image_bytes"`
	ImagePixels     int64 `json:"image_pixels"`
	MinVideoBytes   int64 `json:"min_video_bytes"`
	VideoBytes      int64 `json:"video_bytes"`
	MinVideoSeconds int   `json:"min_video_seconds"`
	VideoSeconds    int   `json:"video_seconds"`
}

func (m *MediaLimits) defaults() {
	m.Images = cmp.Or(m.Images, 20)
	// Not in the Images API, which bounds the pixels only; what LinkedIn's own
	// pages let people upload.
	m.ImageBytes = cmp.Or(m.ImageBytes, 8<<20)
	m.ImagePixels = cmp.Or(m.ImagePixels, 36_152_320-1)
	m.MinVideoBytes = cmp.Or(m.MinVideoBytes, 75<<10)
	m.VideoBytes = cmp.Or(m.VideoBytes, 500<<20)
	m.MinVideoSeconds = cmp.Or(m.MinVideoSeconds, 3)
	m.VideoSeconds = cmp.Or(m.VideoSeconds, 30*60)
}

// QuotaLimits are how many calls a day LinkedIn takes. It tells an app its
// own numbers only in the developer portal, so these are of its development
// tier, for forecasts.
type QuotaLimits struct {
	MemberPosts int `json:"member_posts"`
	AppPosts    int `json:"app_posts"`
}

func (q *QuotaLimits) defaults() {
	q.MemberPosts = cmp.Or(q.MemberPosts, 100)
	q.AppPosts = cmp.Or(q.AppPosts, 500)
}

// duplicateMemory is for how many seconds a second post of the same content is
// surely refused. LinkedIn was seen to remember for a day and longer; an hour is
// what is relied on.
const duplicateMemory = 3600

const (
	bucketMemberPosts    = "member_posts"
	bucketAppPosts       = "app_posts"
	bucketMemberComments = "member_comments"
	bucketAppComments    = "app_comments"
)

// Limits are the same for every account. They are not asked for: LinkedIn has
// no call that tells them.
func (l *LinkedIn) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	if _, err := l.host(account.BaseURL, ""); err != nil {
		return network.Limits{}, err
	}
	text, media := l.options.Text, l.options.Media
	return network.Limits{
		AllowedBy:           "LinkedIn",
		MaxCharacters:       text.Post,
		MaxMedia:            media.Images,
		MIMETypes:           []string{"image/jpeg", "image/png", "image/gif", "video/mp4"},
		MaxImageBytes:       media.ImageBytes,
		MaxImagePixels:      media.ImagePixels,
		MaxVideoBytes:       media.VideoBytes,
		MinVideoDuration:    time.Duration(media.MinVideoSeconds) * time.Second,
		MaxVideoDuration:    time.Duration(media.VideoSeconds) * time.Second,
		MaxAltText:          text.AltText,
		SupportsReply:       true,
		IdempotencyWindow:   duplicateMemory,
		IdempotentPostsOnly: true, // of comments no such refusal is known
		Quotas:              l.quotas(),
	}, nil
}

// quotas are counted per resource and by the day, from 00:00 UTC
// (API concepts, Rate limiting).
func (l *LinkedIn) quotas() []network.Quota {
	const day = 24 * time.Hour
	posts := map[network.CallKind]int{network.CallPublish: 1, network.CallReply: 0}
	comments := map[network.CallKind]int{network.CallReply: 1}
	daily := func(bucket string, scope network.Scope, requests int, costs map[network.CallKind]int) network.Quota {
		return network.Quota{Bucket: bucket, Scope: scope, Requests: requests, Per: day, FixedWindow: true, Default: true, Costs: costs}
	}
	q := l.options.Quotas
	return []network.Quota{
		daily(bucketMemberPosts, network.ScopeAccount, q.MemberPosts, posts),
		daily(bucketAppPosts, network.ScopeApp, q.AppPosts, posts),
		daily(bucketMemberComments, network.ScopeAccount, q.MemberPosts, comments),
		daily(bucketAppComments, network.ScopeApp, q.AppPosts, comments),
	}
}
