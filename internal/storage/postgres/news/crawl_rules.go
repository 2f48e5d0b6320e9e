package news

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/postgres/news/db"
)

// ListObservations lists the domain's newest pages with parameters in their
// URLs, and the pages at the same URLs without parameters.
func (s *FrontierStore) ListObservations(ctx context.Context, domain int, limit int) ([]weburl.Observation, error) {
	rows, err := s.q.ListParameterPages(ctx, db.ListParameterPagesParams{DomainID: domain, Batch: limit})
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
	withoutQuery, err := s.q.ListPageContents(ctx, db.ListPageContentsParams{DomainID: domain, Ids: bare})
	for _, r := range withoutQuery {
		out = append(out, weburl.Observation{URL: r.Url, Canonical: r.Canonical, Content: r.ContentHash})
	}
	return out, err
}

// UpdateURLRules replaces the URL rules of a domain unless they changed since
// they were read.
func (s *FrontierStore) UpdateURLRules(ctx context.Context, domain crawl.Domain, rules weburl.Rules) error {
	oldRules, err := json.Marshal(domain.Rules)
	if err != nil {
		return err
	}
	newRules, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	_, err = s.q.UpdateURLRules(ctx, db.UpdateURLRulesParams{ID: domain.ID, Rules: newRules, OldRules: oldRules})
	return err
}
