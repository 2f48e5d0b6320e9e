package mastodon_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

func TestRatesAreWhatTheHeadersSay(t *testing.T) {
	rates := fake.MastodonRates()
	rates.Statuses, rates.Media = fake.Rate{Requests: 5, Per: 3 * time.Hour}, fake.Rate{Requests: 3, Per: 30 * time.Minute}
	server, made := startFake(t, fake.Options{Rates: rates})
	m := mastodon.New(newClient(t), mastodon.Options{})
	account := identified(t, m, server.URL(), made.Token)
	receipt, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, receipt.Rates, "statuses", 5, 4, rates.Statuses.Per)
	staged, err := m.Stage(t.Context(), account, network.Media{MediaInfo: network.MediaInfo{MIMEType: "image/png"}, FileName: "a.png",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n")), nil
		}})
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

func want(t *testing.T, rates []network.Rate, bucket string, limit, remaining int, per time.Duration) {
	t.Helper()
	if len(rates) != 1 || rates[0].Bucket != bucket || rates[0].Limit != limit || rates[0].Remaining != remaining || rates[0].Scope != network.ScopeAccount {
		t.Errorf("rates %+v, want %d of %d in %s", rates, remaining, limit, bucket)
		return
	}
	// The fake's periods begin at multiples of their length, as Mastodon's do.
	if end := time.Now().Truncate(per).Add(per); rates[0].ResetAt.Sub(end).Abs() > 3*time.Second {
		t.Errorf("reset at %s, want %s", rates[0].ResetAt, end)
	}
}

func TestHeadersThatCannotBeReadSayNothing(t *testing.T) {
	for _, headers := range [][3]string{{"", "", ""}, {"300", "", ""}, {"many", "3", ""}, {"0", "0", ""}, {"300", "-1", ""}} {
		m, account := answering(t, func(w http.ResponseWriter, _ *http.Request) {
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
