package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

// A site declares events and goals, and reports count them.
func TestSiteReport_EventsAndGoals(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.RateHits = 100 })
	base := "/api/v1/sites/" + w.ID.String()
	s.refused(s.send("PATCH", base, object{"events": []object{{"name": "view"}}}), 422, "invalid_request",
		"events[0].name")
	s.refused(s.send("PATCH", base,
		object{"goals": []object{{"name": "A", "event": "unknown"}, {"name": "B"}, {"name": "C", "page": "*"}}}), 422,
		"invalid_request",
		"goals[0].event", "goals[1].event", "goals[2].page")
	var changed spec.Site
	s.decode(s.send("PATCH", base, object{
		"events": []object{{"name": "signup", "properties": []string{"plan"}}},
		"goals": []object{
			{"name": "Subscribers", "event": "signup"},
			{"name": "Buyers", "event": "conversion"},
			{"name": "Thanks", "page": "/thanks_*"},
		},
	}), 200, &changed)
	if len(changed.Events) != 1 || len(changed.Goals) != 3 {
		t.Fatalf("the site has events %v and goals %v, want 1 and 3", changed.Events, changed.Goals)
	}
	send := func(path string, body object) {
		t.Helper()
		body["site"] = w.WriteKey
		if a := s.send("POST", path, body, "Authorization", "", "User-Agent",
			"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language",
			"vi"); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s: %s %s", path, a.Status, a.body)
		}
	}
	send("/v1/view", object{"page": "/a", "user": "a"})
	send("/v1/view", object{"page": "/thanks_1", "user": "a"})
	send("/v1/view", object{"page": "/thanksX1", "user": "b"})
	send("/v1/event", object{"page": "/a", "user": "a", "type": "conversion"})
	for range 3 {
		send("/v1/event", object{"page": "/a", "user": "a", "type": "signup", "properties": object{"plan": "=pro"}})
	}
	f := flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}), Store: s.Store.Audience.Views,
		Log: slog.New(slog.DiscardHandler),
	}
	for range 2 { // the first one seeds a new installation
		_, err := f.Flush(t.Context(), func() {})
		s.Must(err)
	}
	zone, err := timezone.Load(w.TimeZone)
	s.Must(err)
	day := func(ago int) string { return time.Now().In(zone).AddDate(0, 0, -ago).Format(time.DateOnly) }
	days := base + "/report?from=" + day(1) + "&to=" + day(-1)
	for query, want := range map[string]string{
		"&by=events":                         "events,events\nsignup,3\n",
		"&by=properties&filter=event:signup": "properties,property,events\n'=pro,plan,3\n",
		"&by=goals": "goals,conversions,conversion_rate\nSubscribers,3,1.5000\n" +
			"Buyers,1,0.5000\nThanks,1,0.5000\n",
	} {
		if got := withoutMark(t, s.send("GET", days+query+"&format=csv", nil).body); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	var r spec.SiteReport
	s.decode(s.send("GET", days+"&filter=event:signup&compare=previous", nil), 200, &r)
	if got, want := fmt.Sprint(*r.Period.Totals.Events, r.Period.Totals.Views, *r.Compared.Totals.Events,
		len(r.Tables)), "3 <nil> 0 1"; got != want {
		t.Errorf("an event: got %s, want %s", got, want)
	}
	s.refused(s.send("GET", days+"&by=properties", nil), 400, "report_not_computable", "by")
	s.refused(s.send("GET", days+"&by=pages&filter=event:signup", nil), 400, "report_not_computable", "by")
}
