// Package ingest receives hits from trackers, pixels and servers over HTTP: it
// identifies the visitor, filters bots, and counts the rest. A hit that was
// answered with 202 is in Redis.
//
// Nothing in this package accesses the database, and addresses and user agents
// don't leave it.
package ingest

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/infra/linkcode"
)

// Counter counts single hits; it batches those of concurrent requests.
type Counter interface {
	Count(ctx context.Context, h counter.Hit) (counter.Outcome, error)
	CountFiltered(ctx context.Context, h counter.FilteredHit) error
	Heartbeat(ctx context.Context, h counter.Heartbeat) (known bool, err error)
	CountEvent(ctx context.Context, e counter.Event) error
}

// BulkCounter counts many hits at once and reads counts.
type BulkCounter interface {
	Count(ctx context.Context, hits []counter.Hit) ([]counter.Outcome, error)
	CountFiltered(ctx context.Context, hits []counter.FilteredHit) error
	CountEvents(ctx context.Context, events []counter.Event) error
	PageStats(ctx context.Context, s counter.Site, pages []string) ([]counter.Stats, error)
}

// Sites looks up sites.
type Sites interface {
	ByKey(writeKey string) (*site.Active, bool)
	BySecret(secret string) (*site.Active, bool)
	ByDomain(domain string) (*site.Active, bool)
	AnyAllows(host string) bool
}

// Notifier notifies live streams that a site has new hits.
type Notifier interface{ Notify(id uuid.UUID) }

// Handler serves the routes below Prefix and PlausiblePath. All fields except Countries,
// TrustedProxies, Now and MaxPages are required.
type Handler struct {
	Sites          Sites
	Counter        Counter
	Bulk           BulkCounter
	Notifier       Notifier
	Visitors       *visitor.Identifier
	Bots           *botfilter.Matcher
	RateLimiter    *botfilter.RateLimiter
	Referrers      *dimensions.Referrers
	Countries      *dimensions.Countries // nil: no countries
	TrustedProxies clientaddr.Proxies    // whose X-Forwarded-For is trusted
	Now            func() time.Time
	Log            *slog.Logger
	Tracker        *Tracker
	MaxPages       int // per site and day; 0: DefaultMaxPages

	pages pageLimiter
}

func (in *Handler) now() time.Time {
	if in.Now == nil {
		return time.Now()
	}
	return in.Now()
}

// hit is a parsed hit.
type hit struct {
	site     *site.Active
	kind     counter.Kind
	page     string
	url      string // of the page, with the parameters that its name lacks
	referrer string
	view     string
	at       time.Time
	traits   visitor.Traits
}

// traitsOf returns the visitor's traits in a browser's request.
func (in *Handler) traitsOf(r *http.Request) visitor.Traits {
	return visitor.Traits{Address: in.TrustedProxies.Client(r), UserAgent: r.Header.Get("User-Agent")}
}

// filterReason returns the reason to filter a browser's request; empty for a
// reader's.
func (in *Handler) filterReason(h http.Header, isWebdriver bool) botfilter.Reason {
	if botfilter.HasOptedOut(h) {
		return botfilter.OptOut
	}
	if reason := in.Bots.MatchRequest(h); reason != "" {
		return reason
	}
	if isWebdriver {
		return botfilter.Automation
	}
	return ""
}

// pageName returns the page that a hit is counted for.
func (in *Handler) pageName(h hit) string {
	limit := in.MaxPages
	if limit == 0 {
		limit = DefaultMaxPages
	}
	return in.pages.nameFor(h.site.ID, h.page, in.now(), limit)
}

