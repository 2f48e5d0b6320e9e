package scheduling

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// counter counts posts as the database does, and how often it was asked.
type counter struct{ stored, asked int }

func (c *counter) ask() (int, error) {
	c.asked++
	return c.stored, nil
}

func TestCountCache_ReportsTheFirstPostBeyondTheLimit(t *testing.T) {
	for _, allowed := range []int{17, 50, 300, 2500} {
		var cache countCache
		var db counter
		account, from := uuid.New(), time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
		for db.stored < allowed+500 {
			db.stored++
			n, err := cache.count(account, from, from.Add(3*time.Hour), allowed, 1, db.ask)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := n > allowed, db.stored > allowed; got != want {
				t.Fatalf("limit %d: post %d: got a count of %d", allowed, db.stored, n)
			}
		}
		if limit := 2*max(cacheMargin, allowed/10) + 3; db.asked > limit {
			t.Errorf("limit %d: counted %d times for %d posts, want at most %d", allowed, db.asked, db.stored, limit)
		}
	}
}

func TestCountCache_KeepsAccountsAndWindowsApart(t *testing.T) {
	var cache countCache
	from := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	first, second := uuid.New(), uuid.New()
	count := func(account uuid.UUID, from, to time.Time, stored int) int {
		t.Helper()
		n, err := cache.count(account, from, to, 1000, 0, func() (int, error) { return stored, nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	day := 24 * time.Hour
	for _, c := range []struct {
		name     string
		account  uuid.UUID
		from, to time.Time
		stored   int
		want     int
	}{
		{"the first", first, from, from.Add(day), 5, 5},
		{"the same again", first, from, from.Add(day), 6, 5},
		{"a minute later", first, from.Add(time.Minute), from.Add(day + time.Minute), 6, 5},
		{"an hour later", first, from.Add(time.Hour), from.Add(day + time.Hour), 7, 7},
		{"a shorter window", first, from, from.Add(time.Hour), 2, 2},
		{"another account", second, from, from.Add(day), 9, 9},
	} {
		if got := count(c.account, c.from, c.to, c.stored); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}
