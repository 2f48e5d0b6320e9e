package ghost_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/identity/secret"
	"dateline/platforms/ghost"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

var realDir = flag.String("ghost", "", "folder of Ghost with its dependencies, for TestRealServer")

// realSite is Ghost in a folder, with a database of its own.
type realSite struct {
	*testing.T

	url, key string
	editor   *http.Client // with a session
}

const (
	realUser     = "ban-bien-tap@paper.example"
	realPassword = "Thung-lung-sau-88" //nolint:gosec // of a site that exists for one test
)

// startSite installs and serves Ghost.
func startSite(t *testing.T) realSite {
	t.Helper()
	dir := t.TempDir()
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "db")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, port := listener.Addr().String(), listener.Addr().(*net.TCPAddr).Port
	content := filepath.Join(dir, "content")
	if err := errors.Join(listener.Close(), os.CopyFS(content, os.DirFS(filepath.Join(*realDir, "content")))); err != nil {
		t.Fatal(err)
	}
	platformtest.Command(t, dir, "mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal",
		"--datadir="+data, "--user="+me.Username)
	platformtest.Background(t, dir, nil, "mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket,
		"--skip-networking", "--user="+me.Username)
	platformtest.AwaitServer(t, "unix", socket)
	platformtest.Command(t, dir, "mariadb", "--no-defaults", "--socket="+socket, "--user=root", "--execute",
		"create database ghost character set utf8mb4 collate utf8mb4_general_ci")
	site := realSite{T: t, url: "http://" + address + "/blog"}
	settings := map[string]any{
		"url": site.url, "server": map[string]any{"host": "127.0.0.1", "port": port},
		"database": map[string]any{"client": "mysql", "connection": map[string]any{
			"socketPath": socket, "user": "root", "password": "", "database": "ghost",
		}},
		"logging": map[string]any{"level": "error", "transports": []string{"stdout"}},
		"privacy": map[string]any{"useUpdateCheck": false}, "mail": map[string]any{"transport": "Direct"},
		"security": map[string]any{"staffDeviceVerification": false}, "paths": map[string]any{"contentPath": content},
	}
	raw, err := json.Marshal(settings)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "config.production.json"), raw, 0o600),
			os.Symlink(*realDir, filepath.Join(dir, "current")))
	}
	if err != nil {
		t.Fatal(err)
	}
	// Ghost reads its settings from the folder in which it is started, with its code in current.
	platformtest.Background(t, dir, []string{"NODE_ENV=production"}, "node", filepath.Join("current", "index.js"))
	site.install()
	return site
}

// install creates the owner and an integration, as the admin pages do.
func (s *realSite) install() {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	s.editor = &http.Client{Jar: jar}
	isUp := func() bool {
		res, err := s.editor.Get(s.url + "/ghost/api/admin/site/")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	for deadline := time.Now().Add(5 * time.Minute); !isUp(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatal("Ghost did not start")
		}
	}
	s.call(http.MethodPost, "/authentication/setup/", map[string]any{"setup": []any{map[string]string{
		"name": "Ban biên tập", "email": realUser, "password": realPassword, "blogTitle": "Tin Sông",
	}}})
	s.call(http.MethodPost, "/session/", map[string]string{"username": realUser, "password": realPassword})
	made := s.call(http.MethodPost, "/integrations/?include=api_keys", map[string]any{
		"integrations": []any{map[string]string{"name": "Dateline"}},
	})
	var out struct {
		Integrations []struct {
			Keys []struct{ Type, Secret string } `json:"api_keys"`
		}
	}
	if err := json.Unmarshal(made, &out); err != nil || len(out.Integrations) != 1 {
		s.Fatalf("%s: %v", made, err)
	}
	for _, key := range out.Integrations[0].Keys {
		if key.Type == "admin" {
			s.key = key.Secret
		}
	}
}

// call makes a call as the owner, with whom editors are imitated.
func (s *realSite) call(method, path string, body any) []byte {
	s.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			s.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+"/ghost/api/admin"+path, bytes.NewReader(raw))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", strings.TrimSuffix(s.url, "/blog"))
	res, err := s.editor.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode > 299 {
		s.Fatalf("%s %s: %s %s %v", method, path, res.Status, out, err)
	}
	return out
}

