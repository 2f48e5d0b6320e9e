package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

// Requests as the documentation and the tests of clients of Plausible show them:
// github.com/dailytics/plausible_api (Ruby, version 1),
// github.com/andrerfcsantos/go-plausible (Go, version 1) and
// github.com/getsentry/plausible-mcp (TypeScript, version 2).
func TestPlausible_RequestsOfClients(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains, w.TimeZone = []string{"example.com"}, "UTC" })
	counted, err := w.CounterSite()
	s.Must(err)
	c := counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{})
	f := flush.Flusher{Counter: c, Store: s.Store.Audience.Views, Log: slog.New(slog.DiscardHandler)}
	_, err = f.Flush(t.Context(), func() {}) // seeds a new installation
	s.Must(err)
	// Two days ago, so that no day ends during the test: in seven days and in thirty.
	at := time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour)
	for i, page := range []string{"/order/confirmation", "/", "/"} {
		_, err := c.Count(t.Context(),
			[]counter.Hit{{
				Site: counted, Page: page, Kind: counter.View,
				Visitor: counter.Visitor{Hash: uint64(i/2 + 1)}, At: at.Add(time.Duration(i) * time.Minute), //nolint:gosec // small
				Country: "VN", Device: "mobile", Browser: "Chrome", OS: "Android", Channel: "search",
				Source: "google.com",
			}})
		s.Must(err)
	}
	_, err = f.Flush(t.Context(), func() {})
	s.Must(err)
	_, err = f.Maintain(t.Context(), func() {})
	s.Must(err)
	day, before := at.Format(time.DateOnly), at.AddDate(0, 0, -6).Format(time.DateOnly)

	for _, r := range []struct{ client, path, want string }{
		{
			"plausible_api", "aggregate?site_id=example.com&metrics=visitors%2Cpageviews&period=30d",
			`{"results":{"pageviews":{"value":3},"visitors":{"value":2}}}`,
		},
		{
			"plausible_api",
			"aggregate?site_id=example.com&filters=event%3Apage%3D%3D%2Forder%2Fconfirmation&metrics=visitors%2Cpageviews&period=30d", `{"results":{"pageviews":{"value":1},"visitors":{"value":1}}}`,
		},
		{
			"plausible_api", "aggregate?site_id=example.com&compare=previous_period&metrics=visitors&period=7d",
			`{"results":{"visitors":{"change":100,"value":2}}}`,
		},
		{"plausible_api", "aggregate?site_id=example.com&date=" + before + "%2C" + day +
			"&metrics=visits&period=custom", `{"results":{"visits":{"value":2}}}`},
		{
			"plausible_api", "timeseries?site_id=example.com&date=" + day + "%2C" + day + "&period=custom",
			`{"results":[{"date":"` + day + `","visitors":2}]}`,
		},
		{
			"plausible_api", "breakdown?site_id=example.com&period=30d&property=event%3Apage",
			`{"results":[{"page":"/","visitors":2},{"page":"/order/confirmation","visitors":1}]}`,
		},
		{
			"plausible_api", "breakdown?site_id=example.com&limit=1&page=2&period=30d&property=event%3Apage",
			`{"results":[{"page":"/order/confirmation","visitors":1}]}`,
		},
		{"plausible_api", "realtime/visitors?site_id=example.com", `0`},
		{
			"go-plausible", "aggregate?site_id=example.com&period=day&date=" + day + "&metrics=visitors",
			`{"results":{"visitors":{"value":2}}}`,
		},
		{
			"go-plausible",
			"breakdown?site_id=example.com&property=event%3Apage&period=7d&metrics=visitors%2Cpageviews",
			`{"results":[{"page":"/","pageviews":2,"visitors":2},{"page":"/order/confirmation","pageviews":1,"visitors":1}]}`,
		},
		{
			"go-plausible", "aggregate?site_id=example.com&period=7d&metrics=visits&filters=visit%3Aos%3D%3DAndroid",
			`{"results":{"visits":{"value":2}}}`,
		},
	} {
		a := s.send("GET", "/api/v1/stats/"+r.path, nil)
		if got := strings.TrimSpace(string(a.body)); a.StatusCode != http.StatusOK || got != r.want {
			t.Errorf("%s: %s: got %s %s, want %s", r.client, r.path, a.Status, got, r.want)
		}
	}
	// Seven days until a date, empty ones included.
	a := s.send("GET", "/api/v1/stats/timeseries?site_id=example.com&period=7d&date="+day+
		"&metrics=visitors%2Cpageviews", nil)
	if got := string(a.body); a.StatusCode != http.StatusOK || strings.Count(got, `"date"`) != 7 ||
		!strings.Contains(got, `{"date":"`+day+`","pageviews":3,"visitors":2}`) {
		t.Errorf("go-plausible: got %s %s, want seven days, the last one with 3 views", a.Status, got)
	}

	for _, r := range []struct {
		query object
		want  string
	}{
		{
			object{
				"metrics": []string{"visitors", "visits", "pageviews"}, "date_range": "7d",
				"dimensions": []string{"time:day"},
			}, "[{[2 2 3] [" + day + "]}]",
		},
		{
			object{
				"metrics": []string{"pageviews"}, "date_range": "30d", "dimensions": []string{"time:day"},
				"filters": []any{"is", "event:page", []string{"/"}},
			}, "[{[2] [" + day + "]}]",
		},
		{
			object{
				"metrics": []string{"visits"}, "date_range": "30d", "dimensions": []string{"visit:source"},
				"pagination": object{"limit": 20},
			}, "[{[2] [google.com]}]",
		},
	} {
		r.query["site_id"] = "example.com"
		var got struct {
			Results []struct {
				Metrics    []float64
				Dimensions []string
			}
		}
		s.decode(s.send("POST", "/api/v2/query", r.query), 200, &got)
		if text := fmt.Sprint(got.Results); text != r.want {
			t.Errorf("plausible-mcp: %v: got %s, want %s", r.query, text, r.want)
		}
	}
	// Defaults of the clients that counts cannot answer name the metric.
	all := "visitors%2Cvisits%2Cpageviews%2Cviews_per_visit%2Cbounce_rate%2Cvisit_duration%2Cevents"
	s.refused(s.send("GET", "/api/v1/stats/aggregate?site_id=example.com&metrics="+all+"&period=30d", nil), 400,
		"report_not_computable", "metrics")
	s.refused(s.send("GET",
		"/api/v1/stats/aggregate?site_id=example.com&period=7d&metrics=visits&filters=visit%3Aos%3D%3DWindows%3Bvisit%3Abrowser%3D%3DFirefox", nil), 400, "report_not_computable", "filter")
	s.refused(s.send("POST", "/api/v2/query", object{
		"site_id": "example.com", "metrics": []string{"visitors", "pageviews", "bounce_rate"}, "date_range": "30d",
		"dimensions": []string{"event:page"},
	}),
		400, "report_not_computable", "metrics")
	s.refused(s.send("GET", "/api/v1/stats/aggregate?site_id="+uuid.NewString(), nil), 404, "site_not_found")
}
