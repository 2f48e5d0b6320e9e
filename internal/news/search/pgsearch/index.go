package pgsearch

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

const upsertDocument = `
with put as (
    insert into search_documents (id, version, published_at, domain, language, section, tags, authors, keys,
	title_words, words, embeddable)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::tsvector, $11::text::tsvector, $18)
    on conflict (id) do update set version = excluded.version, published_at = excluded.published_at,
	indexed_at = clock_timestamp(),
        domain = excluded.domain, language = excluded.language, section = excluded.section, tags = excluded.tags,
	authors = excluded.authors,
        keys = excluded.keys, title_words = excluded.title_words, words = excluded.words,
	embeddable = excluded.embeddable
    where search_documents.version <= excluded.version
    returning id)
insert into search_texts (id, url, title, lead, body, image_url, group_id)
select put.id, $12, $13, $14, $15, $16, $17 from put
on conflict (id) do update set url = excluded.url, title = excluded.title, lead = excluded.lead, body = excluded.body,
    image_url = excluded.image_url, group_id = excluded.group_id`

// Index stores documents. If the embedder fails, they are stored without vectors and
// EmbedMissing adds these later.
func (e *Engine) Index(ctx context.Context, docs []search.Document) error {
	if len(docs) == 0 {
		return nil
	}
	// In a fixed order, so that concurrent writers don't deadlock.
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b search.Document) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	seen := map[string]struct{}{}
	var batch pgx.Batch
	for _, d := range docs {
		d = sanitize(d)
		titles, words, lexemes := tsvectors(d)
		for _, l := range lexemes {
			if isCorrectable(l) {
				seen[l] = struct{}{}
			}
		}
		batch.Queue(upsertDocument, d.ID, d.Version, d.Published, d.Domain, d.Language, d.Section, orEmpty(d.Tags),
			orEmpty(d.Authors), filterKeys(d), titles, words,
			d.URL, d.Title, d.Lead, d.Body, d.Image, d.Group, !d.NoEmbedding)
		if d.NoEmbedding {
			batch.Queue("delete from search_embeddings v using search_documents d where v.id = $1 and d.id = $1 and "+
				"not d.embeddable", d.ID)
		}
	}
	fresh := e.newWords(seen)
	if len(fresh) > 0 {
		batch.Queue(
			`insert into search_words (word, grams) select w, string_to_array(g, ' ')
				from unnest($1::text[], $2::text[]) as t (w, g) on conflict do nothing`,
			fresh, joinedTrigrams(fresh))
	}
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &batch).Close() })
	if err != nil {
		return err
	}
	e.rememberWords(fresh)
	if _, err := e.embed(ctx, docs); err != nil {
		e.opts.Log.Warn("articles are indexed without embeddings", "articles", len(docs), "error", err)
	}
	return nil
}

// Delete removes documents.
func (e *Engine) Delete(ctx context.Context, ids []uuid.UUID) error {
	_, err := e.pool.Exec(ctx, "delete from search_documents where id = any($1)", ids)
	return err
}

// rebuildPrefix prefixes the names of rebuilds. Rows are replaced one by one, and those
// that were not replaced are deleted at the end.
const rebuildPrefix = "in-place/"

// StartRebuild returns a name that contains the start time.
func (e *Engine) StartRebuild(ctx context.Context) (string, error) {
	var at string
	err := e.pool.QueryRow(ctx, "select clock_timestamp()::text").Scan(&at)
	return rebuildPrefix + at, err
}

// AddToRebuild stores documents in the live index, which is rebuilt in place.
func (e *Engine) AddToRebuild(ctx context.Context, _ string, docs []search.Document) error {
	return e.Index(ctx, docs)
}

// DeleteFromRebuild removes documents.
func (e *Engine) DeleteFromRebuild(ctx context.Context, _ string, ids []uuid.UUID) error {
	return e.Delete(ctx, ids)
}

