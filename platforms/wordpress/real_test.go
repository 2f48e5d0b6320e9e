package wordpress_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/identity/secret"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/wordpress"
)

var (
	realServer = flag.Bool("wordpress", false, "run TestRealServer")
	realDir    = flag.String("wordpress-dir", "", "folder of WordPress; empty: that of Debian's package, which is downloaded")
)

const realConfig = `<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:%s');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_HOME', '%[2]s'); define('WP_SITEURL', '%[2]s');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
`

const realSetup = `<?php
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = parse_url($argv[1], PHP_URL_HOST);
function wp_new_blog_notification() {}
require 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Tin Sông', 'admin', 'admin@paper.example', true, '', wp_generate_password());
update_option('timezone_string', 'Asia/Ho_Chi_Minh');
$users = [];
foreach (['editor' => 'editor', 'author' => 'author', 'intern' => 'contributor'] as $name => $role) {
	$id = wp_insert_user(['user_login' => $name, 'user_pass' => wp_generate_password(),
		'user_email' => "$name@paper.example", 'role' => $role]);
	$users[$name] = WP_Application_Passwords::create_new_application_password($id, ['name' => 'Dateline'])[0];
}
wp_insert_term('Thời sự', 'category');
global $wp_rewrite;
$wp_rewrite->set_permalink_structure($argv[2]);
$wp_rewrite->flush_rules();
file_put_contents('users.json', json_encode(['users' => $users, 'version' => $GLOBALS['wp_version']]));
`

const realRouter = `<?php
$path = __DIR__ . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($path)) { return false; }
require __DIR__ . '/index.php';
`

// realSite is WordPress with a database of its own.
type realSite struct {
	url     string
	version string
	users   map[string]string // application passwords
}

