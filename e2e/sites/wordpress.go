package sites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// wordPress is WordPress with one of its default themes: twentytwentyone consists of PHP, the
// later ones of blocks.
func wordPress(theme string) system {
	return system{
		name: "wp-" + theme, isDebian: true, packages: []string{"wordpress", "wordpress-theme-" + theme},
		needs: wordPressPrograms(), omits: []string{"updated"},
		serve: func(s *site) (http.Handler, func(), error) { return serveWordPress(s, theme) },
	}
}

// wordPressPrograms are the programs that WordPress needs, with their Debian packages.
func wordPressPrograms() map[string]string {
	return map[string]string{
		"php": "php-cli php-mysql php-xml", "mariadbd": "mariadb-server-core", "mariadb-install-db": "mariadb-client-core",
		"apt-get": "apt", "dpkg-deb": "dpkg",
	}
}

// missingPrograms returns the Debian packages of programs that do not exist.
func missingPrograms(programs map[string]string) []string {
	var out []string
	for program, packages := range programs {
		if _, err := exec.LookPath(program); err != nil {
			out = append(out, packages)
		}
	}
	return out
}

// unpack downloads Debian packages and unpacks them into a folder.
func unpack(dir string, packages []string) error {
	if err := run(dir, "apt-get", append([]string{"download", "-q"}, packages...)...); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		errs = append(errs, run(dir, "dpkg-deb", "-x", f, "."), os.Remove(f))
	}
	return errors.Join(errs...)
}

const wordPressConfig = `<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:%s');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '%[2]s'); define('WP_SITEURL', '%[2]s');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
`

// wordPressSetup installs WordPress as its installer does, and adds the articles.
const wordPressSetup = `<?php
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = parse_url($argv[1], PHP_URL_HOST);
function wp_new_blog_notification() {}
require 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Sông Lặng', 'editor', 'editor@paper.example', true, '', wp_generate_password());
update_option('timezone_string', 'Asia/Ho_Chi_Minh');
switch_theme($argv[2]);
foreach ([1, 2, 3] as $id) { wp_delete_post($id, true); }
foreach (json_decode(file_get_contents('articles.json'), true) as $i => $a) {
	$author = username_exists("u$i") ?: wp_insert_user(['user_login' => "u$i", 'user_pass' => wp_generate_password(),
		'user_email' => "u$i@paper.example", 'display_name' => $a['author'], 'role' => 'author']);
	$term = term_exists($a['section'], 'category') ?: wp_insert_term($a['section'], 'category');
	wp_insert_post(['post_title' => $a['title'], 'post_name' => $a['slug'], 'post_content' => $a['content'],
		'post_date' => $a['published'], 'post_status' => 'publish', 'post_author' => $author,
		'post_category' => [(int) $term['term_id']], 'tags_input' => $a['tags']], true);
}
global $wp_rewrite;
$wp_rewrite->set_permalink_structure('/%postname%/');
$wp_rewrite->flush_rules();
`

// wordPressRouter does what .htaccess does at other servers.
const wordPressRouter = `<?php
$path = __DIR__ . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($path)) { return false; }
require __DIR__ . '/index.php';
`

// serveWordPress installs WordPress with a database of its own and serves it.
func serveWordPress(s *site, theme string) (handler http.Handler, stop func(), err error) {
	var started []*exec.Cmd
	stop = func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	start := func(dir, program string, args ...string) error {
		c := exec.Command(program, args...) //nolint:gosec // the programs of this package
		c.Dir = dir
		c.Env = append(os.Environ(), "PHP_CLI_SERVER_WORKERS=4")
		if err := c.Start(); err != nil {
			return err
		}
		started = append(started, c)
		return nil
	}
	fail := func(err error) (http.Handler, func(), error) {
		stop()
		return nil, nil, err
	}
	me, err := user.Current()
	if err != nil {
		return fail(err)
	}
	data, socket := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "db")
	root := filepath.Join(s.dir, "web")
	if err := errors.Join(os.CopyFS(root, os.DirFS(filepath.Join(s.bin, "usr/share/wordpress"))),
		run(s.dir, "mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--datadir="+data,
			"--user="+me.Username),
		start(s.dir, "mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket, "--skip-networking",
			"--user="+me.Username),
		await("unix", socket)); err != nil {
		return fail(err)
	}
	articles, err := json.Marshal(wordPressArticles(s.articles))
	if err != nil {
		return fail(err)
	}
	create := fmt.Sprintf("mysqli_query(mysqli_connect('localhost', 'root', '', '', 0, '%s'), "+
		"'create database wordpress character set utf8mb4');", socket)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fail(err)
	}
	address := listener.Addr().String()
	if err := errors.Join(listener.Close(),
		s.write("web/wp-config.php", fmt.Sprintf(wordPressConfig, socket, s.url)), s.write("web/setup.php", wordPressSetup),
		s.write("web/router.php", wordPressRouter), s.write("web/articles.json", string(articles)),
		run(root, "php", "-r", create), run(root, "php", "setup.php", s.url, theme),
		start(root, "php", "-S", address, "-t", root, "router.php"), await("tcp", address)); err != nil {
		return fail(err)
	}
	target := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0), // the crawler cancels some requests
	}, stop, nil
}

// await waits until a server listens.
func await(network, address string) error {
	var err error
	dialer := net.Dialer{Timeout: time.Second}
	for range 300 {
		var c net.Conn
		if c, err = dialer.DialContext(context.Background(), network, address); err == nil {
			return c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// wordPressArticles are the articles for the setup. WordPress has one author for a post.
func wordPressArticles(all []sample) []map[string]any {
	var out []map[string]any
	for _, a := range all {
		out = append(out, map[string]any{
			"title": a.title, "slug": a.slug, "author": strings.Join(a.authors, " & "), "section": a.section,
			"tags": a.tags, "published": a.published.Format(localTime), "content": a.blocks(),
		})
	}
	return out
}

// blocks returns the text of an article as blocks of WordPress, with its table after the third
// paragraph.
func (a sample) blocks() string {
	var b strings.Builder
	block := func(name, content string) {
		fmt.Fprintf(&b, "<!-- wp:%s -->\n%s\n<!-- /wp:%[1]s -->\n\n", name, content)
	}
	for i, p := range a.paragraphs {
		block("paragraph", "<p>"+html.EscapeString(p)+"</p>")
		if i != 2 {
			continue
		}
		block("heading", "<h2>"+html.EscapeString(a.heading)+"</h2>")
		var rows strings.Builder
		for r, row := range a.table {
			cell := map[bool]string{true: "th", false: "td"}[r == 0]
			rows.WriteString(map[bool]string{true: "<thead>"}[r == 0] + "<tr>")
			for _, text := range row {
				rows.WriteString("<" + cell + ">" + html.EscapeString(text) + "</" + cell + ">")
			}
			rows.WriteString("</tr>" + map[bool]string{true: "</thead><tbody>"}[r == 0])
		}
		block("table", `<figure class="wp-block-table"><table>`+rows.String()+"</tbody></table></figure>")
	}
	return b.String()
}
