// Package meili is the search engine on Meilisearch
// (https://www.meilisearch.com/docs/reference/api/overview), using its Go client.
package meili

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"

	"dateline/internal/news/search"
)

// Options configure the engine.
type Options struct {
	URL   string
	Key   string
	Index string // default: articles
	// Embedder computes vectors in Dateline; nil: see ServerEmbedder.
	Embedder search.Embedder
	// ServerEmbedder is an embedder that runs in Meilisearch. Without any embedder,
	// search uses keywords only.
	ServerEmbedder *meilisearch.Embedder
	PollInterval   time.Duration // between polls of a task; 0: 50 ms
	Log            *slog.Logger
}

// Engine implements search.Engine on one Meilisearch index.
type Engine struct {
	client meilisearch.ServiceManager
	opts   Options
}

var _ search.Engine = (*Engine)(nil)

// requestTimeout limits a request. Waiting for tasks is separate.
const requestTimeout = 30 * time.Second

// New returns an engine. It does not connect yet.
func New(o Options) *Engine {
	if o.Index == "" {
		o.Index = "articles"
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 50 * time.Millisecond
	}
	// No retries by the client: repeating an index swap after a gateway timeout would
	// undo it. The caller retries and checks first.
	return &Engine{
		opts: o, client: meilisearch.New(o.URL, meilisearch.WithAPIKey(o.Key),
			meilisearch.WithCustomClient(&http.Client{Timeout: requestTimeout}), meilisearch.DisableRetries()),
	}
}

// Prepare creates the index if needed, and updates its settings to those of this build.
func (e *Engine) Prepare(ctx context.Context) error {
	return e.ensureIndex(ctx, e.opts.Index)
}

// ensureIndex creates an index if needed, and updates its settings.
func (e *Engine) ensureIndex(ctx context.Context, index string) error {
	_, err := e.client.GetIndexWithContext(ctx, index)
	if httpStatus(err) == http.StatusNotFound {
		err = e.await(ctx, "creating the index", func() (*meilisearch.TaskInfo, error) {
			return e.client.CreateIndexWithContext(ctx, &meilisearch.IndexConfig{Uid: index, PrimaryKey: "id"})
		})
		if taskErrorCode(err) == "index_already_exists" { // created concurrently
			err = nil
		}
		if err != nil {
			return err
		}
	} else if err != nil {
		return redact("reading the index", err)
	}
	err = e.await(ctx, "updating the index settings", func() (*meilisearch.TaskInfo, error) {
		return e.client.Index(index).UpdateSettingsWithContext(ctx, e.settings())
	})
	if err != nil {
		return err
	}
	return e.updateEmbedders(ctx, index)
}

// updateEmbedders updates the embedders separately from the other settings, because
// Meilisearch rejects a user-provided embedder while the index has documents without its
// vectors, or with vectors of another length (vector_embedding_error).
func (e *Engine) updateEmbedders(ctx context.Context, index string) error {
	wanted := e.embedder()
	if wanted == nil {
		have, err := e.client.Index(index).GetEmbeddersWithContext(ctx)
		if err != nil {
			return redact("reading the embedders", err)
		}
		if len(have) == 0 {
			return nil
		}
		// An embedder that is no longer configured would reject documents without
		// vectors.
		return e.await(ctx, "updating the index embedders", func() (*meilisearch.TaskInfo, error) {
			return e.client.Index(index).ResetEmbeddersWithContext(ctx)
		})
	}
	err := e.await(ctx, "updating the index embedders", func() (*meilisearch.TaskInfo, error) {
		return e.client.Index(index).UpdateEmbeddersWithContext(ctx, map[string]meilisearch.Embedder{
			embedderName: *wanted,
		})
	})
	if code := taskErrorCode(err); code == "vector_embedding_error" || code == "invalid_vector_dimensions" {
		e.opts.Log.Warn("the index has articles without vectors of this embedder; search uses keywords until "+
			"dateline reindex has rebuilt it", "index", index, "code", code)
		return nil
	}
	return err
}

// embedderName is the name of the embedder in settings and searches.
const embedderName = "default"

func (e *Engine) embedder() *meilisearch.Embedder {
	switch {
	case e.opts.Embedder != nil:
		return &meilisearch.Embedder{
			Source: meilisearch.UserProvidedEmbedderSource, Dimensions: e.opts.Embedder.Dimensions(),
		}
	case e.opts.ServerEmbedder != nil:
		return e.opts.ServerEmbedder
	}
	return nil
}

// settings returns the index settings except embedders
// (https://www.meilisearch.com/docs/reference/api/settings). Vietnamese needs no
// setting: without localizedAttributes, Latin text is tokenized and stripped of
// diacritics in all languages, including đ (charabia's normalizers).
func (e *Engine) settings() *meilisearch.Settings {
	return &meilisearch.Settings{
		// In the order of their weight.
		SearchableAttributes: []string{"title", "lead", "tags", "authors", "section", "body"},
		FilterableAttributes: []string{"id", "domain", "language", "section", "tags", "authors", "published"},
		SortableAttributes:   []string{"published"},
		// An explicit sort order comes first.
		RankingRules: []string{"sort", "words", "typo", "proximity", "attribute", "exactness", "published:desc"},
		Synonyms:     synonyms(),
		TypoTolerance: &meilisearch.TypoTolerance{
			Enabled: true, MinWordSizeForTypos: meilisearch.MinWordSizeForTypos{OneTypo: 4, TwoTypos: 8},
			DisableOnWords: []string{}, DisableOnAttributes: []string{}, DisableOnNumbers: true,
		},
		Pagination: &meilisearch.Pagination{MaxTotalHits: countLimit},
		// Meilisearch returns what it has found until then.
		SearchCutoffMs: searchCutoff.Milliseconds(),
		Faceting: &meilisearch.Faceting{
			MaxValuesPerFacet: search.MaxFacetValues, SortFacetValuesBy: map[string]meilisearch.SortFacetType{
				"*": meilisearch.SortFacetTypeCount,
			},
		},
	}
}

