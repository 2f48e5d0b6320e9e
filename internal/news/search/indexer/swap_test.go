package indexer_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/meili/meilitest"
	"dateline/internal/testing/searchtest"
)

// between runs a function between the two writes to the indexes.
type between struct {
	search.Engine
	happens func()
	writes  int
}

func (b *between) write(do func() error) error {
	if b.writes++; b.writes == 2 {
		b.happens()
	}
	return do()
}

func (b *between) Index(ctx context.Context, docs []search.Document) error {
	return b.write(func() error { return b.Engine.Index(ctx, docs) })
}

func (b *between) AddToRebuild(ctx context.Context, name string, docs []search.Document) error {
	return b.write(func() error { return b.Engine.AddToRebuild(ctx, name, docs) })
}

func (b *between) Delete(ctx context.Context, ids []uuid.UUID) error {
	return b.write(func() error { return b.Engine.Delete(ctx, ids) })
}

func (b *between) DeleteFromRebuild(ctx context.Context, name string, ids []uuid.UUID) error {
	return b.write(func() error { return b.Engine.DeleteFromRebuild(ctx, name, ids) })
}

// A change during the swap of the indexes is in the new one.
func TestSync_LosesNoChangeDuringASwap(t *testing.T) {
	for name, deletes := range map[string]bool{"a new article": false, "a deleted one": true} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			f := meilitest.Start(t)
			engine := meili.New(meili.Options{
				URL: f.URL, Key: meilitest.Key, PollInterval: time.Millisecond, Log: slog.New(slog.DiscardHandler),
			})
			d.Must(engine.Prepare(t.Context()))
			beside, err := engine.StartRebuild(t.Context())
			d.Must(err)
			d.Must(d.Store.News.Searches.SetRebuild(t.Context(), beside))
			d.x.Engine = engine
			if deletes {
				searchtest.Store(d.Newsroom, article("a", "Needle"), time.Now())
				d.sync()
				searchtest.Remove(d.Newsroom, searchtest.ID("a"))
			} else {
				searchtest.Store(d.Newsroom, article("a", "Needle"), time.Now())
			}
			d.x.Engine = &between{Engine: engine, happens: func() {
				f.FailTasks("indexDeletion") // the old index still exists for a moment
				if err := engine.FinishRebuild(t.Context(), beside); err == nil {
					t.Error("the old index is gone already")
				}
				f.FailTasks("")
			}}
			d.sync()
			if there := f.Document("articles", searchtest.ID("a").String()) != nil; there == deletes {
				t.Errorf("in the live index: %v", there)
			}
			if d.open() != 0 {
				t.Errorf("%d changes are left", d.open())
			}
		})
	}
}
