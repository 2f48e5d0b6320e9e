package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/db"
)

// LeaseURLs takes URLs that are due: hubs and new pages, and a quarter of what
// was fetched before, so that neither keeps the other waiting for ever. Their
// last crawl is now: a fetch that dies is not begun again at once.
func (s *Store) LeaseURLs(ctx context.Context, l crawl.LeaseRequest) (leased []crawl.URL, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		d, err := q.LockDomain(ctx, l.Domain.ID)
		if err != nil || d.PausedAt != nil || d.Epoch != l.Domain.Epoch {
			return err
		}
		var rows []db.Url
		for _, part := range []struct{ from, to, most int }{
			{0, crawl.MinRefreshRank - 1, max(l.Limit-l.Limit/4, 1)}, {crawl.MinRefreshRank, crawl.MaxRank, l.Limit}, {0, crawl.MinRefreshRank - 1, l.Limit},
		} {
			most := min(part.most, l.Limit-len(rows))
			if most <= 0 {
				break
			}
			more, err := q.LeaseRanks(ctx, db.LeaseRanksParams{Lease: l.LeaseID, Seconds: l.TTL.Seconds(), DomainID: d.ID,
				FromRank: int32(part.from), ToRank: int32(part.to), Batch: int32(most)}) //nolint:gosec // 0 to 15, and hundreds
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
		if len(rows) == 0 {
			return nil
		}
		leased, err = s.withinBudgets(ctx, q, l, d, rows)
		return err
	})
	slices.SortStableFunc(leased, func(a, b crawl.URL) int { return cmp.Compare(a.Rank, b.Rank) })
	return leased, err
}

// withinBudgets charges the day's budgets with pages, and puts off what is
// beyond them or what no active seed wants. Hubs are free: they are bounded by
// their intervals.
func (s *Store) withinBudgets(ctx context.Context, q *db.Queries, l crawl.LeaseRequest, d db.CrawlDomain, rows []db.Url) (leased []crawl.URL, err error) {
	seeds, err := q.SeedsOfDomain(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	today := time.Now().UTC()
	left := map[int32]int{}
	for _, n := range seeds {
		left[n.No] = 1 << 30
		if n.Budget > 0 {
			left[n.No] = int(n.Budget)
			if n.BudgetDay.Valid && n.BudgetDay.Time.Equal(today.Truncate(24*time.Hour)) {
				left[n.No] -= int(n.BudgetUsed)
			}
		}
	}
	ofDomain := 1 << 30
	if l.DailyBudget > 0 {
		ofDomain = l.DailyBudget - int(d.BudgetUsed)
	}
	spent, pages := map[int32]int32{}, int32(0)
	var idle, tomorrow []uuid.UUID
	for _, r := range rows {
		seed := int32(0)
		if r.SeedNo != nil {
			seed = *r.SeedNo
		}
		rest, wanted := left[seed]
		switch {
		case !wanted:
			idle = append(idle, r.ID)
			continue
		case r.Kind == db.UrlKindArticle && (rest <= 0 || ofDomain <= 0):
			tomorrow = append(tomorrow, r.ID)
			continue
		case r.Kind == db.UrlKindArticle:
			left[seed]--
			ofDomain--
			spent[seed]++
			pages++
		}
		leased = append(leased, urlFromRow(r))
	}
	midnight := today.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(today)
	for _, put := range []struct {
		ids []uuid.UUID
		off time.Duration
	}{{idle, l.IdleDelay}, {tomorrow, midnight}} {
		if len(put.ids) > 0 {
			if err := q.ReleaseLeases(ctx, db.ReleaseLeasesParams{DomainID: d.ID, Ids: put.ids, Lease: l.LeaseID, Seconds: put.off.Seconds()}); err != nil {
				return nil, err
			}
		}
	}
	if pages > 0 {
		var charge db.SpendSeedsParams
		for no, n := range spent {
			charge.Nos, charge.Counts = append(charge.Nos, no), append(charge.Counts, n)
		}
		if err := q.SpendSeeds(ctx, charge); err != nil {
			return nil, err
		}
		if err := q.SpendDomain(ctx, db.SpendDomainParams{ID: d.ID, N: pages}); err != nil {
			return nil, err
		}
	}
	return leased, nil
}

// RenewLeases keeps URLs for longer.
func (s *Store) RenewLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, ttl time.Duration) error {
	return s.q.RenewLeases(ctx, db.RenewLeasesParams{DomainID: domain, Ids: ids, Lease: lease, Seconds: ttl.Seconds()})
}

