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
	// saltRetention is how long a salt is retained after its day or week, for hits
	// that servers send later. Afterwards hashes can't be reversed by trying out
	// addresses.
	saltRetention = 48 * time.Hour
	// maxCachedSalts is the maximum number of salts in memory: zones times days.
	maxCachedSalts = 256
)

// Salts provides all processes with the same random salt per day or week. The
// process that needs it first generates it, and it expires in Redis. It is safe
// for concurrent use.
type Salts struct {
	redis redis.Cmdable

	mu    sync.RWMutex
	known map[period]salt
}

type salt struct {
	bytes     []byte
	expiresAt time.Time
}

// NewSalts returns salts stored in Redis. The caller closes the client.
func NewSalts(client redis.Cmdable) *Salts {
	return &Salts{redis: client, known: map[period]salt{}}
}

// period is a day or a week in a zone, identified by its first day.
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
		local = local.AddDate(0, 0, -(int(local.Weekday())+6)%7) // weeks start on Monday (ISO 8601)
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

// Get returns the salt of the day or week of a time.
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
	// One command, so that the first of several processes sets the salt.
	stored, err := s.redis.SetArgs(ctx, p.key(), fresh,
		redis.SetArgs{Mode: "NX", Get: true, ExpireAt: end.Add(saltRetention)}).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		stored = fresh
	case err != nil:
		return nil, fmt.Errorf("read the visitors' salt: %w", err)
	case len(stored) != saltBytes:
		return nil, errors.New("read the visitors' salt: unexpected value in Redis")
	}
	s.cache(p, salt{stored, end.Add(saltRetention)}, at)
	return stored, nil
}

func (s *Salts) cache(p period, one salt, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, cached := range s.known {
		if cached.expiresAt.Before(now) || len(s.known) >= maxCachedSalts {
			delete(s.known, old)
		}
	}
	s.known[p] = one
}
