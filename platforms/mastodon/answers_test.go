package mastodon_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

// respondWith serves one response to every request.
func respondWith(t *testing.T, handler http.HandlerFunc) (*mastodon.Mastodon, network.Account) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return mastodon.New(newClient(t), mastodon.Options{}), network.Account{
		BaseURL: server.URL, RemoteID: "1", Token: secret.NewText("secret-token"),
	}
}

func TestRefusals(t *testing.T) {
	for name, row := range map[string]struct {
		status     int
		body, code string
		class      network.Class
	}{
		"Scope":        {403, `{"error":"This action is outside the authorized scopes"}`, "http_403", network.Auth},
		"Disabled":     {403, `{"error":"Your login is currently disabled"}`, "http_403", network.Auth},
		"NotPermitted": {403, `{"error":"This action is not allowed"}`, "http_403", network.Rejected},
		"NotReady": {
			422, `{"error":"Cannot attach files that have not finished processing. Try again in a moment!"}`,
			"media_not_ready", network.Transient,
		},
		"MediaGone": {
			422, `{"error":"Media 1, 2 not found or already attached to another post"}`, "media_expired",
			network.Transient,
		},
		"TooLarge":    {413, `<html>Request Entity Too Large</html>`, "http_413", network.Rejected},
		"EmptyObject": {200, `{}`, "malformed_response", network.Ambiguous},
		"NoContent":   {204, ``, "malformed_response", network.Ambiguous},
		"OAuthWords": {
			400, `{"error":"invalid_grant","error_description":"It expired."}`, "invalid_grant",
			network.Rejected,
		},
		"LongErrorPage": {418, `{"error":"` + strings.Repeat("long ", 1000) + `"}`, "http_418", network.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(row.status)
				_, _ = io.WriteString(w, row.body)
			})
			_, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
			e := network.AsError(err)
			if err == nil {
				t.Fatal("err: got nil")
			}
			if e.Class != row.class {
				t.Errorf("e.Class: got %v, want %v", e.Class, row.class)
			}
			if e.Code != row.code {
				t.Errorf("e.Code: got %v, want %v", e.Code, row.code)
			}
			if e.Status != row.status {
				t.Errorf("e.Status: got %v, want %v", e.Status, row.status)
			}
			if len(e.Message) > 400 {
				t.Errorf("%+v, want %s %s", e, row.class, row.code)
			}
		})
	}
}

func TestRefusal_ServerClock(t *testing.T) {
	m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
		server := time.Now().Add(-time.Hour) // its clock is an hour behind
		w.Header().Set("Date", server.UTC().Format(http.TimeFormat))
		w.Header().Set("X-RateLimit-Reset", server.Add(2*time.Minute).UTC().Format("2006-01-02T15:04:05.000000Z"))
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
	e := network.AsError(err)
	if wait := time.Until(e.RetryAt); e.Class != network.Throttled || wait < 110*time.Second || wait > 130*time.Second {
		t.Errorf("retry in %v, want two minutes: %v", wait, e)
	}
}

