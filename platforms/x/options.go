package x

import (
	"time"

	"dateline/internal/identity/secret"
)

// Options configures the adapter. The zero value works: fields that are zero use
// the value in their comment. Limits and prices are X's of late 2026
// (https://docs.x.com/x-api/fundamentals/rate-limits,
// .../getting-started/pricing).
type Options struct {
	API string `json:"api,omitempty"` // base URL of the API; https://api.x.com
	Web string `json:"web,omitempty"` // base URL of pages; https://x.com

	MaxCharacters        int `json:"max_characters,omitempty"`         // 280
	MaxCharactersPremium int `json:"max_characters_premium,omitempty"` // of accounts with the premium tier; 25,000
	CharactersPerURL     int `json:"characters_per_url,omitempty"`     // 23
	// In one post, on self-serve plans; 1, negative: any number
	MaxCashtags int `json:"max_cashtags,omitempty"`

	MaxImages       int   `json:"max_images,omitempty"`      // 4
	MaxImageBytes   int64 `json:"max_image_bytes,omitempty"` // 5 MiB
	MaxGIFBytes     int64 `json:"max_gif_bytes,omitempty"`   // 15 MiB
	MaxVideoBytes   int64 `json:"max_video_bytes,omitempty"` // 512 MiB
	MaxAltText      int   `json:"max_alt_text,omitempty"`    // 1,000
	MinVideoMillis  int   `json:"min_video_millis,omitempty"`
	MaxVideoSeconds int   `json:"max_video_seconds,omitempty"` // 140
	SegmentBytes    int64 `json:"segment_bytes,omitempty"`     // of an upload, held in memory; 4 MiB

	PostsPer15Min   int `json:"posts_per_15_min,omitempty"`   // per account; 100
	AppPostsPerDay  int `json:"app_posts_per_day,omitempty"`  // of all accounts together; 10,000
	UploadsPer15Min int `json:"uploads_per_15_min,omitempty"` // per account; 1,875
	ReadsPer15Min   int `json:"reads_per_15_min,omitempty"`   // of posts by id, per account; 5,000

	// Prices in millionths of a dollar; negative: free.
	PostPrice    int64       `json:"post_price,omitempty"`     // 15,000
	PostWithURL  int64       `json:"post_with_url,omitempty"`  // 200,000
	AltTextPrice int64       `json:"alt_text_price,omitempty"` // per description; 5,000
	ClientID     string      `json:"client_id,omitempty"`
	ClientSecret secret.Text `json:"-"` // empty for a public client
	Sandbox      string      `json:"-"` // base URL of the fake X (sandbox)

	CreateTimeout     time.Duration `json:"-"` // timeout of the publishing call and of token requests; 0: 4 min
	ReadTimeout       time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout     time.Duration `json:"-"` // timeout of one segment of an upload; 0: 5 min
	SegmentRetryDelay time.Duration `json:"-"` // delay before a lost segment is sent again; 0: 1 s
}

// withDefaults sets the defaults of fields that are zero.
func (o Options) withDefaults() Options {
	or(&o.API, "https://api.x.com")
	or(&o.Web, "https://x.com")
	or(&o.MaxCharacters, 280)
	or(&o.MaxCharactersPremium, 25_000)
	or(&o.CharactersPerURL, 23)
	or(&o.MaxCashtags, 1)
	or(&o.MaxImages, 4)
	or(&o.MaxImageBytes, 5<<20)
	or(&o.MaxGIFBytes, 15<<20)
	or(&o.MaxVideoBytes, 512<<20)
	or(&o.MaxAltText, 1000)
	or(&o.MinVideoMillis, 500)
	or(&o.MaxVideoSeconds, 140)
	or(&o.SegmentBytes, 4<<20)
	or(&o.PostsPer15Min, 100)
	or(&o.AppPostsPerDay, 10_000)
	or(&o.UploadsPer15Min, 1875)
	or(&o.ReadsPer15Min, 5000)
	or(&o.PostPrice, 15_000)
	or(&o.PostWithURL, 200_000)
	or(&o.AltTextPrice, 5_000)
	or(&o.CreateTimeout, 4*time.Minute)
	or(&o.ReadTimeout, 30*time.Second)
	or(&o.UploadTimeout, 5*time.Minute)
	or(&o.SegmentRetryDelay, time.Second)
	return o
}

func or[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}
