package visitor_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/visitor"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0"

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := timezone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestIdentifier_Hash(t *testing.T) {
	url := enginetest.Redis(t)
	client := enginetest.RedisClient(t, url)
	one := visitor.Identifier{Salts: visitor.NewSalts(client)}
	other := visitor.Identifier{Salts: visitor.NewSalts(enginetest.RedisClient(t, url))} // another process
	hanoi := zone(t, "Asia/Ho_Chi_Minh")
	now := time.Now()
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, hanoi)
	site := visitor.Site{ID: uuid.New(), Zone: hanoi, Key: []byte("key of the site"), UseCookie: true}
	of := func(i visitor.Identifier, s visitor.Site, tr visitor.Traits, at time.Time) uint64 {
		t.Helper()
		if tr.Address == (netip.Addr{}) {
			tr.Address = netip.MustParseAddr("203.0.113.7")
		}
		if tr.UserAgent == "" {
			tr.UserAgent = agent
		}
		h, err := i.Hash(t.Context(), s, tr, at)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	with := func(change func(*visitor.Site)) visitor.Site { s := site; change(&s); return s }
	base := of(one, site, visitor.Traits{}, noon)
	address := func(text string) visitor.Traits { return visitor.Traits{Address: netip.MustParseAddr(text)} }
	v6 := of(one, site, address("2001:db8:1:2:aaaa::1"), noon)
	for name, c := range map[string]struct {
		a, b uint64
		same bool
	}{
		"in another process": {base, of(other, site, visitor.Traits{}, noon), true},
		"later on the day": {
			base, of(one, site, visitor.Traits{}, noon.Add(11*time.Hour)), true,
		},
		"on the next day": {
			base, of(one, site, visitor.Traits{}, noon.Add(12*time.Hour)), false,
		},
		"on the day before": {
			base, of(one, site, visitor.Traits{}, noon.Add(-13*time.Hour)), false,
		},
		"with another address":     {base, of(one, site, address("203.0.113.8"), noon), false},
		"with the address as IPv6": {base, of(one, site, address("::ffff:203.0.113.7"), noon), true},
		"with another browser": {
			base, of(one, site, visitor.Traits{UserAgent: "Other"}, noon), false,
		},
		"on another site": {
			base, of(one, with(func(s *visitor.Site) { s.ID = uuid.New() }), visitor.Traits{}, noon), false,
		},
		"in the same /64": {v6, of(one, site, address("2001:db8:1:2:bbbb::2"), noon), true},
		"in the same /64 with a zone": {
			v6, of(one, site, address("2001:db8:1:2:bbbb::2%eth0"), noon), true,
		},
		"in the next /64": {v6, of(one, site, address("2001:db8:1:3:aaaa::1"), noon), false},
		"with a cookie":   {base, of(one, site, visitor.Traits{Cookie: "c1"}, noon), false},
		"with a cookie on a site without cookies": {
			base, of(one, with(func(s *visitor.Site) { s.UseCookie = false }), visitor.Traits{Cookie: "c1"}, noon),
			true,
		},
		"with the cookie a month later": {
			of(one, site, visitor.Traits{Cookie: "c1"}, noon),
			of(other, site, visitor.Traits{Cookie: "c1", UserAgent: "Other"}, noon.AddDate(0, 1, 0)), true,
		},
		"logged in, on another device": {
			of(one, site, visitor.Traits{Login: "42"}, noon),
			of(one, site, visitor.Traits{Login: "42", Cookie: "c1", Address: netip.MustParseAddr("198.51.100.1")},
				noon.AddDate(1, 0, 0)), true,
		},
		"a cookie that is another's login": {
			of(one, site, visitor.Traits{Login: "42"}, noon), of(one, site, visitor.Traits{Cookie: "42"}, noon), false,
		},
		"a login with another key": {
			of(one, site, visitor.Traits{Login: "42"}, noon),
			of(one, with(func(s *visitor.Site) { s.Key = []byte("other") }), visitor.Traits{Login: "42"}, noon), false,
		},
		"by name": {
			of(one, site, visitor.Traits{Login: "42"}, noon), visitor.LoginHash(site, "42"), true,
		},
		"weekly, with the salt of the day": {
			base, of(one, with(func(s *visitor.Site) { s.IsWeekly = true }), visitor.Traits{}, noon), false,
		},
		"the same day by another zone": {
			base, of(one, with(func(s *visitor.Site) { s.Zone = time.UTC }), visitor.Traits{}, noon), false,
		},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: the same visitor is %v", name, c.a == c.b)
		}
	}
}

