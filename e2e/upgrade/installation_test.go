package upgrade

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/e2e/stack"
	"dateline/internal/embedded"
	"dateline/internal/embedded/programs"
	"dateline/internal/testing/e2etest"
	"dateline/platforms/fake"
)

// release is one version of Dateline: its program and its sources, which hold
// those of the Temporal server.
type release struct{ name, program, source string }

// installation is a data directory and the `dateline up` that runs on it.
type installation struct {
	t          *testing.T
	env        []string
	dir        string
	net        *fake.Server
	paper      *httptest.Server
	up         *e2etest.Child
	api, token string
	account    string
	site, key  string
	views      int
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	in := &installation{t: t, dir: filepath.Join(e2etest.OpenDir(t), "data"), paper: stack.Newspaper(t)}
	var err error
	in.net, err = fake.New(fake.Options{})
	e2etest.Must(t, err)
	e2etest.Must(t, in.net.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = in.net.Close() })
	in.env = []string{
		"DATELINE_DATA_DIR=" + in.dir, "DATELINE_SANDBOX=false", "DATELINE_METRICS_ADDR=off",
		"DATELINE_CRAWL_DELAY=100ms",
		"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.TrimPrefix(in.net.URL(), "http://") + "," +
			strings.TrimPrefix(in.paper.URL, "http://"),
	}
	for _, name := range []string{"TEMPORAL", "TEMPORAL_UI", "POSTGRES", "REDIS", "S3"} {
		in.env = append(in.env, "DATELINE_"+name+"_PORT="+e2etest.FreePort(t))
	}
	in.env = append(in.env, "DATELINE_API_ADDR=127.0.0.1:"+e2etest.FreePort(t))
	return in
}