func TestLimits(t *testing.T) {
	t.Run("Asked", func(t *testing.T) {
		var calls atomic.Int32
		m, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("a public call contains the token")
			}
			switch r.URL.Path {
			case "/.well-known/nodeinfo":
				_, _ = io.WriteString(w,
					`{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":"/nodeinfo/2.0"}]}`)
				return
			case "/nodeinfo/2.0":
				_, _ = io.WriteString(w, `{"software":{"name":"Mastodon","version":"4.4.1"}}`)
				return
			}
			calls.Add(1)
			_, _ = io.WriteString(w,
				`{"domain":"news.example","configuration":{"statuses":{"max_characters":5000,"max_media_attachments":16,
				"characters_reserved_per_url":30},"media_attachments":{"supported_mime_types":["image/png"],"image_size_limit":10,
				"video_frame_rate_limit":60,"video_matrix_limit":2073600}}}`)
		})
		for range 3 {
			got, err := m.Limits(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxCharacters != 5000 {
				t.Errorf("got.MaxCharacters: got %v, want %v", got.MaxCharacters, 5000)
			}
			if got.MaxMedia != 16 {
				t.Errorf("got.MaxMedia: got %v, want %v", got.MaxMedia, 16)
			}
			if got.CharactersPerURL != 30 {
				t.Errorf("got.CharactersPerURL: got %v, want %v", got.CharactersPerURL, 30)
			}
			if len(got.MIMETypes) != 1 {
				t.Fatalf("len(got.MIMETypes): got %v, want %v", len(got.MIMETypes), 1)
			}
			if got.MaxImageBytes != 10 {
				t.Errorf("got.MaxImageBytes: got %v, want %v", got.MaxImageBytes, 10)
			}
			if want := (network.VideoLimits{MaxFrameRate: 60, MaxPixels: 1920 * 1080}); !reflect.DeepEqual(got.Video,
				want) {
				t.Errorf("got.Video: got %+v, want %+v", got.Video, want)
			}
			if got.MaxAltText != 1500 {
				t.Errorf("got.MaxAltText: got %v, want %v", got.MaxAltText, 1500)
			}
			if got.IdempotencyWindow != 3600 {
				t.Errorf("got.IdempotencyWindow: got %v, want %v", got.IdempotencyWindow, 3600)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("got %d requests, want once", calls.Load())
		}
	})
	t.Run("Version1", func(t *testing.T) {
		m, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/instance" {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, `{"uri":"old.example","max_toot_chars":5000}`)
		})
		got, err := m.Limits(t.Context(), account)
		if err != nil || got.MaxCharacters != 5000 || got.CharactersPerURL != 23 || got.MaxMedia != 4 {
			t.Errorf("limits %+v, %v", got, err)
		}
	})
	t.Run("Defaults", func(t *testing.T) {
		m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
		})
		got, err := m.Limits(t.Context(), account)
		if err != nil || got.MaxCharacters != 500 || got.CharactersPerURL != 23 || got.MaxMedia != 4 {
			t.Errorf("limits %+v, %v", got, err)
		}
	})
	t.Run("Nonsense", func(t *testing.T) {
		m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w,
				`{"configuration":{"statuses":{"max_characters":-1,"characters_reserved_per_url":999999999}}}`)
		})
		got, err := m.Limits(t.Context(), account)
		if err != nil || got.MaxCharacters != 500 || got.CharactersPerURL != 23 {
			t.Errorf("limits %+v, %v", got, err)
		}
	})
	t.Run("Down", func(t *testing.T) {
		m, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
		})
		_, err := m.Limits(t.Context(), account)
		if e := network.AsError(err); err == nil || e.Class != network.Transient {
			t.Errorf("%v, want a transient error", err)
		}
	})
}

func TestMediaProcessing(t *testing.T) {
	server, created := startFake(t, fake.Options{MediaDelay: time.Hour})
	m := mastodon.New(newClient(t), mastodon.Options{})
	account := identified(t, m, server.URL(), created.Token)
	media := network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "image/png"}, // unknown length: sent in chunks
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 1<<20))), nil
		},
	}
	staged, err := m.Stage(t.Context(), account, media)
	if err != nil || staged.Ready || staged.CheckAfter <= 0 || staged.ExpiresAt.Before(time.Now().Add(time.Hour)) {
		t.Fatalf("staged %+v, %v", staged, err)
	}
	again, err := m.StageStatus(t.Context(), account, staged)
	if err != nil || again.Ready || again.RemoteID != staged.RemoteID || !again.ExpiresAt.Equal(staged.ExpiresAt) {
		t.Errorf("status %+v, %v", again, err)
	}
	_, err = m.Publish(t.Context(), account, network.Submission{Key: "k", MediaIDs: []string{staged.RemoteID}})
	if e := network.AsError(err); err == nil || e.Class != network.Transient || e.Code != "media_not_ready" {
		t.Errorf("publish before ready: %v", err)
	}
	if err := server.Inject(fake.Fault{Kind: fake.Status, Status: 422, Path: "/api/v1/media/"}); err != nil {
		t.Fatal(err)
	}
	if _, err = m.StageStatus(t.Context(), account, staged); network.AsError(err).Class != network.Rejected {
		t.Errorf("failed processing: %v", err)
	}
	media.Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }
	if _, err = m.Stage(t.Context(), account, media); network.AsError(err).Class != network.NotSent {
		t.Errorf("unreadable attachment: %v", err)
	}
}

func TestReconcile_StopsAfterMaxPages(t *testing.T) {
	server, created := startFake(t, fake.Options{})
	m := mastodon.New(newClient(t), mastodon.Options{})
	account := identified(t, m, server.URL(), created.Token)
	from := time.Now().Add(-time.Second)
	for i := range 201 {
		if _, err := m.Publish(t.Context(), account,
			network.Submission{Key: strings.Repeat("k", i+1), Text: "filler"}); err != nil {
			t.Fatal(err)
		}
	}
	finding, err := m.Reconcile(t.Context(), account, network.Submission{Text: "lost"}, network.Window{From: from})
	if err != nil || finding.Found || finding.Conclusive {
		t.Errorf("finding %+v, %v: want not conclusive", finding, err)
	}
}
