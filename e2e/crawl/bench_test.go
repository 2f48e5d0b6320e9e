package crawl

import (
	"encoding/json"
	"flag"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

var (
	benchTo = flag.String("crawl-bench", "",
		"measure the crawler beside Colly, and write the figures into this file as JSON")
	benchPages = flag.Int("crawl-bench-pages", 16_000,
		"articles of that measurement; 0: the frontier alone is measured")
	benchURLs = flag.Int("crawl-bench-urls", 1_000_000,
		"URLs in the frontier while its operations are measured; 0: they are not")
	profile = flag.String("crawl-profile", "",
		"file for a CPU profile of the first worker; that of the sites and the S3 server goes beside it")
)

// Both crawlers make this many concurrent requests: Dateline one per site, as always,
// Colly in total.
const benchSites = 32

// benchFollow matches the links that both follow: links to articles, under their
// canonical URL.
const benchFollow = `/[a-z-]+/[a-z0-9-]+-[0-9]+\.html$`

// figures are the results of a measurement. Only the ratio is comparable between
// machines.
type figures struct {
	Pages         int     `json:"pages"`
	PagesPerS     float64 `json:"pages_per_s"`
	CollyPagesPer float64 `json:"colly_pages_per_s"`
	Ratio         float64 `json:"ratio"`
	CollyRelaxed  float64 `json:"colly_gogc300_pages_per_s"`
	// With politeness on (with a delay of 1 ns) and every page stored by both, at the
	// same GOGC.
	EqualPagesPerS float64 `json:"equal_pages_per_s"`
	EqualColly     float64 `json:"equal_colly_pages_per_s"`
	RatioEqual     float64 `json:"ratio_equal"`
	// CPU time of Colly's process by that of the crawl worker, without their engines.
	CPURatioEqual float64 `json:"cpu_ratio_equal"`
	FrontierURLs  int     `json:"frontier_urls"`
	FrontierOps   float64 `json:"frontier_ops_per_s"`
	Transitions   float64 `json:"transitions_per_page"`
	CPUs          int     `json:"cpus"`
}

// TestBench compares the crawler, without politeness delays and storing everything,
// with bare Colly, which stores nothing: the same pages of the same server, on the same
// CPUs, with the links of every page parsed by both.
func TestBench(t *testing.T) {
	if *benchTo == "" {
		t.Log("make bench/crawl runs it (-crawl-bench)")
		return
	}
	each := max(*benchPages/benchSites, 1)
	s := newStage(t, crawltest.Options{Sites: benchSites, Articles: each, ArticlesPerHub: each, PageBytes: 21_000}, 0,
		4)
	s.AtOnce, s.Profile = 1, *profile
	out := figures{CPUs: runtime.NumCPU()}
	if *benchPages > 0 {
		s.throughput(&out, benchSites*(each+1))
		// Each site has an IP address of its own, because requests to one are 1 ms apart.
		polite := newStage(t, crawltest.Options{
			Sites: benchSites, IPs: benchSites, Articles: each,
			ArticlesPerHub: each, PageBytes: 21_000,
		}, time.Nanosecond, 4)
		polite.AtOnce = 1
		polite.throughputAtEqualSettings(&out)
	} else {
		s.seed(crawl.Home)
	}
	if *benchURLs > 0 {
		out.FrontierURLs = *benchURLs
		out.FrontierOps = s.frontierOps(*benchURLs)
		t.Logf("%.0f URLs leased and recorded a second with %d in the frontier", out.FrontierOps, out.FrontierURLs)
	}
	raw, err := json.Marshal(out)
	s.must(err)
	s.must(os.WriteFile(*benchTo, append(raw, '\n'), 0o644))
}

// throughput runs both crawlers on the same pages.
func (s *stage) throughput(out *figures, pages int) {
	s.Helper()
	out.Pages = pages
	var homes []string
	for _, site := range s.world.Sites() {
		homes = append(homes, site.Home())
	}
	// Other load disturbs the runs, so Colly runs once before and once after Dateline.
	before, _ := s.colly(homes, out.Pages, "100")
	out.PagesPerS = s.crawlAll(out.Pages)
	out.Transitions = float64(s.transitions()) / float64(out.Pages)
	s.killWorker(0)
	after, _ := s.colly(homes, out.Pages, "100")
	// Dateline runs with a higher GOGC. For comparison, so does Colly, which then is
	// not bare.
	out.CollyRelaxed, _ = s.colly(homes, out.Pages, "300")
	out.CollyPagesPer = (before + after) / 2
	out.Ratio = out.PagesPerS / out.CollyPagesPer
	s.Logf("Colly %.0f and %.0f pages a second, nothing stored; ours %.0f, all stored: ratio %.2f; Colly with "+
		"GOGC=300 %.0f; %.3f state transitions of Temporal a page",
		before, after, out.PagesPerS, out.Ratio, out.CollyRelaxed, out.Transitions)
}

// throughputAtEqualSettings compares production settings, apart from the delay between
// requests, with Colly that stores pages, too.
func (s *stage) throughputAtEqualSettings(out *figures) {
	s.Helper()
	var homes []string
	for _, site := range s.world.Sites() {
		homes = append(homes, site.Home())
	}
	before, cpuBefore := s.colly(homes, out.Pages, "300", "-s3", s.S3)
	out.EqualPagesPerS = s.crawlAll(out.Pages)
	cpu := s.killWorker(0)
	after, cpuAfter := s.colly(homes, out.Pages, "300", "-s3", s.S3)
	out.EqualColly = (before + after) / 2
	out.RatioEqual = out.EqualPagesPerS / out.EqualColly
	out.CPURatioEqual = (cpuBefore + cpuAfter).Seconds() / 2 / cpu.Seconds()
	s.Logf("at equal settings, everything stored: Colly %.0f and %.0f pages a second, ours %.0f: ratio %.2f; CPU "+
		"time of Colly %s, of our worker %s",
		before, after, out.EqualPagesPerS, out.RatioEqual, (cpuBefore+cpuAfter)/2, cpu)
}

// crawlAll crawls all sites, from the first request until the last page is recorded.
func (s *stage) crawlAll(pages int) float64 {
	s.Helper()
	s.seed(crawl.Home)
	// The links of articles are parsed too, as Colly does.
	s.exec("update seeds set max_depth = 2, allow = '{.html$}'")
	s.startWorker(0)
	if s.Profile != "" {
		s.must(profileFor(10*time.Second, s.Profile+".sites"))
	}
	asked := len(s.world.Log())
	s.schedule()
	const storedURLs = "select count(*) from urls where kind in ('home', 'article') and raw_hash <> ''"
	s.until(10*time.Minute, "the end of the crawl", func() bool {
		// The exact count is expensive, so query it only near the end.
		return s.count("select coalesce(sum(stored), 0)::int from crawl_domains") >= pages &&
			s.count(storedURLs) >= pages
	})
	var last time.Time
	s.must(s.db.QueryRow(s.Context(), "select max(changed_at) from urls where kind = 'article'").Scan(&last))
	requests := s.world.Log()[asked:]
	stored := s.count("select count(*) from page_versions where kind in ('home', 'article')")
	took := last.Sub(requests[0].At)
	s.Logf("ours: %d pages stored in %.1f s by %d requests", stored, took.Seconds(), len(requests))
	if got := s.count(storedURLs); got != pages {
		s.Errorf("%d pages were crawled, not %d as by Colly", got, pages)
	}
	return float64(pages) / took.Seconds()
}

// colly runs bare Colly over all sites and returns its pages per second and its CPU
// time. gogc is its GOGC; Go's default is 100.
func (s *stage) colly(
	homes []string, pages int, gogc string, options ...string,
) (perSecond float64, cpu time.Duration) {
	s.Helper()
	program, err := filepath.Abs("../../bin/bench-colly")
	s.must(err)
	u, err := url.Parse(homes[0])
	s.must(err)
	args := slices.Concat([]string{
		"-server", net.JoinHostPort("127.0.0.1", u.Port()), "-parallel",
		strconv.Itoa(benchSites), "-follow", benchFollow,
	}, options, homes)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "GOGC="+gogc)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	s.must(err)
	var got struct {
		Pages   int
		Seconds float64
	}
	s.must(json.Unmarshal(raw, &got))
	s.Logf("Colly with GOGC=%s: %d pages in %.1f s, %.0f a second", gogc, got.Pages, got.Seconds,
		float64(got.Pages)/got.Seconds)
	if got.Pages != pages {
		s.Errorf("Colly fetched %d pages, not %d", got.Pages, pages)
	}
	return float64(got.Pages) / got.Seconds, cpuTime(cmd)
}

// transitions sums the state transitions of all workflows.
func (s *stage) transitions() (n int64) {
	s.Helper()
	for _, kind := range []string{workflows.CrawlDomainWorkflow, workflows.CrawlWorkflow} {
		list, err := s.temporal.ListWorkflow(s.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: temporaltest.Namespace, Query: "WorkflowType = '" + kind + "'", PageSize: 1000,
		})
		s.must(err)
		for _, one := range list.GetExecutions() {
			if one.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED {
				n += one.GetStateTransitionCount()
			}
		}
	}
	return n
}

func (s *stage) exec(sql string) {
	s.Helper()
	_, err := s.db.Exec(s.Context(), sql)
	s.must(err)
}