// FinishRebuild deletes the rows that the rebuild did not replace and updates the
// planner's statistics.
func (e *Engine) FinishRebuild(ctx context.Context, rebuild string) error {
	if _, err := e.pool.Exec(ctx, "delete from search_documents where indexed_at < $1::text::timestamptz",
		strings.TrimPrefix(rebuild, rebuildPrefix)); err != nil {
		return err
	}
	_, err := e.pool.Exec(ctx, "analyze search_documents")
	return err
}

// DiscardRebuild does nothing: each document in the index is either the previous or the
// new one.
func (e *Engine) DiscardRebuild(context.Context, string) error { return nil }

// embed stores the vectors of documents whose current text is not embedded yet.
func (e *Engine) embed(ctx context.Context, docs []search.Document) (count int, err error) {
	if e.opts.Embedder == nil || len(docs) == 0 {
		return 0, nil
	}
	docs = slices.DeleteFunc(slices.Clone(docs), func(d search.Document) bool { return d.NoEmbedding })
	ids, sources := make([]uuid.UUID, len(docs)), make([]uuid.UUID, len(docs))
	for i, d := range docs {
		ids[i], sources[i] = d.ID, e.vectorSource(d)
	}
	rows, err := e.pool.Query(ctx,
		"select v.id from search_embeddings v join unnest($1::uuid[], $2::uuid[]) as w (id, source) on v.id = w.id "+
			"and v.source = w.source", ids, sources)
	if err != nil {
		return 0, err
	}
	have, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, err
	}
	var texts []string
	var of []int
	for i, d := range docs {
		if !slices.Contains(have, d.ID) {
			texts, of = append(texts, search.EmbeddingText(d)), append(of, i)
		}
	}
	if len(texts) == 0 {
		return 0, nil
	}
	vectors, err := e.opts.Embedder.Embed(ctx, texts)
	if err != nil {
		return 0, err
	}
	var batch pgx.Batch
	for i, v := range vectors {
		normalize(v)
		rotate(v)
		// Skips documents that were replaced in the meantime.
		batch.Queue(
			`insert into search_embeddings (id, source, signs, vector) select d.id, $3, $4::text::varbit,
				$5 from search_documents d where d.id = $1 and d.version = $2 and d.embeddable
			on conflict (id) do update set source = excluded.source, signs = excluded.signs, vector = excluded.vector,
				changed_at = clock_timestamp()`,
			docs[of[i]].ID, docs[of[i]].Version, sources[of[i]], signs(v), v)
	}
	return len(vectors), e.pool.SendBatch(ctx, &batch).Close()
}

// vectorSource identifies the model and text of a vector.
func (e *Engine) vectorSource(d search.Document) uuid.UUID {
	sum := sha256.Sum256([]byte(e.opts.Model + "\x00" + search.EmbeddingText(d)))
	return uuid.UUID(sum[:16])
}

// EmbedMissing embeds up to limit documents that have no vector, because the embedder
// was unavailable or is new, and returns how many.
func (e *Engine) EmbedMissing(ctx context.Context, limit int) (int, error) {
	if e.opts.Embedder == nil {
		return 0, nil
	}
	rows, err := e.pool.Query(ctx,
		`select d.id, d.version, t.title, t.lead, t.body from search_documents d join search_texts t using (id)
		where d.embeddable and not exists (select 1 from search_embeddings v where v.id = d.id)
			order by d.published_at desc limit $1`, limit)
	if err != nil {
		return 0, err
	}
	docs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d search.Document, err error) {
		err = row.Scan(&d.ID, &d.Version, &d.Title, &d.Lead, &d.Body)
		return d, err
	})
	if err != nil {
		return 0, err
	}
	return e.embed(ctx, docs)
}

// sanitize removes what Postgres cannot store.
func sanitize(d search.Document) search.Document {
	for _, s := range []*string{&d.URL, &d.Domain, &d.Title, &d.Lead, &d.Body, &d.Section, &d.Language, &d.Image} {
		*s = sanitizeText(*s)
	}
	d.Tags, d.Authors = sanitizeTexts(d.Tags), sanitizeTexts(d.Authors)
	return d
}

func sanitizeTexts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = sanitizeText(s)
	}
	return out
}

func sanitizeText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
