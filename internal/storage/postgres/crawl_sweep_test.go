package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
)

// keepsVersions records versions of a page, the oldest first, an hour apart.
func (n *newsroom) keepsVersions(d crawl.Domain, u crawl.URL, hashes ...string) {
	n.t.Helper()
	for i, hash := range hashes {
		at := time.Now().UTC().Add(time.Duration(i-len(hashes)) * time.Hour)
		u.State, u.RawHash = crawl.Stored, hash
		held, err := n.RecordFetches(n.t.Context(), []crawl.FetchRecord{{URL: u, DueIn: 0, Requests: 1, Changed: true, IsFirstVersion: i == 0, ObjectKey: crawl.ObjectKey(d.Name, u.ID, hash),
			Version: &crawl.PageVersion{DomainID: d.ID, URLID: u.ID, FetchedAt: at, Status: 200, Kind: crawl.Article, RawHash: hash, FinalURL: u.URL}}})
		n.must(err)
		if !held[0] {
			n.t.Fatal("the lease was lost")
		}
		if again := n.lease(d, 1); len(again) == 1 {
			u = again[0]
		}
	}
	n.must(n.ReleaseLeases(n.t.Context(), d.ID, u.Lease, []uuid.UUID{u.ID}, time.Hour))
}

func TestDeleteOldVersions_RetainsSharedObjects(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 1, 3)
	u := n.lease(d, 1)[0]
	n.keepsVersions(d, u, "a", "b", "c", "a", "e", "f")
	var dropped []string
	sweep := func(keep int, age time.Duration) {
		t.Helper()
		dropped = nil
		_, _, err := n.DeleteOldVersions(t.Context(), d.ID, keep, age, 100, func(_ context.Context, key string) error {
			dropped = append(dropped, strings.TrimSuffix(key[strings.LastIndex(key, "/")+1:], ".zst"))
			return nil
		})
		n.must(err)
		slices.Sort(dropped)
	}
	left := func() int { return n.count("select count(*) from page_versions") }
	const old = 365 * 24 * time.Hour
	sweep(6, old)
	if left() != 6 || len(dropped) != 0 {
		t.Errorf("%d versions are left, %v dropped: as many as are kept were there", left(), dropped)
	}
	// The page went back to an older content: that object is still needed.
	sweep(3, old)
	if left() != 3 || !slices.Equal(dropped, []string{"b", "c"}) {
		t.Errorf("%d versions are left, %v dropped", left(), dropped)
	}
	// What is being fetched is left alone: it may store that content again.
	n.exec("update urls set due_at = now() where kind = 'article'")
	held := n.lease(d, 1)
	sweep(1, old)
	if left() != 3 || len(dropped) != 0 {
		t.Errorf("%d versions of a page that is being fetched are left, %v dropped", left(), dropped)
	}
	n.must(n.ReleaseLeases(t.Context(), d.ID, held[0].Lease, []uuid.UUID{held[0].ID}, time.Hour))
	// Age takes all but the newest, however many may be kept.
	sweep(100, 90*time.Minute)
	if left() != 1 || !slices.Equal(dropped, []string{"a", "e"}) {
		t.Errorf("%d versions are left, %v dropped", left(), dropped)
	}
	sweep(1, time.Nanosecond)
	if left() != 1 || len(dropped) != 0 {
		t.Errorf("the newest version went: %d left, %v dropped", left(), dropped)
	}
}
