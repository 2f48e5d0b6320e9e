package observe

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/e2etest"
)

// TestEveryPanelHasData starts everything with the demo on one machine, sends readers,
// crawls a site, and runs the queries of every panel of every dashboard on a real
// Prometheus.
func TestEveryPanelHasData(t *testing.T) {
	t.Parallel()
	p := startPrometheus(t, true, 1)
	world, err := crawltest.New(crawltest.Options{Sites: 1, Articles: 10, Proxied: true, Traps: true})
	e2etest.Must(t, err)
	t.Cleanup(world.Close)
	up := startUp(t, []string{"--demo"}, "DATELINE_CRAWL_PROXY_URL="+world.ProxyURL(), "DATELINE_CRAWL_DELAY=100ms",
		"DATELINE_CRAWL_IP_DELAY=0s")
	p.scrape("quick", strings.TrimSuffix(strings.TrimPrefix(up.metrics, "http://"), "/metrics"))

	site := world.Site(0)
	up.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": site.Home(), "kind": "home"}, nil)
	var seeds struct {
		Seeds []struct{ Domain string }
	}
	up.call(http.MethodGet, "/api/v1/seeds", nil, &seeds)
	key := up.site()
	panels := readPanels(t)
	if len(panels) < 60 {
		t.Fatalf("only %d panels", len(panels))
	}
	traffic := func(round int) {
		for i := range 5 {
			up.hit(key, fmt.Sprintf("/%d", i))
		}
		// Go's default user agent is filtered as a bot
		_, _ = http.Get(fmt.Sprintf("%s/v1/pixel.gif?site=%s&page=/bot", up.base, key))
		if round%10 == 0 {
			site.Publish()
			_, _ = up.try(http.MethodPost, "/api/v1/domains/"+seeds.Seeds[0].Domain+"/run", nil, nil)
			up.schedule(fmt.Sprintf("Post %d", round), 3*time.Second)
		}
		up.call(http.MethodGet, "/api/v1/search?q=gia+vang", nil, nil)
	}
	var missing []string
	deadline := time.Now().Add(5 * time.Minute)
	for round := 0; ; round++ {
		traffic(round)
		missing = missing[:0]
		for _, one := range panels {
			for _, query := range one.queries {
				if !p.answers(t, query) {
					missing = append(missing, one.name+": "+query)
				}
			}
		}
		if len(missing) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %d rounds of traffic these panels show nothing:\n%s", round, strings.Join(missing, "\n"))
		}
		time.Sleep(time.Second)
	}
	t.Logf("%d panels of %d dashboards show something", len(panels), len(dashboards(t)))
}

// answers reports whether a query returns a number.
func (p *prometheus) answers(t *testing.T, query string) bool {
	t.Helper()
	all, err := p.query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for _, s := range all {
		if !math.IsNaN(s.number()) {
			return true
		}
	}
	return false
}

type panel struct {
	name    string
	queries []string
}

func dashboards(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../deploy/grafana/dashboards/*.json")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	return files
}

// readPanels reads the queries that Grafana would send, over five minutes.
func readPanels(t *testing.T) (all []panel) {
	t.Helper()
	for _, file := range dashboards(t) {
		raw, err := os.ReadFile(file)
		e2etest.Must(t, err)
		var d struct {
			Title  string
			Panels []struct {
				Type, Title string
				Targets     []struct{ Expr string }
			}
		}
		e2etest.Must(t, json.Unmarshal(raw, &d))
		for _, p := range d.Panels {
			if p.Type == "row" {
				continue
			}
			one := panel{name: d.Title + ": " + p.Title}
			for _, target := range p.Targets {
				one.queries = append(one.queries, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			}
			if len(one.queries) == 0 {
				t.Errorf("%s has no query", one.name)
			}
			all = append(all, one)
		}
	}
	return all
}

// upped is a running `dateline up`.
type upped struct {
	*client
	child   *e2etest.Child
	metrics string
	sandbox string
}

// startUp starts everything on this machine.
func startUp(t *testing.T, flags []string, env ...string) *upped {
	t.Helper()
	dir := e2etest.OpenDir(t)
	env = append(env, "DATELINE_DATA_DIR="+dir+"/data")
	for name, prefix := range map[string]string{
		"DATELINE_API_ADDR":     "127.0.0.1:",
		"DATELINE_SANDBOX_ADDR": "127.0.0.1:", "DATELINE_METRICS_ADDR": "127.0.0.1:",
		"DATELINE_TEMPORAL_PORT": "", "DATELINE_TEMPORAL_UI_PORT": "", "DATELINE_POSTGRES_PORT": "",
		"DATELINE_REDIS_PORT": "", "DATELINE_S3_PORT": "",
	} {
		env = append(env, name+"="+prefix+e2etest.FreePort(t))
	}
	c := run(t, env, program(t), append([]string{"up"}, flags...)...)
	// Generous: the first start may have to fetch engines.
	c.WaitForOutput(t, 3*time.Minute, "Stop with Ctrl-C")
	u := &upped{
		child: c, metrics: c.WaitForOutput(t, time.Second, `Metrics\s+(http://\S+)`)[1],
		sandbox: c.WaitForOutput(t, time.Second, `Sandbox\s+(http://[\w.:]+)/`)[1],
	}
	u.client = &client{
		t: t, base: c.WaitForOutput(t, time.Second, `API\s+(http://\S+)/api/v1`)[1],
		token: c.WaitForOutput(t, time.Second, `API token\s+(dl_\S+)`)[1],
	}
	// Stop it like an operator, so that it stops its engines.
	t.Cleanup(func() { c.Stop(t) })
	e2etest.Eventually(t, 60*time.Second, "everything to be ready", func() bool {
		answer, err := http.Get(u.base + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return u
}
