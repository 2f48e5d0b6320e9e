package mastodon_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

// instance serves an instance of some software ("name version"), whose new statuses have
// the given age.
type instance struct {
	software string
	nodeInfo string // where the NodeInfo document is said to be; default: on this host
	age      atomic.Int64
	noDate   atomic.Bool
}

func (i *instance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch name, version, _ := strings.Cut(i.software, " "); r.URL.Path {
	case "/.well-known/nodeinfo":
		if i.software == "" {
			http.NotFound(w, r)
			return
		}
		href := i.nodeInfo
		if href == "" {
			href = "/nodeinfo/2.0"
		}
		_, _ = fmt.Fprintf(w,
			`{"links":[{"rel":"http://other.example/schema","href":"/other"},{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":%q}]}`, href)
	case "/nodeinfo/2.0":
		_, _ = fmt.Fprintf(w, `{"software":{"name":%q,"version":%q}}`, name, version)
	case "/other":
		_, _ = fmt.Fprint(w, `{"software":{"name":"mastodon","version":"4.5.2"}}`)
	case "/api/v1/statuses":
		created := time.Now().Add(-time.Duration(i.age.Load())).UTC().Format(time.RFC3339Nano)
		if i.noDate.Load() {
			created = "0001-01-01T00:00:00Z"
		}
		_, _ = fmt.Fprintf(w, `{"id":"1","created_at":%q}`, created)
	default:
		_, _ = fmt.Fprint(w, `{"domain":"social.example"}`)
	}
}

// window returns for how many seconds the idempotency key is relied on.
func window(t *testing.T, m *mastodon.Mastodon, account network.Account) int {
	t.Helper()
	limits, err := m.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return limits.IdempotencyWindow
}

// The key is relied on only where the software is known to honor it: anywhere else,
// sending again would publish twice.
func TestIdempotencyKey_IsReliedOnForKnownSoftware(t *testing.T) {
	for software, want := range map[string]int{
		"mastodon 4.5.2": 3600, "Mastodon 4.5.2": 3600, "mastodon 2.0.0": 3600, "mastodon 10.1": 3600,
		"hometown v4.0.10": 3600,
		"mastodon 1.6.1":   0, "mastodon nightly": 0, "mastodon": 0,
		"gotosocial 0.20.1": 0, "pleroma 2.9.1": 0, "akkoma 3.15.0": 0, "mastodonlike 4.5.2": 0, "": 0,
	} {
		t.Run(software, func(t *testing.T) {
			m, account := respondWith(t, (&instance{software: software}).ServeHTTP)
			if got := window(t, m, account); got != want {
				t.Errorf("got %d s, want %d s", got, want)
			}
		})
	}
	t.Run("NodeInfoOfAnotherHost", func(t *testing.T) {
		m, account := respondWith(t,
			(&instance{software: "mastodon 4.5.2", nodeInfo: "https://other.example/nodeinfo/2.0"}).ServeHTTP)
		if got := window(t, m, account); got != 0 {
			t.Errorf("got %d s, want 0 s", got)
		}
	})
}

// A server that answers with a status older than the request has recognized the key. It
// is relied on for as long as was observed.
func TestIdempotencyKey_IsReliedOnAfterAReplay(t *testing.T) {
	server := &instance{software: "homemade 1.0"}
	m, account := respondWith(t, server.ServeHTTP)
	account.Token = secret.NewText("secret-token")
	for _, row := range []struct {
		name     string
		age      time.Duration
		noDate   bool
		min, max int
	}{
		{"NewStatus", 0, false, 0, 0},
		{"RoundedTime", 3 * time.Second, false, 0, 0},
		{"NoTime", 0, true, 0, 0},
		{"Replay", 90 * time.Second, false, 85, 95},
		{"ShorterReplay", 20 * time.Second, false, 85, 95},
		{"LongerReplay", 10 * time.Minute, false, 595, 605},
		{"NewStatusAgain", 0, false, 595, 605},
		{"VeryOld", 5 * time.Hour, false, 3600, 3600},
	} {
		window(t, m, account) // the instance is known
		server.age.Store(int64(row.age))
		server.noDate.Store(row.noDate)
		if _, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		if got := window(t, m, account); got < row.min || got > row.max {
			t.Errorf("%s: relied on for %d s, want %d to %d s", row.name, got, row.min, row.max)
		}
	}
}
