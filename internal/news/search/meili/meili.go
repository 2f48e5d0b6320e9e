// Package meili finds articles with Meilisearch
// (https://www.meilisearch.com/docs/reference/api/overview), through its own Go client.
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

// Options say which Meilisearch, and how it embeds.
type Options struct {
	URL   string
	Key   string
	Index string // empty: articles
	// Embedder makes the vectors that are sent along; nil: see Own.
	Embedder search.Embedder
	// ServerEmbedder are the settings of an embedder that Meilisearch runs itself; nil: by
	// words only, without an Embedder.
	ServerEmbedder *meilisearch.Embedder
	PollInterval   time.Duration // between looks at a task; 0: 50 ms
	Log            *slog.Logger
}

// Engine searches one index of a Meilisearch.
type Engine struct {
	client meilisearch.ServiceManager
	opts   Options
}

var _ search.Engine = (*Engine)(nil)

// requestTimeout is how long an answer may take. Tasks are waited for apart.
const requestTimeout = 30 * time.Second

// New connects to nothing yet.
func New(o Options) *Engine {
	if o.Index == "" {
		o.Index = "articles"
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 50 * time.Millisecond
	}
	// The client would send again what a gateway has not answered: indexes that are
	// swapped twice are as they were. Whoever indexes tries again, and looks first.
	return &Engine{opts: o, client: meilisearch.New(o.URL, meilisearch.WithAPIKey(o.Key), meilisearch.WithCustomClient(&http.Client{Timeout: requestTimeout}), meilisearch.DisableRetries())}
}

// Prepare makes the index where there is none, and gives it the settings of this build.
func (e *Engine) Prepare(ctx context.Context) error {
	return e.ensureIndex(ctx, e.opts.Index)
}

// ensureIndex makes the index where there is none, and gives it the settings of this build.
func (e *Engine) ensureIndex(ctx context.Context, index string) error {
	_, err := e.client.GetIndexWithContext(ctx, index)
	if httpStatus(err) == http.StatusNotFound {
		err = e.await(ctx, "making the index", func() (*meilisearch.TaskInfo, error) {
			return e.client.CreateIndexWithContext(ctx, &meilisearch.IndexConfig{Uid: index, PrimaryKey: "id"})
		})
		if taskErrorCode(err) == "index_already_exists" { // somebody else was faster
			err = nil
		}
		if err != nil {
			return err
		}
	} else if err != nil {
		return redact("reading the index", err)
	}
	err = e.await(ctx, "the index's settings", func() (*meilisearch.TaskInfo, error) {
		return e.client.Index(index).UpdateSettingsWithContext(ctx, e.settings())
	})
	if err != nil {
		return err
	}
	return e.updateEmbedders(ctx, index)
}

// updateEmbedders sets what makes the index's vectors, apart from the other settings:
// Meilisearch refuses an embedder of ours while the index has documents without
// its vectors, or with vectors of another length (vector_embedding_error).
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
		// It would refuse documents without vectors from now on.
		return e.await(ctx, "the index's embedders", func() (*meilisearch.TaskInfo, error) {
			return e.client.Index(index).ResetEmbeddersWithContext(ctx)
		})
	}
	err := e.await(ctx, "the index's embedders", func() (*meilisearch.TaskInfo, error) {
		return e.client.Index(index).UpdateEmbeddersWithContext(ctx, map[string]meilisearch.Embedder{embedderName: *wanted})
	})
	if code := taskErrorCode(err); code == "vector_embedding_error" || code == "invalid_vector_dimensions" {
		e.opts.Log.Warn("the index has articles without vectors of this embedder; searches go by words until dateline reindex has built it anew", "index", index, "code", code)
		return nil
	}
	return err
}

// embedderName is what the settings and searches call the embedder.
const embedderName = "default"

func (e *Engine) embedder() *meilisearch.Embedder {
	switch {
	case e.opts.Embedder != nil:
		return &meilisearch.Embedder{Source: meilisearch.UserProvidedEmbedderSource, Dimensions: e.opts.Embedder.Dimensions()}
	case e.opts.ServerEmbedder != nil:
		return e.opts.ServerEmbedder
	}
	return nil
}

