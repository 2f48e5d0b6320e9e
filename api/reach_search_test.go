package api_test

import (
	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/news/watch"
)

func (x *things) saved() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		n, _, err := (&savedsearch.Service{Store: x.s.Store.News.Searches}).Create(x.s.t.Context(), x.s.Owner,
			savedsearch.Search{Name: "Gold", Query: "gold"}, idempotency.Key{})
		x.s.Must(err)
		return n.ID
	})
}

// feedToken returns the token of a search's feed. An unknown search has no valid token.
func (x *things) feedToken(id uuid.UUID) string {
	return thing(x, "no-token", func() string {
		token, err := (&savedsearch.Service{Store: x.s.Store.News.Searches}).CreateFeed(x.s.t.Context(), x.s.Owner, id)
		x.s.Must(err)
		return token.Reveal()
	})
}

func (x *things) watch() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		guard, err := ssrf.New(nil)
		x.s.Must(err)
		w, _, err := (&watch.Service{Store: x.s.Store.News.Watches, Guard: guard}).Create(x.s.t.Context(), x.s.Owner,
			watch.Watch{Name: "Prices", URL: "https://ministry.example/prices"}, idempotency.Key{})
		x.s.Must(err)
		return w.ID
	})
}
