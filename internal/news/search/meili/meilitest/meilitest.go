// Package meilitest is a fake Meilisearch for tests: the part that the engine uses,
// based on the source (v1.50, crates/meilisearch, index-scheduler and milli). What the
// real one refuses is refused with the same code. It ranks nothing: tests set the
// search results.
package meilitest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the required API key.
const Key = "a-master-key-of-sixteen"

// Server is a Meilisearch.
type Server struct {
	URL string
	// Found returns search results; nil: none. It must not call the server.
	Found func(request map[string]any) map[string]any

	mu           sync.Mutex
	indexes      map[string]*index
	tasks        []*task
	clock        time.Time
	searches     []map[string]any
	fails        string // the type of tasks that fail
	busy         bool
	loses        string // the path whose next response gets lost
	maxBodyBytes int

	forbidden []string // actions that the key does not have
	version   string
}

// index is one index. Its name is not in it: swapping changes names only.
type index struct {
	created   time.Time
	settings  map[string]any
	embedders map[string]any
	docs      map[string]map[string]any
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{
		indexes: map[string]*index{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		maxBodyBytes: 100 << 20, version: "1.50.0",
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

type problem struct {
	status int
	code   string
}

func (s *Server) refuse(w http.ResponseWriter, p problem) {
	kind := "invalid_request"
	switch p.code {
	case "missing_authorization_header", "invalid_api_key":
		kind = "auth"
	case "too_many_search_requests":
		kind = "system"
		w.Header().Set("Retry-After", "10")
	}
	say(w, p.status, map[string]any{
		"message": "secret words of an article", "code": p.code, "type": kind,
		"link": "https://docs.meilisearch.com/errors#" + p.code,
	})
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/health" { // needs no key
		say(w, http.StatusOK, map[string]any{"status": "available"})
		return
	}
	switch r.Header.Get("Authorization") {
	case "":
		s.refuse(w, problem{http.StatusUnauthorized, "missing_authorization_header"})
		return
	case "Bearer " + Key:
	default:
		s.refuse(w, problem{http.StatusForbidden, "invalid_api_key"})
		return
	}
	var may bool
	s.locked(func() { may = !slices.Contains(s.forbidden, action(r)) })
	if !may {
		s.refuse(w, problem{http.StatusForbidden, "invalid_api_key"})
		return
	}
	body, p := s.read(r)
	if p != nil {
		s.refuse(w, *p)
		return
	}
	status, answer, p := s.serve(r, body)
	s.mu.Lock()
	lost := s.loses != "" && r.URL.Path == s.loses
	if lost {
		s.loses = ""
	}
	s.mu.Unlock()
	switch {
	case lost: // like a gateway: the request was executed, but its response is lost
		w.WriteHeader(http.StatusGatewayTimeout)
	case p != nil:
		s.refuse(w, *p)
	default:
		say(w, status, answer)
	}
}

func (s *Server) read(r *http.Request) (any, *problem) {
	raw, _ := io.ReadAll(r.Body)
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // no body
	}
	if len(raw) > s.maxBodyBytes {
		return nil, &problem{http.StatusRequestEntityTooLarge, "payload_too_large"}
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return nil, &problem{http.StatusUnsupportedMediaType, "invalid_content_type"}
	}
	var body any
	if json.Unmarshal(raw, &body) != nil {
		return nil, &problem{http.StatusBadRequest, "malformed_payload"}
	}
	return body, nil
}

func (s *Server) serve(r *http.Request, body any) (status int, answer any, p *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, _ := body.(map[string]any)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	route := r.Method + " " + parts[0]
	if p := malformed(route, "", body); p != nil && len(parts) == 1 {
		return 0, nil, p
	}
	switch {
	case route == "GET version":
		return http.StatusOK, map[string]any{"commitSha": "", "commitDate": "", "pkgVersion": s.version}, nil
	case route == "GET tasks" && len(parts) == 1:
		return http.StatusOK, s.list(r.URL.Query()), nil
	case route == "GET tasks":
		return s.task(parts[1])
	case route == "POST multi-search":
		return s.multi(object)
	case route == "POST swap-indexes":
		return s.swap(body)
	case route == "GET indexes" && len(parts) == 1:
		results := []any{}
		for uid := range s.indexes {
			results = append(results, s.view(uid))
		}
		return http.StatusOK, map[string]any{"results": results, "offset": 0, "limit": 1000, "total": len(results)}, nil
	case route == "POST indexes" && len(parts) == 1:
		uid, _ := object["uid"].(string)
		return s.enqueue("indexCreation", func() string {
			if s.indexes[uid] != nil {
				return "index_already_exists"
			}
			s.open(uid)
			return ""
		})
	case parts[0] == "indexes" && len(parts) > 1:
		return s.index(r.Method+" "+strings.Join(parts[2:], "/"), parts[1], r.URL.Query().Get("primaryKey"), body)
	}
	return 0, nil, &problem{http.StatusNotFound, "not_found"}
}

func (s *Server) index(route, uid, primaryKey string, body any) (status int, answer any, p *problem) {
	object, _ := body.(map[string]any)
	if p := malformed(route, uid, body); p != nil {
		return 0, nil, p
	}
	// These enqueue a task, whether there is such an index or not.
	switch route {
	case "DELETE ":
		return s.enqueue("indexDeletion", func() string {
			if s.indexes[uid] == nil {
				return "index_not_found"
			}
			delete(s.indexes, uid)
			return ""
		})
	case "PATCH settings":
		if p := checkSettings(object); p != nil {
			return 0, nil, p
		}
		return s.enqueue("settingsUpdate", func() string { return s.set(uid, object) })
	case "PATCH settings/embedders":
		if p := checkSettings(map[string]any{"embedders": object}); p != nil {
			return 0, nil, p
		}
		return s.enqueue("settingsUpdate", func() string { return s.set(uid, map[string]any{"embedders": object}) })
	case "DELETE settings/embedders":
		return s.enqueue("settingsUpdate", func() string { s.open(uid).embedders = map[string]any{}; return "" })
	case "POST documents":
		list, ok := body.([]any)
		if !ok || primaryKey != "id" {
			return 0, nil, &problem{http.StatusBadRequest, "malformed_payload"}
		}
		return s.enqueue("documentAdditionOrUpdate", func() string { return s.open(uid).add(list) })
	case "POST documents/delete-batch":
		return s.enqueue("documentDeletion", func() string {
			if s.indexes[uid] == nil {
				return "index_not_found"
			}
			for _, id := range body.([]any) {
				delete(s.indexes[uid].docs, id.(string))
			}
			return ""
		})
	}
	x := s.indexes[uid]
	if x == nil {
		return 0, nil, &problem{http.StatusNotFound, "index_not_found"}
	}
	switch route {
	case "GET ":
		return http.StatusOK, s.view(uid), nil
	case "GET stats":
		return http.StatusOK, map[string]any{
			"numberOfDocuments": len(x.docs), "isIndexing": false,
			"fieldDistribution": map[string]any{},
		}, nil
	case "GET settings":
		all := maps.Clone(x.settings)
		all["embedders"] = x.embedders
		return http.StatusOK, all, nil
	case "GET settings/embedders":
		return http.StatusOK, x.embedders, nil
	case "POST documents/fetch":
		return x.fetch(object)
	case "POST search":
		return s.search(x, object)
	}
	return 0, nil, &problem{http.StatusNotFound, "not_found"}
}

// open returns the index of a name. Documents and settings create it if it does not
// exist.
func (s *Server) open(uid string) *index {
	if s.indexes[uid] == nil {
		s.clock = s.clock.Add(time.Millisecond)
		s.indexes[uid] = &index{
			created: s.clock, settings: map[string]any{}, embedders: map[string]any{},
			docs: map[string]map[string]any{},
		}
	}
	return s.indexes[uid]
}

func (s *Server) view(uid string) map[string]any {
	at := s.indexes[uid].created.Format(time.RFC3339Nano)
	return map[string]any{"uid": uid, "primaryKey": "id", "createdAt": at, "updatedAt": at}
}