// countHit counts a browser's hit, or that it was filtered; counted is false then.
func (in *Handler) countHit(ctx context.Context, h hit, reason botfilter.Reason) (counted bool, err error) {
	h.page = in.pageName(h)
	if reason == "" {
		built, err := in.buildHit(ctx, h)
		if err != nil {
			return false, err
		}
		within, err := in.RateLimiter.Allow(ctx, botfilter.Source{
			Site: h.site.ID, Visitor: rateID(built.Visitor), Kind: rateKind(h.kind),
		},
			botfilter.Limit{Max: h.site.RateHits, Window: time.Duration(h.site.RateSeconds) * time.Second})
		if err != nil {
			return false, err
		}
		if within {
			if _, err := in.Counter.Count(ctx, built); err != nil {
				return false, err
			}
			in.Notifier.Notify(h.site.ID)
			return true, nil
		}
		reason = botfilter.Rate
	}
	return false, in.Counter.CountFiltered(ctx, counter.FilteredHit{
		Site: h.site.CounterSite, Page: h.page, Reason: string(reason), At: h.at,
	})
}

// rateID returns the visitor's id for rate limiting; the site's own id if there
// is one.
func rateID(v counter.Visitor) uint64 {
	if v.ID != 0 {
		return uint64(v.ID)
	}
	return v.Hash
}

// buildHit converts a parsed hit to one without personal data.
func (in *Handler) buildHit(ctx context.Context, h hit) (counter.Hit, error) {
	v, err := in.identify(ctx, h)
	if err != nil {
		return counter.Hit{}, err
	}
	agent := h.traits.UserAgent
	counted := counter.Hit{
		Site: h.site.CounterSite, Page: h.page, Kind: h.kind, Visitor: v, At: h.at,
		Country: in.Countries.Lookup(h.traits.Address), Device: dimensions.Device(agent),
		Referrer: in.Referrers.Resolve(h.referrer, agent, h.site.Owns), View: h.view,
	}
	if h.kind == counter.View {
		arrival := in.Referrers.Arrival(h.url, h.referrer, agent, h.site.Owns)
		counted.Channel, counted.Source, counted.Campaign = string(arrival.Channel), arrival.Source, arrival.Campaign
		counted.Browser, counted.OS = dimensions.Browser(agent), dimensions.OS(agent)
		counted.From = in.referringPage(h)
		counted.Link = linkOf(h.url)
	}
	return counted, nil
}

// linkOf returns the code of the short link that led to a URL; "" for none.
func linkOf(address string) string {
	_, query, _ := strings.Cut(address, "?")
	if !strings.Contains(query, linkcode.Parameter) {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if code := u.Query().Get(linkcode.Parameter); linkcode.IsValid(code) {
		return code
	}
	return ""
}

// referringPage returns the page of the same site that led to a view, if the site
// names its pages by their URLs; "" otherwise.
func (in *Handler) referringPage(h hit) string {
	host, at := hostOf(h.referrer), hostOf(h.url)
	if host == "" || !h.site.Owns(host) || !strings.HasPrefix(h.page, "/") {
		return ""
	}
	if at != "" && at != host { // browsers send only the host then
		return ""
	}
	name, problem := PageName(h.referrer)
	if problem != nil {
		return ""
	}
	h.page = name
	return in.pageName(h)
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

// Classify builds a hit from a request that doesn't come from a tracker, such
// as that of a short link. reason is the reason to filter it; empty for a
// reader's.
func (in *Handler) Classify(
	ctx context.Context, r *http.Request, s counter.Site,
) (h counter.Hit, reason string, err error) {
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
	within, err := in.RateLimiter.Allow(ctx, botfilter.Source{Site: s.ID, Visitor: hash, Kind: 'l'},
		botfilter.Limit{Max: site.DefaultRateHits, Window: site.DefaultRateWindow})
	if err != nil {
		return counter.Hit{}, "", err
	}
	if !within {
		return counter.Hit{}, string(botfilter.Rate), nil
	}
	return counter.Hit{
			Site: s, Visitor: counter.Visitor{Hash: hash}, At: at,
			Country: in.Countries.Lookup(traits.Address), Device: dimensions.Device(traits.UserAgent),
			Referrer: in.Referrers.Resolve(r.Header.Get("Referer"), traits.UserAgent, func(string) bool {
				return false
			}),
		},
		"", nil
}

// rateKind returns the kind under which hits are rate limited; each has its own
// limit.
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
