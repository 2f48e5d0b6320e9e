package postgres

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/postgres/db"
)

// ListObservations are what is known of a domain's newest pages with parameters in
// their URLs, and of the same URLs without any.
func (s *Store) ListObservations(ctx context.Context, domain int32, most int) ([]weburl.Observation, error) {
	rows, err := s.q.ParameterPages(ctx, db.ParameterPagesParams{DomainID: domain, Batch: int32(most)}) //nolint:gosec // thousands
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var out []weburl.Observation
	var bare []uuid.UUID
	for _, r := range rows {
		out = append(out, weburl.Observation{URL: r.Url, Canonical: r.Canonical, Content: r.ContentHash})
		if u, err := weburl.Parse(r.Url, weburl.Rules{DropOthers: true}); err == nil {
			bare = append(bare, crawl.URLID(u))
		}
	}
	plain, err := s.q.ContentOf(ctx, db.ContentOfParams{DomainID: domain, Ids: bare})
	for _, r := range plain {
		out = append(out, weburl.Observation{URL: r.Url, Canonical: r.Canonical, Content: r.ContentHash})
	}
	return out, err
}

// UpdateURLRules replaces the rules of a domain, unless somebody else did meanwhile.
func (s *Store) UpdateURLRules(ctx context.Context, domain crawl.Domain, rules weburl.Rules) error {
	was, err := json.Marshal(domain.Rules)
	if err != nil {
		return err
	}
	now, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	_, err = s.q.SetRules(ctx, db.SetRulesParams{ID: domain.ID, Rules: now, Was: was})
	return err
}
