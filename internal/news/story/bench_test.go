package story_test

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/story"
	"dateline/internal/news/story/storytest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

// processorTime is the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPlace places a backlog of a day of 10,000 articles divided by ten, and then
// articles that arrive one by one, and prints JSON.
func BenchmarkPlace(b *testing.B) {
	for b.Loop() {
		n := newsroomtest.Open(b)
		searchtest.Seed(n, n.Workspace.ID, "one.example")
		all := storytest.Generate(storytest.Options{Language: "en", Seed: 3, Events: 400, Start: time.Now().Add(-24 * time.Hour), Duration: 12 * time.Hour})
		all = all[:min(len(all), 1050)]
		for i := range all {
			all[i].ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(all[i].ID)).String()
		}
		raw, err := json.Marshal(all)
		n.Must(err)
		n.Exec(`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, body_text, body_html, language, content_hash, group_id, object_key, fetched_at)
			select j.id, c.id, j.id, j.id, j.id::text, j.id::text, j.title, j.published_at, j.published_at, j.body, '', 'en', '', j.id, '', now()
			from jsonb_to_recordset($1::jsonb) as j(id uuid, title text, body text, published_at timestamptz), crawl_domains c where c.domain = 'one.example'`, string(raw))
		const live = 50
		backlog := len(all) - live
		n.Exec("insert into story_queue (language, article_id) select 'en', id from articles order by ctid limit $1", backlog)
		placer := &story.Placer{Store: n.Store}
		place := func() (took, processor time.Duration) {
			start, used := time.Now(), processorTime(b)
			_, err := placer.Place(b.Context(), func(int) {})
			n.Must(err)
			return time.Since(start), processorTime(b) - used
		}
		took, processor := place()
		var slowest, sum time.Duration
		for i := range live {
			n.Exec("insert into story_queue (language, article_id) select 'en', id from articles order by ctid offset $1 limit 1", backlog+i)
			one, _ := place()
			slowest, sum = max(slowest, one), sum+one
		}
		perArticle := processor.Seconds() / float64(backlog)
		out, err := json.Marshal(map[string]any{"articles": backlog, "seconds": took.Seconds(), "articles_per_second": float64(backlog) / took.Seconds(), "processor_ms_per_article": 1000 * perArticle,
			"seconds_for_10000": 10_000 * took.Seconds() / float64(backlog), "live_mean_ms": 1000 * sum.Seconds() / live, "live_slowest_ms": 1000 * slowest.Seconds()})
		n.Must(err)
		fmt.Println(string(out))
	}
}
