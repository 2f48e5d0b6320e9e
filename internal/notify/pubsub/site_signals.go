package pubsub

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// SiteSignals notifies listeners that the counts of a site changed, at most four times a
// second per site. It is safe for concurrent use.
type SiteSignals struct {
	bus *Bus

	mu      sync.Mutex
	sites   map[uuid.UUID]struct{}
	sending bool
}

// NewSiteSignals returns signals on a Redis client, which the caller closes.
func NewSiteSignals(client redis.UniversalClient, log *slog.Logger) *SiteSignals {
	return &SiteSignals{bus: NewBus(client, log)}
}

// signalInterval is the minimum interval between two signals of a site.
const signalInterval = 250 * time.Millisecond

func siteChannel(id uuid.UUID) string { return "dateline:site:" + id.String() }

// Notify signals that the counts of a site changed. It neither blocks nor fails.
func (s *SiteSignals) Notify(site uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, waiting := s.sites[site]; waiting || len(s.sites) >= maxPending {
		return
	}
	if s.sites == nil {
		s.sites = map[uuid.UUID]struct{}{}
	}
	s.sites[site] = struct{}{}
	if !s.sending {
		s.sending = true
		go s.send()
	}
}

// send publishes signals until none are pending.
func (s *SiteSignals) send() {
	for {
		s.mu.Lock()
		sites := s.sites
		s.sites = nil
		if len(sites) == 0 {
			s.sending = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
		_, err := s.bus.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for id := range sites {
				pipe.Publish(ctx, siteChannel(id), "")
			}
			return nil
		})
		cancel()
		if err != nil {
			s.bus.log.Warn("signals of sites not published; streams see the counts at their next poll", "sites",
				len(sites), "error", err)
		}
		time.Sleep(signalInterval)
	}
}

// Listen returns a channel that receives a value after each Notify, until ctx ends.
// Values can be merged, or lost while Redis is down.
func (s *SiteSignals) Listen(ctx context.Context, site uuid.UUID) <-chan struct{} {
	return s.bus.listen(ctx, siteChannel(site))
}
