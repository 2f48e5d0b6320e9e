package meilitest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Forbid removes actions from the key; without arguments it has all.
func (s *Server) Forbid(actions ...string) { s.locked(func() { s.forbidden = actions }) }

// Version sets the version that the server reports.
func (s *Server) Version(version string) { s.locked(func() { s.version = version }) }

// Change changes a setting of an index, like another client would.
func (s *Server) Change(uid, setting string, value any) {
	s.locked(func() { s.indexes[uid].settings[setting] = value })
}

// action is the action that a key needs for a request (meilisearch-types/src/keys.rs).
func action(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case last == "search" || last == "multi-search":
		return "search"
	case last == "fetch":
		return "documents.get"
	case last == "delete-batch":
		return "documents.delete"
	case last == "documents":
		return "documents.add"
	case last == "stats":
		return "stats.get"
	case last == "version":
		return "version"
	case last == "swap-indexes":
		return "indexes.swap"
	case parts[0] == "tasks":
		return "tasks.get"
	case slices.Contains(parts, "settings"):
		return map[bool]string{true: "settings.get", false: "settings.update"}[r.Method == http.MethodGet]
	}
	return map[string]string{
		http.MethodGet: "indexes.get", http.MethodPost: "indexes.create",
		http.MethodDelete: "indexes.delete",
	}[r.Method]
}

// malformed refuses what the real one refuses before it enqueues a task.
func malformed(route, uid string, body any) *problem {
	object, _ := body.(map[string]any)
	list, isList := body.([]any)
	if uid != "" && !regexp.MustCompile(`^[A-Za-z0-9_-]{1,400}$`).MatchString(uid) {
		return &problem{http.StatusBadRequest, "invalid_index_uid"}
	}
	switch route {
	case "POST indexes":
		if object["uid"] == nil {
			return &problem{http.StatusBadRequest, "missing_index_uid"}
		}
	case "POST swap-indexes":
		for _, one := range list {
			swap, _ := one.(map[string]any)
			if pair, _ := swap["indexes"].([]any); len(pair) != 2 {
				return &problem{http.StatusBadRequest, "invalid_swap_indexes"}
			}
		}
	case "PATCH settings":
		if rules, set := object["rankingRules"]; set {
			if _, ok := rules.([]any); !ok {
				return &problem{http.StatusBadRequest, "invalid_settings_ranking_rules"}
			}
		}
	case "POST documents/delete-batch":
		if !isList {
			return &problem{http.StatusBadRequest, "bad_request"}
		}
	}
	return nil
}
