package audience

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// CreateSite stores a site unless the workspace has maxSites.
func (s *SiteStore) CreateSite(
	ctx context.Context, w site.Site, maxSites int, key idempotency.Key,
) (created site.Site, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, w.WorkspaceID, key, w.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err := q.GetSite(ctx, db.GetSiteParams{ID: earlier, WorkspaceID: w.WorkspaceID})
			created = siteFromRow(row)
			return tx.OrNotFound(err, "site")
		}
		row, err := q.InsertSite(ctx, db.InsertSiteParams{
			ID: w.ID, WorkspaceID: w.WorkspaceID, Name: w.Name,
			Domains: column.List(w.Domains), TimeZone: w.TimeZone,
			WindowSeconds: w.WindowSeconds, UniqueMethod: string(w.UniqueMethod), MaxID: w.MaxID,
			RateHits: w.RateHits, RateSeconds: w.RateSeconds,
			Visitors: string(w.Visitors), WeeklyUniques: w.WeeklyUniques, PublicCounts: w.PublicCounts,
			Events: jsonList(w.Events), Goals: jsonList(w.Goals),
			WriteKey: w.WriteKey, SecretHash: w.SecretHash, VisitorKey: w.VisitorKey, MaxSites: maxSites,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_sites",
				Message: fmt.Sprintf("This workspace has reached the limit of %d sites. Delete one first.", maxSites),
			}
		}
		if err != nil {
			return err
		}
		created = siteFromRow(row)
		return tx.Record(ctx, q.tx, w.WorkspaceID, audit.SiteCreated, "site", w.ID, map[string]any{"name": w.Name})
	})
	return created, replayed, err
}

// Sites lists a workspace's sites, oldest first.
func (s *SiteStore) Sites(ctx context.Context, workspaceID uuid.UUID) ([]site.Site, error) {
	rows, err := s.q.ListSites(ctx, workspaceID)
	return sitesFromRows(rows), err
}

// AllSites lists the sites of all workspaces.
func (s *SiteStore) AllSites(ctx context.Context) ([]site.Site, error) {
	rows, err := s.q.AllSites(ctx)
	return sitesFromRows(rows), err
}

// SitesVersion returns a number that increases with every change of a site.
func (s *SiteStore) SitesVersion(ctx context.Context) (int64, error) { return s.q.SitesVersion(ctx) }

// Site returns a site of a workspace.
func (s *SiteStore) Site(ctx context.Context, workspaceID, id uuid.UUID) (site.Site, error) {
	row, err := s.q.GetSite(ctx, db.GetSiteParams{ID: id, WorkspaceID: workspaceID})
	return siteFromRow(row), tx.OrNotFound(err, "site")
}

// UpdateSite changes a site while holding a lock on its row.
func (s *SiteStore) UpdateSite(
	ctx context.Context, workspaceID, id uuid.UUID, change func(*site.Site) error,
) (site.Site, error) {
	return s.changeSite(ctx, workspaceID, id, audit.SiteChanged, change)
}

// RotateSiteSecret replaces the hash of the secret key.
func (s *SiteStore) RotateSiteSecret(ctx context.Context, workspaceID, id uuid.UUID, hash []byte) (site.Site, error) {
	return s.changeSite(ctx, workspaceID, id, audit.SiteRotated, func(w *site.Site) error {
		w.SecretHash = hash
		return nil
	})
}

func (s *SiteStore) changeSite(
	ctx context.Context, workspaceID, id uuid.UUID, action audit.Action, change func(*site.Site) error,
) (changed site.Site, err error) {
	err = s.lockedSite(ctx, workspaceID, id, func(q *queries, w site.Site) error {
		if err := change(&w); err != nil {
			return err
		}
		row, err := q.UpdateSite(ctx, db.UpdateSiteParams{
			ID: id, Name: w.Name, Domains: column.List(w.Domains),
			WindowSeconds: w.WindowSeconds, MaxID: w.MaxID,
			RateHits: w.RateHits, RateSeconds: w.RateSeconds, Visitors: string(w.Visitors),
			WeeklyUniques: w.WeeklyUniques,
			PublicCounts:  w.PublicCounts, Events: jsonList(w.Events), Goals: jsonList(w.Goals),
			SecretHash: w.SecretHash,
		})
		if err != nil {
			return err
		}
		changed = siteFromRow(row)
		return tx.Record(ctx, q.tx, workspaceID, action, "site", id, map[string]any{"name": w.Name})
	})
	return changed, err
}

// DeleteSite deletes a site.
func (s *SiteStore) DeleteSite(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.lockedSite(ctx, workspaceID, id, func(q *queries, w site.Site) error {
		if err := q.DeleteSite(ctx, id); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.SiteDeleted, "site", id, map[string]any{"name": w.Name})
	})
}

func (s *SiteStore) lockedSite(
	ctx context.Context, workspaceID, id uuid.UUID, f func(*queries, site.Site) error,
) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSite(ctx, db.LockSiteParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return tx.OrNotFound(err, "site")
		}
		return f(q, siteFromRow(row))
	})
}

func sitesFromRows(rows []db.Site) []site.Site {
	sites := make([]site.Site, len(rows))
	for i, r := range rows {
		sites[i] = siteFromRow(r)
	}
	return sites
}

func siteFromRow(r db.Site) site.Site {
	w := site.Site{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Name: r.Name, Domains: r.Domains, TimeZone: r.TimeZone,
		WindowSeconds: r.WindowSeconds, UniqueMethod: counter.UniqueMethod(r.UniqueMethod), MaxID: r.MaxID,
		RateHits: r.RateHits, RateSeconds: r.RateSeconds,
		Visitors: site.VisitorMode(r.Visitors), WeeklyUniques: r.WeeklyUniques, PublicCounts: r.PublicCounts,
		WriteKey:   r.WriteKey,
		SecretHash: r.SecretHash, VisitorKey: r.VisitorKey, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	// They were validated before they were stored.
	_, _ = json.Unmarshal(r.Events, &w.Events), json.Unmarshal(r.Goals, &w.Goals)
	return w
}

// jsonList encodes a list of values that can always be encoded.
func jsonList[T any](list []T) json.RawMessage {
	raw, _ := json.Marshal(column.List(list))
	return raw
}
