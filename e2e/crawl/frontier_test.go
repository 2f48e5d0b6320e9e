package crawl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/crawl"
)

// benchDomains is the number of domains of a frontier whose operations are measured.
const benchDomains = 1000

// frontierOps measures how many URLs per second are leased and recorded by eight
// workers in a frontier of that size.
func (s *stage) frontierOps(size int) float64 {
	s.Helper()
	s.exec("insert into crawl_domains (domain) select 'bench-' || i || '.example' from generate_series(1, " +
		strconv.Itoa(benchDomains) + ") i")
	s.exec(
		`insert into seeds (id, workspace_id, domain_id, url_id, url, kind, min_interval_seconds, max_interval_seconds, interval_seconds, max_depth, daily_budget, next_crawl)
		select gen_random_uuid(), (select id from workspaces limit 1), id, gen_random_uuid(), 'https://' || domain || '/', 'home', 300, 1200, 900, 1, 0, now() + interval '1 year' from crawl_domains where domain like 'bench-%'`)
	s.fill(size)
	var done atomic.Int64
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	begun := time.Now()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; ctx.Err() == nil; i += 8 {
				d, err := s.store.News.Domains.GetCrawlDomain(ctx, "bench-"+strconv.Itoa(i%benchDomains+1)+".example")
				if err != nil {
					return
				}
				urls, err := s.store.News.Frontier.LeaseURLs(ctx, crawl.LeaseRequest{
					Domain: d, LeaseID: uuid.New(), Limit: 100, TTL: time.Minute, IdleDelay: time.Hour,
				})
				if err != nil {
					return
				}
				var fetched []crawl.FetchRecord
				for _, u := range urls {
					u.State, u.Rank, u.RawHash = crawl.Stored, crawl.MinRefreshRank, strings.Repeat("a", 64)
					fetched = append(fetched, crawl.FetchRecord{
						URL: u, DueIn: time.Hour, Requests: 1, Changed: true,
						IsFirstVersion: true, ObjectKey: crawl.ObjectKey(d.Name, u.ID, u.RawHash),
						Version: &crawl.PageVersion{
							DomainID: d.ID, URLID: u.ID, FetchedAt: time.Now(), Status: 200,
							Kind: u.Kind, RawHash: u.RawHash, FinalURL: u.URL,
						},
					})
				}
				if _, err := s.store.News.Frontier.RecordFetches(ctx, fetched); err != nil {
					return
				}
				done.Add(int64(len(urls)))
			}
		})
	}
	all.Wait()
	ops := float64(done.Load()) / time.Since(begun).Seconds()
	busy := fmt.Sprintf("bench-%d.example", benchDomains/2)
	s.explain("a lease", busy)
	s.exec("update urls set due_at = now() + interval '1 hour' where domain_id = (select id from crawl_domains where " +
		"domain = '" + busy + "')")
	s.explain("a lease where nothing is due", busy)
	return ops
}

// fill inserts URLs into the frontier with two connections.
func (s *stage) fill(size int) {
	s.Helper()
	begun := time.Now()
	var all sync.WaitGroup
	problems := make([]error, 2)
	for half := range problems {
		all.Go(func() {
			problems[half] = func() error {
				c, err := pgx.Connect(s.Context(), s.Database)
				if err != nil {
					return err
				}
				defer func() { _ = c.Close(context.WithoutCancel(s.Context())) }()
				_, err = c.Exec(s.Context(), `insert into urls (domain_id, id, due_at, seed_number, rank, kind, url)
					select n.domain_id, gen_random_uuid(), now() - random() * interval '1 day', n.number, 3 + (i % 5), 'article', 'https://' || d.domain || '/tin-tuc/mot-bai-bao-co-tieu-de-dai-' || i || '.html'
					from seeds n join crawl_domains d on d.id = n.domain_id, generate_series(1, `+strconv.Itoa(
					size/benchDomains)+`) i where d.domain like 'bench-%' and d.id % 2 = `+strconv.Itoa(half))
				return err
			}()
		})
	}
	all.Wait()
	for _, err := range problems {
		s.must(err)
	}
	s.exec("vacuum analyze urls")
	s.Logf("%d URLs were put into the frontier in %.0f s; table and indexes have %d MiB", size,
		time.Since(begun).Seconds(),
		s.count("select (sum(pg_total_relation_size(inhrelid)) / 1048576)::int from pg_inherits where inhparent = "+
			"'urls'::regclass"))
}

// explain logs Postgres' plan for leasing a domain's URLs, with the buffers it reads.
func (s *stage) explain(what, name string) {
	s.Helper()
	domain := s.count("select id from crawl_domains where domain = $1", name)
	rows, err := s.db.Query(s.Context(), fmt.Sprintf(`explain (analyze, buffers, costs off, timing off, summary off)
		select p.id from generate_series(0, 7) r, lateral (select q.id, q.rank, q.due_at from urls q
			where q.domain_id = %d and q.rank = r::smallint and q.due_at <= statement_timestamp()
			order by q.due_at limit 100 for update skip locked) p order by p.rank, p.due_at limit 100`, domain))
	s.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.must(err)
	shown := lines[:0]
	for _, line := range lines {
		if !strings.Contains(line, "never executed") {
			shown = append(shown, line)
		}
	}
	s.Logf("%s:\n%s", what, strings.Join(shown, "\n"))
}