// salts returns the keys in Redis with their TTLs.
func salts(t *testing.T, url string) map[string]time.Duration {
	t.Helper()
	client := enginetest.RedisClient(t, url)
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]time.Duration{}
	for _, key := range keys {
		ttl, err := client.TTL(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		out[key] = ttl
	}
	return out
}

// Weeks begin on Monday by the site's calendar.
func TestIdentifier_WeeklySalt(t *testing.T) {
	one := visitor.Identifier{Salts: visitor.NewSalts(enginetest.RedisClient(t, enginetest.Redis(t)))}
	hanoi := zone(t, "Asia/Ho_Chi_Minh")
	site := visitor.Site{ID: uuid.New(), Zone: hanoi, IsWeekly: true}
	monday := time.Date(2030, time.January, 7, 0, 0, 0, 0, hanoi)
	seen := map[uint64][]string{}
	for hours := -24; hours < 9*24; hours += 8 {
		at := monday.Add(time.Duration(hours) * time.Hour)
		h, err := one.Hash(t.Context(), site, visitor.Traits{Address: netip.MustParseAddr("203.0.113.7")}, at)
		if err != nil {
			t.Fatal(err)
		}
		seen[h] = append(seen[h], at.Format("Mon 02 15:04"))
	}
	var weeks []string
	for _, times := range seen {
		weeks = append(weeks, fmt.Sprint(len(times))+" from "+times[0])
	}
	got := strings.Join(weeks, "; ")
	for _, want := range []string{"3 from Sun 06 00:00", "21 from Mon 07 00:00", "6 from Mon 14 00:00"} {
		if len(weeks) != 3 || !strings.Contains(got, want) {
			t.Errorf("weeks are %s, without %s", got, want)
		}
	}
}

// A salt expires 48 hours after its day.
func TestSalts_Expire(t *testing.T) {
	url := enginetest.Redis(t)
	s := visitor.NewSalts(enginetest.RedisClient(t, url))
	y, m, d := time.Now().UTC().Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	if _, err := s.Get(t.Context(), time.UTC, midnight.Add(-time.Second), false); err != nil {
		t.Fatal(err)
	}
	for key, ttl := range salts(t, url) {
		if late := time.Until(midnight.Add(48 * time.Hour)); ttl > late+time.Minute || ttl < late-time.Minute {
			t.Errorf("TTL of %s: got %s, want %s", key, ttl, late)
		}
	}
}

// Processes that need a new salt at the same moment all get the same one.
func TestSalts_GeneratedOnce(t *testing.T) {
	url := enginetest.Redis(t)
	var wait sync.WaitGroup
	got := make([]string, 32)
	now := time.Now()
	for i := range got {
		s := visitor.NewSalts(enginetest.RedisClient(t, url))
		wait.Go(func() {
			one, err := s.Get(context.WithoutCancel(t.Context()), time.UTC, now, false)
			if err != nil {
				t.Error(err)
			}
			got[i] = string(one)
		})
	}
	wait.Wait()
	for _, one := range got {
		if len(one) != 32 || one != got[0] {
			t.Fatalf("%x and %x", one, got[0])
		}
	}
}

// Without Redis there is no salt, and no visitor is hashed with one that other
// processes do not have.
func TestSalts_RedisUnavailable(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	s := visitor.NewSalts(enginetest.RedisClient(t, url))
	stop()
	if got, err := s.Get(t.Context(), time.UTC, time.Now(), false); err == nil {
		t.Errorf("got the salt %x", got)
	}
}
