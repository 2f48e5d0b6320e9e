package meilitest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// task is a change. Tasks are executed in the order of the requests.
type task struct {
	looks  int
	kind   string
	do     func() (code string)
	status string
	code   string
}

func (s *Server) enqueue(kind string, do func() string) (int, any, *problem) {
	s.tasks = append(s.tasks, &task{kind: kind, do: do, status: "enqueued"})
	return http.StatusAccepted, s.shown(len(s.tasks) - 1), nil
}

func (s *Server) shown(n int) map[string]any {
	task := s.tasks[n]
	out := map[string]any{
		"uid": n, "taskUid": n, "indexUid": "x", "status": task.status, "type": task.kind,
		"enqueuedAt": "2026-01-01T00:00:00Z",
	}
	if task.code != "" {
		out["error"] = map[string]any{
			"message": "secret words of an article", "code": task.code, "type": "invalid_request", "link": "x",
		}
	}
	return out
}

// task is complete when it is polled the second time, with all tasks before it.
func (s *Server) task(id string) (int, any, *problem) {
	n, err := strconv.Atoi(id)
	if err != nil || n >= len(s.tasks) {
		return 0, nil, &problem{http.StatusNotFound, "task_not_found"}
	}
	if s.tasks[n].looks++; s.tasks[n].looks == 2 {
		for _, task := range s.tasks[:n+1] {
			s.work(task)
		}
	}
	return http.StatusOK, s.shown(n), nil
}

func (s *Server) work(t *task) {
	if t.status != "enqueued" {
		return
	}
	t.status = "succeeded"
	if t.kind == s.fails {
		t.status, t.code = "failed", "internal"
		return
	}
	if t.code = t.do(); t.code != "" {
		t.status = "failed"
	}
}

// list returns tasks, newest first.
func (s *Server) list(query url.Values) map[string]any {
	results := []any{}
	among := func(key, value string) bool {
		all := query.Get(key)
		return all == "" || slices.Contains(strings.Split(all, ","), value)
	}
	for n := len(s.tasks) - 1; n >= 0; n-- {
		if among("types", s.tasks[n].kind) && among("statuses", s.tasks[n].status) {
			results = append(results, s.shown(n))
		}
	}
	return map[string]any{"results": results, "total": len(results), "limit": 20}
}

// swap exchanges the names of two indexes (index_mapper.rs). A second swap restores
// them.
func (s *Server) swap(body any) (int, any, *problem) {
	list, ok := body.([]any)
	if !ok || len(list) != 1 {
		return 0, nil, &problem{http.StatusBadRequest, "bad_request"}
	}
	pair, _ := list[0].(map[string]any)["indexes"].([]any)
	if len(pair) != 2 {
		return 0, nil, &problem{http.StatusBadRequest, "invalid_swap_indexes"}
	}
	a, b := pair[0].(string), pair[1].(string)
	if a == b {
		return 0, nil, &problem{http.StatusBadRequest, "invalid_swap_duplicate_index_found"}
	}
	return s.enqueue("indexSwap", func() string {
		if s.indexes[a] == nil || s.indexes[b] == nil {
			return "index_not_found"
		}
		s.indexes[a], s.indexes[b] = s.indexes[b], s.indexes[a]
		return ""
	})
}
