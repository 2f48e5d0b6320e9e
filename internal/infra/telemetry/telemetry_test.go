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

var update = flag.Bool("update", false, "rewrite docs/reference/metrics.md")

// reference returns the expected content of docs/reference/metrics.md.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Every process serves its metrics for Prometheus: ` + "`dateline up` and `dateline api` at `DATELINE_METRICS_ADDR`" + `,
` + "`dateline worker` at `DATELINE_WORKER_HEALTH_ADDR`" + `, under ` + "`/metrics`" +
		`. Labels never contain IDs, addresses or text.
This page is generated from the declarations in the code (` + "`go test ./internal/infra/telemetry -update`" + `).

| Metric | Type | Unit | Labels | Description |
|---|---|---|---|---|
`)
	for _, i := range Instruments() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", i.Name, i.Kind, i.Unit, strings.Join(i.Labels, ", "), i.Help)
	}
	b.WriteString(`
Every process also exports the metrics of the Go runtime and the process (` + "`go_*`, `process_*`" +
		`) and of the Temporal SDK
(` + "`temporal_*`" + `), among them ` + "`temporal_workflow_task_schedule_to_start_latency_seconds`" + `
and ` + "`temporal_worker_task_slots_available`" + `, which show when more workers are needed.
`)
	return b.String()
}

func TestReference_IsUpToDate(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "reference", "metrics.md")
	if *update {
		if err := os.WriteFile(file, []byte(reference()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != reference() {
		t.Errorf("docs/reference/metrics.md is stale; run: go test ./internal/infra/telemetry -update (%v)", err)
	}
}

// scrape returns the labels of the served metrics, by name.
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

// The served metrics match the declared ones, by name and by label.
func TestHandler_ServesDeclaredInstruments(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	tel.Publishing.Scheduled(ctx, 2)
	tel.Publishing.Outcome(ctx, "mastodon", "posted")
	tel.Publishing.Late(ctx, "mastodon", 40*time.Millisecond)
	tel.Publishing.Called(ctx, "mastodon", "publish", "ok", time.Second)
	tel.Publishing.Measured(ctx, "mastodon", "measured", 1)
	tel.Publishing.MeasuringPaused(ctx, "mastodon", "rate_limit")
	tel.API.Answered(ctx, "GET", "/livez", "200", time.Millisecond)
	tel.Views.Batch(ctx, 4, time.Millisecond, map[string]int{"view": 1}, map[string]int{"view": 2},
		map[string]int{"crawler": 1})
	tel.Views.BatchFailed(ctx, time.Second)
	tel.Views.Flushed(ctx, "ok", 3, time.Second)
	tel.Views.Quarantined(ctx, 2)
	tel.Views.QuarantineDiscarded(ctx, 1)
	tel.Crawl.Fetched(ctx, "ok", 2, 1000, time.Second)
	tel.Crawl.Page(ctx, "article", "new")
	tel.Crawl.Links(ctx, 1, 2)
	tel.Crawl.Freshness(ctx, "stored", time.Minute)
	tel.Crawl.HubRequested(ctx, "accepted")
	tel.Crawl.HubDelivered(ctx, "accepted", 1)
	tel.Articles.ArticlePlaced(ctx, "joined", time.Second)
	tel.Articles.StoryAlertsSent(ctx, 1)
	tel.Articles.PageExtracted(ctx, "selectors")
	tel.Articles.FieldExtracted(ctx, "title", "filled")
	tel.Articles.SelectorsChanged(ctx, "learned")
	tel.Articles.SearchDone(ctx, "keyword", "ok", time.Millisecond)
	for _, i := range Instruments() {
		if i.Kind == "gauge" || i.Name == "dateline_engine_cpu_seconds_total" {
			if err := tel.RegisterGauge(i.Name, func(context.Context) ([]Sample, error) {
				return []Sample{{Labels: make([]string, len(i.Labels)), Value: 1}}, nil
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
			t.Errorf("%s: got labels %v, want %v", i.Name, labels, want)
		}
		delete(served, i.Name)
	}
	for name := range served {
		t.Errorf("%s: served, but not declared", name)
	}
	if err := tel.RegisterGauge("dateline_made_up", nil); err == nil {
		t.Error("undeclared gauge: got no error, want one")
	}
	if err := tel.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// One collector serves several instruments and is read once per scrape.
func TestRegisterCollector_ReadsOncePerScrape(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	if err := tel.RegisterCollector(func(context.Context) (Samples, error) {
		reads++
		return Samples{
			"dateline_posts":                      {{Labels: []string{"scheduled"}, Value: 1}},
			"dateline_webhook_deliveries_pending": SingleSample(2),
		}, nil
	}, "dateline_posts", "dateline_webhook_deliveries_pending"); err != nil {
		t.Fatal(err)
	}
	for scrapes := 1; scrapes <= 2; scrapes++ {
		served := scrape(t, tel)
		if served["dateline_posts"] == nil || served["dateline_webhook_deliveries_pending"] == nil {
			t.Errorf("got %v, want both gauges", served)
		}
		if reads != scrapes {
			t.Errorf("got %d reads in %d scrapes", reads, scrapes)
		}
	}
}

// A gauge that fails is omitted; all others are served.
func TestRegisterGauge_OmitsFailedGauge(t *testing.T) {
	tel, err := Start(t.Context(), Options{Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	broken := func(context.Context) ([]Sample, error) { return nil, os.ErrDeadlineExceeded }
	if err := tel.RegisterGauge("dateline_posts", broken); err != nil {
		t.Fatal(err)
	}
	if err := tel.RegisterGauge("dateline_posts_armed",
		func(context.Context) ([]Sample, error) { return SingleSample(3), nil }); err != nil {
		t.Fatal(err)
	}
	served := scrape(t, tel)
	if _, ok := served["dateline_posts"]; ok {
		t.Error("failed gauge: got a value, want none")
	}
	if _, ok := served["dateline_posts_armed"]; !ok {
		t.Error("working gauge: got no value, want one")
	}
}

// Latencies are summed over workflow and activity types, by queue.
func TestQueueLatencies_SumsTypesByQueue(t *testing.T) {
	tel, err := Start(context.Background(), Options{Service: "worker", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Stop(context.Background()) }()
	if len(tel.QueueLatencies()) != 0 {
		t.Error("got latencies before the first task")
	}
	record := func(metric, queue, kind string, waited ...time.Duration) {
		for _, d := range waited {
			tel.TemporalMetrics().WithTags(map[string]string{"task_queue": queue, "activity_type": kind}).Timer(metric).
				Record(d)
		}
	}
	record("temporal_activity_schedule_to_start_latency", "dateline-post", "Publish", 4*time.Millisecond,
		40*time.Millisecond, 40*time.Millisecond)
	record("temporal_activity_schedule_to_start_latency", "dateline-post", "Prepare", 700*time.Millisecond)
	record("temporal_workflow_task_schedule_to_start_latency", "dateline-crawl", "", time.Hour)
	latencies := tel.QueueLatencies()
	post := latencies[TaskQueue{"dateline-post", "activity"}]
	if post.Tasks != 4 || post.Quantile(0.5) != 50*time.Millisecond || post.Quantile(0.95) != time.Second {
		t.Errorf("%+v: %s, %s", post, post.Quantile(0.5), post.Quantile(0.95))
	}
	// The quantile is at most the largest bound.
	if crawl := latencies[TaskQueue{"dateline-crawl", "workflow"}]; crawl.Tasks != 1 ||
		crawl.Quantile(0.5) != 5*time.Minute {
		t.Errorf("%+v", crawl)
	}
}

// The handler caches instruments; each set of tags must have its own values.
func TestTemporalMetrics_KeepsTagsApart(t *testing.T) {
	tel, err := Start(context.Background(), Options{Service: "worker", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Stop(context.Background()) }()
	h := tel.TemporalMetrics()
	for i := range 3 {
		h.WithTags(map[string]string{"operation": "Poll", "queue": "post"}).Counter("temporal_test").Inc(1)
		h.WithTags(map[string]string{"queue": "post"}).WithTags(map[string]string{"operation": "Start"}).
			Counter("temporal_test").Inc(10)
		h.WithTags(map[string]string{"queue": "post"}).Gauge("temporal_test_slots").Update(float64(i))
	}
	families, err := tel.counted.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "operation" {
					got[family.GetName()+" "+label.GetValue()] = metric.GetGauge().GetValue()
				}
			}
			if family.GetName() == "temporal_test_slots" {
				got[family.GetName()] = metric.GetGauge().GetValue()
			}
		}
	}
	if got["temporal_test Poll"] != 3 || got["temporal_test Start"] != 30 || got["temporal_test_slots"] != 2 {
		t.Errorf("got %v", got)
	}
}