// start runs a release on the data directory until it is ready. It returns the output
// when the release refuses the data.
func (in *installation) start(r release) (refusal string) {
	in.t.Helper()
	env := in.env
	// Builds from before the Temporal CLI became the server fetch no Redis either: without
	// an installed one they lose counts that are not flushed.
	if server := filepath.Join(r.source, "temporald"); e2etest.IsDir(server) {
		redis, err := programs.Finder{}.Redis(in.t.Context(), "")
		e2etest.Must(in.t, err)
		env = append(env, "DATELINE_TEMPORALD_DIR="+server,
			"PATH="+filepath.Dir(redis)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	in.up = e2etest.Run(in.t, stack.Root(in.t), env, r.program, "up")
	// A first start may have to build or fetch the release's Temporal server.
	e2etest.Eventually(in.t, 12*time.Minute, r.name+" to start", func() bool {
		return strings.Contains(in.up.Log.String(), "\nStop with") || in.up.Ended()
	})
	if in.up.Ended() {
		return in.up.Log.Tail(2000)
	}
	in.api = in.up.WaitForOutput(in.t, time.Second, `API\s+(http://\S+)/api/v1`)[1]
	if in.token == "" {
		in.token = in.up.WaitForOutput(in.t, time.Second, `API token\s+(dl_\S+)`)[1]
	}
	e2etest.Eventually(in.t, 2*time.Minute, r.name+" to be ready", func() bool {
		return e2etest.Works(in.t.Context(), in.api+"/readyz")
	})
	return ""
}

// call sends a request that must succeed.
func (in *installation) call(method, path string, body, out any) {
	in.t.Helper()
	answer, err := e2etest.Ask(in.t.Context(), method, in.api+path, in.token, body)
	if err == nil && answer.Status >= http.StatusBadRequest {
		err = fmt.Errorf("%d: %s", answer.Status, answer.Body)
	}
	if err == nil {
		err = answer.Into(out)
	}
	if err != nil {
		in.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// fill connects an account, crawls an article and counts readers.
func (in *installation) fill() {
	in.t.Helper()
	there, err := in.net.AddAccount("desk")
	e2etest.Must(in.t, err)
	var account struct{ ID string }
	in.call(http.MethodPost, "/api/v1/accounts", map[string]string{
		"network": "mastodon", "base_url": in.net.URL(),
		"access_token": there.Token,
	}, &account)
	in.account = account.ID
	in.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": in.paper.URL + "/", "min_interval_seconds": 60},
		nil)
	var made struct {
		Key  string              `json:"secret_key"`
		Site struct{ ID string } `json:"site"`
	}
	in.call(http.MethodPost, "/api/v1/sites", map[string]any{"name": "News"}, &made)
	in.site, in.key = made.Site.ID, made.Key
	in.read(3)
}

func (in *installation) schedule(text string, at time.Time) (id string) {
	in.t.Helper()
	var made struct{ ID string }
	in.call(http.MethodPost, "/api/v1/posts",
		map[string]any{
			"content": text, "scheduled_time": at.Format(time.RFC3339Nano),
			"accounts": []string{in.account},
		}, &made)
	return made.ID
}

// hasten makes a pending post due in two seconds.
func (in *installation) hasten(id string) {
	in.t.Helper()
	in.call(http.MethodPatch, "/api/v1/posts/"+id,
		map[string]string{"scheduled_time": time.Now().Add(2 * time.Second).Format(time.RFC3339Nano)}, nil)
}

// wantOnce waits until a post is published, and checks that there is one copy.
func (in *installation) wantOnce(id, text string) {
	in.t.Helper()
	var p struct{ Status string }
	e2etest.Eventually(in.t, 2*time.Minute, fmt.Sprintf("%q to be published", text), func() bool {
		in.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
		return p.Status == "posted"
	})
	copies := 0
	for _, p := range in.net.Posts() {
		if p.Text == text {
			copies++
		}
	}
	if copies != 1 {
		in.t.Errorf("%q was published %d times, want once", text, copies)
	}
}

// read sends views of that many new readers.
func (in *installation) read(readers int) {
	in.t.Helper()
	for range readers {
		in.views++
		answer, err := stack.View(in.t.Context(), in.api, in.key, in.views)
		if err != nil || answer.Status != http.StatusAccepted {
			in.t.Fatalf("a view: %v, %d %s", err, answer.Status, answer.Body)
		}
	}
}

// wantData checks that everything is stored: the views in the API, the article in the
// search, its page in the archive.
func (in *installation) wantData(version string) {
	in.t.Helper()
	e2etest.Eventually(in.t, 2*time.Minute, fmt.Sprintf("%s to show %d views", version, in.views), func() bool {
		var stats struct{ Pages []struct{ Views int } }
		in.call(http.MethodGet, "/api/v1/sites/"+in.site+"/pages/stats?page="+stack.Page, nil, &stats)
		return len(stats.Pages) == 1 && stats.Pages[0].Views == in.views
	})
	e2etest.Eventually(in.t, 3*time.Minute, version+" to find the article", func() bool {
		var found struct{ Hits []struct{ URL string } }
		in.call(http.MethodGet, "/api/v1/search?q="+url.QueryEscape(`"`+stack.ArticleTitle+`"`), nil, &found)
		return len(found.Hits) == 1
	})
	var all struct{ Domains []struct{ Domain string } }
	in.call(http.MethodGet, "/api/v1/domains", nil, &all)
	if len(all.Domains) != 1 {
		in.t.Fatalf("%s has the domains %+v, want 1", version, all.Domains)
	}
	answer, err := e2etest.Ask(in.t.Context(), http.MethodGet, in.api+"/api/v1/domains/"+all.Domains[0].Domain+
		"/warc?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", in.token, nil)
	if err != nil || answer.Status != http.StatusOK || len(answer.Body) < 500 {
		in.t.Errorf("the archive of %s: %v, status %d, %d bytes", version, err, answer.Status, len(answer.Body))
	}
}

// wantFlushed waits until the views are in Postgres, which happens every minute.
func (in *installation) wantFlushed(version string) {
	in.t.Helper()
	address, err := embedded.RunningDatabase(in.dir)
	e2etest.Must(in.t, err)
	db, err := pgx.Connect(in.t.Context(), address)
	e2etest.Must(in.t, err)
	defer func() { _ = db.Close(in.t.Context()) }()
	var views int
	e2etest.Eventually(in.t, 150*time.Second, fmt.Sprintf("%s to flush %d views to Postgres", version, in.views),
		func() bool {
			e2etest.Must(in.t, db.QueryRow(in.t.Context(),
				"select coalesce(sum(views), 0)::int from view_pages where page = '/story'").Scan(&views))
			return views == in.views
		})
}
