package crawl

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"dateline/internal/crawl"
	"dateline/internal/crawl/crawltest"
	"dateline/internal/starter/temporaltest"
	"dateline/workflows"
)

var (
	benchTo    = flag.String("crawl-bench", "", "measure the crawler beside Colly, and write the figures into this file as JSON")
	benchPages = flag.Int("crawl-bench-pages", 16_000, "articles of that measurement")
	benchURLs  = flag.Int("crawl-bench-urls", 1_000_000, "URLs in the frontier while its operations are measured; 0: they are not")
	profile    = flag.String("crawl-profile", "", "file for a CPU profile of the first worker")
)

// Both crawlers make this many requests at once: ours one to each site, as it
// always does, Colly in all.
const benchSites = 32

// benchFollow are the links that both follow: those to articles, under the name
// that the article gives itself.
const benchFollow = `/[a-z-]+/[a-z0-9-]+-[0-9]+\.html$`

// figures are what a measurement gives. Only the ratio may be compared with that
// of another machine.
type figures struct {
	Pages         int     `json:"pages"`
	PagesPerS     float64 `json:"pages_per_s"`
	CollyPagesPer float64 `json:"colly_pages_per_s"`
	Ratio         float64 `json:"ratio"`
	CollyRelaxed  float64 `json:"colly_gogc300_pages_per_s"`
	FrontierURLs  int     `json:"frontier_urls"`
	FrontierOps   float64 `json:"frontier_ops_per_s"`
	Transitions   float64 `json:"transitions_per_page"`
	CPUs          int     `json:"cpus"`
}

// TestBench measures the crawler with politeness lifted, storing everything,
// beside bare Colly, which stores nothing: the same pages of the same server, on
// the same processors, the links of every page read by both.
func TestBench(t *testing.T) {
	if *benchTo == "" {
		t.Log("nothing is measured without -crawl-bench; see make bench-crawl")
		return
	}
	each := *benchPages / benchSites
	s := newStage(t, crawltest.Options{Sites: benchSites, Articles: each, OnHub: each, PageBytes: 21_000}, 0, 4)
	s.AtOnce, s.Profile = 1, *profile
	out := figures{CPUs: runtime.NumCPU(), Pages: benchSites * (each + 1)}
	var homes []string
	for _, site := range s.world.Sites() {
		homes = append(homes, site.Home())
	}
	// Neighbours disturb the runs: Colly has one before and one after ours.
	before := s.colly(homes, out.Pages, "100")
	out.PagesPerS = s.ours(out.Pages)
	out.Transitions = float64(s.transitions()) / float64(out.Pages)
	s.kill(0)
	after := s.colly(homes, out.Pages, "100")
	// Ours collects its garbage less often. So may Colly, who is then not bare.
	out.CollyRelaxed = s.colly(homes, out.Pages, "300")
	out.CollyPagesPer = (before + after) / 2
	out.Ratio = out.PagesPerS / out.CollyPagesPer
	t.Logf("Colly %.0f and %.0f pages a second, nothing stored; ours %.0f, all stored: ratio %.2f; Colly with GOGC=300 %.0f", before, after, out.PagesPerS, out.Ratio, out.CollyRelaxed)
	if *benchURLs > 0 {
		out.FrontierURLs = *benchURLs
		out.FrontierOps = s.frontierOps(*benchURLs)
	}
	t.Logf("%.0f URLs leased and recorded a second with %d in the frontier; %.3f state transitions of Temporal a page", out.FrontierOps, out.FrontierURLs, out.Transitions)
	raw, err := json.Marshal(out)
	s.must(err)
	s.must(os.WriteFile(*benchTo, append(raw, '\n'), 0o644))
}

// ours crawls all sites, from the first request to the moment when the last page
// is recorded.
func (s *stage) ours(pages int) float64 {
	s.Helper()
	s.seed(crawl.Home)
	// The links of articles are read too, as Colly reads them.
	s.exec("update seeds set depth = 2, allow = '{.html$}'")
	s.hire(0)
	asked := len(s.world.Log())
	s.schedule()
	const kept = "select count(*) from urls where kind in ('home', 'article') and raw_hash <> ''"
	s.until(10*time.Minute, "the end of the crawl", func() bool { return s.count(kept) >= pages })
	var last time.Time
	s.must(s.db.QueryRow(s.Context(), "select max(changed_at) from urls where kind = 'article'").Scan(&last))
	requests := s.world.Log()[asked:]
	stored := s.count("select count(*) from page_versions where kind in ('home', 'article')")
	took := last.Sub(requests[0].At)
	s.Logf("ours: %d pages stored in %.1f s by %d requests", stored, took.Seconds(), len(requests))
	if got := s.count(kept); got != pages {
		s.Errorf("%d pages were crawled, not %d as by Colly", got, pages)
	}
	return float64(pages) / took.Seconds()
}

