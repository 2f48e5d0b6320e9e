package ingest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/audience/site"
)

// Declared events count with their declared properties. Others are filtered with a
// reason, and values that may identify a person are refused.
func TestEvent_DeclaredEventsCount(t *testing.T) {
	t.Parallel()
	d := open(t)
	s, secret := d.Site(func(s *site.Site) {
		s.RateHits = 100
		s.Events = []site.Event{{Name: "Sign up", Properties: []string{"plan"}}}
	})
	send := func(name, properties string) answer {
		t.Helper()
		return d.send("POST", "/v1/event", fmt.Sprintf(`{"site":%q,"page":"/a","type":%q,"properties":%s}`, s.WriteKey,
			name, properties))
	}
	for _, accepted := range [][2]string{
		{"Sign up", `{"plan":"pro"}`},
		{"Sign up", `{"plan":"pro"}`},
		{"Sign up", `{"color":"red"}`},
		{"sign up", `{}`},
	} {
		if a := send(accepted[0], accepted[1]); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s: got %s %s, want 202", accepted, a.Status, a.body)
		}
	}
	if got, want := fmt.Sprint(d.filtered(s, "/a")), "map[unknown_event:1 unknown_property:1]"; got != want {
		t.Errorf("filtered: got %s, want %s", got, want)
	}
	for _, value := range []string{
		"an@example.com", "203.0.113.7", "2001:db8::1", "0912345678",
		strings.Repeat("x", 101), `a\u0001b`,
	} {
		d.expectProblem(value, send("Sign up", `{"plan":"`+value+`"}`), 422, "invalid_request", "properties.plan")
	}
	d.expectProblem("a view with properties", send("click", `{"plan":"pro"}`), 422, "invalid_request", "properties")
	for _, properties := range []string{`"props":{"plan":"pro","mail":"an@example.com"}`, `"p":"{\"plan\":7}"`} {
		body := fmt.Sprintf(`{"n":"Sign up","u":"https://news.example/a","d":%q,%s}`, s.WriteKey, properties)
		if a := d.send("POST", "/api/event", body); a.StatusCode != http.StatusAccepted ||
			a.Header.Get("X-Plausible-Dropped") != "" {
			t.Errorf("%s: got %s %s, want it counted", body, a.Status, a.body)
		}
	}
	if a := d.send("POST", "/api/event", fmt.Sprintf(`{"n":"Log in","u":"https://news.example/b","d":%q}`,
		s.WriteKey)); a.StatusCode != http.StatusAccepted || a.Header.Get("X-Plausible-Dropped") != "1" ||
		fmt.Sprint(d.filtered(s, "/b")) != "map[unknown_event:1]" {
		t.Errorf("an event that is not declared: got %s, header %q", a.Status, a.Header.Get("X-Plausible-Dropped"))
	}
	if a := d.send("POST", "/api/event", fmt.Sprintf(`{"n":"pageview","u":"https://news.example/prerendered","d":%q}`,
		s.WriteKey), "Sec-Purpose", "prefetch;prerender"); a.Header.Get("X-Plausible-Dropped") != "" {
		t.Errorf("a prerendered page that the reader opened: got %s %s, want it counted", a.Status, a.body)
	}
	// A server sends events in batches, and needs no visitor for them.
	rows :=
		`[{"type":"Sign up","page":"/a","properties":{"plan":"pro"}},{"type":"Sign up","page":"/a","properties":{"color":"red"}},{"type":"Log in","page":"/c"},` +
			`{"type":"Sign up","page":"/a","properties":{"plan":"an@example.com"}},{"type":"Sign up","page":"/c","opt_out":true},{"page":"/c","user":"7","properties":{"plan":"pro"}}]`
	want := `{"accepted":2,"counted":2,"filtered":{"opt_out":1,"unknown_event":1,"unknown_property":1},"rejected":[` +
		`{"index":3,"errors":[{"field":"properties.plan","code":"personal_data","message":"Must not contain an e-mail address, an IP address, a phone number or a token."}]},` +
		`{"index":5,"errors":[{"field":"properties","code":"unknown_field","message":"Only declared events have properties."}]}]}`
	if a := d.send("POST", "/v1/batch", rows, "Authorization", "Bearer "+secret, "Content-Type",
		"application/json"); a.StatusCode != http.StatusAccepted || strings.TrimSpace(a.body) != want {
		t.Errorf("a batch: got %s %s, want %s", a.Status, a.body, want)
	}
	d.expectProblem("no type", send("", `{}`), 422, "invalid_request", "type")

	counts := map[string]int64{}
	for shard := range d.Counter.Shards() {
		d.Must(d.Counter.MarkSeeded(t.Context(), shard))
		id := uuid.New()
		_, err := d.Counter.TakeBatch(t.Context(), shard, id)
		d.Must(err)
		batch, err := d.Counter.ReadBatch(t.Context(), shard, id)
		d.Must(err)
		for _, delta := range batch.Deltas {
			for _, e := range delta.Events {
				counts[e.Name+" "+e.Property+" "+e.Value] += e.Count
			}
		}
	}
	if got, want := fmt.Sprint(counts), "map[Sign up  :7 Sign up plan 7:1 Sign up plan pro:4]"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}
