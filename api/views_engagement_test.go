package api_test

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/enginetest"
)

func TestEngagement_OfPagesAndSites(t *testing.T) {
	s := start(t)
	w, _ := s.Site()
	base := "/api/v1/sites/" + w.ID.String()
	site, err := w.CounterSite()
	s.Must(err)
	// Views of 15 minutes ago, so that heartbeats may report minutes.
	began := time.Now().Add(-14 * time.Minute)
	views := counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{})
	for i, engaged := range []time.Duration{
		10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second,
		160 * time.Second,
	} {
		page, view := []string{"/a", "/b"}[i/4], fmt.Sprint("v", i)
		_, err := views.Count(t.Context(), []counter.Hit{
			{
				Site: site, Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: uint64(i) + 1}, At: began,
				View: view,
			},
		})
		s.Must(err)
		known, err := views.Heartbeats(t.Context(), []counter.Heartbeat{
			{Site: site, Page: page, View: view, Engaged: engaged, Scroll: 25 * i, Hidden: i == 0, At: time.Now()},
		})
		if s.Must(err); known != 1 {
			t.Fatalf("the view %s is not known", view)
		}
	}
	flusher := flush.Flusher{Counter: views, Store: s.Store.Audience.Views, Log: slog.New(slog.DiscardHandler)}
	_, err = flusher.Flush(t.Context(), func() {})
	s.Must(err)

	var reading spec.Concurrents
	s.decode(s.send("GET", base+"/concurrents", nil), http.StatusOK, &reading)
	if reading.Concurrents != 4 {
		t.Errorf("%d views are being read, want 4", reading.Concurrents)
	}
	expect := func(query string, count int64, median float64, completion float32, scrolled ...int64) {
		t.Helper()
		var got spec.Engagement
		s.decode(s.send("GET", base+"/engagement"+query, nil), http.StatusOK, &got)
		if got.Total.Views != count || math.Abs(float64(got.Total.MedianSeconds)-median) > 0.2*median ||
			got.Total.CompletionRate != completion {
			t.Errorf("%q: got %+v, want %d views, about %v s, %v", query, got.Total, count, median, completion)
		}
		if fmt.Sprint(got.Total.Scrolled) != fmt.Sprint(scrolled) || len(got.Total.Engaged) != counter.EngagedBuckets {
			t.Errorf("%q: got %+v, want the scroll depths %v and %d buckets", query, got.Total, scrolled,
				counter.EngagedBuckets)
		}
		var sum int64
		for _, day := range got.Days {
			sum += day.Views
		}
		if sum != count {
			t.Errorf("%q: the days have %d views, want %d", query, sum, count)
		}
	}
	expect("", 5, 40, 0.2, 4, 3, 2, 1)
	expect("?page=/a", 4, 28, 0, 3, 2, 1, 0)
	expect("?page=https://news.example/b%3Futm_source=x", 1, 160, 1, 1, 1, 1, 1)
	expect("?page=/nobody", 0, 0, 0, 0, 0, 0, 0)
	expect("?from=2020-01-01&to=2020-01-31", 0, 0, 0, 0, 0, 0, 0)
	s.refused(s.send("GET", base+"/engagement?from=2020-02-01&to=2020-01-31", nil), http.StatusUnprocessableEntity,
		"invalid_request", "from")
}