// change changes a post as an editor who has it open.
func (s *realSite) change(id string, body map[string]any) {
	s.Helper()
	var now struct {
		Posts []struct {
			Updated string `json:"updated_at"`
		}
	}
	if err := json.Unmarshal(s.call(http.MethodGet, "/posts/"+id+"/", nil), &now); err != nil {
		s.Fatal(err)
	}
	body["updated_at"] = now.Posts[0].Updated
	s.call(http.MethodPut, "/posts/"+id+"/?source=html", map[string]any{"posts": []any{body}})
}

// count returns the number of posts that a filter matches.
func (s *realSite) count(filter string) int {
	s.Helper()
	var out struct {
		Meta struct{ Pagination struct{ Total int } }
	}
	if err := json.Unmarshal(s.call(http.MethodGet, "/posts/?limit=1&fields=id&filter="+
		url.QueryEscape(filter), nil), &out); err != nil {
		s.Fatal(err)
	}
	return out.Meta.Pagination.Total
}

func (s *realSite) connect(g *ghost.Ghost) network.Account {
	s.Helper()
	found, err := g.ConnectForm(s.Context(), "", map[string]secret.Text{
		"site": secret.NewText(s.url + "/ghost/"), "admin_key": secret.NewText(s.key),
	})
	if err != nil || len(found) != 1 {
		s.Fatalf("%+v, %v", found, err)
	}
	return found[0]
}

// TestRealServer runs the conformance suite on Ghost itself, in a folder, and publishes
// articles whose responses are lost.
func TestRealServer(t *testing.T) {
	if *realDir == "" {
		t.Skip("make bench/ghost runs this test")
	}
	site := startSite(t)
	client := platformtest.Client(t)
	g := ghost.New(client, ghost.Options{Finish: 3 * time.Second})
	account := site.connect(g)
	t.Logf("connected %s %q", account.Handle, account.Name)
	limits, err := g.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	options := optionCases()
	for i := range options { // the site's own author
		options[i].Options = strings.Replace(options[i].Options, `"le-mai","DESK@paper.example"`,
			`"ban biên tập","`+strings.ToUpper(realUser)+`"`, 1)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: g, Account: account, Client: client, Limits: limits, Options: options, BadToken: anotherKey(),
		NoRequestID: true, NoLanguage: true, FindsByHandle: true, UnboundedSearch: true, HidesMediaStatus: true,
		KeepsMedia: true, Resolution: time.Second,
	})
	t.Run("editors", func(t *testing.T) {
		site.T = t
		testRealEditors(t, site, g, account)
	})
	t.Run("tags", func(t *testing.T) { testRealTags(t, g, account) })
	t.Run("body", func(t *testing.T) { testRealBody(t, g, account) })
	t.Run("killed", func(t *testing.T) {
		from := strings.TrimSuffix(site.url, "/blog")
		address, _ := platformtest.StartLossyProxy(t, from, 10)
		const articles = 200
		stack.PublishArticlesKilled(t, ghost.Name, from, address, map[string]string{
			"site": site.url, "admin_key": site.key,
		}, articles)
		site.T = t
		published, drafts := site.count("title:~'triều'+status:published"), site.count("title:~'triều'+status:draft")
		if published != articles || drafts != 0 {
			t.Errorf("the site has %d articles and %d drafts, want %d and none", published, drafts, articles)
		}
	})
	t.Run("lost", func(t *testing.T) {
		address, calls := platformtest.StartLossyProxy(t, strings.TrimSuffix(site.url, "/blog"), 4)
		lossy := ghost.New(platformtest.Client(t), ghost.Options{Finish: time.Second})
		through := account
		through.BaseURL = address + "/blog"
		site.T = t
		const articles = 100
		platformtest.PublishLosing(t, lossy, through, articles)
		published, drafts := site.count("title:~'phản hồi'+status:published"), site.count("title:~'phản hồi'+status:draft")
		if published != articles || drafts != 0 {
			t.Errorf("the site has %d articles and %d drafts, want %d and none", published, drafts, articles)
		}
		t.Logf("%d articles with %d calls, half of which were lost", articles, calls.Load())
	})
}

