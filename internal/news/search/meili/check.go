package meili

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dateline/internal/news/search"
)

// MinVersion is the oldest supported version of Meilisearch: it introduced
// disableOnNumbers (https://github.com/meilisearch/meilisearch/releases/tag/v1.15.0).
const MinVersion = "1.15.0"

// ErrNoIndex reports that the index does not exist yet.
var ErrNoIndex = errors.New("the index does not exist") //nolint:gochecknoglobals // a sentinel

// IsTooOld reports whether a version is older than MinVersion. Invalid versions are not.
func IsTooOld(version string) bool {
	have, want := versionNumbers(version), versionNumbers(MinVersion)
	return len(have) == len(want) && slices.Compare(have, want) < 0
}

func versionNumbers(version string) (out []int) {
	version, _, _ = strings.Cut(version, "-") // of a release candidate
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// Reachable checks that Meilisearch responds, which needs no key.
func (e *Engine) Reachable(ctx context.Context) error {
	if _, err := e.client.HealthWithContext(ctx); err != nil {
		return redact("checking the health", err)
	}
	return nil
}

// Version returns the version of the server.
func (e *Engine) Version(ctx context.Context) (string, error) {
	v, err := e.client.VersionWithContext(ctx)
	if err != nil {
		return "", redact("reading the version", err)
	}
	return v.PkgVersion, nil
}

// Documents returns the number of indexed articles.
func (e *Engine) Documents(ctx context.Context) (int, error) {
	stats, err := e.client.Index(e.opts.Index).GetStatsWithContext(ctx, nil)
	if httpStatus(err) == http.StatusNotFound {
		return 0, ErrNoIndex
	}
	if err != nil {
		return 0, redact("reading the index statistics", err)
	}
	return int(stats.NumberOfDocuments), nil
}

// keyCheck is a request that needs one action of an API key
// (https://www.meilisearch.com/docs/reference/api/keys#actions). Requests that would
// change something are malformed: Meilisearch checks the key first.
type keyCheck struct {
	action, method, path, body string
}

func (e *Engine) keyChecks() []keyCheck {
	index := "/indexes/" + url.PathEscape(e.opts.Index)
	return []keyCheck{
		{"search", http.MethodPost, index + "/search", `{"limit": 0}`},
		{"documents.add", http.MethodPost, index + "/documents", "0"},
		{"documents.get", http.MethodPost, index + "/documents/fetch", `{"limit": 0}`},
		{"documents.delete", http.MethodPost, index + "/documents/delete-batch", "0"},
		{"indexes.create", http.MethodPost, "/indexes", "{}"},
		{"indexes.get", http.MethodGet, index, ""},
		{"indexes.delete", http.MethodDelete, index + "%20", ""}, // index names contain no spaces
		{"indexes.swap", http.MethodPost, "/swap-indexes", `[{"indexes": ["one"]}]`},
		{"settings.get", http.MethodGet, index + "/settings", ""},
		{"settings.update", http.MethodPatch, index + "/settings", `{"rankingRules": 0}`},
		{"tasks.get", http.MethodGet, "/tasks?limit=1", ""},
		{"stats.get", http.MethodGet, index + "/stats", ""},
		{"version", http.MethodGet, "/version", ""},
	}
}

// Actions returns the actions that the key needs. Only `dateline doctor` needs the last
// two.
func (e *Engine) Actions() (out []string) {
	for _, t := range e.keyChecks() {
		out = append(out, t.action)
	}
	return out
}

// MissingActions returns the actions that the key lacks.
func (e *Engine) MissingActions(ctx context.Context) (missing []string, err error) {
	for _, t := range e.keyChecks() {
		code, err := e.statusOf(ctx, t)
		if err != nil {
			return nil, err
		}
		if code == http.StatusUnauthorized || code == http.StatusForbidden {
			missing = append(missing, t.action)
		}
	}
	return missing, nil
}

func (e *Engine) statusOf(ctx context.Context, t keyCheck) (code int, err error) {
	res, err := e.send(ctx, t)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, nil
}

func (e *Engine) send(ctx context.Context, t keyCheck) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, t.method, strings.TrimSuffix(e.opts.URL, "/")+t.path,
		strings.NewReader(t.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if e.opts.Key != "" {
		request.Header.Set("Authorization", "Bearer "+e.opts.Key)
	}
	res, err := (&http.Client{Timeout: requestTimeout}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("requesting Meilisearch: %w", search.ErrUnavailable)
	}
	return res, nil
}

// StaleSettings returns the names of index settings that differ from those of this
// build.
func (e *Engine) StaleSettings(ctx context.Context) (stale []string, err error) {
	res, err := e.send(ctx, keyCheck{
		method: http.MethodGet, path: "/indexes/" + url.PathEscape(e.opts.Index) + "/settings",
	})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound:
		return nil, ErrNoIndex
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("reading the settings: Meilisearch resed %d", res.StatusCode)
	}
	var have, want map[string]any
	if err := json.NewDecoder(io.LimitReader(res.Body, 10<<20)).Decode(&have); err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	raw, err := json.Marshal(e.settings())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return nil, err
	}
	if err := e.addWantedEmbedder(want, have); err != nil {
		return nil, err
	}
	for name, value := range want {
		if !settingEquals(have[name], value, name == "rankingRules" || name == "searchableAttributes") {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	return stale, nil
}

// addWantedEmbedder adds the expected embedder. Meilisearch does not return API keys.
func (e *Engine) addWantedEmbedder(want, have map[string]any) error {
	wanted := e.embedder()
	if wanted == nil {
		if embedders, _ := have["embedders"].(map[string]any); len(embedders) > 0 {
			want["embedders"] = nil
		}
		return nil
	}
	raw, err := json.Marshal(wanted) //nolint:gosec // compared with what Meilisearch has; the key is left out below
	if err != nil {
		return err
	}
	var one map[string]any
	if err := json.Unmarshal(raw, &one); err != nil {
		return err
	}
	delete(one, "apiKey")
	want["embedders"] = map[string]any{embedderName: one}
	return nil
}

// settingEquals reports whether a setting has an expected value. Objects may have
// additional fields; lists may be in any order unless ordered.
func settingEquals(have, want any, ordered bool) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		for key, value := range want {
			ok = ok && settingEquals(object[key], value, ordered)
		}
		return ok
	case []any:
		list, _ := have.([]any)
		if len(list) != len(want) {
			return false
		}
		for i, value := range want {
			if ordered && list[i] != value || !slices.Contains(list, value) {
				return false
			}
		}
		return true
	default:
		return have == want
	}
}
