package searchtest

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/testing/newsroomtest"
)

// Store writes an article and its change into a newsroom's database, as the content
// store does: a new one, or its next version. Its domain has a seed of the newsroom's
// workspace.
func Store(n *newsroomtest.Newsroom, d search.Document, firstSeen time.Time) {
	n.T.Helper()
	Seed(n, n.Workspace.ID, d.Domain)
	n.Exec(
		`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, authors, published_at,
			first_seen_at, lead, body_text, body_html, section, tags, language, content_hash, group_id, object_key,
			fetched_at)
		select $1, c.id, $1, $1, $2, $2, $3, $4, $5, $6, $7, $8, '', $9, $10, $11, '', $1, '',
			now() from crawl_domains c where c.domain = $12
		on conflict (id) do update set title = excluded.title, lead = excluded.lead, body_text = excluded.body_text,
			version = articles.version + 1`,
		d.ID, d.URL, d.Title, orEmpty(d.Authors), d.Published, firstSeen, d.Lead, d.Body, d.Section, orEmpty(d.Tags),
		d.Language, d.Domain)
	n.Exec("insert into article_changes (article_id, kind) values ($1, 'upsert')", d.ID)
}

// Seed adds a workspace's seed on a domain.
func Seed(n *newsroomtest.Newsroom, workspace uuid.UUID, domain string) {
	n.T.Helper()
	n.Exec("insert into crawl_domains (domain) values ($1) on conflict do nothing", domain)
	n.Exec(
		`insert into seeds (id, workspace_id, domain_id, url_id, url, kind, min_interval_seconds, max_interval_seconds,
			interval_seconds, max_depth, daily_budget)
		select gen_random_uuid(), $1, c.id, md5(c.domain)::uuid, 'https://' || c.domain || '/', 'home', 300, 1200, 900, 1, 0 from crawl_domains c where c.domain = $2 on conflict do nothing`, workspace, domain)
}

// Remove deletes an article and records the change.
func Remove(n *newsroomtest.Newsroom, id uuid.UUID) {
	n.T.Helper()
	n.Exec("delete from articles where id = $1", id)
	n.Exec("insert into article_changes (article_id, kind) values ($1, 'delete')", id)
}

func orEmpty(list []string) []string { return append([]string{}, list...) }
