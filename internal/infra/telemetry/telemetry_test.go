package telemetry

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/reference/metrics.md anew")

// reference is what docs/reference/metrics.md has to say.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Every process serves its metrics for Prometheus: ` + "`dateline up` and `dateline api` at `DATELINE_METRICS_ADDR`" + `,
` + "`dateline worker` at `DATELINE_WORKER_HEALTH_ADDR`" + `, under ` + "`/metrics`" + `. Labels never hold ids, addresses or texts.
This page is written from the program's own list (` + "`go test ./internal/infra/telemetry -update`" + `).

| metric | kind | unit | labels | what |
|---|---|---|---|---|
`)
	for _, i := range Instruments() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", i.Name, i.Kind, i.Unit, strings.Join(i.Labels, ", "), i.Help)
	}
	b.WriteString(`
Besides, there are the metrics of the Go runtime and of the process (` + "`go_*`, `process_*`" + `) and those of Temporal's SDK
(` + "`temporal_*`" + `), among them ` + "`temporal_workflow_task_schedule_to_start_latency_seconds`" + `
and ` + "`temporal_worker_task_slots_available`" + `, which tell when more workers are needed.
`)
	return b.String()
}

func TestReferenceIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "reference", "metrics.md")
	if *update {
		if err := os.WriteFile(file, []byte(reference()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != reference() {
		t.Errorf("docs/reference/metrics.md differs from the program; write it anew by: go test ./internal/infra/telemetry -update (%v)", err)
	}
}

// scrape gives the names of our own metrics with the labels that they have.
func scrape(t *testing.T, tel *Telemetry) map[string][]string {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	found := map[string][]string{}
	for line := range strings.Lines(w.Body.String()) {
		m := regexp.MustCompile(`^(dateline_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? `).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if found[m[1]] == nil {
			found[m[1]] = []string{}
		}
		for _, pair := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			if pair[1] != "le" && !slices.Contains(found[m[1]], pair[1]) {
				found[m[1]] = append(found[m[1]], pair[1])
			}
		}
	}
	return found
}

// What is served is what is declared, by name and by label.
func TestEveryInstrumentIsServedAsDeclared(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	tel.Publishing.Scheduled(ctx, 2)
	tel.Publishing.Outcome(ctx, "mastodon", "posted")
	tel.Publishing.Late(ctx, "mastodon", 40*time.Millisecond)
	tel.Publishing.Called(ctx, "mastodon", "publish", "ok", time.Second)
	tel.API.Answered(ctx, "GET", "/livez", "200", time.Millisecond)
	tel.Views.Batch(ctx, 4, time.Millisecond, map[string]int{"view": 1}, map[string]int{"view": 2}, map[string]int{"crawler": 1})
	tel.Views.BatchFailed(ctx, time.Second)
	tel.Views.Flushed(ctx, "ok", 3, time.Second)
	tel.Views.Quarantined(ctx, 2)
	tel.Views.QuarantineDiscarded(ctx, 1)
	tel.Crawl.Fetched(ctx, "ok", 2, 1000, time.Second)
	tel.Crawl.Page(ctx, "article", "new")
	tel.Crawl.Links(ctx, 1, 2)
	tel.Crawl.Freshness(ctx, "stored", time.Minute)
	tel.Articles.PageExtracted(ctx, "selectors")
	tel.Articles.FieldExtracted(ctx, "title", "filled")
	tel.Articles.SelectorsChanged(ctx, "learned")
	tel.Articles.SearchDone(ctx, "keyword", "ok", time.Millisecond)
	for _, i := range Instruments() {
		if i.Kind == "gauge" || i.Name == "dateline_engine_cpu_seconds_total" {
			if err := tel.Observe(i.Name, func(context.Context) ([]Reading, error) {
				return []Reading{{Labels: make([]string, len(i.Labels)), Value: 1}}, nil
			}); err != nil {
				t.Error(err)
			}
		}
	}
	served := scrape(t, tel)
	for _, i := range Instruments() {
		labels, ok := served[i.Name]
		want := slices.Clone(i.Labels)
		slices.Sort(labels)
		slices.Sort(want)
		if !ok || !slices.Equal(labels, want) {
			t.Errorf("%s is served with the labels %v, declared with %v", i.Name, labels, want)
		}
		delete(served, i.Name)
	}
	for name := range served {
		t.Errorf("%s is served and not declared", name)
	}
	if err := tel.Observe("dateline_made_up", nil); err == nil {
		t.Error("a gauge that is not declared was taken")
	}
	if err := tel.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// One lookup answers for several instruments, and is made once in a scrape.
func TestWhatIsLookedUpTogetherIsLookedUpOnce(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	lookups := 0
	if err := tel.ObserveTogether(func(context.Context) (Readings, error) {
		lookups++
		return Readings{"dateline_posts": {{Labels: []string{"scheduled"}, Value: 1}}, "dateline_webhook_deliveries_waiting": One(2)}, nil
	}, "dateline_posts", "dateline_webhook_deliveries_waiting"); err != nil {
		t.Fatal(err)
	}
	for scrapes := 1; scrapes <= 2; scrapes++ {
		served := scrape(t, tel)
		if served["dateline_posts"] == nil || served["dateline_webhook_deliveries_waiting"] == nil {
			t.Errorf("served %v", served)
		}
		if lookups != scrapes {
			t.Errorf("%d lookups in %d scrapes", lookups, scrapes)
		}
	}
}

// A gauge that cannot be read is left out; everything else is served.
func TestGaugeThatCannotBeReadHidesNoOther(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	broken := func(context.Context) ([]Reading, error) { return nil, os.ErrDeadlineExceeded }
	if err := tel.Observe("dateline_posts", broken); err != nil {
		t.Fatal(err)
	}
	if err := tel.Observe("dateline_posts_armed", func(context.Context) ([]Reading, error) { return One(3), nil }); err != nil {
		t.Fatal(err)
	}
	served := scrape(t, tel)
	if _, ok := served["dateline_posts"]; ok {
		t.Error("a value was made up")
	}
	if _, ok := served["dateline_posts_armed"]; !ok {
		t.Error("the other gauge is missing")
	}
}

// What Temporal's SDK measures of waiting is told by queue, summed over the kinds
// of workflows and activities.
func TestHowLongTasksWaited(t *testing.T) {
	tel, err := Start(context.Background(), Options{Service: "worker", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Stop(context.Background()) }()
	if len(tel.TemporalWaits()) != 0 {
		t.Error("nothing has waited yet")
	}
	note := func(metric, queue, kind string, waited ...time.Duration) {
		for _, d := range waited {
			tel.TemporalMetrics().WithTags(map[string]string{"task_queue": queue, "activity_type": kind}).Timer(metric).Record(d)
		}
	}
	note("temporal_activity_schedule_to_start_latency", "dateline-post", "Publish", 4*time.Millisecond, 40*time.Millisecond, 40*time.Millisecond)
	note("temporal_activity_schedule_to_start_latency", "dateline-post", "Prepare", 700*time.Millisecond)
	note("temporal_workflow_task_schedule_to_start_latency", "dateline-crawl", "", time.Hour)
	waits := tel.TemporalWaits()
	post := waits[TemporalQueue{"dateline-post", "activity"}]
	if post.Tasks != 4 || post.Quantile(0.5) != 50*time.Millisecond || post.Quantile(0.95) != time.Second {
		t.Errorf("%+v: %s, %s", post, post.Quantile(0.5), post.Quantile(0.95))
	}
	// Longer than the last bound of the metric is as long as that.
	if crawl := waits[TemporalQueue{"dateline-crawl", "workflow"}]; crawl.Tasks != 1 || crawl.Quantile(0.5) != 5*time.Minute {
		t.Errorf("%+v", crawl)
	}
}
