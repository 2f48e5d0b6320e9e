package api_test

import (
	"net/url"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/timezone"
)

func TestParseTime_ReadsWordsInTheZone(t *testing.T) {
	s := start(t)
	parse := func(text, zone string) (got spec.ParsedTime) {
		t.Helper()
		q := url.Values{"text": {text}}
		if zone != "" {
			q.Set("time_zone", zone)
		}
		s.decode(s.send("GET", "/api/v1/time?"+q.Encode(), nil), 200, &got)
		return got
	}
	if got := parse("2026-12-01 9:00",
		"America/Vancouver"); got.Time.Format(time.RFC3339) != "2026-12-01T09:00:00-07:00" ||
		got.LocalTime != "2026-12-01T09:00" {
		t.Errorf("got %+v; want 9:00 by the rules of 2026", got)
	}
	monday := parse("thứ hai 7h30", "")
	if monday.TimeZone != s.Workspace.TimeZone || monday.Time.Weekday() != time.Monday ||
		monday.Time.Format("15:04") != "07:30" || !monday.Time.After(time.Now()) {
		t.Errorf("got %+v; want the next Monday, 7:30, in %s", monday, s.Workspace.TimeZone)
	}
	if english := parse("monday 7:30", ""); !english.Time.Equal(monday.Time) {
		t.Errorf("in English %s, in Vietnamese %s", english.Time, monday.Time)
	}
	for query, field := range map[string]string{
		"text=soon": "text",
		"text=2027-03-28T02:30&time_zone=Europe/Berlin": "text", "text=9&time_zone=Mars/Olympus": "time_zone",
	} {
		s.refused(s.send("GET", "/api/v1/time?"+query, nil), 422, "invalid_request", field)
	}
}

func TestListTimeZones_ConvertsLikeTheServer(t *testing.T) {
	s := start(t)
	var got spec.TimeZones
	s.decode(s.send("GET", "/api/v1/time-zones", nil), 200, &got)
	if got.Database.Version != timezone.Current().Version {
		t.Errorf("got version %s; want %s", got.Database.Version, timezone.Current().Version)
	}
	rules := map[string]spec.TimeZoneRules{}
	for _, r := range got.Rules {
		for _, name := range r.Zones {
			rules[name] = r
		}
	}
	if len(rules) < 590 {
		t.Errorf("got %d zones; want all", len(rules))
	}
	for name, r := range rules {
		zone, err := timezone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for day := got.From; day.Before(got.To); day = day.AddDate(0, 0, 17) {
			offset := r.Offset
			for _, c := range r.Changes {
				if c[0] <= day.Unix() {
					offset = int(c[1])
				}
			}
			if want := int(timezone.Offset(day.In(zone)).Seconds()); offset != want {
				t.Fatalf("%s at %s: got offset %d; want %d", name, day, offset, want)
			}
		}
	}
}
