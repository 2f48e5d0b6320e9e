package mastodon

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// instanceTTL is how long an instance's limits are cached.
const instanceTTL = 24 * time.Hour

// retryTTL is how long the fallback limits are cached before the instance is
// queried again.
const retryTTL = 10 * time.Minute

// idempotencyWindow is how long Mastodon stores an Idempotency-Key, in seconds
// (app/services/post_status_service.rb: setex 3_600).
const idempotencyWindow = 3600

type instance struct {
	domain   string
	software software
	limits   network.Limits
	expires  time.Time
}

// instanceResponse contains the used fields of GET /api/v2/instance and of its
// older version v1.
// https://docs.joinmastodon.org/entities/Instance/
type instanceResponse struct {
	Domain        string        `json:"domain"`         // v2
	URI           string        `json:"uri"`            // v1
	MaxTootChars  int           `json:"max_toot_chars"` // Pleroma and Akkoma
	Configuration configuration `json:"configuration"`
}

type configuration struct {
	Statuses struct {
		MaxCharacters    int `json:"max_characters"`
		MaxMedia         int `json:"max_media_attachments"`
		CharactersPerURL int `json:"characters_reserved_per_url"`
	} `json:"statuses"`
	Media struct {
		MIMETypes        []string `json:"supported_mime_types"`
		ImageSizeLimit   int64    `json:"image_size_limit"`
		ImageMatrixLimit int64    `json:"image_matrix_limit"`
		VideoSizeLimit   int64    `json:"video_size_limit"`
		VideoMatrixLimit int64    `json:"video_matrix_limit"`
		VideoFrameRate   int      `json:"video_frame_rate_limit"`
		DescriptionLimit int      `json:"description_limit"`
	} `json:"media_attachments"`
	Polls struct {
		MaxOptions    int `json:"max_options"`
		MaxCharacters int `json:"max_characters_per_option"`
		MinExpiration int `json:"min_expiration"` // seconds
		MaxExpiration int `json:"max_expiration"`
	} `json:"polls"`
}

// Limits returns the instance's limits, cached for at most 24 hours. Mastodon's
// defaults apply to instances that do not report limits.
func (m *Mastodon) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	found, err := m.instance(ctx, account.BaseURL)
	return found.limits, err
}

func (m *Mastodon) instance(ctx context.Context, address string) (instance, error) {
	base, err := m.base(address)
	if err != nil {
		return instance{}, err
	}
	m.mu.Lock()
	cached, ok := m.instances[base]
	m.mu.Unlock()
	if ok && time.Now().Before(cached.expires) {
		return cached, nil
	}
	fresh, err := m.fetchInstance(ctx, base)
	if err != nil {
		return instance{}, err
	}
	m.mu.Lock()
	m.instances[base] = fresh
	m.mu.Unlock()
	return fresh, nil
}

// fetchInstance sends no token: the call is public, and instances that closed it
// answer 401 or 403, which must not be mistaken for a revoked token.
func (m *Mastodon) fetchInstance(ctx context.Context, base string) (instance, error) {
	ttl := instanceTTL
	var body instanceResponse
	res, err := m.do(ctx, base, "/api/v2/instance", call.Request{Method: http.MethodGet})
	if isRefused(err) {
		res, err = m.do(ctx, base, "/api/v1/instance", call.Request{Method: http.MethodGet})
	}
	switch {
	case isRefused(err):
		ttl = retryTTL
	case err != nil:
		return instance{}, err
	default:
		if err := res.Decode(&body); err != nil {
			return instance{}, err
		}
	}
	host := hostOf(base)
	domain := body.Domain
	if domain == "" {
		domain = body.URI
	}
	if domain == "" {
		domain = host
	}
	found := instance{
		domain: domain, software: m.fetchSoftware(ctx, base), limits: body.limits(host),
		expires: time.Now().Add(ttl),
	}
	found.limits.AppliesMarkdown, found.limits.Ignores = found.software.appliesMarkdown(), found.software.ignored()
	if found.software.name == "" {
		found.expires = time.Now().Add(retryTTL)
	}
	if found.software.honorsIdempotencyKeys() {
		found.limits.IdempotencyWindow = idempotencyWindow
	}
	return found, nil
}

// isRefused reports whether the instance responded and does not offer the call.
func isRefused(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && (e.Class == network.Rejected || e.Class == network.Auth) && e.Status != 0
}

func (a instanceResponse) limits(host string) network.Limits {
	c := a.Configuration
	characters := clamp(a.MaxTootChars, 500, 1_000_000)
	return network.Limits{
		AllowedBy:        host,
		MaxCharacters:    clamp(c.Statuses.MaxCharacters, characters, 1_000_000),
		CharactersPerURL: clamp(c.Statuses.CharactersPerURL, 23, 1000),
		MaxMedia:         clamp(c.Statuses.MaxMedia, 4, 1000),
		MIMETypes:        c.Media.MIMETypes,
		MaxImageBytes:    clamp(c.Media.ImageSizeLimit, 16<<20, 1<<40),
		MaxImagePixels:   clamp(c.Media.ImageMatrixLimit, 33_177_600, 1<<40),
		MaxVideoBytes:    clamp(c.Media.VideoSizeLimit, 99<<20, 1<<40),
		// Defaults: app/models/media_attachment.rb
		Video: network.VideoLimits{
			MaxPixels:    clamp(c.Media.VideoMatrixLimit, 8_294_400, 1<<40),
			MaxFrameRate: float64(clamp(c.Media.VideoFrameRate, 120, 10_000)),
		},
		MaxAltText:     clamp(c.Media.DescriptionLimit, 1500, 1_000_000),
		SupportsReply:  true,
		FinishesWithin: network.UsualFinish,
		Poll: network.PollLimits{
			MinChoices: 2, MaxChoices: clamp(c.Polls.MaxOptions, 4, 100),
			MaxChoiceCharacters: clamp(c.Polls.MaxCharacters, 50, 5000),
			MinMinutes:          (clamp(c.Polls.MinExpiration, 300, 2629746) + 59) / 60,
			MaxMinutes:          clamp(c.Polls.MaxExpiration, 2629746, 1<<31-1) / 60,
		},
		Quotas: quotas(),
	}
}

// clamp returns the value that an instance reports if it is plausible, otherwise
// the fallback.
func clamp[N int | int64](value, fallback, limit N) N {
	if value < 1 || value > limit {
		return fallback
	}
	return value
}

// DefaultLimits returns Mastodon's defaults, which instances can change.
func (m *Mastodon) DefaultLimits() network.Limits { return instanceResponse{}.limits("Mastodon") }
