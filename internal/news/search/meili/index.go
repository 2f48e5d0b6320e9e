package meili

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/meilisearch/meilisearch-go"

	"dateline/internal/news/search"
)

// document is an article as stored in Meilisearch.
type document struct {
	ID        uuid.UUID `json:"id"`
	Version   int64     `json:"version"`
	URL       string    `json:"url"`
	Domain    string    `json:"domain"`
	Title     string    `json:"title"`
	Lead      string    `json:"lead"`
	Body      string    `json:"body"`
	Authors   []string  `json:"authors"`
	Tags      []string  `json:"tags"`
	Section   string    `json:"section"`
	Language  string    `json:"language"`
	Image     string    `json:"image"`
	Published int64     `json:"published"` // Unix seconds, because Meilisearch compares numbers
	Group     uuid.UUID `json:"group"`
	// Vectors may be null for an embedder: the article then has no vector and is found
	// by keywords.
	Vectors map[string][]float32 `json:"_vectors,omitempty"`

	Score   float64                    `json:"_rankingScore,omitempty"`
	Matches map[string][]matchPosition `json:"_matchesPosition,omitempty"`
}

// matchPosition is a byte range.
type matchPosition struct {
	Start  int `json:"start"`
	Length int `json:"length"`
}

func (d document) article() search.Document {
	return search.Document{
		ID: d.ID, Version: d.Version, URL: d.URL, Domain: d.Domain, Title: d.Title, Lead: d.Lead,
		Body: d.Body, Authors: d.Authors, Tags: d.Tags,
		Section: d.Section, Language: d.Language, Image: d.Image, Published: time.Unix(d.Published, 0).UTC(),
		Group: d.Group,
	}
}

func fromArticle(d search.Document) document {
	valid := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "") }
	all := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = valid(s)
		}
		return out
	}
	return document{
		ID: d.ID, Version: d.Version, URL: valid(d.URL), Domain: valid(d.Domain), Title: valid(d.Title),
		Lead: valid(d.Lead), Body: valid(d.Body),
		Authors: all(d.Authors), Tags: all(d.Tags), Section: valid(d.Section), Language: d.Language,
		Image: valid(d.Image), Published: d.Published.Unix(), Group: d.Group,
	}
}

// maxBatchDocuments limits the documents of a task. Meilisearch accepts 100 MB per
// request and merges queued tasks.
const maxBatchDocuments = 500

// Index stores documents unless the index has a newer version.
func (e *Engine) Index(ctx context.Context, docs []search.Document) error {
	return e.AddToRebuild(ctx, e.opts.Index, docs)
}