// settings are the configuration of the index but for its embedders
// (https://www.meilisearch.com/docs/reference/api/settings). Vietnamese needs
// none of its own: without localizedAttributes, Latin text is split and rid of its
// diacritics alike in all languages, đ included (charabia's normalizers).
func (e *Engine) settings() *meilisearch.Settings {
	return &meilisearch.Settings{
		// The order is the weight.
		SearchableAttributes: []string{"title", "lead", "tags", "authors", "section", "body"},
		FilterableAttributes: []string{"id", "domain", "language", "section", "tags", "authors", "published"},
		SortableAttributes:   []string{"published"},
		// A search that asks for an order of its own gets it before all else.
		RankingRules:  []string{"sort", "words", "typo", "proximity", "attribute", "exactness", "published:desc"},
		Synonyms:      synonyms(),
		TypoTolerance: &meilisearch.TypoTolerance{Enabled: true, MinWordSizeForTypos: meilisearch.MinWordSizeForTypos{OneTypo: 4, TwoTypos: 8}, DisableOnWords: []string{}, DisableOnAttributes: []string{}, DisableOnNumbers: true},
		Pagination:    &meilisearch.Pagination{MaxTotalHits: countLimit},
		// What is found until then is the answer.
		SearchCutoffMs: searchCutoff.Milliseconds(),
		Faceting:       &meilisearch.Faceting{MaxValuesPerFacet: search.MaxFacetValues, SortFacetValuesBy: map[string]meilisearch.SortFacetType{"*": meilisearch.SortFacetTypeCount}},
	}
}

// synonyms says of each member of a group what else it finds.
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
	return out
}

// searchCutoff is how long Meilisearch ranks.
const searchCutoff = time.Second

// taskError says that a task has failed.
type taskError struct {
	what, status, code string
	uid                int64
}

func (t *taskError) Error() string {
	return fmt.Sprintf("%s: the task %d of Meilisearch %s: %s", t.what, t.uid, t.status, t.code)
}

// taskErrorCode gives the code of the task that has failed; empty: none has.
func taskErrorCode(err error) string {
	var t *taskError
	if errors.As(err, &t) {
		return t.code
	}
	return ""
}

// await enqueues a task and waits for its end: what a task does can be found
// when it has succeeded (https://www.meilisearch.com/docs/learn/async/asynchronous_operations).
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

// redact says what went wrong without what was sent: the client's errors quote
// requests, which hold articles, and answers.
func redact(what string, err error) error {
	var e *meilisearch.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	case errors.As(err, &e) && e.MeilisearchApiError.Code == "too_many_search_requests":
		return fmt.Errorf("%s: Meilisearch has too much to do: %w", what, search.ErrBusy)
	case errors.As(err, &e) && (e.StatusCode == http.StatusBadRequest || e.StatusCode == http.StatusRequestEntityTooLarge):
		// What was sent is to blame: one article may be, and then the others are not.
		return fmt.Errorf("%s: Meilisearch answered %d %s", what, e.StatusCode, e.MeilisearchApiError.Code)
	case errors.As(err, &e) && e.StatusCode != 0:
		return fmt.Errorf("%s: Meilisearch answered %d %s: %w", what, e.StatusCode, e.MeilisearchApiError.Code, search.ErrUnavailable)
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

// errorCode gives the code of an answer that is an error; empty: it is none.
func errorCode(err error) string {
	var e *meilisearch.Error
	if errors.As(err, &e) {
		return e.MeilisearchApiError.Code
	}
	return ""
}

// ParseServerEmbedder reads the settings of an embedder that Meilisearch runs itself, as
// its documentation writes them.
func ParseServerEmbedder(raw string) (*meilisearch.Embedder, error) {
	if raw == "" {
		return nil, nil //nolint:nilnil // none
	}
	var e meilisearch.Embedder
	if err := json.Unmarshal([]byte(raw), &e); err != nil || e.Source == "" {
		return nil, errors.New(`is no JSON like {"source": "huggingFace", "model": "…"}`)
	}
	return &e, nil
}

// filter writes filters in Meilisearch's language
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
	}{{"domain", f.Domains}, {"language", f.Languages}, {"section", f.Sections}, {"tags", f.Tags}, {"authors", f.Authors}} {
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
