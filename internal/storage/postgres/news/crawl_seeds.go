package news

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// maxSeeds is how many seeds a workspace may have.
const maxSeeds = 20_000

// CreateSeeds stores and enqueues the seeds that the workspace does not have
// yet, and returns them.
func (s *DomainStore) CreateSeeds(
	ctx context.Context, seeds []crawl.Seed, key idempotency.Key,
) (out []crawl.Seed, replayed bool, err error) {
	if len(seeds) == 0 {
		return nil, false, nil
	}
	workspaceID := seeds[0].WorkspaceID
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, workspaceID, key, seeds[0].ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err := q.GetSeed(ctx, db.GetSeedParams{ID: earlier, WorkspaceID: workspaceID})
			if err != nil {
				return tx.OrNotFound(err, "seed")
			}
			out = []crawl.Seed{seedFromRow(row.Seed, row.Domain)}
			return nil
		}
		count, err := q.CountSeeds(ctx, workspaceID)
		if err != nil {
			return err
		}
		if int(count)+len(seeds) > maxSeeds {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_seeds",
				Message: fmt.Sprintf("A workspace can have at most %d seeds. Delete some first.", maxSeeds),
			}
		}
		domains, err := upsertDomains(ctx, q, seeds)
		if err != nil {
			return err
		}
		for _, n := range seeds {
			d := domains[n.URL.Domain()]
			row, err := q.InsertSeed(ctx, db.InsertSeedParams{
				ID: n.ID, WorkspaceID: workspaceID, DomainID: d.ID,
				UrlID: crawl.URLID(n.URL), Url: n.URL.String(),
				Kind: db.UrlKind(n.Kind), Title: n.Title, Status: db.SeedStatus(n.Status), Priority: n.Priority,
				MinIntervalSeconds: seconds(n.MinInterval), MaxIntervalSeconds: seconds(n.MaxInterval),
				IntervalSeconds: seconds(n.Interval),
				Allow:           column.List(n.Rules.Allow), Deny: column.List(n.Rules.Deny),
				MaxDepth:    n.Rules.MaxDepth,
				DailyBudget: n.Rules.DailyBudget,
			})
			if tx.NoRows(err) {
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, seedFromRow(row, d.Domain))
			if err := tx.Record(ctx, q.tx, workspaceID, audit.SeedCreated, "seed", row.ID,
				map[string]any{"domain": d.Domain}); err != nil {
				return err
			}
		}
		return nil
	})
	return out, replayed, err
}

// upsertDomains returns the domains of seeds, inserting those that are missing.
// It locks them in the order of LockDomains.
func upsertDomains(ctx context.Context, q *queries, seeds []crawl.Seed) (map[string]db.CrawlDomain, error) {
	all := map[string]db.CrawlDomain{}
	for _, n := range seeds {
		all[n.URL.Domain()] = db.CrawlDomain{}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, err := q.UpsertCrawlDomain(ctx, name)
		if err != nil {
			return nil, err
		}
		all[name] = d
	}
	return all, nil
}

// GetSeed returns a seed of a workspace.
func (s *DomainStore) GetSeed(ctx context.Context, workspaceID, id uuid.UUID) (crawl.Seed, error) {
	row, err := s.q.GetSeed(ctx, db.GetSeedParams{ID: id, WorkspaceID: workspaceID})
	return seedFromRow(row.Seed, row.Domain), tx.OrNotFound(err, "seed")
}

// ListSeeds lists a workspace's seeds, oldest first. domain may be empty.
func (s *DomainStore) ListSeeds(
	ctx context.Context, workspaceID uuid.UUID, domain string, after uuid.UUID, limit int,
) ([]crawl.Seed, error) {
	rows, err := s.q.ListSeeds(ctx, db.ListSeedsParams{
		WorkspaceID: workspaceID, Domain: domain, AfterID: after, PageSize: limit,
	})
	out := make([]crawl.Seed, len(rows))
	for i, row := range rows {
		out[i] = seedFromRow(row.Seed, row.Domain)
	}
	return out, err
}

// UpdateSeed applies a change to a seed. ifVersion 0 matches any version;
// change may return an error.
func (s *DomainStore) UpdateSeed(
	ctx context.Context, workspaceID, id uuid.UUID, ifVersion int64, change func(*crawl.Seed) error,
) (changed crawl.Seed, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.GetSeed(ctx, db.GetSeedParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return tx.OrNotFound(err, "seed")
		}
		n := seedFromRow(row.Seed, row.Domain)
		stale := &apperr.Error{
			Kind: apperr.KindPreconditionFailed, Code: "version_mismatch",
			Message: "The seed was changed in the meantime. Read it again and retry.",
		}
		if ifVersion != 0 && ifVersion != n.Version {
			return stale
		}
		if err := change(&n); err != nil {
			return err
		}
		updated, err := q.UpdateSeed(ctx, db.UpdateSeedParams{
			ID: id, WorkspaceID: workspaceID, Version: n.Version,
			Kind: db.UrlKind(n.Kind), Title: n.Title,
			Status: db.SeedStatus(n.Status), Priority: n.Priority, MinIntervalSeconds: seconds(n.MinInterval),
			MaxIntervalSeconds: seconds(
				n.MaxInterval),
			Allow: column.List(n.Rules.Allow), Deny: column.List(n.Rules.Deny), MaxDepth: n.Rules.MaxDepth,
			DailyBudget: n.Rules.DailyBudget,
		})
		if tx.NoRows(err) {
			return stale
		}
		if err != nil {
			return err
		}
		changed = seedFromRow(updated, row.Domain)
		return tx.Record(ctx, q.tx, workspaceID, audit.SeedChanged, "seed", id, map[string]any{
			"domain": row.Domain, "status": n.Status,
		})
	})
	return changed, err
}

