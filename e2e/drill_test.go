package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/embedded"
)

// run carries out a command of the program beside, or instead of, a running one.
func (d *dateline) run(args ...string) (said string, err error) {
	d.t.Helper()
	path, err := program()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = d.env, d.t.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// dataDir is where everything is kept.
func (d *dateline) dataDir() string {
	for _, entry := range d.env {
		if dir, ok := strings.CutPrefix(entry, "DATELINE_DATA_DIR="); ok {
			return dir
		}
	}
	d.t.Fatal("no data directory")
	return ""
}

// newspaper is a web site to crawl: a front page and an article.
func newspaper(t *testing.T) *httptest.Server {
	t.Helper()
	article := "<html><head><title>Bài</title></head><body><article><h1>Bài</h1>" + strings.Repeat("<p>Một đoạn văn dài của bài viết này.</p>", 40) + "</article></body></html>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w, `<html><body><a href="/2026/11/22/bai-viet-so-mot-12345.html">Bài viết số một của chúng tôi hôm nay</a></body></html>`)
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(w, article)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestDrill loses everything but a backup and its passphrase, and gets it back:
// what waits goes out, once; what went out since the backup does not go out
// again; readers, pages, files and accounts are there.
func TestDrill(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"due", "look"} {
		t.Run(hold, func(t *testing.T) { t.Parallel(); drill(t, hold) })
	}
}

func drill(t *testing.T, hold string) {
	n, paper := newNetwork(t), newspaper(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host()+","+strings.TrimPrefix(paper.URL, "http://"), "DATELINE_CRAWL_DELAY=100ms")
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	to := map[string]any{"accounts": []string{account}}

	d.schedule("out before the backup", 2*time.Second, to)
	page := d.readerCounts()
	domain := d.crawl(paper.URL)
	eventually(t, 60*time.Second, "the first post to be out", func() bool { return n.copies("out before the backup") == 1 })
	between := d.schedule("out between backup and disaster", 25*time.Second, to)
	waiting := d.schedule("waits through the disaster", 100*time.Second, to)

	secrets := t.TempDir()
	file, passphrase := filepath.Join(secrets, "all.backup"), filepath.Join(secrets, "passphrase")
	if err := os.WriteFile(passphrase, []byte("a passphrase for the drill\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page.settled()
	said, err := d.run("backup", "-o", file, "--objects", "all", "--passphrase-file", passphrase)
	if err != nil || !strings.Contains(said, "The keyset is in it") {
		t.Fatalf("%v: %s", err, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup: %v %v", info, err)
	}
	d.awaitStatus(between.ID, "posted", 60*time.Second)
	if said, err := d.run("restore", "--from", file); err == nil || !strings.Contains(said, "another `dateline up`") {
		t.Errorf("restored under a running program: %v %s", err, said)
	}
	d.kill()
	if err := os.RemoveAll(d.dataDir()); err != nil {
		t.Fatal(err)
	}

	said, err = d.run("restore", "--from", file, "--passphrase-file", passphrase, "--hold", hold)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Logf("the restore says:\n%s", said)
	token := d.Token
	d.start()
	d.ready()
	if d.Token != token {
		t.Error("the token of before is not in force")
	}
	if hold == "due" {
		p := d.awaitUncertain(between.ID)
		var url string
		for _, q := range n.Posts() {
			if q.Text == "out between backup and disaster" {
				url = q.URL
			}
		}
		if status := d.call(http.MethodPost, "/api/v1/posts/"+between.ID+"/targets/"+p.Targets[0].ID+"/confirm", map[string]string{"url": url}, nil); status != http.StatusOK {
			t.Errorf("confirming what is out: %d", status)
		}
	}
	d.awaitStatus(between.ID, "posted", 120*time.Second)
	d.awaitStatus(waiting.ID, "posted", 180*time.Second)
	for _, text := range []string{"out before the backup", "out between backup and disaster", "waits through the disaster"} {
		if c := n.copies(text); c != 1 {
			t.Errorf("%q exists %d times", text, c)
		}
	}
	page.same()
	domain.same()
	var accounts struct {
		Accounts []struct{ ID, Status string } `json:"accounts"`
	}
	d.call(http.MethodGet, "/api/v1/accounts", nil, &accounts)
	found := false
	for _, a := range accounts.Accounts {
		found = found || a.ID == account && a.Status == "connected"
	}
	if !found {
		t.Errorf("the accounts are %+v", accounts)
	}
}

// awaitUncertain waits for a post that a person has to decide on.
func (d *dateline) awaitUncertain(id string) (p struct {
	Targets []struct{ ID, Status string } `json:"targets"`
}) {
	d.t.Helper()
	eventually(d.t, 60*time.Second, "post "+id+" to wait for a person", func() bool {
		d.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
		return len(p.Targets) == 1 && p.Targets[0].Status == "uncertain"
	})
	return p
}

// number asks the program's database.
func (d *dateline) number(sql string) (n int) {
	d.t.Helper()
	url, err := embedded.RunningDatabase(d.dataDir())
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := pgx.Connect(d.t.Context(), url)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = c.Close(d.t.Context()) }()
	if err := c.QueryRow(d.t.Context(), sql).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// counted is a page that was read.
type counted struct {
	d     *dateline
	path  string
	views int
}

func (d *dateline) readerCounts() counted {
	d.t.Helper()
	var site struct {
		ID  string `json:"id"`
		Key string `json:"secret_key"`
	}
	if status := d.call(http.MethodPost, "/api/v1/sites", map[string]any{"name": "Báo"}, &site); status != http.StatusCreated {
		d.t.Fatalf("making a site: %d", status)
	}
	c := counted{d: d, path: "/api/v1/sites/" + site.ID + "/pages/stats?page=/bai-viet"}
	for i := range 3 {
		if err := d.hits(site.Key, "/bai-viet", i, 1); err != nil {
			d.t.Fatal(err)
		}
		c.views++
	}
	return c
}

// hits sends views of so many readers, as a server does.
func (d *dateline) hits(key, page string, reader, n int) error {
	var hits []map[string]any
	for i := range n {
		hits = append(hits, map[string]any{"page": page, "user": fmt.Sprintf("reader %d", reader+i), "address": fmt.Sprintf("203.0.%d.%d", (reader+i)/250%250, (reader+i)%250),
			"user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"})
	}
	raw, err := json.Marshal(hits)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, d.API+"/v1/batch", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("views: %s: %s", answer.Status, said)
	}
	return err
}

func (c counted) read() int {
	var stats struct {
		Pages []struct {
			Views int `json:"views"`
		} `json:"pages"`
	}
	c.d.call(http.MethodGet, c.path, nil, &stats)
	if len(stats.Pages) == 0 {
		return 0
	}
	return stats.Pages[0].Views
}

// settled waits until what was counted is in the database.
func (c counted) settled() {
	c.d.t.Helper()
	eventually(c.d.t, 30*time.Second, "the readers to be counted", func() bool { return c.read() == c.views })
	eventually(c.d.t, 150*time.Second, "the counts to be in the database", func() bool {
		return c.d.number("select coalesce(sum(views), 0) from view_pages where page = '/bai-viet'") == c.views
	})
}

func (c counted) same() {
	c.d.t.Helper()
	eventually(c.d.t, 120*time.Second, "the readers to be counted as before", func() bool { return c.read() == c.views })
}

// crawled is a site whose pages are stored.
type crawled struct {
	d      *dateline
	name   string
	stored int
}

func (d *dateline) crawl(home string) crawled {
	d.t.Helper()
	if status := d.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": home + "/", "min_interval_seconds": 60}, nil); status != http.StatusCreated {
		d.t.Fatalf("making a seed: %d", status)
	}
	c := crawled{d: d}
	eventually(d.t, 150*time.Second, "the article to be stored", func() bool {
		c.name, c.stored = d.domain()
		return c.stored >= 1
	})
	return c
}

func (d *dateline) domain() (name string, stored int) {
	var all struct {
		Domains []struct {
			Domain string `json:"domain"`
			Stored int    `json:"stored"`
		} `json:"domains"`
	}
	d.call(http.MethodGet, "/api/v1/domains", nil, &all)
	if len(all.Domains) == 0 {
		return "", 0
	}
	return all.Domains[0].Domain, all.Domains[0].Stored
}

// same looks whether the pages are there, bytes included.
func (c crawled) same() {
	c.d.t.Helper()
	if _, stored := c.d.domain(); stored < c.stored {
		c.d.t.Errorf("%d pages of %s are stored, were %d", stored, c.name, c.stored)
	}
	request, err := http.NewRequest(http.MethodGet, c.d.API+"/api/v1/domains/"+c.name+"/warc?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", nil)
	if err != nil {
		c.d.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.d.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var warc bytes.Buffer
	_, _ = warc.ReadFrom(answer.Body)
	if answer.StatusCode != http.StatusOK || warc.Len() < 500 {
		c.d.t.Errorf("the pages of %s: %d, %d bytes", c.name, answer.StatusCode, warc.Len())
	}
}
