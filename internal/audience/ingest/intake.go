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
	Filtered(ctx context.Context, h counter.FilteredHit) error
}

// Ledger counts many hits at once, and knows what was counted.
type Ledger interface {
	Count(ctx context.Context, hits []counter.Hit) ([]counter.Outcome, error)
	Filtered(ctx context.Context, hits []counter.FilteredHit) error
	StatsOf(ctx context.Context, s counter.Site, pages []string) ([]counter.Stats, error)
}

// Sites knows the sites that are counted for.
type Sites interface {
	ByKey(writeKey string) (*site.Active, bool)
	BySecret(secret string) (*site.Active, bool)
	AnyOwns(host string) bool
}

// Listeners are told that something was counted for a site.
type Listeners interface{ Pulse(id uuid.UUID) }

// Intake serves the addresses below /v1/. All fields but Countries, Trusted,
// Now and MostPages must be set.
type Intake struct {
	Sites     Sites
	Counter   Counter
	Ledger    Ledger
	Listeners Listeners
	Visitors  *visitor.Identifier
	Robots    *botfilter.Matcher
	Rates     *botfilter.Rates
	Referrers *dimensions.Referrers
	Countries *dimensions.Countries // nil: none is known
	Trusted   []netip.Prefix        // proxies whose word counts on where a reader is
	Now       func() time.Time
	Log       *slog.Logger
	Tracker   *Tracker
	MostPages int // that a site may name in a day; 0: DefaultPages

	names names
}

func (in *Intake) now() time.Time {
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

// readerOf gives what a browser's request tells of its reader.
func (in *Intake) readerOf(r *http.Request) visitor.Traits {
	return visitor.Traits{Address: clientAddress(r, in.Trusted), Agent: r.Header.Get("User-Agent")}
}

// refusal is why a browser's request is not counted; "": nothing is known
// against it.
func (in *Intake) refusal(h http.Header, driven bool) botfilter.Reason {
	if botfilter.OptedOut(h) {
		return botfilter.OptOut
	}
	if reason := in.Robots.Request(h); reason != "" {
		return reason
	}
	if driven {
		return botfilter.Automation
	}
	return ""
}

// nameOf is the page that a hit counts for.
func (in *Intake) nameOf(h hit) string {
	most := in.MostPages
	if most == 0 {
		most = DefaultPages
	}
	return in.names.of(h.site.ID, h.page, in.now(), most)
}

// take counts a browser's hit, or that it was refused.
func (in *Intake) take(ctx context.Context, h hit, reason botfilter.Reason) error {
	h.page = in.nameOf(h)
	if reason == "" {
		counted, err := in.hit(ctx, h)
		if err != nil {
			return err
		}
		within, err := in.Rates.Allow(ctx, botfilter.Source{Site: h.site.ID, Visitor: rateID(counted.Visitor), Kind: kindByte(h.kind)},
			botfilter.Limit{Most: h.site.RateHits, Within: time.Duration(h.site.RateSeconds) * time.Second})
		if err != nil {
			return err
		}
		if within {
			if _, err := in.Counter.Count(ctx, counted); err != nil {
				return err
			}
			in.Listeners.Pulse(h.site.ID)
			return nil
		}
		reason = botfilter.Rate
	}
	return in.Counter.Filtered(ctx, counter.FilteredHit{Site: h.site.Views, Page: h.page, Reason: string(reason), At: h.at})
}

// rateID is who makes hits too often: readers with ids of the site are told
// apart by them.
func rateID(v counter.Visitor) uint64 {
	if v.ID != 0 {
		return uint64(v.ID)
	}
	return v.Hash
}

// hit makes of what is known what is counted: nothing personal is in it.
func (in *Intake) hit(ctx context.Context, h hit) (counter.Hit, error) {
	v, err := in.visitor(ctx, h)
	if err != nil {
		return counter.Hit{}, err
	}
	return counter.Hit{Site: h.site.Views, Page: h.page, Kind: h.kind, Visitor: v, At: h.at,
		Country: in.Countries.Of(h.traits.Address), Device: dimensions.Device(h.traits.Agent),
		Referrer: in.Referrers.Of(h.referrer, h.traits.Agent, h.site.Owns)}, nil
}

func (in *Intake) visitor(ctx context.Context, h hit) (v counter.Visitor, err error) {
	if h.site.Uniques == counter.Bitmap && h.traits.Login != "" {
		if v.ID, err = denseID(h.traits.Login, h.site.MaxID); err != nil {
			return v, err
		}
	}
	v.Hash, err = in.Visitors.Hash(ctx, h.site.Visitor, h.traits, h.at)
	return v, err
}

// Read tells who sends a request that is no tracker's: who follows a short link.
// reason says why it is not to be counted; "": it is a reader's.
func (in *Intake) Read(ctx context.Context, r *http.Request, s counter.Site) (h counter.Hit, reason string, err error) {
	if reason := in.refusal(r.Header, false); reason != "" {
		return counter.Hit{}, string(reason), nil
	}
	traits, at := in.readerOf(r), in.now()
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	hash, err := in.Visitors.Hash(ctx, visitor.Site{ID: s.ID, Zone: zone}, traits, at)
	if err != nil {
		return counter.Hit{}, "", err
	}
	within, err := in.Rates.Allow(ctx, botfilter.Source{Site: s.ID, Visitor: hash, Kind: 'l'}, botfilter.Limit{Most: site.DefaultHits, Within: site.DefaultWithin})
	if err != nil {
		return counter.Hit{}, "", err
	}
	if !within {
		return counter.Hit{}, string(botfilter.Rate), nil
	}
	return counter.Hit{Site: s, Visitor: counter.Visitor{Hash: hash}, At: at, Country: in.Countries.Of(traits.Address), Device: dimensions.Device(traits.Agent),
		Referrer: in.Referrers.Of(r.Header.Get("Referer"), traits.Agent, func(string) bool { return false })}, "", nil
}

// kindByte tells kinds apart whose limits do not add up.
func kindByte(k counter.Kind) byte {
	switch k {
	case counter.Click:
		return 'c'
	case counter.Convert:
		return 'o'
	default:
		return 'v'
	}
}