// colly runs bare Colly over all sites. gogc is how its garbage is collected: 100
// is how Go does it where nobody asks for anything else.
func (s *stage) colly(homes []string, pages int, gogc string) float64 {
	s.Helper()
	program, err := filepath.Abs("../../bin/bench-colly")
	s.must(err)
	u, err := url.Parse(homes[0])
	s.must(err)
	cmd := exec.Command(program, append([]string{"-server", net.JoinHostPort("127.0.0.1", u.Port()), "-parallel", strconv.Itoa(benchSites), "-follow", benchFollow}, homes...)...)
	cmd.Env = append(os.Environ(), "GOGC="+gogc)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	s.must(err)
	var got struct {
		Pages   int
		Seconds float64
	}
	s.must(json.Unmarshal(raw, &got))
	s.Logf("Colly with GOGC=%s: %d pages in %.1f s, %.0f a second", gogc, got.Pages, got.Seconds, float64(got.Pages)/got.Seconds)
	if got.Pages != pages {
		s.Errorf("Colly fetched %d pages, not %d", got.Pages, pages)
	}
	return float64(got.Pages) / got.Seconds
}

// transitions adds up what all workflows cost Temporal.
func (s *stage) transitions() (n int64) {
	s.Helper()
	for _, kind := range []string{workflows.CrawlDomainWorkflow, workflows.CrawlWorkflow} {
		list, err := s.temporal.ListWorkflow(s.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaltest.Namespace, Query: "WorkflowType = '" + kind + "'", PageSize: 1000})
		s.must(err)
		for _, one := range list.GetExecutions() {
			if one.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED {
				n += one.GetStateTransitionCount()
			}
		}
	}
	return n
}

// frontierOps is how many URLs a second are leased and recorded, by eight at
// once, in a frontier of that size.
func (s *stage) frontierOps(size int) float64 {
	s.Helper()
	const domains = 1000
	s.exec("insert into crawl_domains (domain) select 'bench-' || i || '.example' from generate_series(1, " + strconv.Itoa(domains) + ") i")
	s.exec(`insert into seeds (id, workspace_id, domain_id, url_id, url, kind, min_seconds, max_seconds, every_seconds, depth, budget, next_crawl)
		select gen_random_uuid(), (select id from workspaces limit 1), id, gen_random_uuid(), 'https://' || domain || '/', 'home', 300, 1200, 900, 1, 0, now() + interval '1 year' from crawl_domains where domain like 'bench-%'`)
	s.exec(`insert into urls (domain_id, id, due_at, seed_no, rank, kind, url)
		select n.domain_id, gen_random_uuid(), now() - random() * interval '1 day', n.no, 3 + (i % 5), 'article', 'https://' || d.domain || '/tin-tuc/mot-bai-bao-co-tieu-de-dai-' || i || '.html'
		from seeds n join crawl_domains d on d.id = n.domain_id, generate_series(1, ` + strconv.Itoa(size/domains) + `) i where d.domain like 'bench-%'`)
	s.exec("analyze urls")
	var done atomic.Int64
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	begun := time.Now()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; ctx.Err() == nil; i += 8 {
				d, err := s.store.CrawlDomain(ctx, "bench-"+strconv.Itoa(i%domains+1)+".example")
				if err != nil {
					return
				}
				urls, err := s.store.LeaseURLs(ctx, crawl.Lease{Domain: d, ID: uuid.New(), Most: 100, TTL: time.Minute, Idle: time.Hour})
				if err != nil {
					return
				}
				var fetched []crawl.Fetched
				for _, u := range urls {
					u.State, u.Rank, u.RawHash = crawl.Kept, crawl.FirstRefresh, strings.Repeat("a", 64)
					fetched = append(fetched, crawl.Fetched{URL: u, DueIn: time.Hour, Requests: 1, Changed: true, First: true, ObjectKey: crawl.Key(d.Name, u.ID, u.RawHash),
						Version: &crawl.Version{DomainID: d.ID, URLID: u.ID, FetchedAt: time.Now(), Status: 200, Kind: u.Kind, RawHash: u.RawHash, FinalURL: u.URL}})
				}
				if _, err := s.store.RecordFetches(ctx, fetched); err != nil {
					return
				}
				done.Add(int64(len(urls)))
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds()
}

func (s *stage) exec(sql string) {
	s.Helper()
	_, err := s.db.Exec(s.Context(), sql)
	s.must(err)
}