// startSite installs and serves WordPress.
func startSite(t *testing.T, permalinks string) realSite {
	t.Helper()
	dir, source := t.TempDir(), *realDir
	if source == "" {
		platformtest.Command(t, dir, "apt-get", "download", "-q", "wordpress")
		files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		platformtest.Command(t, dir, "dpkg-deb", "-x", files[0], ".")
		source = filepath.Join(dir, "usr/share/wordpress")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	root, data, socket := filepath.Join(dir, "web"), filepath.Join(dir, "data"), filepath.Join(dir, "db")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := errors.Join(listener.Close(), os.CopyFS(root, os.DirFS(source))); err != nil {
		t.Fatal(err)
	}
	platformtest.Command(t, dir, "mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--datadir="+data,
		"--user="+me.Username)
	platformtest.Background(t, dir, nil, "mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--user="+me.Username)
	platformtest.AwaitServer(t, "unix", socket)
	site := realSite{url: "http://" + address}
	for name, text := range map[string]string{
		"wp-config.php": fmt.Sprintf(realConfig, socket, site.url), "setup.php": realSetup, "router.php": realRouter,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "wp-content/uploads"), 0o700); err != nil {
		t.Fatal(err)
	}
	platformtest.Command(t, root, "php", "-r", fmt.Sprintf("mysqli_query(mysqli_connect('localhost', 'root', '', '', 0, '%s'), "+
		"'create database wordpress character set utf8mb4');", socket))
	platformtest.Command(t, root, "php", "setup.php", site.url, permalinks)
	raw, err := os.ReadFile(filepath.Join(root, "users.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Users   map[string]string
		Version string
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		t.Fatal(err)
	}
	site.users, site.version = made.Users, made.Version
	platformtest.Background(t, root, []string{"PHP_CLI_SERVER_WORKERS=4"}, "php", "-S", address, "-t", root, "router.php")
	platformtest.AwaitServer(t, "tcp", address)
	return site
}

func (s realSite) connect(t *testing.T, w *wordpress.WordPress, at, name string) network.Account {
	t.Helper()
	found, err := w.ConnectForm(t.Context(), "", map[string]secret.Text{
		"site": secret.NewText(at), "user": secret.NewText(name), "app_password": secret.NewText(s.users[name]),
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	return found[0]
}

// TestRealServer runs the conformance suite on WordPress itself, with both kinds of
// permalinks, and publishes articles whose responses are lost.
func TestRealServer(t *testing.T) {
	if !*realServer {
		t.Skip("make bench/wordpress runs this test")
	}
	for name, permalinks := range map[string]string{"permalinks": "/%postname%/", "plain": ""} {
		t.Run(name, func(t *testing.T) {
			site := startSite(t, permalinks)
			t.Logf("WordPress %s", site.version)
			client := platformtest.Client(t)
			w := wordpress.New(client, wordpress.Options{Finish: 3 * time.Second})
			_, err := w.ConnectForm(t.Context(), "", map[string]secret.Text{
				"site": secret.NewText(site.url), "user": secret.NewText("intern"),
				"app_password": secret.NewText(site.users["intern"]),
			})
			if e := network.AsError(err); e == nil || e.Code != "role_too_low" {
				t.Errorf("contributor: got %v, want role_too_low", err)
			}
			for _, role := range []string{"author", "editor"} {
				t.Run(role, func(t *testing.T) {
					account := site.connect(t, w, site.url, role)
					limits, err := w.Limits(t.Context(), account)
					if err != nil {
						t.Fatal(err)
					}
					options := optionCases()[:0:0]
					for _, c := range optionCases() { // the site's own categories
						c.Options = strings.Replace(c.Options, "kinh tế & thị trường", "THỜI SỰ", 1)
						options = append(options, c)
					}
					platformtest.Run(t, platformtest.Subject{
						Network: w, Account: account, Client: client, Limits: limits, Options: options,
						BadToken: role + ":wrong", NoRequestID: true, NoLanguage: true, FindsByHandle: true,
						UnboundedSearch: true, HidesMediaStatus: true, Resolution: time.Second,
					})
				})
			}
			t.Run("lost", func(t *testing.T) { testRealLosses(t, site) })
			t.Run("killed", func(t *testing.T) { testRealKills(t, site) })
			t.Run("tags", func(t *testing.T) { testRealTags(t, site, w) })
			t.Run("editors", func(t *testing.T) { testRealEditors(t, site, w) })
		})
	}
}

// testRealLosses publishes articles while half of the calls are lost.
func testRealLosses(t *testing.T, site realSite) {
	address, calls := platformtest.StartLossyProxy(t, site.url, 4)
	w := wordpress.New(platformtest.Client(t), wordpress.Options{
		Finish: time.Second, PlainHTTP: []string{strings.TrimPrefix(site.url, "http://")},
	})
	account := site.connect(t, w, site.url, "author")
	account.BaseURL = strings.Replace(account.BaseURL, site.url, address, 1)
	const articles = 100
	platformtest.PublishLosing(t, w, account, articles)
	total := site.count(t, "search=Tin+m%E1%BA%A5t&status=publish,draft,pending,private,future")
	if total != articles {
		t.Errorf("the site has %d articles, want %d, and no other drafts", total, articles)
	}
	t.Logf("%d articles with %d calls, half of which were lost", articles, calls.Load())
}

// testRealKills publishes articles while calls are lost and the worker is killed.
func testRealKills(t *testing.T, site realSite) {
	address, _ := platformtest.StartLossyProxy(t, site.url, 10)
	const articles = 200
	stack.PublishArticlesKilled(t, wordpress.Name, site.url, address, map[string]string{
		"site": site.url, "user": "author", "app_password": site.users["author"],
	}, articles)
	if n := site.count(t, "search=tri%E1%BB%81u&status=publish,draft,pending,private,future"); n != articles {
		t.Errorf("the site has %d articles, want %d, and no other drafts", n, articles)
	}
}

// count returns the number of posts that a query lists.
func (s realSite) count(t *testing.T, query string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.url+"/index.php?rest_route=/wp/v2/posts&context=edit&per_page=1&"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("editor", s.users["editor"])
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var n int
	if _, err := fmt.Sscan(res.Header.Get("X-WP-Total"), &n); err != nil {
		body, _ := io.ReadAll(res.Body)
		t.Fatalf("%s %s: %v", res.Status, body, err)
	}
	return n
}

// testRealTags uses the names that WordPress takes for new tags.
func testRealTags(t *testing.T, site realSite, w *wordpress.WordPress) {
	n := newsroom{T: t, adapter: w, account: site.connect(t, w, site.url, "author")}
	ids := map[string][]string{}
	for i, name := range []string{"Đà Nẵng", "đà nẵng", "ĐÀ NẴNG", "Đa\u0300 Na\u0306\u0303ng", "R&D", "r&d", "Da Nang"} {
		s, _ := n.draft(network.Submission{
			Key: fmt.Sprint("tag ", i), Text: "Thẻ", Options: wordpress.PostOptions{Tags: []string{name}},
		})
		var h struct{ Tags []int64 }
		if err := json.Unmarshal([]byte(s.Handle), &h); err != nil || len(h.Tags) != 1 {
			t.Fatalf("%s: %s, %v", name, s.Handle, err)
		}
		id := fmt.Sprint(h.Tags[0])
		ids[id] = append(ids[id], name)
	}
	if len(ids) != 3 {
		t.Errorf("got %v, want three tags", ids)
	}
}

// testRealEditors changes the draft between Prepare and Publish.
func testRealEditors(t *testing.T, site realSite, w *wordpress.WordPress) {
	n := newsroom{T: t, adapter: w, account: site.connect(t, w, site.url, "editor")}
	call := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site.url+"/index.php?rest_route=/wp/v2/posts/"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("editor", site.users["editor"])
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode > 299 {
			t.Fatalf("%s %s: %s", method, path, res.Status)
		}
	}
	later := time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05")
	for code, edit := range map[string]func(id string){
		"edited_there":    func(id string) { time.Sleep(1100 * time.Millisecond); call("POST", id, `{"content":"Sửa"}`) },
		"deleted_there":   func(id string) { call("DELETE", id, "") },
		"scheduled_there": func(id string) { call("POST", id, `{"status":"future","date_gmt":"`+later+`"}`) },
		"":                func(id string) { call("POST", id, `{"status":"publish"}`) },
	} {
		s, id := n.draft(network.Submission{Key: "edit " + code, Text: "Biên tập " + code})
		edit(id)
		receipt, e := n.publish(s)
		if code == "" && (e != nil || receipt.RemoteID != id) || code != "" && (e == nil || e.Code != code) {
			t.Errorf("%s: got %+v, %v", code, receipt, e)
		}
	}
	s, id := n.draft(network.Submission{Key: "twice", Text: "Hai lần"})
	first, e := n.publish(s)
	if e != nil || len(first.Differences) > 0 {
		t.Fatalf("%+v, %v", first, e)
	}
	again, e := n.publish(s)
	if e != nil || again.RemoteID != id || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("got %+v, %v after %+v", again, e, first)
	}
	call("DELETE", id, "")
	if _, e := n.publish(s); e == nil || e.Code != "deleted_there" {
		t.Errorf("got %v, want deleted_there", e)
	}
}
