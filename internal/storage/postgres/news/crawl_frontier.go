package news

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseURLs leases URLs that are due: three quarters hubs and new pages and one
// quarter refreshes, so that neither starves the other. It sets their last
// crawl, so that a URL whose fetch crashes is not fetched again at once.
func (s *FrontierStore) LeaseURLs(ctx context.Context, l crawl.LeaseRequest) (leased []crawl.URL, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		d, err := q.LockDomain(ctx, l.Domain.ID)
		if err != nil || d.PausedAt != nil || d.Epoch != l.Domain.Epoch {
			return err
		}
		var rows []db.Url
		for _, part := range []struct{ from, to, limit int }{
			{0, crawl.MinRefreshRank - 1, max(l.Limit-l.Limit/4, 1)},
			{crawl.MinRefreshRank, crawl.MaxRank, l.Limit},
			{0, crawl.MinRefreshRank - 1, l.Limit},
		} {
			limit := min(part.limit, l.Limit-len(rows))
			if limit <= 0 {
				break
			}
			more, err := q.LeaseRanks(ctx, db.LeaseRanksParams{
				Lease: l.LeaseID, Seconds: l.TTL.Seconds(),
				DomainID: d.ID,
				FromRank: part.from, ToRank: part.to, Batch: limit,
			})
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
		if len(rows) == 0 {
			return nil
		}
		leased, err = s.chargeBudgets(ctx, q, l, d, rows)
		return err
	})
	slices.SortStableFunc(leased, func(a, b crawl.URL) int { return cmp.Compare(a.Rank, b.Rank) })
	return leased, err
}

