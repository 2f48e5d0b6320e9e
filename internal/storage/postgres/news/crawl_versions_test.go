package news_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
)

// storeVersions records versions of a page, the oldest first, an hour apart.
func (n *newsroom) storeVersions(d crawl.Domain, u crawl.URL, hashes ...string) {
	n.T.Helper()
	for i, hash := range hashes {
		at := time.Now().UTC().Add(time.Duration(i-len(hashes)) * time.Hour)
		u.State, u.RawHash = crawl.Stored, hash
		recorded, err := n.News.Frontier.RecordFetches(n.T.Context(),
			[]crawl.FetchRecord{{
				URL: u, DueIn: 0, Requests: 1, Changed: true, IsFirstVersion: i == 0,
				ObjectKey: crawl.ObjectKey(d.Name, u.ID, hash),
				Version: &crawl.PageVersion{
					DomainID: d.ID, URLID: u.ID, FetchedAt: at, Status: 200, Kind: crawl.Article, RawHash: hash,
					FinalURL: u.URL,
				},
			}})
		n.Must(err)
		if !recorded[0] {
			n.T.Fatal("the lease was lost")
		}
		if again := n.lease(d, 1); len(again) == 1 {
			u = again[0]
		}
	}
	n.Must(n.News.Frontier.ReleaseLeases(n.T.Context(), d.ID, u.Lease, []uuid.UUID{u.ID}, time.Hour))
}

func TestDeleteOldVersions_RetainsSharedObjects(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 1, 3)
	u := n.lease(d, 1)[0]
	n.storeVersions(d, u, "a", "b", "c", "a", "e", "f")
	var deleted []string
	deleteOld := func(maxVersions int, maxAge time.Duration) {
		t.Helper()
		deleted = nil
		_, _, err := n.News.Domains.DeleteOldVersions(t.Context(), d.ID, maxVersions, maxAge, 100,
			func(_ context.Context, key string) error {
				deleted = append(deleted, strings.TrimSuffix(key[strings.LastIndex(key, "/")+1:], ".zst"))
				return nil
			})
		n.Must(err)
		slices.Sort(deleted)
	}
	left := func() int { return n.Count("select count(*) from page_versions") }
	const old = 365 * 24 * time.Hour
	deleteOld(6, old)
	if left() != 6 || len(deleted) != 0 {
		t.Errorf("as many versions as allowed: got %d left, %v deleted, want 6 left", left(), deleted)
	}
	// The page returned to an older content, whose object is still needed.
	deleteOld(3, old)
	if left() != 3 || !slices.Equal(deleted, []string{"b", "c"}) {
		t.Errorf("got %d versions left, %v deleted", left(), deleted)
	}
	// Leased URLs are skipped: their fetch may store that content again.
	n.Exec("update urls set due_at = now() where kind = 'article'")
	recorded := n.lease(d, 1)
	deleteOld(1, old)
	if left() != 3 || len(deleted) != 0 {
		t.Errorf("leased URL: got %d versions left, %v deleted, want 3 left", left(), deleted)
	}
	n.Must(n.News.Frontier.ReleaseLeases(t.Context(), d.ID, recorded[0].Lease, []uuid.UUID{recorded[0].ID}, time.Hour))
	// The age limit applies to all versions except for the newest.
	deleteOld(100, 90*time.Minute)
	if left() != 1 || !slices.Equal(deleted, []string{"a", "e"}) {
		t.Errorf("got %d versions left, %v deleted", left(), deleted)
	}
	deleteOld(1, time.Nanosecond)
	if left() != 1 || len(deleted) != 0 {
		t.Errorf("newest version: got %d left, %v deleted, want 1 left", left(), deleted)
	}
}
