package installation_test

import (
	"testing"
	"time"

	"dateline/internal/news/crawl"
)

func TestCrawlState_Counts(t *testing.T) {
	n := open(t)
	s, _ := n.Seed(n.Workspace.ID, "https://due.example/")
	n.Seed(n.Workspace.ID, "https://late.example/")
	n.Seed(n.Workspace.ID, "https://later.example/")
	n.Seed(n.Workspace.ID, "https://off.example/", func(s *crawl.Seed) { s.Status = crawl.Paused })
	n.Discover(s, 7, 1)
	n.Exec("update seeds set next_crawl = now() + interval '1 hour' where url like '%later.example%'")
	n.Exec("update seeds set next_crawl = now() - interval '1 hour' where url like '%late.example%'")
	n.Exec("update crawl_domains set paused_at = now() where domain = 'off.example'")
	n.Exec("update crawl_domains set not_before = now() + interval '1 hour', next_due = now() where domain = " +
		"'late.example'")
	n.Exec("update crawl_domains set next_due = null where domain in ('later.example', 'off.example')")
	n.Exec("update crawl_domains set next_due = now() where domain = 'due.example'")
	c, err := n.Installation.Status.CrawlState(t.Context())
	n.Must(err)
	if c.Seeds.Active != 3 || c.Seeds.Paused != 1 || c.Seeds.Due != 2 || c.Seeds.Overdue != 1 {
		t.Errorf("seeds: %+v", c.Seeds)
	}
	if c.Domains.Known != 4 || c.Domains.Paused != 1 || c.Domains.BackingOff != 1 || c.Domains.Due != 1 {
		t.Errorf("domains: %+v", c.Domains)
	}
	var urls int64
	n.Query(&urls, "select count(*) from urls")
	if c.URLs != urls || urls < 7 {
		t.Errorf("%d URLs of %d", c.URLs, urls)
	}
	n.Exec(`insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version)
		select $1, gen_random_uuid(), now() - i * interval '1 hour', 'https://due.example/' || i, 'pages/x', now(), true from generate_series(3, 1, -1) i`, s.DomainID)
	pages, oldest, err := n.Installation.Status.PagesToParse(t.Context())
	if n.Must(err); pages != 3 || oldest < 3*time.Hour || oldest > 4*time.Hour {
		t.Errorf("%d pages, the oldest of %s", pages, oldest)
	}
}

// Beyond a limit, the size of the frontier is estimated.
func TestCrawlState_EstimatesALargeFrontier(t *testing.T) {
	n := open(t)
	s, _ := n.Seed(n.Workspace.ID, "https://large.example/")
	n.Exec(
		`insert into urls (domain_id, id, rank, kind, url) select $1, gen_random_uuid(), 1, 'article', 'https://large.example/' || i from generate_series(1, 15000) i`, s.DomainID)
	n.Exec("analyze urls")
	c, err := n.Installation.Status.CrawlState(t.Context())
	if n.Must(err); c.URLs < 14_000 || c.URLs > 16_000 {
		t.Errorf("%d URLs", c.URLs)
	}
}

func TestReaderState_AndServerState(t *testing.T) {
	n := open(t)
	r, err := n.Installation.Status.ReaderState(t.Context())
	if n.Must(err); r.SinceFlush < 0 || r.SinceFlush > 5*time.Minute || r.Mismatches != 0 {
		t.Errorf("at first: %+v", r)
	}
	// Activity that never happened is missing since the start, whichever process
	// reports it.
	n.Exec("update workspaces set created_at = created_at - interval '1 hour'")
	if r, err = n.Installation.Status.ReaderState(t.Context()); err != nil || r.SinceFlush < time.Hour || r.SinceFlush > 65*time.Minute {
		t.Errorf("before the first flush: %+v %v", r, err)
	}
	n.Exec("insert into view_batches (id, shard, counts, applied_at) values (gen_random_uuid(), 1, 1, now() - " +
		"interval '1 hour'), (gen_random_uuid(), 2, 1, now() - interval '1 minute')")
	n.Exec("insert into view_checks (started_at, ended_at, pages, differing, missing, surplus) values (now(), now(), " +
		"9, 4, 0, 0), (now(), now(), 9, 2, 0, 0)")
	r, err = n.Installation.Status.ReaderState(t.Context())
	if n.Must(err); r.SinceFlush < time.Minute || r.SinceFlush > 5*time.Minute || r.Mismatches != 2 {
		t.Errorf("%+v", r)
	}
	server, err := n.Installation.Status.ServerState(t.Context())
	if n.Must(err); server.Connections < 1 || server.MaxConnections < server.Connections || server.Bytes < 1<<20 {
		t.Errorf("%+v", server)
	}
}
