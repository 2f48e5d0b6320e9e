package savedsearch

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/news/search"
)

// MatchStore reads saved searches and articles.
type MatchStore interface {
	SavedSearch(ctx context.Context, workspace, id uuid.UUID) (Search, error)
	SearchDocuments(ctx context.Context, ids []uuid.UUID) ([]search.Document, error)
}

// Matcher matches articles against saved searches, as alerts do.
type Matcher struct{ Store MatchStore }

// MatchingArticles returns which of the articles match a saved search.
func (m *Matcher) MatchingArticles(
	ctx context.Context, workspace, id uuid.UUID, articles []uuid.UUID,
) (map[uuid.UUID]bool, error) {
	s, err := m.Store.SavedSearch(ctx, workspace, id)
	if err != nil || len(articles) == 0 {
		return nil, err
	}
	docs, err := m.Store.SearchDocuments(ctx, articles)
	if err != nil {
		return nil, err
	}
	q, out := search.Parse(s.Query), map[uuid.UUID]bool{}
	for _, d := range docs {
		out[d.ID] = s.Matches(q, search.NewText(d), d)
	}
	return out, nil
}