// DeleteSeed deletes a seed. Discovered URLs stay in the frontier.
func (s *DomainStore) DeleteSeed(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.DeleteSeed(ctx, db.DeleteSeedParams{ID: id, WorkspaceID: workspaceID}); err != nil {
			return tx.OrNotFound(err, "seed")
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.SeedDeleted, "seed", id, nil)
	})
}

// EnqueueDueSeeds enqueues the URLs of due seeds and returns how many seeds
// were due.
func (s *DomainStore) EnqueueDueSeeds(ctx context.Context, batch int) (enqueued int, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		domains, err := q.ListDomainsWithDueSeeds(ctx, batch)
		if err != nil || len(domains) == 0 {
			return err
		}
		if err := q.LockDomains(ctx, domains); err != nil {
			return err
		}
		rows, err := q.TakeDueSeeds(ctx, db.TakeDueSeedsParams{Domains: domains, Batch: batch})
		if err != nil || len(rows) == 0 {
			return err
		}
		enqueued = len(rows)
		var hubs db.UpsertHubsParams
		seen := map[uuid.UUID]bool{} // a statement can update a row only once
		for _, row := range rows {
			if seen[row.UrlID] {
				continue
			}
			seen[row.UrlID] = true
			hubs.DomainIds, hubs.Ids, hubs.Urls = append(hubs.DomainIds, row.DomainID), append(hubs.Ids,
				row.UrlID), append(hubs.Urls, row.Url)
			hubs.Kinds, hubs.SeedNumbers = append(hubs.Kinds, string(row.Kind)), append(hubs.SeedNumbers, row.Number)
			hubs.Ranks = append(hubs.Ranks, crawl.HubRank(crawl.Kind(row.Kind)))
		}
		if err := q.UpsertHubs(ctx, hubs); err != nil {
			return err
		}
		return q.MarkDomainsDue(ctx, hubs.DomainIds)
	})
	return enqueued, err
}

// RecordSeedCrawl records a fetch of a hub for its seeds: whether it yielded
// new URLs, or its error. The next crawl is at least minWait away.
func (s *DomainStore) RecordSeedCrawl(
	ctx context.Context, domain int, url uuid.UUID, found bool, lastError string, minWait time.Duration,
) error {
	factor := 1.25
	if found {
		factor = 0.67
	}
	if lastError != "" {
		factor = 1
	}
	return s.q.RecordSeedCrawl(ctx, db.RecordSeedCrawlParams{
		DomainID: domain, UrlID: url, Found: found, LastError: lastError, Factor: factor,
		MinWaitSeconds: minWait.Seconds(),
	})
}

// SetSeedKind corrects the kind of a hub's seeds, of all workspaces.
func (s *DomainStore) SetSeedKind(ctx context.Context, domain int, url uuid.UUID, kind crawl.Kind) error {
	return s.q.SetSeedKind(ctx, db.SetSeedKindParams{DomainID: domain, UrlID: url, Kind: db.UrlKind(kind)})
}

// ListActiveSeeds lists the active seeds of a domain, of all workspaces.
func (s *DomainStore) ListActiveSeeds(ctx context.Context, domain int) ([]crawl.Seed, error) {
	rows, err := s.q.ListActiveSeeds(ctx, domain)
	out := make([]crawl.Seed, len(rows))
	for i, row := range rows {
		out[i] = seedFromRow(row, "")
	}
	return out, err
}

func seconds(d time.Duration) int { return int(d / time.Second) }

func seedFromRow(r db.Seed, domain string) crawl.Seed {
	n := crawl.Seed{
		ID: r.ID, Number: r.Number, WorkspaceID: r.WorkspaceID, DomainID: r.DomainID, Domain: domain,
		Kind: crawl.Kind(r.Kind), Title: r.Title,
		Status: crawl.SeedStatus(r.Status), Priority: r.Priority,
		MinInterval: time.Duration(r.MinIntervalSeconds) * time.Second,
		MaxInterval: time.Duration(r.MaxIntervalSeconds) * time.Second,
		Interval:    time.Duration(r.IntervalSeconds) * time.Second, Rules: crawl.Rules{
			Allow: r.Allow, Deny: r.Deny, MaxDepth: r.MaxDepth, DailyBudget: r.DailyBudget,
		},
		NextCrawl: r.NextCrawl, LastCrawl: r.LastCrawl, LastFound: r.LastFound, LastError: r.LastError,
		Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	n.URL = parseStoredURL(r.Url)
	return n
}

// parseStoredURL parses a URL that was canonical when it was stored.
func parseStoredURL(text string) (u weburl.URL) {
	_ = u.UnmarshalText([]byte(text))
	return u
}
