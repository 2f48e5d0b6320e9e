package story_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/story"
)

// TestIndex_NeedsTwoCommonTerms: a story is a candidate if it shares two heavy terms with an
// article, in Postgres as well as in memory, or all of the terms of an article that has one.
func TestIndex_NeedsTwoCommonTerms(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	at := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		first, second string
		joins         bool
	}{
		"one of two":    {"Elena Harrowgate", "Elena Kelmouth", false},
		"two of three":  {"Elena Harrowgate blackout", "Elena Harrowgate railway", true},
		"the only term": {"Elena", "Elena", true},
	} {
		vector := func(title string) story.Vector {
			return story.Vectorize(story.Count(story.Document{Title: title}), story.NewFrequencies("en"))
		}
		existing := &story.Cluster{ID: uuid.New()}
		existing.Add(vector(c.first), at)
		index := story.NewIndex(story.Settings{Threshold: .01, Window: time.Hour}, []*story.Cluster{existing})
		if found, similarity := index.Nearest(vector(c.second), at); (found != nil) != c.joins {
			t.Errorf("%s: got %v (%.2f), want that it joins: %t", name, found, similarity, c.joins)
		}
		d.Exec("truncate story_queue, story_articles, story_vectors, story_terms, term_counts, story_events, " +
			"story_alerts, stories")
		a := d.publish(draft{Domain: "one.example", Title: c.first})
		d.place()
		b := d.publish(draft{Domain: "two.example", Title: c.second})
		placer := &story.Placer{Store: d.Store.News.Stories, Thresholds: story.Thresholds{"en": .01}}
		_, err := placer.Place(t.Context(), func(int) {})
		d.Must(err)
		if got := d.storyOf(a) == d.storyOf(b); got != c.joins {
			t.Errorf("%s: stored articles share a story: %t, want %t", name, got, c.joins)
		}
	}
}
