package meili_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const key = "a-master-key-of-sixteen"

// fake is as much of Meilisearch as the engine uses, by its documentation: every
// change is a task that is enqueued first (202) and done later. It refuses what
// the documentation does not allow.
type fake struct {
	t   *testing.T
	url string

	mu       sync.Mutex
	indexes  map[string]map[string]map[string]any // index, id, document
	settings map[string]map[string]any
	tasks    []*task
	searches []map[string]any
	answer   func(map[string]any) map[string]any // of a search
	failTask string                              // the type of tasks that fail
	down     bool
}

type task struct {
	looks  int
	kind   string
	do     func() error
	status string
	code   string
}

func start(t *testing.T) *fake {
	f := &fake{t: t, indexes: map[string]map[string]map[string]any{}, settings: map[string]map[string]any{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		f.say(w, http.StatusServiceUnavailable, map[string]any{"message": "away", "code": "internal", "type": "internal"})
		return
	case r.Header.Get("Authorization") != "Bearer "+key:
		f.say(w, http.StatusForbidden, map[string]any{"message": "The provided API key is invalid.", "code": "invalid_api_key", "type": "auth"})
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var body any
	if len(raw) > 0 {
		if r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(raw, &body) != nil {
			f.say(w, http.StatusBadRequest, map[string]any{"message": "no JSON", "code": "malformed_payload"})
			return
		}
	}
	object, _ := body.(map[string]any)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	index := ""
	if parts[0] == "indexes" && len(parts) > 1 {
		index = parts[1]
	}
	docs, exists := f.indexes[index]
	switch route := r.Method + " " + strings.Replace(r.URL.Path, "/"+index, "/{uid}", 1); {
	case route == "GET /indexes/{uid}" && exists:
		f.say(w, 200, map[string]any{"uid": index, "primaryKey": "id", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"})
	case r.Method == http.MethodGet && r.URL.Path == "/indexes":
		results := []any{}
		for uid := range f.indexes {
			results = append(results, map[string]any{"uid": uid, "primaryKey": "id", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"})
		}
		f.say(w, 200, map[string]any{"results": results, "offset": 0, "limit": 1000, "total": len(results)})
	case r.Method == http.MethodPost && r.URL.Path == "/indexes":
		uid, _ := object["uid"].(string)
		f.enqueue(w, "indexCreation", func() error {
			if f.indexes[uid] != nil {
				return fmt.Errorf("index_already_exists")
			}
			f.indexes[uid] = map[string]map[string]any{}
			return nil
		})
	case route == "DELETE /indexes/{uid}":
		f.enqueue(w, "indexDeletion", func() error { delete(f.indexes, index); return nil })
	case route == "PATCH /indexes/{uid}/settings":
		f.enqueue(w, "settingsUpdate", func() error { f.settings[index] = object; return nil })
	case route == "POST /indexes/{uid}/documents":
		list, ok := body.([]any)
		if !ok || r.URL.Query().Get("primaryKey") != "id" {
			f.say(w, 400, map[string]any{"code": "malformed_payload"})
			return
		}
		f.enqueue(w, "documentAdditionOrUpdate", func() error { return f.add(index, list) })
	case route == "POST /indexes/{uid}/documents/delete-batch":
		f.enqueue(w, "documentDeletion", func() error {
			for _, id := range body.([]any) {
				delete(docs, id.(string))
			}
			return nil
		})
	case route == "POST /indexes/{uid}/documents/fetch" && exists:
		filter, _ := object["filter"].(string)
		results := []any{}
		for id, d := range docs {
			if strings.HasPrefix(filter, "id IN [") && strings.Contains(filter, `"`+id+`"`) {
				results = append(results, map[string]any{"id": id, "version": d["version"]})
			}
		}
		f.say(w, 200, map[string]any{"results": results, "offset": 0, "limit": object["limit"], "total": len(results)})
	case route == "POST /indexes/{uid}/search" && exists:
		f.searches = append(f.searches, object)
		f.say(w, 200, f.answer(object))
	case r.URL.Path == "/swap-indexes":
		pair := body.([]any)[0].(map[string]any)["indexes"].([]any)
		a, b := pair[0].(string), pair[1].(string)
		f.enqueue(w, "indexSwap", func() error { f.indexes[a], f.indexes[b] = f.indexes[b], f.indexes[a]; return nil })
	case parts[0] == "tasks" && len(parts) == 2:
		f.task(w, parts[1])
	default:
		f.say(w, http.StatusNotFound, map[string]any{"message": "Index not found: " + index, "code": "index_not_found", "type": "invalid_request"})
	}
}

// add stores documents. With an embedder that takes vectors from us, a document
// without "_vectors" is refused.
func (f *fake) add(index string, list []any) error {
	_, embeds := f.settings[index]["embedders"].(map[string]any)
	if f.indexes[index] == nil {
		f.indexes[index] = map[string]map[string]any{}
	}
	for _, one := range list {
		d := one.(map[string]any)
		vectors, _ := d["_vectors"].(map[string]any)
		if _, has := vectors["default"]; embeds && !has {
			return fmt.Errorf("vector_embedding_error")
		}
		f.indexes[index][d["id"].(string)] = d
	}
	return nil
}

func (f *fake) enqueue(w http.ResponseWriter, kind string, do func() error) {
	f.tasks = append(f.tasks, &task{kind: kind, do: do, status: "enqueued"})
	f.say(w, http.StatusAccepted, map[string]any{"taskUid": len(f.tasks) - 1, "indexUid": "x", "status": "enqueued", "type": kind, "enqueuedAt": "2026-01-01T00:00:00Z"})
}

// task is done at the second look at it.
func (f *fake) task(w http.ResponseWriter, id string) {
	n, err := strconv.Atoi(id)
	if err != nil || n >= len(f.tasks) {
		f.say(w, 404, map[string]any{"code": "task_not_found"})
		return
	}
	task := f.tasks[n]
	if task.looks++; task.looks == 2 {
		task.status = "succeeded"
		if err := task.do(); err != nil {
			task.status, task.code = "failed", err.Error()
		}
		if task.kind == f.failTask {
			task.status, task.code = "failed", "internal"
		}
	}
	answer := map[string]any{"uid": n, "indexUid": "x", "status": task.status, "type": task.kind, "enqueuedAt": "2026-01-01T00:00:00Z"}
	if task.code != "" {
		answer["error"] = map[string]any{"message": "secret words of an article", "code": task.code, "type": "internal", "link": "x"}
	}
	f.say(w, 200, answer)
}

func (f *fake) say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *fake) last() map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.searches[len(f.searches)-1]
}

func (f *fake) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for uid := range f.indexes {
		out = append(out, uid)
	}
	slices.Sort(out)
	return out
}
