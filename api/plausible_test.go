package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

// The requests are those of https://plausible.io/docs/events-api and of Plausible's
// tracker, the queries those of https://plausible.io/docs/stats-api and
// https://plausible.io/docs/stats-api-v1.
func TestPlausible_TrackerAndStatsAPIs(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains, w.TimeZone = []string{"news.example"}, "UTC" })
	// All events and queries are of one day.
	if now := time.Now().UTC(); now.Add(time.Minute).Day() != now.Day() {
		time.Sleep(now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now))
	}
	event := func(address, body, dropped string) {
		t.Helper()
		a := s.send("POST", "/api/event", body, "Authorization", "", "Content-Type", "text/plain", "Origin",
			"https://www.news.example", "Accept-Language", "vi", "X-Forwarded-For", address,
			"User-Agent", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "+
				"Chrome/130.0.0.0 Safari/537.36 "+address)
		if got, want := fmt.Sprint(a.StatusCode, a.Header.Get("X-Plausible-Dropped"), string(a.body)), fmt.Sprint(202,
			dropped, "ok"); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
		if got, want := a.Header.Get("Access-Control-Allow-Origin"), "https://www.news.example"; got != want &&
			dropped == "" {
			t.Errorf("allowed origin: got %q, want %q", got, want)
		}
	}
	// As plausible.js sends it, with fields that Dateline does not read.
	event("203.0.113.1",
		`{"n":"pageview","v":34,"u":"https://news.example/blog?utm_campaign=Spring","d":"news.example","r":"https://www.google.com/"}`, "")
	event("203.0.113.1",
		`{"n":"pageview","u":"https://news.example/about","d":"news.example","r":"https://news.example/blog","p":{"author":"An"}}`, "")
	// As a server sends it.
	event("203.0.113.2",
		`{"name":"pageview","url":"https://news.example/blog","domain":"www.news.example","screen_width":1666,"props":"{}","interactive":true}`, "")
	event("203.0.113.3", `{"name":"pageview","url":"https://news.example/blog","domain":"`+w.WriteKey+
		`,other.example","referrer":null}`, "")
	event("203.0.113.3", `{"n":"engagement","u":"https://news.example/blog","d":"news.example","e":3000,"sd":60}`, "1")
	event("203.0.113.3", `{"n":"pageview","u":"https://news.example/blog","d":"unknown.example"}`, "1")
	s.refused(s.send("POST", "/api/event", `{"n":"pageview","d":"news.example"}`, "Authorization", ""), 400,
		"invalid_request", "url")
	s.refused(s.send("POST", "/api/event", `{"n":"pageview","u":"https://evil.example/","d":"news.example"}`,
		"Authorization", "", "Origin", "https://evil.example"), 403, "origin_not_allowed", "Origin")

	f := flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}), Store: s.Store.Audience.Views,
		Log: slog.New(slog.DiscardHandler),
	}
	for range 2 { // the first one seeds a new installation
		_, err := f.Flush(t.Context(), func() {})
		s.Must(err)
	}
	_, err := f.Maintain(t.Context(), func() {})
	s.Must(err)

	day := time.Now().UTC().Format(time.DateOnly)
	for path, want := range map[string]string{
		"aggregate?period=day&metrics=visitors,visits,pageviews,bounce_rate,views_per_visit":                       `{"results":{"bounce_rate":{"value":67},"pageviews":{"value":4},"views_per_visit":{"value":1.33},"visitors":{"value":3},"visits":{"value":3}}}`,
		"aggregate?period=7d&compare=previous_period":                                                              `{"results":{"visitors":{"change":100,"value":3}}}`,
		"aggregate?period=30d&metrics=pageviews&filters=event:page%3D%3D/blog":                                     `{"results":{"pageviews":{"value":3}}}`,
		"aggregate?period=30d&metrics=pageviews&filters=event:page%3D%3D/blog%7C/about":                            `{"results":{"pageviews":{"value":4}}}`,
		"aggregate?period=7d&metrics=pageviews&filters=event:page%3D%3D/blog%3Bvisit:device%3D%3DDesktop%7CMobile": `{"results":{"pageviews":{"value":3}}}`,
		"timeseries?period=custom&date=" + day + "," + day: `{"results":[{"date":"` +
			day + `","visitors":3}]}`,
		"breakdown?property=event:page&metrics=visitors,pageviews":      `{"results":[{"page":"/blog","pageviews":3,"visitors":3},{"page":"/about","pageviews":1,"visitors":1}]}`,
		"breakdown?property=visit:source&metrics=visits&limit=1":        `{"results":[{"source":"Direct / None","visits":2}]}`,
		"breakdown?property=visit:source&metrics=visits&limit=1&page=2": `{"results":[{"source":"google.com","visits":1}]}`,
		"realtime/visitors?x=": `0`,
	} {
		a := s.send("GET", "/api/v1/stats/"+path+"&site_id=news.example", nil)
		if got := string(a.body); a.StatusCode != http.StatusOK || strings.TrimSpace(got) != want {
			t.Errorf("%s: got %s %s, want %s", path, a.Status, got, want)
		}
	}
	for query, field := range map[string]string{
		// Readers are not counted by source
		"breakdown?property=visit:source":                                                "metrics",
		"breakdown?property=visit:city&metrics=visits":                                   "dimensions",
		"aggregate?metrics=visit_duration":                                               "metrics",
		"aggregate?metrics=visits&filters=visit:country%3D%3DVN%3Bvisit:country%3D%3DDE": "filters",
		"aggregate?metrics=visits&filters=visit:country%3D%3DV*":                         "filters",
		"aggregate?filters=event:page%3D%3D/a%3Bvisit:os%3D%3DMac":                       "filter",
		"breakdown?property=visit:os&metrics=visits&filters=event:page%3D%3D/a":          "metrics",
		"timeseries?period=day&metrics=pageviews&filters=visit:source%3D%3Dx.vn":         "metrics",
	} {
		s.refused(s.send("GET", "/api/v1/stats/"+query+"&site_id=news.example", nil), 400, "report_not_computable",
			field)
	}
	s.refused(s.send("GET", "/api/v1/stats/aggregate?site_id=other.example", nil), 404, "site_not_found")
	_, _, rival := s.Found("Rivals")
	s.refused(s.send("GET", "/api/v1/stats/aggregate?site_id=news.example", nil, "Authorization", "Bearer "+rival), 404,
		"site_not_found")

	type result struct {
		Results []struct {
			Metrics    []float64
			Dimensions []string
		}
		Meta, Query map[string]any
	}
	ask := func(query object) (r result) {
		t.Helper()
		query["site_id"] = "news.example"
		s.decode(s.send("POST", "/api/v2/query", query), 200, &r)
		return r
	}
	for _, c := range []struct {
		query object
		want  string
	}{
		{object{"metrics": []string{"visitors", "pageviews", "bounce_rate"}, "date_range": "7d"}, "[{[3 4 67] []}]"},
		{object{"metrics": []string{"pageviews"}, "date_range": "24h"}, "[{[4] []}]"},
		{object{
			"metrics": []string{"visits"}, "date_range": "day", "dimensions": []string{"visit:channel"},
			"order_by": [][]string{{"visits", "asc"}},
		}, "[{[1] [Organic Search]} {[2] [Direct]}]"},
		{
			object{
				"metrics": []string{"visits"}, "date_range": []string{day, day},
				"dimensions": []string{"visit:device"},
			}, "[{[3] [Desktop]}]",
		},
		{
			object{
				"metrics": []string{"visitors"}, "date_range": "7d", "dimensions": []string{"time:day"},
				"include": object{"time_labels": true},
			}, "[{[3] [" + day + "]}]",
		},
		{
			object{"metrics": []string{"pageviews"}, "date_range": "all", "dimensions": []string{"time:month"}},
			"[{[4] [" + day[:7] + "-01]}]",
		},
		{
			object{
				"metrics": []string{"visits"}, "date_range": "month",
				"filters": []any{[]any{"is", "visit:source", []string{"google.com"}}},
			}, "[{[1] []}]",
		},
		{
			object{
				"metrics": []string{"pageviews"}, "date_range": "7d", "filters": []any{
					[]any{"is", "event:page", []string{"/blog", "/none"}}, []any{"is", "visit:device", []string{"Desktop"}},
				},
			}, "[{[3] []}]",
		},
		{
			object{"metrics": []string{"visits"}, "date_range": "7d", "filters": []any{"and", []any{
				[]any{"is", "visit:source", []string{"google.com", "Direct / None"}},
			}}}, "[{[3] []}]",
		},
		{
			object{
				"metrics": []string{"pageviews"}, "date_range": "7d", "dimensions": []string{"event:page"},
				"pagination": object{"limit": 1, "offset": 1}, "include": object{"total_rows": true},
			},
			"[{[1] [/about]}]",
		},
	} {
		r := ask(c.query)
		if got := fmt.Sprint(r.Results); got != c.want {
			t.Errorf("%v: got %s, want %s", c.query, got, c.want)
		}
		if r.Meta["time_labels"] != nil && len(r.Meta["time_labels"].([]any)) != 7 || r.Meta["total_rows"] != nil &&
			r.Meta["total_rows"] != 2.0 {
			t.Errorf("%v: meta is %v", c.query, r.Meta)
		}
	}
	if got, want := fmt.Sprint(ask(object{"metrics": []string{"visits"}, "date_range": "day"}).Query["date_range"]),
		"["+day+"T00:00:00Z "+day+"T23:59:59Z]"; got != want {
		t.Errorf("the range: got %s, want %s", got, want)
	}
	for _, c := range []struct {
		field string
		query object
	}{
		{
			"dimensions", object{"metrics": []string{"visits"}, "date_range": "7d", "dimensions": []string{
				"visit:source", "visit:country",
			}},
		},
		{
			"filters", object{"metrics": []string{"visits"}, "date_range": "7d", "filters": []any{
				[]any{"contains", "event:page", []string{"/blog"}},
			}},
		},
		{"metrics", object{"metrics": []string{"visitors"}, "date_range": "day", "dimensions": []string{"time:hour"}}},
		{
			"date_range", object{"metrics": []string{"visits"}, "date_range": []string{
				day + "T10:00:00Z", day + "T12:00:00Z",
			}},
		},
	} {
		c.query["site_id"] = "news.example"
		s.refused(s.send("POST", "/api/v2/query", c.query), 400, "report_not_computable", c.field)
	}
	s.refused(s.send("POST", "/api/v2/query", object{
		"site_id": "news.example", "metrics": []string{"visits"},
		"date_range": "soon",
	}), 400, "invalid_request", "date_range")
}
