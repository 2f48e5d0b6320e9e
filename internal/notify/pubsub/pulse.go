package pubsub

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// SiteSignals tells those who look at a site that something was counted there: at
// most a few times a second, however much that is. It is safe for concurrent
// use.
type SiteSignals struct {
	bus *Bus

	mu      sync.Mutex
	sites   map[uuid.UUID]struct{}
	sending bool
}

// NewSiteSignals uses a Redis client that the caller closes.
func NewSiteSignals(client redis.UniversalClient, log *slog.Logger) *SiteSignals {
	return &SiteSignals{bus: NewBus(client, log)}
}

// beat is the time between two pulses of a site.
const beat = 250 * time.Millisecond

func siteChannel(id uuid.UUID) string { return "dateline:site:" + id.String() }

// Notify says that something was counted for a site. It neither waits nor fails.
func (p *SiteSignals) Notify(site uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, waiting := p.sites[site]; waiting || len(p.sites) >= atOnce {
		return
	}
	if p.sites == nil {
		p.sites = map[uuid.UUID]struct{}{}
	}
	p.sites[site] = struct{}{}
	if !p.sending {
		p.sending = true
		go p.send()
	}
}

// send publishes until there is nothing left to tell.
func (p *SiteSignals) send() {
	for {
		p.mu.Lock()
		sites := p.sites
		p.sites = nil
		if len(sites) == 0 {
			p.sending = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), sendPatience)
		_, err := p.bus.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for id := range sites {
				pipe.Publish(ctx, siteChannel(id), "")
			}
			return nil
		})
		cancel()
		if err != nil {
			p.bus.log.Warn("live notices of counts not sent; streams will see them at their next look", "sites", len(sites), "error", err)
		}
		time.Sleep(beat)
	}
}

// Listen gives a channel that receives a value soon after each Pulse, until ctx
// ends. Values may be merged, or missed while Redis is away.
func (p *SiteSignals) Listen(ctx context.Context, site uuid.UUID) <-chan struct{} {
	return p.bus.listen(ctx, siteChannel(site))
}
