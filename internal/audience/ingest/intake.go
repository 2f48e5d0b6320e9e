// Package ingest takes in what trackers, pixels and servers send: it tells who
// it is of, refuses what is not a reader's, and has the rest counted. A hit that
// was answered with 202 is in Redis.
//
// Nothing here touches the database, and no address or browser's name leaves
// it.
package ingest

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
)

// Counter counts hits one by one, those of concurrent requests together.
type Counter interface {
	Count(ctx context.Context, h counter.Hit) (counter.Outcome, error)
	CountFiltered(ctx context.Context, h counter.FilteredHit) error
}

// BulkCounter counts many hits at once, and knows what was counted.
type BulkCounter interface {
	Count(ctx context.Context, hits []counter.Hit) ([]counter.Outcome, error)
	CountFiltered(ctx context.Context, hits []counter.FilteredHit) error
	PageStats(ctx context.Context, s counter.Site, pages []string) ([]counter.Stats, error)
}

// Sites knows the sites that are counted for.
type Sites interface {
	ByKey(writeKey string) (*site.Active, bool)
	BySecret(secret string) (*site.Active, bool)
	AnyAllows(host string) bool
}

// Notifier are told that something was counted for a site.
type Notifier interface{ Notify(id uuid.UUID) }

// Handler serves the addresses below /v1/. All fields but Countries, Trusted,
// Now and MostPages must be set.
type Handler struct {
	Sites          Sites
	Counter        Counter
	Bulk           BulkCounter
	Notifier       Notifier
	Visitors       *visitor.Identifier
	Bots           *botfilter.Matcher
	RateLimiter    *botfilter.RateLimiter
	Referrers      *dimensions.Referrers
	Countries      *dimensions.Countries // nil: none is known
	TrustedProxies []netip.Prefix        // proxies whose word counts on where a reader is
	Now            func() time.Time
	Log            *slog.Logger
	Tracker        *Tracker
	MaxPages       int // that a site may name in a day; 0: DefaultPages

	pages pageLimiter
}

func (in *Handler) now() time.Time {
	if in.Now == nil {
		return time.Now()
	}
	return in.Now()
}

// hit is what is known of one thing that somebody did.
type hit struct {
	site     *site.Active
	kind     counter.Kind
	page     string
	referrer string
	at       time.Time
	traits   visitor.Traits
}

// traitsOf gives what a browser's request tells of its reader.
func (in *Handler) traitsOf(r *http.Request) visitor.Traits {
	return visitor.Traits{Address: clientAddress(r, in.TrustedProxies), UserAgent: r.Header.Get("User-Agent")}
}

// filterReason is why a browser's request is not counted; "": nothing is known
// against it.
func (in *Handler) filterReason(h http.Header, driven bool) botfilter.Reason {
	if botfilter.HasOptedOut(h) {
		return botfilter.OptOut
	}
	if reason := in.Bots.MatchRequest(h); reason != "" {
		return reason
	}
	if driven {
		return botfilter.Automation
	}
	return ""
}

// pageName is the page that a hit counts for.
func (in *Handler) pageName(h hit) string {
	most := in.MaxPages
	if most == 0 {
		most = DefaultMaxPages
	}
	return in.pages.nameFor(h.site.ID, h.page, in.now(), most)
}

// countHit counts a browser's hit, or that it was refused.
func (in *Handler) countHit(ctx context.Context, h hit, reason botfilter.Reason) error {
	h.page = in.pageName(h)
	if reason == "" {
		counted, err := in.buildHit(ctx, h)
		if err != nil {
			return err
		}
		within, err := in.RateLimiter.Allow(ctx, botfilter.Source{Site: h.site.ID, Visitor: rateID(counted.Visitor), Kind: rateKind(h.kind)},
			botfilter.Limit{Max: h.site.RateHits, Window: time.Duration(h.site.RateSeconds) * time.Second})
		if err != nil {
			return err
		}
		if within {
			if _, err := in.Counter.Count(ctx, counted); err != nil {
				return err
			}
			in.Notifier.Notify(h.site.ID)
			return nil
		}
		reason = botfilter.Rate
	}
	return in.Counter.CountFiltered(ctx, counter.FilteredHit{Site: h.site.CounterSite, Page: h.page, Reason: string(reason), At: h.at})
}

// rateID is who makes hits too often: readers with ids of the site are told
// apart by them.
func rateID(v counter.Visitor) uint64 {
	if v.ID != 0 {
		return uint64(v.ID)
	}
	return v.Hash
}

// buildHit makes of what is known what is counted: nothing personal is in it.
func (in *Handler) buildHit(ctx context.Context, h hit) (counter.Hit, error) {
	v, err := in.identify(ctx, h)
	if err != nil {
		return counter.Hit{}, err
	}
	return counter.Hit{Site: h.site.CounterSite, Page: h.page, Kind: h.kind, Visitor: v, At: h.at,
		Country: in.Countries.Lookup(h.traits.Address), Device: dimensions.Device(h.traits.UserAgent),
		Referrer: in.Referrers.Resolve(h.referrer, h.traits.UserAgent, h.site.Owns)}, nil
}

func (in *Handler) identify(ctx context.Context, h hit) (v counter.Visitor, err error) {
	if h.site.UniqueMethod == counter.Bitmap && h.traits.Login != "" {
		if v.ID, err = parseVisitorID(h.traits.Login, h.site.MaxID); err != nil {
			return v, err
		}
	}
	v.Hash, err = in.Visitors.Hash(ctx, h.site.VisitorSite, h.traits, h.at)
	return v, err
}

// Classify tells who sends a request that is no tracker's: who follows a short link.
// reason says why it is not to be counted; "": it is a reader's.
func (in *Handler) Classify(ctx context.Context, r *http.Request, s counter.Site) (h counter.Hit, reason string, err error) {
	if reason := in.filterReason(r.Header, false); reason != "" {
		return counter.Hit{}, string(reason), nil
	}
	traits, at := in.traitsOf(r), in.now()
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	hash, err := in.Visitors.Hash(ctx, visitor.Site{ID: s.ID, Zone: zone}, traits, at)
	if err != nil {
		return counter.Hit{}, "", err
	}
	within, err := in.RateLimiter.Allow(ctx, botfilter.Source{Site: s.ID, Visitor: hash, Kind: 'l'}, botfilter.Limit{Max: site.DefaultRateHits, Window: site.DefaultRateWindow})
	if err != nil {
		return counter.Hit{}, "", err
	}
	if !within {
		return counter.Hit{}, string(botfilter.Rate), nil
	}
	return counter.Hit{Site: s, Visitor: counter.Visitor{Hash: hash}, At: at, Country: in.Countries.Lookup(traits.Address), Device: dimensions.Device(traits.UserAgent),
		Referrer: in.Referrers.Resolve(r.Header.Get("Referer"), traits.UserAgent, func(string) bool { return false })}, "", nil
}

// rateKind tells kinds apart whose limits do not add up.
func rateKind(k counter.Kind) byte {
	switch k {
	case counter.Click:
		return 'c'
	case counter.Conversion:
		return 'o'
	default:
		return 'v'
	}
}