// synonyms maps each synonym to the other members of its group.
func synonyms() map[string][]string {
	out := map[string][]string{}
	for _, group := range search.Synonyms() {
		for i, member := range group {
			for j, other := range group {
				if i != j {
					out[member] = append(out[member], other)
				}
			}
		}
	}
	// Meilisearch 1.50 compares words without marks, but i and y are two letters to it.
	for i, y := range search.SpellingPairs() {
		out[i], out[y] = append(out[i], y), append(out[y], i)
	}
	if own := out["my"]; len(own) > 0 { // the same word as mỹ to Meilisearch
		out["mỹ"] = append(out["mỹ"], own...)
		delete(out, "my")
	}
	return out
}

// searchCutoff limits how long Meilisearch ranks.
const searchCutoff = time.Second

// taskError reports a failed task.
type taskError struct {
	what, status, code string
	uid                int64
}

func (t *taskError) Error() string {
	return fmt.Sprintf("%s: the task %d of Meilisearch %s: %s", t.what, t.uid, t.status, t.code)
}

// taskErrorCode returns the error code of a failed task, or an empty string.
func taskErrorCode(err error) string {
	var t *taskError
	if errors.As(err, &t) {
		return t.code
	}
	return ""
}

// await enqueues a task and waits until it has finished; its changes are visible then
// (https://www.meilisearch.com/docs/learn/async/asynchronous_operations).
func (e *Engine) await(ctx context.Context, what string, enqueue func() (*meilisearch.TaskInfo, error)) error {
	info, err := enqueue()
	if err != nil {
		return redact(what, err)
	}
	task, err := e.client.WaitForTaskWithContext(ctx, info.TaskUID, e.opts.PollInterval)
	if err != nil {
		return redact(what, err)
	}
	if task.Status != meilisearch.TaskStatusSucceeded {
		return &taskError{what: what, status: string(task.Status), code: task.Error.Code, uid: info.TaskUID}
	}
	return nil
}

// redact returns an error without the request and response that the client's errors
// contain, because these may include articles.
func redact(what string, err error) error {
	var e *meilisearch.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	case errors.As(err, &e) && e.MeilisearchApiError.Code == "too_many_search_requests":
		return fmt.Errorf("%s: Meilisearch is overloaded: %w", what, search.ErrBusy)
	case errors.As(err, &e) &&
		(e.StatusCode == http.StatusBadRequest || e.StatusCode == http.StatusRequestEntityTooLarge):
		// The request is invalid, possibly because of a single article: not
		// ErrUnavailable.
		return fmt.Errorf("%s: Meilisearch returned %d %s", what, e.StatusCode, e.MeilisearchApiError.Code)
	case errors.As(err, &e) && e.StatusCode != 0:
		return fmt.Errorf("%s: Meilisearch returned %d %s: %w", what, e.StatusCode, e.MeilisearchApiError.Code,
			search.ErrUnavailable)
	default:
		return fmt.Errorf("%s: %w", what, search.ErrUnavailable)
	}
}

func httpStatus(err error) int {
	var e *meilisearch.Error
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}

// errorCode returns the error code of a response, or an empty string.
func errorCode(err error) string {
	var e *meilisearch.Error
	if errors.As(err, &e) {
		return e.MeilisearchApiError.Code
	}
	return ""
}

// ParseServerEmbedder parses the settings of an embedder that runs in Meilisearch, as in
// its documentation.
func ParseServerEmbedder(raw string) (*meilisearch.Embedder, error) {
	if raw == "" {
		return nil, nil //nolint:nilnil // none
	}
	var e meilisearch.Embedder
	if err := json.Unmarshal([]byte(raw), &e); err != nil || e.Source == "" {
		return nil, errors.New(`must be JSON such as {"source": "huggingFace", "model": "…"}`)
	}
	return &e, nil
}

// filter returns filters as Meilisearch filter expressions
// (https://www.meilisearch.com/docs/learn/filtering_and_sorting/filter_expression_reference).
func filter(f search.Filters) []string {
	var out []string
	in := func(field string, values []string) {
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = quote(v)
		}
		out = append(out, field+" IN ["+strings.Join(quoted, ", ")+"]")
	}
	if f.VisibleDomains != nil {
		in("domain", f.VisibleDomains)
	}
	for _, one := range []struct {
		field  string
		values []string
	}{
		{"domain", f.Domains},
		{"language", f.Languages},
		{"section", f.Sections},
		{"tags", f.Tags},
		{"authors", f.Authors},
	} {
		if len(one.values) > 0 {
			in(one.field, one.values)
		}
	}
	if !f.From.IsZero() {
		out = append(out, "published >= "+strconv.FormatInt(f.From.Unix(), 10))
	}
	if !f.To.IsZero() {
		out = append(out, "published < "+strconv.FormatInt(f.To.Unix(), 10))
	}
	return out
}

func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}
