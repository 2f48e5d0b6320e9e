package api_test

import (
	"net/http"
	"testing"

	"dateline/api"
)

func (s *server) getFrom(host, path string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	s.Must(err)
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+s.Token)
	return s.do(r)
}

func TestHost_RejectsUnknownNames(t *testing.T) {
	t.Parallel()
	s := start(t, func(a *api.Server) { a.Hosts = []string{"news.example:8443", "Go.example"} })
	for host, want := range map[string]int{
		"news.example": 200, "NEWS.example.": 200, "news.example:8443": 200, "news.example:1": 200, "go.example": 200,
		"127.0.0.1:8080": 200, "[::1]:8080": 200, "10.1.2.3": 200, "localhost:8080": 200, "dateline.localhost": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"notlocalhost": 421, "news.example.evil.example": 421,
	} {
		a := s.getFrom(host, "/api/v1/posts")
		if a.StatusCode != want {
			t.Errorf("Host %s: got %d %s, want %d", host, a.StatusCode, a.body, want)
		}
		if want == 421 {
			s.refused(a, 421, "unknown_host")
			if login := s.getFrom(host, "/login"); login.StatusCode != http.StatusMisdirectedRequest {
				t.Errorf("GET /login of Host %s: got %d, want 421", host, login.StatusCode)
			}
		}
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if a := s.getFrom("10-1-2-3.pod.cluster.example", path); a.StatusCode == http.StatusMisdirectedRequest {
			t.Errorf("GET %s by another name: got 421, want health", path)
		}
	}
}