// testRealEditors changes the draft between Prepare and Publish.
func testRealEditors(t *testing.T, site realSite, g *ghost.Ghost, account network.Account) {
	n := newsroom{T: t, adapter: g, account: account}
	later := time.Now().UTC().Add(time.Hour).Format(time.RFC3339)
	for code, edit := range map[string]func(id string){
		"edited_there": func(id string) {
			time.Sleep(1100 * time.Millisecond)
			site.change(id, map[string]any{"html": "<p>Sửa</p>"})
		},
		"deleted_there":   func(id string) { site.call(http.MethodDelete, "/posts/"+id+"/", nil) },
		"scheduled_there": func(id string) { site.change(id, map[string]any{"status": "scheduled", "published_at": later}) },
		"":                func(id string) { site.change(id, map[string]any{"status": "published"}) },
	} {
		s, id := n.draft(network.Submission{Key: "edit " + code, Text: "Biên tập " + code})
		edit(id)
		receipt, e := n.publish(s)
		if code == "" && (e != nil || receipt.RemoteID != id) || code != "" && (e == nil || e.Code != code) {
			t.Errorf("%s: got %+v, %v", code, receipt, e)
		}
	}
	s, id := n.draft(network.Submission{Key: "twice", Text: "Hai lần", Options: ghost.PostOptions{Slug: "hai-lan"}})
	first, e := n.publish(s)
	if e != nil || len(first.Differences) > 0 || !strings.HasSuffix(first.URL, "/blog/hai-lan/") {
		t.Fatalf("%+v, %v", first, e)
	}
	if again, e := n.publish(s); e != nil || again.RemoteID != id || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("got %+v, %v after %+v", again, e, first)
	}
	site.call(http.MethodDelete, "/posts/"+id+"/", nil)
	if _, e := n.publish(s); e == nil || e.Code != "deleted_there" {
		t.Errorf("got %v, want deleted_there", e)
	}
}

// testRealTags uses names that Ghost's database takes for equal ones, or quotes.
func testRealTags(t *testing.T, g *ghost.Ghost, account network.Account) {
	n := newsroom{T: t, adapter: g, account: account}
	ids := map[string][]string{}
	for i, name := range []string{
		"Đà Nẵng", "đà nẵng", "ĐÀ NẴNG", "Đa\u0300 Na\u0306\u0303ng", "R&D", "r&d", "Da Nang", `O'Neill & "\" con`,
		`o'neill & "\" con`, "新聞", "新聞", "#noi-bo",
	} {
		s, _ := n.draft(network.Submission{
			Key: fmt.Sprint("tag ", i), Text: "Thẻ", Options: ghost.PostOptions{Tags: []string{name}},
		})
		var h struct{ Tags []string }
		if err := json.Unmarshal([]byte(s.Handle), &h); err != nil || len(h.Tags) != 1 {
			t.Fatalf("%s: %s, %v", name, s.Handle, err)
		}
		ids[h.Tags[0]] = append(ids[h.Tags[0]], name)
	}
	if len(ids) != 6 {
		t.Errorf("got %q, want six tags", ids)
	}
}

// testRealBody publishes everything that Markdown has: Ghost rewrites the HTML, which must
// not read as a difference.
func testRealBody(t *testing.T, g *ghost.Ghost, account network.Account) {
	n := newsroom{T: t, adapter: g, account: account}
	s := network.Submission{Key: "body", Text: "Giá xăng 'tăng' & dầu <giảm>\n\nMột **đậm** *nghiêng* ~~bỏ~~ `mã`\nhai\n\n" +
		"## Tiêu đề\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> trích\n\n```\nmã <b>\n  hai\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n---\n\n" +
		"https://www.youtube.com/watch?v=x\n\n[liên kết](https://news.example/?a=1&b=2) <script>x</script> &amp; ![ảnh](https://news.example/a.jpg)"}
	for _, alt := range []string{"Ảnh \"một\"", "Ảnh <hai> & ba"} {
		image := platformtest.NewImage(t, "image/jpeg")
		image.AltText = alt
		staged, err := g.Stage(t.Context(), account, image)
		if err != nil {
			t.Fatal(err)
		}
		s.MediaIDs, s.Media = append(s.MediaIDs, staged.RemoteID), append(s.Media, image)
	}
	s, _ = n.draft(s)
	receipt, e := n.publish(s)
	if e != nil || len(receipt.Differences) > 0 {
		t.Errorf("got %+v, %v, want no differences", receipt, e)
	}
}
