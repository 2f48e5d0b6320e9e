package mastodon_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

func TestRates_MatchHeaders(t *testing.T) {
	rates := fake.MastodonRates()
	rates.Statuses, rates.Media = fake.Rate{Requests: 5, Per: 3 * time.Hour}, fake.Rate{
		Requests: 3, Per: 30 * time.Minute,
	}
	server, created := startFake(t, fake.Options{Rates: rates})
	m := mastodon.New(newClient(t), mastodon.Options{})
	account := identified(t, m, server.URL(), created.Token)
	receipt, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, receipt.Rates, "statuses", 5, 4, rates.Statuses.Per)
	staged, err := m.Stage(t.Context(), account, network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "image/png"},
		FileName:  "a.png",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n")), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, staged.Rates, "media", 3, 2, rates.Media.Per)
	for range 4 {
		if _, err := m.Publish(t.Context(), account, network.Submission{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = m.Publish(t.Context(), account, network.Submission{Text: "Hello"})
	e := network.AsError(err)
	if err == nil || e.Class != network.Throttled || e.Scope != network.ScopeAccount {
		t.Fatalf("%v", err)
	}
	want(t, e.Rates, "statuses", 5, 0, rates.Statuses.Per)
}

func want(t *testing.T, rates []network.RateStatus, bucket string, limit, remaining int, per time.Duration) {
	t.Helper()
	if len(rates) != 1 || rates[0].Bucket != bucket || rates[0].Scope != network.ScopeAccount {
		t.Errorf("rates %+v, want one of the account in %s", rates, bucket)
		return
	}
	if rates[0].Limit != limit || rates[0].Remaining != remaining {
		t.Errorf("rates %+v, want %d of %d in %s", rates, remaining, limit, bucket)
		return
	}
	// The fake's windows begin at multiples of their length, like Mastodon's.
	if end := time.Now().Truncate(per).Add(per); rates[0].ResetAt.Sub(end).Abs() > 3*time.Second {
		t.Errorf("reset at %s, want %s", rates[0].ResetAt, end)
	}
}

func TestRates_IgnoreInvalidHeaders(t *testing.T) {
	for _, headers := range [][3]string{
		{"", "", ""},
		{"300", "", ""},
		{"many", "3", ""},
		{"0", "0", ""},
		{"300", "-1", ""},
	} {
		m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
			for i, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
				if headers[i] != "" {
					w.Header().Set(name, headers[i])
				}
			}
			_, _ = io.WriteString(w, `{"id":"1","url":"https://social.example/@desk/1"}`)
		})
		receipt, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
		if err != nil || len(receipt.Rates) != 0 {
			t.Errorf("%v: rates %+v, error %v", headers, receipt.Rates, err)
		}
	}
}

func TestRates_AreReadInEveryForm(t *testing.T) {
	later := time.Now().Add(5 * time.Minute)
	for name, c := range map[string]struct {
		headers map[string]string
		per     time.Duration
	}{
		"GoToSocial": {
			map[string]string{
				"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299",
				"X-RateLimit-Reset": later.UTC().Format("2006-01-02T15:04:05.000000Z"),
			}, 0,
		},
		"Epoch": {
			map[string]string{
				"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299",
				"X-RateLimit-Reset": strconv.FormatInt(later.Unix(), 10),
			}, 0,
		},
		"FromNow": {
			map[string]string{"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299", "X-RateLimit-Reset": "300"},
			0,
		},
		"Draft": {map[string]string{
			"RateLimit-Limit": "300, 300;w=300", "RateLimit-Remaining": "299",
			"RateLimit-Reset":  "300",
			"RateLimit-Policy": "300;w=300",
		}, 5 * time.Minute},
	} {
		m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
			for name, value := range c.headers {
				w.Header().Set(name, value)
			}
			_, _ = io.WriteString(w, `{"id":"1","url":"https://social.example/@desk/1"}`)
		})
		receipt, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
		if err != nil || len(receipt.Rates) != 1 {
			t.Errorf("%s: got %+v, error %v", name, receipt.Rates, err)
			continue
		}
		got := receipt.Rates[0]
		if got.Limit != 300 || got.Remaining != 299 || got.ResetAt.Sub(later).Abs() > 2*time.Second ||
			got.Per != c.per {
			t.Errorf("%s: got %+v, want 299 of 300 until %s, period %s", name, got, later, c.per)
		}
	}
}
