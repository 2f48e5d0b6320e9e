package story_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
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

// memory is the memory that the Go runtime has taken from the system, which shrinks late.
func memory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

const (
	benchDays    = 2
	benchLive    = 200
	articlesName = "DATELINE_BENCH_ARTICLES"
)

// BenchmarkPlace places the articles of two days, 10,000 each or as the environment says,
// as one backlog, and then articles that arrive one by one. It prints JSON.
func BenchmarkPlace(b *testing.B) {
	benchDay := 10_000
	if raw := os.Getenv(articlesName); raw != "" {
		n, err := strconv.Atoi(raw)
		if err != nil || n <= benchLive {
			b.Fatalf("%s must be a number above %d", articlesName, benchLive)
		}
		benchDay = n
	}
	for b.Loop() {
		n := newsroomtest.Open(b)
		searchtest.Seed(n, n.Workspace.ID, "one.example")
		placer := &story.Placer{Store: n.Store.News.Stories}
		place := func() (took, processor time.Duration) {
			start, used := time.Now(), processorTime(b)
			_, err := placer.Place(b.Context(), func(int) {})
			n.Must(err)
			return time.Since(start), processorTime(b) - used
		}
		var last, lastProcessor time.Duration
		var live []time.Duration
		var liveProcessor time.Duration
		for day := range benchDays {
			all := storytest.Generate(storytest.Options{
				Language: "en", Seed: uint64(day), Events: benchDay * 2 / 5,
				Start: time.Now().Add(time.Duration(day-benchDays) * 24 * time.Hour), Duration: 24 * time.Hour,
			})
			all = all[:min(len(all), benchDay)]
			for i := range all {
				all[i].ID = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%d %s", day, all[i].ID)).String()
			}
			raw, err := json.Marshal(all)
			n.Must(err)
			n.Exec(
				`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, body_text, body_html, language, content_hash, group_id, object_key, fetched_at)
				select j.id, c.id, j.id, j.id, j.id::text, j.id::text, j.title, j.published_at, j.published_at, j.body, '', 'en', '', j.id, '', now()
				from jsonb_to_recordset($1::jsonb) as j(id uuid, title text, body text, published_at timestamptz), crawl_domains c where c.domain = 'one.example'`, string(raw))
			backlog := all
			if day == benchDays-1 {
				backlog = all[:len(all)-benchLive]
			}
			ids := make([]string, len(backlog))
			for i, a := range backlog {
				ids[i] = a.ID
			}
			n.Exec("insert into story_queue (language, article_id) select 'en', w.id from unnest($1::uuid[]) with "+
				"ordinality w(id, i) order by w.i", ids)
			last, lastProcessor = place()
			fmt.Printf("day %d: %d articles in %s, processor time of the program %s, memory %d MB\n", day, len(backlog),
				last, lastProcessor, memory()>>20)
			for _, a := range all[len(backlog):] {
				n.Exec("insert into story_queue (language, article_id) values ('en', $1)", a.ID)
				one, processor := place()
				live, liveProcessor = append(live, one), liveProcessor+processor
			}
			last = last * 10_000 / time.Duration(len(backlog))
			lastProcessor = lastProcessor * 10_000 / time.Duration(len(backlog))
		}
		slices.Sort(live)
		out, err := json.Marshal(map[string]any{
			"articles":          n.Count("select count(*) from story_articles"),
			"stories":           n.Count("select count(*) from stories"),
			"seconds_for_10000": last.Seconds(), "processor_seconds_for_10000": lastProcessor.Seconds(),
			"memory_mb":  memory() >> 20,
			"one_p50_ms": 1000 * live[len(live)/2].Seconds(), "one_p99_ms": 1000 * live[len(live)*99/100].Seconds(),
			"one_max_ms":       1000 * live[len(live)-1].Seconds(),
			"one_processor_ms": 1000 * liveProcessor.Seconds() / float64(len(live)),
		})
		n.Must(err)
		fmt.Println(string(out))
	}
}
