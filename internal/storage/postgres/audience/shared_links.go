package audience

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/audience/report"
	"dateline/internal/audience/sharedlink"
	"dateline/internal/audience/site"
	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// CreateSharedLink stores a link unless its site has as many as the limit.
func (s *SiteStore) CreateSharedLink(
	ctx context.Context, l sharedlink.Link, limit int,
) (made sharedlink.Link, err error) {
	texts := l.Filters.Texts()
	name, value := "", ""
	switch len(texts) {
	case 0:
	case 1:
		name, value, _ = strings.Cut(texts[0], ":")
	default:
		name = "several"
	}
	err = s.lockedSite(ctx, l.WorkspaceID, l.SiteID, func(q *queries, _ site.Site) error {
		row, err := q.InsertSharedLink(ctx, db.InsertSharedLinkParams{
			ID: l.ID, WorkspaceID: l.WorkspaceID,
			SiteID: l.SiteID, Name: l.Name, Filters: texts, FilterName: name, FilterValue: value,
			EmbedOrigins: column.List(l.EmbedOrigins), TokenHash: l.TokenHash,
			PasswordHash: l.PasswordHash, ExpiresAt: l.ExpiresAt,
			MaxLinks: limit,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_shared_links",
				Message: fmt.Sprintf("This site has reached the limit of %d shared links. Revoke one first.", limit),
			}
		}
		if err != nil {
			return err
		}
		made = sharedLinkFromRow(row)
		return tx.Record(ctx, q.tx, l.WorkspaceID, audit.ReportShared, "shared_link", l.ID,
			map[string]any{"name": l.Name})
	})
	return made, err
}

// SharedLinks lists the links of a site, the oldest first.
func (s *SiteStore) SharedLinks(ctx context.Context, workspace, siteID uuid.UUID) ([]sharedlink.Link, error) {
	if _, err := s.Site(ctx, workspace, siteID); err != nil {
		return nil, err
	}
	rows, err := s.q.ListSharedLinks(ctx, db.ListSharedLinksParams{WorkspaceID: workspace, SiteID: siteID})
	links := make([]sharedlink.Link, len(rows))
	for i, r := range rows {
		links[i] = sharedLinkFromRow(r)
	}
	return links, err
}

// DeleteSharedLink revokes a link.
func (s *SiteStore) DeleteSharedLink(ctx context.Context, workspace, siteID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		name, err := q.DeleteSharedLink(ctx, db.DeleteSharedLinkParams{ID: id, SiteID: siteID, WorkspaceID: workspace})
		if err != nil {
			return tx.OrNotFound(err, "shared_link")
		}
		return tx.Record(ctx, q.tx, workspace, audit.ReportUnshared, "shared_link", id, map[string]any{"name": name})
	})
}

// SharedLink returns a link that has not expired, with its site.
func (s *SiteStore) SharedLink(ctx context.Context, tokenHash []byte) (sharedlink.Link, site.Site, error) {
	row, err := s.q.OpenSharedLink(ctx, tokenHash)
	return sharedLinkFromRow(row.SharedLink), siteFromRow(row.Site), tx.OrNotFound(err, "shared_link")
}

func sharedLinkFromRow(r db.SharedLink) sharedlink.Link {
	filters := r.Filters
	if filters == nil && r.FilterName != "" { // made by the version before
		filters = []string{r.FilterName + ":" + r.FilterValue}
	}
	return sharedlink.Link{
		ID: r.ID, WorkspaceID: r.WorkspaceID, SiteID: r.SiteID, Name: r.Name,
		Filters: report.ParseFilters(filters), EmbedOrigins: r.EmbedOrigins, ExpiresAt: r.ExpiresAt,
		CreatedAt: r.CreatedAt, TokenHash: r.TokenHash,
		PasswordHash: r.PasswordHash,
	}
}
