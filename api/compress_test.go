package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
)

// Long answers are compressed for clients that accept it, and are the same as without.
func TestAnswers_AreCompressed(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	for range 3 {
		s.post(s.send(http.MethodPost, "/api/v1/posts", hello(object{"content": strings.Repeat("Bão số 3. ", 40)})),
			http.StatusCreated)
	}
	get := func(path, accepts string) (*http.Response, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
		s.Must(err)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		r.Header.Set("Accept-Encoding", accepts)
		a, err := http.DefaultClient.Do(r)
		s.Must(err)
		body, err := io.ReadAll(a.Body)
		s.Must(err)
		s.Must(a.Body.Close())
		require.Equal(t, http.StatusOK, a.StatusCode, "%s", body)
		return a, body
	}
	plain, want := get("/api/v1/posts", "identity")
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	require.Contains(t, plain.Header.Values("Vary"), "Accept-Encoding")
	for _, accepts := range []string{"gzip", "gzip, deflate, br, zstd"} {
		zipped, body := get("/api/v1/posts", accepts)
		require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"), accepts)
		require.Less(t, len(body), len(want)/2)
		z, err := gzip.NewReader(bytes.NewReader(body))
		s.Must(err)
		got, err := io.ReadAll(z)
		s.Must(err)
		require.Equal(t, string(want), string(got))
		var page spec.PostPage
		s.Must(json.Unmarshal(got, &page))
		require.Len(t, page.Posts, 3)
	}
	short, _ := get("/api/v1/posts?limit=1&status=posted", "gzip")
	require.Empty(t, short.Header.Get("Content-Encoding"))
}

// A browser, which accepts gzip, learns at once that an event stream is open, also if
// there is no event.
func TestStreams_BeginAtOnce(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	p := s.post(s.send(http.MethodPost, "/api/v1/posts", hello()), http.StatusCreated)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // the first ping is later
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/posts/"+p.Id.String()+"/events", http.NoBody)
	s.Must(err)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	r.Header.Set("Last-Event-ID", "1000000")
	a, err := http.DefaultClient.Do(r)
	s.Must(err)
	require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
	require.Empty(t, a.Header.Get("Content-Encoding"))
	s.Must(a.Body.Close())
}