// AddToRebuild stores documents in an index.
func (e *Engine) AddToRebuild(ctx context.Context, index string, docs []search.Document) error {
	for batch := range slices.Chunk(docs, maxBatchDocuments) {
		stored, err := e.versions(ctx, index, batch)
		if err != nil {
			return err
		}
		batch = slices.DeleteFunc(slices.Clone(batch), func(d search.Document) bool { return stored[d.ID] > d.Version })
		if len(batch) == 0 {
			continue
		}
		out := make([]document, len(batch))
		for i, d := range batch {
			out[i] = fromArticle(d)
		}
		e.addVectors(ctx, batch, out)
		err = e.await(ctx, "indexing articles", func() (*meilisearch.TaskInfo, error) {
			key := "id"
			return e.client.Index(index).AddDocumentsWithContext(ctx, out, &meilisearch.DocumentOptions{
				PrimaryKey: &key,
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// versions returns the indexed versions of documents.
func (e *Engine) versions(ctx context.Context, index string, docs []search.Document) (map[uuid.UUID]int64, error) {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = quote(d.ID.String())
	}
	var found meilisearch.DocumentsResult
	err := e.client.Index(index).GetDocumentsWithContext(ctx,
		&meilisearch.DocumentsQuery{
			Fields: []string{"id", "version"}, Limit: int64(len(docs)),
			Filter: "id IN [" + strings.Join(ids, ", ") + "]",
		}, &found)
	if err != nil {
		return nil, redact("reading versions", err)
	}
	var rows []document
	if err := found.Results.DecodeInto(&rows); err != nil {
		return nil, redact("reading versions", err)
	}
	out := make(map[uuid.UUID]int64, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Version
	}
	return out, nil
}

// addVectors embeds documents. If the embedder fails, they are indexed without vectors
// until they change or the index is rebuilt.
func (e *Engine) addVectors(ctx context.Context, docs []search.Document, out []document) {
	if e.opts.Embedder == nil {
		return
	}
	var texts []string
	for _, d := range docs {
		if !d.NoEmbedding {
			texts = append(texts, search.EmbeddingText(d))
		}
	}
	vectors, err := e.embed(ctx, texts)
	if err != nil {
		e.opts.Log.Warn("articles are indexed without embeddings", "articles", len(texts), "error", err)
		vectors = make([][]float32, len(texts))
	}
	for i, d := range docs {
		out[i].Vectors = map[string][]float32{embedderName: nil}
		if !d.NoEmbedding {
			out[i].Vectors[embedderName], vectors = vectors[0], vectors[1:]
		}
	}
}

func (e *Engine) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	return e.opts.Embedder.Embed(ctx, texts)
}

// Delete removes documents.
func (e *Engine) Delete(ctx context.Context, ids []uuid.UUID) error {
	return e.DeleteFromRebuild(ctx, e.opts.Index, ids)
}

// DeleteFromRebuild removes documents from an index.
func (e *Engine) DeleteFromRebuild(ctx context.Context, index string, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return e.await(ctx, "deleting articles", func() (*meilisearch.TaskInfo, error) {
		return e.client.Index(index).DeleteDocumentsWithContext(ctx, names, nil)
	})
}

// StartRebuild creates an index next to the live one.
func (e *Engine) StartRebuild(ctx context.Context) (string, error) {
	prefix := e.opts.Index + "_rebuild_"
	all, err := e.client.ListIndexesWithContext(ctx, &meilisearch.IndexesQuery{Limit: 1000})
	if err != nil {
		return "", redact("listing indexes", err)
	}
	for _, old := range all.Results {
		if strings.HasPrefix(old.UID, prefix) {
			if err := e.drop(ctx, old.UID); err != nil {
				return "", err
			}
		}
	}
	if err := e.ensureIndex(ctx, e.opts.Index); err != nil { // the swap needs both indexes
		return "", err
	}
	name := prefix + strconv.FormatInt(time.Now().UnixMilli(), 36)
	return name, e.ensureIndex(ctx, name)
}

func (e *Engine) drop(ctx context.Context, index string) error {
	return e.await(ctx, "dropping an index", func() (*meilisearch.TaskInfo, error) {
		return e.client.DeleteIndexWithContext(ctx, index)
	})
}

// FinishRebuild atomically swaps the new index with the live one
// (https://www.meilisearch.com/docs/reference/api/indexes#swap-indexes) and deletes the
// old one. It is idempotent: the index that was created later is the new one, whatever
// its name.
func (e *Engine) FinishRebuild(ctx context.Context, rebuild string) error {
	if err := e.waitForSwaps(ctx); err != nil {
		return err
	}
	next, err := e.client.GetIndexWithContext(ctx, rebuild)
	if httpStatus(err) == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return redact("reading the new index", err)
	}
	live, err := e.client.GetIndexWithContext(ctx, e.opts.Index)
	if err != nil {
		return redact("reading the index", err)
	}
	if live.CreatedAt.After(next.CreatedAt) {
		return e.drop(ctx, rebuild)
	}
	err = e.await(ctx, "swapping indexes", func() (*meilisearch.TaskInfo, error) {
		return e.client.SwapIndexesWithContext(ctx, []*meilisearch.SwapIndexesParams{
			{Indexes: []string{e.opts.Index, rebuild}},
		})
	})
	if err != nil {
		return err
	}
	return e.drop(ctx, rebuild)
}

// DiscardRebuild deletes an index next to the live one.
func (e *Engine) DiscardRebuild(ctx context.Context, rebuild string) error {
	_, err := e.client.GetIndexWithContext(ctx, rebuild)
	if httpStatus(err) == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return redact("reading the new index", err)
	}
	return e.drop(ctx, rebuild)
}

// waitForSwaps waits for swaps that an earlier attempt enqueued.
func (e *Engine) waitForSwaps(ctx context.Context) error {
	open, err := e.client.GetTasksWithContext(ctx,
		&meilisearch.TasksQuery{
			Types:    []meilisearch.TaskType{meilisearch.TaskTypeIndexSwap},
			Statuses: []meilisearch.TaskStatus{meilisearch.TaskStatusEnqueued, meilisearch.TaskStatusProcessing},
		})
	if err != nil {
		return redact("reading tasks", err)
	}
	for _, task := range open.Results {
		if _, err := e.client.WaitForTaskWithContext(ctx, task.UID, e.opts.PollInterval); err != nil {
			return redact("waiting for a swap", err)
		}
	}
	return nil
}