// ReleaseLeases gives URLs back that were not fetched.
func (s *Store) ReleaseLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, wait time.Duration) error {
	return s.q.ReleaseLeases(ctx, db.ReleaseLeasesParams{DomainID: domain, Ids: ids, Lease: lease, Seconds: wait.Seconds()})
}

// AcquireSlot closes a gate for hold, if it is open; else it says how long it is
// closed.
func (s *Store) AcquireSlot(ctx context.Context, key string, holder uuid.UUID, hold time.Duration) (taken bool, wait time.Duration, err error) {
	_, err = s.q.TakeGate(ctx, db.TakeGateParams{Key: key, Hold: hold.Seconds(), Holder: holder})
	if err == nil {
		return true, 0, nil
	}
	if !noRows(err) {
		return false, 0, err
	}
	left, err := s.q.WaitOfGate(ctx, key)
	if noRows(err) {
		return false, 0, nil
	}
	return false, time.Duration(left * float64(time.Second)), err
}

// ReleaseSlot opens a gate after a pause. Who lost the gate changes nothing.
func (s *Store) ReleaseSlot(ctx context.Context, key string, holder uuid.UUID, pause time.Duration) error {
	return s.q.ReleaseGate(ctx, db.ReleaseGateParams{Key: key, Holder: holder, Seconds: pause.Seconds()})
}

// ReserveSlot gives the next free moment of a gate that lets one through every
// spacing; ok is false when it is further away than most.
func (s *Store) ReserveSlot(ctx context.Context, key string, spacing, most time.Duration) (wait time.Duration, ok bool, err error) {
	left, err := s.q.ReserveGate(ctx, db.ReserveGateParams{Key: key, Spacing: spacing.Seconds(), Most: most.Seconds()})
	if noRows(err) {
		return most, false, nil
	}
	return time.Duration(left * float64(time.Second)), err == nil, err
}

// KnownURLs says which of a domain's URLs are in the frontier.
func (s *Store) KnownURLs(ctx context.Context, domain int32, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	known, err := s.q.KnownURLs(ctx, db.KnownURLsParams{DomainID: domain, Ids: ids})
	out := make(map[uuid.UUID]bool, len(known))
	for _, id := range known {
		out[id] = true
	}
	return out, err
}

// sectionLimit bounds SectionsOfDomain.
const sectionLimit = 10_000

// ListSections lists the sections of a domain that were found and are
// looked at again.
func (s *Store) ListSections(ctx context.Context, domain int32) ([]string, error) {
	return s.q.SectionsOfDomain(ctx, db.SectionsOfDomainParams{DomainID: domain, Rank: int16(crawl.HubRank(crawl.Section)), Batch: sectionLimit}) //nolint:gosec // 0 to 15
}

// ListURLKeys lists what the frontier knows, for the filter.
func (s *Store) ListURLKeys(ctx context.Context, after crawl.URLKey, limit int) ([]crawl.URLKey, error) {
	rows, err := s.q.URLsAfter(ctx, db.URLsAfterParams{DomainID: after.DomainID, ID: after.ID, Batch: int32(limit)}) //nolint:gosec // thousands
	out := make([]crawl.URLKey, len(rows))
	for i, r := range rows {
		out[i] = crawl.URLKey{DomainID: r.DomainID, ID: r.ID}
	}
	return out, err
}

// EstimateURLCount is about how many URLs the frontier knows, as Postgres last looked.
func (s *Store) EstimateURLCount(ctx context.Context) (n int64, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
		from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'urls'::regclass`).Scan(&n)
	return n, err
}

func urlFromRow(r db.Url) crawl.URL {
	u := crawl.URL{DomainID: r.DomainID, ID: r.ID, URL: r.Url, Kind: crawl.Kind(r.Kind), State: crawl.State(r.State), Rank: int(r.Rank), Depth: int(r.Depth),
		Attempts: int(r.Tries), Interval: time.Duration(r.EverySeconds) * time.Second, FoundAt: r.FoundAt, LastStatus: int(r.LastStatus),
		ETag: r.Etag, LastModified: r.LastModified, ContentHash: r.ContentHash, RawHash: r.RawHash, Canonical: r.Canonical}
	if r.Lease != nil {
		u.Lease = *r.Lease
	}
	if r.SeedNo != nil {
		u.SeedNumber = *r.SeedNo
	}
	if r.Simhash != nil {
		u.SimHash = *r.Simhash
	}
	return u
}