// chargeBudgets charges the daily budgets and postpones pages that are beyond
// them, or that have no active seed. Hubs are free; their intervals bound them.
func (s *FrontierStore) chargeBudgets(
	ctx context.Context, q *queries, l crawl.LeaseRequest, d db.CrawlDomain, rows []db.Url,
) (leased []crawl.URL, err error) {
	seeds, err := q.ListActiveSeeds(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	left := map[int]int{}
	for _, n := range seeds {
		left[n.Number] = 1 << 30
		if n.DailyBudget > 0 {
			left[n.Number] = n.DailyBudget
			if n.BudgetDay.Valid && n.BudgetDay.Time.Equal(now.Truncate(24*time.Hour)) {
				left[n.Number] -= n.BudgetUsed
			}
		}
	}
	domainLeft := 1 << 30
	if l.DailyBudget > 0 {
		domainLeft = l.DailyBudget - d.BudgetUsed
	}
	spent, pages := map[int]int{}, 0
	var idle, overBudget []uuid.UUID
	for _, r := range rows {
		seed := 0
		if r.SeedNumber != nil {
			seed = *r.SeedNumber
		}
		seedLeft, hasSeed := left[seed]
		switch {
		case !hasSeed:
			idle = append(idle, r.ID)
			continue
		case r.Kind == db.UrlKindArticle && (seedLeft <= 0 || domainLeft <= 0):
			overBudget = append(overBudget, r.ID)
			continue
		case r.Kind == db.UrlKindArticle:
			left[seed]--
			domainLeft--
			spent[seed]++
			pages++
		}
		leased = append(leased, urlFromRow(r))
	}
	untilMidnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
	for _, postponed := range []struct {
		ids   []uuid.UUID
		delay time.Duration
	}{{idle, l.IdleDelay}, {overBudget, untilMidnight}} {
		if len(postponed.ids) > 0 {
			if err := q.ReleaseLeases(ctx, db.ReleaseLeasesParams{
				DomainID: d.ID, Ids: postponed.ids, Lease: l.LeaseID,
				Seconds: postponed.delay.Seconds(),
			}); err != nil {
				return nil, err
			}
		}
	}
	if pages > 0 {
		var charge db.AddSeedBudgetUseParams
		for number, n := range spent {
			charge.Numbers, charge.Counts = append(charge.Numbers, number), append(charge.Counts, n)
		}
		if err := q.AddSeedBudgetUse(ctx, charge); err != nil {
			return nil, err
		}
		if err := q.AddDomainBudgetUse(ctx, db.AddDomainBudgetUseParams{ID: d.ID, N: pages}); err != nil {
			return nil, err
		}
	}
	return leased, nil
}

// RenewLeases extends leases.
func (s *FrontierStore) RenewLeases(
	ctx context.Context, domain int, lease uuid.UUID, ids []uuid.UUID, ttl time.Duration,
) error {
	return s.q.RenewLeases(ctx, db.RenewLeasesParams{DomainID: domain, Ids: ids, Lease: lease, Seconds: ttl.Seconds()})
}

// ReleaseLeases releases URLs that were not fetched.
func (s *FrontierStore) ReleaseLeases(
	ctx context.Context, domain int, lease uuid.UUID, ids []uuid.UUID, wait time.Duration,
) error {
	return s.q.ReleaseLeases(ctx, db.ReleaseLeasesParams{
		DomainID: domain, Ids: ids, Lease: lease, Seconds: wait.Seconds(),
	})
}

// AcquireSlot takes a request slot for ttl if it is free; otherwise it returns
// the time until it is.
func (s *FrontierStore) AcquireSlot(
	ctx context.Context, key string, holder uuid.UUID, ttl time.Duration,
) (acquired bool, wait time.Duration, err error) {
	_, err = s.q.AcquireSlot(ctx, db.AcquireSlotParams{Key: key, TtlSeconds: ttl.Seconds(), Holder: holder})
	if err == nil {
		return true, 0, nil
	}
	if !tx.NoRows(err) {
		return false, 0, err
	}
	left, err := s.q.GetSlotWait(ctx, key)
	if tx.NoRows(err) {
		return false, 0, nil
	}
	return false, time.Duration(left * float64(time.Second)), err
}

// ReleaseSlot frees a request slot after a pause. It does nothing if the slot
// has another holder by now.
func (s *FrontierStore) ReleaseSlot(ctx context.Context, key string, holder uuid.UUID, pause time.Duration) error {
	return s.q.ReleaseSlot(ctx, db.ReleaseSlotParams{Key: key, Holder: holder, Seconds: pause.Seconds()})
}

// ReserveSlot reserves the next free time of a slot that allows one request per
// spacing. ok is false if that is more than maxWait away.
func (s *FrontierStore) ReserveSlot(
	ctx context.Context, key string, spacing, maxWait time.Duration,
) (wait time.Duration, ok bool, err error) {
	left, err := s.q.ReserveSlot(ctx, db.ReserveSlotParams{
		Key: key, Spacing: spacing.Seconds(), MaxWaitSeconds: maxWait.Seconds(),
	})
	if tx.NoRows(err) {
		return maxWait, false, nil
	}
	return time.Duration(left * float64(time.Second)), err == nil, err
}

// KnownURLs returns which of a domain's URLs are in the frontier.
func (s *FrontierStore) KnownURLs(ctx context.Context, domain int, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	known, err := s.q.ListKnownURLs(ctx, db.ListKnownURLsParams{DomainID: domain, Ids: ids})
	out := make(map[uuid.UUID]bool, len(known))
	for _, id := range known {
		out[id] = true
	}
	return out, err
}

// sectionLimit bounds ListSections.
const sectionLimit = 10_000

// ListSections lists the discovered sections of a domain.
func (s *FrontierStore) ListSections(ctx context.Context, domain int) ([]string, error) {
	return s.q.ListSections(ctx, db.ListSectionsParams{
		DomainID: domain, Rank: crawl.HubRank(crawl.Section), Batch: sectionLimit,
	})
}

// ListURLKeys lists all URLs of the frontier, to rebuild the URL filter.
func (s *FrontierStore) ListURLKeys(ctx context.Context, after crawl.URLKey, limit int) ([]crawl.URLKey, error) {
	rows, err := s.q.ListURLKeys(ctx, db.ListURLKeysParams{
		DomainID: after.DomainID, ID: after.ID, Batch: limit,
	})
	out := make([]crawl.URLKey, len(rows))
	for i, r := range rows {
		out[i] = crawl.URLKey{DomainID: r.DomainID, ID: r.ID}
	}
	return out, err
}

// EstimateURLCount estimates the size of the frontier from the statistics of
// Postgres.
func (s *FrontierStore) EstimateURLCount(ctx context.Context) (n int64, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
		from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'urls'::regclass`).Scan(&n)
	return n, err
}

func urlFromRow(r db.Url) crawl.URL {
	u := crawl.URL{
		DomainID: r.DomainID, ID: r.ID, URL: r.Url, Kind: crawl.Kind(r.Kind), State: crawl.State(r.State),
		Rank: r.Rank, Depth: r.Depth,
		Attempts: r.Attempts, Interval: time.Duration(r.IntervalSeconds) * time.Second, FoundAt: r.FoundAt,
		LastStatus: r.LastStatus,
		ETag:       r.Etag, LastModified: r.LastModified, ContentHash: r.ContentHash, RawHash: r.RawHash,
		Canonical: r.Canonical,
	}
	if r.Lease != nil {
		u.Lease = *r.Lease
	}
	if r.SeedNumber != nil {
		u.SeedNumber = *r.SeedNumber
	}
	if r.Simhash != nil {
		u.SimHash = *r.Simhash
	}
	return u
}
