package pubsub

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// SiteSignals notifies live streams that a site has new hits, at most a few
// times a second per site. It is safe for concurrent use.
type SiteSignals struct {
	bus *Bus

	mu      sync.Mutex
	sites   map[uuid.UUID]struct{}
	sending bool
}

// NewSiteSignals returns signals over Redis. The caller closes the client.
func NewSiteSignals(client redis.UniversalClient, log *slog.Logger) *SiteSignals {
	return &SiteSignals{bus: NewBus(client, log)}
}

// signalInterval is the minimum time between two signals of a site.
const signalInterval = 250 * time.Millisecond

func siteChannel(id uuid.UUID) string { return "dateline:site:" + id.String() }

// Notify signals that a site has new hits. It neither blocks nor fails.
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

// send publishes until there are no more signals.
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
			p.bus.log.Warn("failed to publish site signals; live streams are delayed until they poll", "sites", len(sites), "error", err)
		}
		time.Sleep(signalInterval)
	}
}

// Listen returns a channel that receives a value soon after each Notify, until
// ctx ends. Values may be merged, or lost while Redis is unavailable.
func (p *SiteSignals) Listen(ctx context.Context, site uuid.UUID) <-chan struct{} {
	return p.bus.listen(ctx, siteChannel(site))
}
