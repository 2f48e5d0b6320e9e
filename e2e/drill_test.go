package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// run runs a command of the program, beside a running installation or without one.
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

// dataDir is the data directory.
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
	article := "<html><head><title>Bài</title></head><body><article><h1>Bài</h1>" +
		strings.Repeat("<p>Một đoạn văn dài của bài viết này.</p>", 40) + "</article></body></html>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w,
				`<html><body><a href="/2026/11/22/bai-viet-so-mot-12345.html">Bài viết số một của chúng tôi hôm nay</a></body></html>`)
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(w, article)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestDrill loses everything but a backup and its passphrase, and restores it: pending
// posts are published once, posts published after the backup are not published again,
// and readers, pages, files and accounts are there.
func TestDrill(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"due", "reconcile"} {
		t.Run(hold, func(t *testing.T) { t.Parallel(); drill(t, hold) })
	}
}

func drill(t *testing.T, hold string) {
	n, paper := newNetwork(t), newspaper(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host()+","+strings.TrimPrefix(paper.URL, "http://"),
		"DATELINE_CRAWL_DELAY=100ms")
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	to := map[string]any{"accounts": []string{account}}

	d.schedule("out before the backup", 2*time.Second, to)
	page := d.readerCounts()
	domain := d.crawl(paper.URL)
	e2etest.Eventually(t, 60*time.Second, "the first post to be out", func() bool {
		return n.copies("out before the backup") == 1
	})
	page.settled()
	between := d.schedule("out between backup and disaster", 25*time.Second, to)
	waiting := d.schedule("waits through the disaster", 100*time.Second, to)

	secrets := t.TempDir()
	file, passphrase := filepath.Join(secrets, "all.backup"), filepath.Join(secrets, "passphrase")
	if err := os.WriteFile(passphrase, []byte("a passphrase for the drill\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := d.run("backup", "-o", file, "--objects", "all", "--passphrase-file", passphrase)
	if err != nil || !strings.Contains(said, "It contains the keyset") {
		t.Fatalf("%v: %s", err, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup: %v %v", info, err)
	}
	d.awaitStatus(between.ID, "posted", 90*time.Second)
	if said, err := d.run("restore", "--from", file); err == nil || !strings.Contains(said, "another `dateline up`") {
		t.Errorf("restored under a running program: %v %s", err, said)
	}
	d.kill()
	if err := removeWhileWritten(d.dataDir()); err != nil {
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
		t.Error("the previous token is not valid")
	}
	if hold == "due" {
		p := d.awaitUncertain(between.ID)
		var url string
		for _, q := range n.Posts() {
			if q.Text == "out between backup and disaster" {
				url = q.URL
			}
		}
		if status := d.call(http.MethodPost, "/api/v1/posts/"+between.ID+"/targets/"+p.Targets[0].ID+"/confirm",
			map[string]string{"url": url}, nil); status != http.StatusOK {
			t.Errorf("confirming the published post: %d", status)
		}
	}
	d.awaitStatus(between.ID, "posted", 120*time.Second)
	d.awaitStatus(waiting.ID, "posted", 180*time.Second)
	for _, text := range []string{
		"out before the backup", "out between backup and disaster",
		"waits through the disaster",
	} {
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

// awaitUncertain waits until a post needs a decision.
func (d *dateline) awaitUncertain(id string) (p struct {
	Targets []struct{ ID, Status string } `json:"targets"`
},
) {
	d.t.Helper()
	e2etest.Eventually(d.t, 60*time.Second, "post "+id+" to wait for a person", func() bool {
		d.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
		return len(p.Targets) == 1 && p.Targets[0].Status == "uncertain"
	})
	return p
}
