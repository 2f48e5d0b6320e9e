package api_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"dateline/api"
	"dateline/api/spec"
)

func TestHeaders_TooLargeAreAnsweredWithAProblemDocument(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := api.NewHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	}))
	go func() { _ = server.Serve(api.NewListener(l)) }()
	t.Cleanup(func() { _ = server.Close() })
	for size, want := range map[int]int{10: 200, 80 << 10: 431, 2 << 20: 431} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Padding", strings.Repeat("x", size))
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%d bytes of headers: %v", size, err)
		}
		raw, _ := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("%d bytes of headers: got %d, want %d", size, got.StatusCode, want)
		}
		var p spec.Problem
		if want == 431 && (json.Unmarshal(raw, &p) != nil ||
			got.Header.Get("Content-Type") != "application/problem+json" || p.Code != "headers_too_large" ||
			p.Status != 431) {
			t.Errorf("%d bytes of headers: got %s %s, want a problem document", size, got.Header.Get("Content-Type"),
				raw)
		}
	}
}
