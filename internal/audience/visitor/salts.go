package visitor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	saltBytes = 32
	// saltRetention is how long a salt outlives its day or week: hits that servers send
	// later are still of the visitors of their time. After it, nobody can try out
	// which address a hash is of.
	saltRetention = 48 * time.Hour
	// maxCachedSalts bounds what is kept in memory: zones times days.
	maxCachedSalts = 256
)

// Salts gives all processes the same random salt for a day or week. It is made
// by whoever needs it first, and forgotten by Redis itself. It is safe for
// concurrent use.
type Salts struct {
	redis redis.UniversalClient

	mu    sync.RWMutex
	known map[period]salt
}

type salt struct {
	bytes     []byte
	expiresAt time.Time
}

// NewSalts uses a Redis client that the caller closes.
func NewSalts(client redis.UniversalClient) *Salts {
	return &Salts{redis: client, known: map[period]salt{}}
}

// period is a day or a week of a zone, by its first day.
type period struct {
	zone   string
	first  date
	weekly bool
}

type date struct {
	year  int
	month time.Month
	day   int
}

func periodOf(zone *time.Location, at time.Time, weekly bool) (p period, end time.Time) {
	local := at.In(zone)
	days := 1
	if weekly {
		local = local.AddDate(0, 0, -(int(local.Weekday())+6)%7) // weeks begin on Monday (ISO 8601)
		days = 7
	}
	y, m, d := local.Date()
	return period{zone.String(), date{y, m, d}, weekly}, time.Date(y, m, d+days, 0, 0, 0, 0, zone)
}

func (p period) key() string {
	kind := "day"
	if p.weekly {
		kind = "week"
	}
	return fmt.Sprintf("views:salt:%s:%04d-%02d-%02d:%s", kind, p.first.year, p.first.month, p.first.day, p.zone)
}

// Get gives the salt of the day, or week, in which a time lies.
func (s *Salts) Get(ctx context.Context, zone *time.Location, at time.Time, weekly bool) ([]byte, error) {
	p, end := periodOf(zone, at, weekly)
	s.mu.RLock()
	known, ok := s.known[p]
	s.mu.RUnlock()
	if ok {
		return known.bytes, nil
	}
	fresh := make([]byte, saltBytes)
	_, _ = rand.Read(fresh) // never fails, see crypto/rand
	// One command, so that the first of several processes decides.
	was, err := s.redis.SetArgs(ctx, p.key(), fresh, redis.SetArgs{Mode: "NX", Get: true, ExpireAt: end.Add(saltRetention)}).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		was = fresh
	case err != nil:
		return nil, fmt.Errorf("the salt of visitors: %w", err)
	case len(was) != saltBytes:
		return nil, errors.New("the salt of visitors: Redis has something else there")
	}
	s.cache(p, salt{was, end.Add(saltRetention)}, at)
	return was, nil
}

func (s *Salts) cache(p period, one salt, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, there := range s.known {
		if there.expiresAt.Before(now) || len(s.known) >= maxCachedSalts {
			delete(s.known, old)
		}
	}
	s.known[p] = one
}
