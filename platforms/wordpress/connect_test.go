package wordpress_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/wordpress"
)

func TestConnect_ChecksPasswordAndRole(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	w, account, _ := sandbox(t, server)
	if account.Name != "Sandbox News" || !strings.HasPrefix(account.Handle, "desk@127.0.0.1:") || account.RemoteID == "" ||
		account.AvatarURL == "" || account.Kind != network.KindPage || len(account.Scopes) != 3 {
		t.Errorf("got %+v, want the site with its user", account)
	}
	for name, row := range map[string]struct {
		change             map[string]string
		class              network.Class
		field, code, words string
	}{
		"in groups of four": {change: map[string]string{"app_password": grouped(form(server, "desk")["app_password"].Reveal())}},
		"wrong password":    {map[string]string{"app_password": "abcd efgh"}, network.Auth, "app_password", "password_not_seen", "Authorization"},
		"wrong user":        {map[string]string{"user": "author"}, network.Auth, "app_password", "password_not_seen", "https"},
		"contributor": {map[string]string{
			"user": "intern", "app_password": form(server, "intern")["app_password"].Reveal(),
		}, network.Rejected, "user", "role_too_low", "author"},
		"no user":       {map[string]string{"user": " "}, network.Rejected, "user", "missing", ""},
		"no password":   {map[string]string{"app_password": " "}, network.Rejected, "app_password", "missing", ""},
		"no site":       {map[string]string{"site": ""}, network.Rejected, "site", "bad_address", ""},
		"plain http":    {map[string]string{"site": "http://news.example"}, network.Rejected, "site", "bad_address", "https"},
		"another":       {map[string]string{"site": "ftp://news.example"}, network.Rejected, "site", "bad_address", ""},
		"with password": {map[string]string{"site": "https://a:b@news.example"}, network.Rejected, "site", "bad_address", ""},
		"query":         {map[string]string{"site": "https://news.example/?p=1"}, network.Rejected, "site", "bad_address", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := form(server, "desk")
			for field, value := range row.change {
				values[field] = secret.NewText(value)
			}
			found, err := w.ConnectForm(t.Context(), "", values)
			if row.code == "" {
				if err != nil || len(found) != 1 || found[0].Token.Reveal() != account.Token.Reveal() {
					t.Errorf("got %+v, %v", found, err)
				}
				return
			}
			e := network.AsError(err)
			if e == nil || e.Class != row.class || e.Field != row.field || e.Code != row.code ||
				!strings.Contains(e.Message, row.words) {
				t.Errorf("got %+v, want %s of %s", e, row.code, row.field)
			}
		})
	}
}

func grouped(password string) string {
	var out strings.Builder
	for i, r := range password {
		if i > 0 && i%4 == 0 {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// site serves a part of WordPress's API below a path.
type site struct {
	home, api string            // paths
	link      string            // of the home page
	answers   map[string]string // bodies by route
	status    map[string]int
	header    http.Header
}

func (s site) serve(t *testing.T) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := strings.TrimPrefix(r.URL.Path, s.api)
		if plain := r.URL.Query().Get("rest_route"); plain != "" && r.URL.Path == strings.TrimSuffix(s.api, "?") {
			route = plain
		}
		switch body, ok := s.answers[route]; {
		case r.URL.Path == s.home && r.URL.RawQuery == "":
			if s.link != "" {
				w.Header().Set("Link", strings.ReplaceAll(s.link, "HOST", server.URL))
			}
		case ok && (strings.HasPrefix(r.URL.Path, s.api) || strings.HasPrefix(s.api, r.URL.Path)):
			maps.Copy(w.Header(), s.header)
			if status := s.status[route]; status != 0 {
				w.WriteHeader(status)
			}
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "HOST", server.URL))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func answers() map[string]string {
	return map[string]string{
		"/": `{"name":"Tin","home":"HOST/blog","namespaces":["wp/v2"],"authentication":{"application-passwords":{}}}`,
		"/wp/v2/users/me": `{"id":7,"username":"desk","name":"Desk","capabilities":{"publish_posts":true,
			"upload_files":true,"edit_published_posts":true}}`,
		"/wp/v2/users/me/application-passwords/introspect": `{"uuid":"u","name":"Dateline"}`,
	}
}

// https://developer.wordpress.org/rest-api/using-the-rest-api/discovery/
func TestConnect_FindsTheAPI(t *testing.T) {
	t.Parallel()
	without := func(route, body string) map[string]string {
		all := answers()
		all[route] = body
		return all
	}
	const introspect = "/wp/v2/users/me/application-passwords/introspect"
	for name, row := range map[string]struct {
		site site
		path string // that a person enters
		root string // of the account
		code string
	}{
		"permalinks": {
			site: site{home: "/", api: "/wp-json", link: `<HOST/wp-json/>; rel="https://api.w.org/"`, answers: answers()},
			root: "/wp-json",
		},
		"folder": {
			site: site{home: "/blog/", api: "/blog/wp-json", link: `<HOST/blog/wp-json/>; rel="https://api.w.org/"`, answers: answers()},
			path: "/blog/", root: "/blog/wp-json",
		},
		"another prefix": {
			site: site{home: "/", api: "/api", link: `<HOST/x>; rel="alternate", <HOST/api/>; rel="https://api.w.org/"`, answers: answers()},
			root: "/api",
		},
		"plain permalinks": {
			site: site{home: "/", api: "/index.php", link: `<HOST/index.php?rest_route=/>; rel="https://api.w.org/"`, answers: answers()},
			root: "/index.php?rest_route=",
		},
		"plain, encoded": {
			site: site{home: "/", api: "/index.php", link: `<HOST/index.php?rest_route=%2F>; rel="https://api.w.org/"`, answers: answers()},
			root: "/index.php?rest_route=",
		},
		"plain permalinks at the root": {
			site: site{home: "/nowhere", api: "/", link: "", answers: answers()}, root: "/?rest_route=", code: "no_wordpress",
		},
		"header removed": {site: site{home: "/", api: "/wp-json", answers: answers()}, root: "/wp-json"},
		"header elsewhere": {
			site: site{home: "/", api: "/wp-json", link: `<ftp://HOST/>; rel="https://api.w.org/"`, answers: answers()},
			root: "/wp-json",
		},
		"header removed, plain": {
			site: site{home: "/", api: "/index.php", answers: answers()}, root: "/index.php?rest_route=",
		},
		"no password offered": {
			site: site{home: "/", api: "/wp-json", answers: without("/", `{"namespaces":["wp/v2"],"authentication":[]}`)},
			code: "no_app_passwords",
		},
		"no WordPress": {site: site{home: "/"}, code: "no_wordpress"},
		"another API":  {site: site{home: "/", api: "/wp-json", answers: without("/", `{"namespaces":["x/v1"]}`)}, code: "no_wordpress"},
		"main password": {
			site: site{
				home: "/", api: "/wp-json", answers: without(introspect, `{"code":"rest_no_authenticated_app_password"}`),
				status: map[string]int{introspect: 404},
			}, code: "main_password",
		},
		"before 5.7": {
			site: site{
				home: "/", api: "/wp-json", answers: without(introspect, `{"code":"rest_no_route"}`),
				status: map[string]int{introspect: 404},
			}, root: "/wp-json",
		},
		"web server's password": {
			site: site{
				home: "/", api: "/wp-json", answers: without("/wp/v2/users/me", `<html>401</html>`),
				status: map[string]int{"/wp/v2/users/me": 401}, header: http.Header{"Www-Authenticate": {`Basic realm="Staging"`}},
			}, code: "site_password",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := row.site.serve(t)
			w := wordpress.New(platformtest.Client(t), wordpress.Options{})
			found, err := w.ConnectForm(t.Context(), "", map[string]secret.Text{
				"site": secret.NewText(server.URL + row.path), "user": secret.NewText("desk"),
				"app_password": secret.NewText("abcd efgh"),
			})
			if row.code != "" {
				if e := network.AsError(err); e == nil || e.Code != row.code {
					t.Errorf("got %+v, %v, want %s", found, e, row.code)
				}
				return
			}
			if err != nil || len(found) != 1 || found[0].BaseURL != server.URL+row.root || found[0].RemoteID != "7" {
				t.Errorf("got %+v, %v, want the API at %s", found, err, row.root)
			}
		})
	}
}

// Users enter addresses, so that those of the operator's own network are refused.
func TestConnect_RefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	client, err := call.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"https://127.0.0.1", "https://10.0.0.8", "https://[::1]", "https://169.254.169.254", "https://localhost",
		"https://192.168.1.2:8080",
	} {
		w := wordpress.New(client, wordpress.Options{})
		_, err := w.ConnectForm(t.Context(), "", map[string]secret.Text{
			"site": secret.NewText(address), "user": secret.NewText("desk"), "app_password": secret.NewText("abcd"),
		})
		if e := network.AsError(err); e == nil || e.Class != network.NotSent || e.Field != "site" {
			t.Errorf("%s: got %v, want that nothing is sent", address, e)
		}
	}
}

// Classes of the answers that were seen on WordPress 7.1 and 6.1.9.
func TestRefusals(t *testing.T) {
	t.Parallel()
	wpError := func(code string, status int) string {
		return fmt.Sprintf(`{"code":%q,"message":"Said so.","data":{"status":%d}}`, code, status)
	}
	const anonymous = `{"code":"rest_invalid_param","message":"Invalid parameter(s): status","data":{"status":400,
		"details":{"status":{"code":"rest_forbidden_status","data":{"status":401}}}}}`
	for name, row := range map[string]struct {
		status  int
		body    string
		create  network.Class // of the draft; empty: it is looked for
		publish network.Class
		upload  network.Class
	}{
		"401":             {401, wpError("rest_cannot_edit", 401), network.Auth, network.Auth, network.Auth},
		"anonymous":       {400, anonymous, network.Auth, network.Auth, network.Auth},
		"plugin's 401":    {401, wpError("rest_login_required", 401), network.Auth, network.Auth, network.Auth},
		"role too low":    {403, wpError("rest_cannot_publish", 403), network.Auth, network.Auth, network.Auth},
		"others' posts":   {403, wpError("rest_cannot_edit_others", 403), network.Auth, network.Auth, network.Auth},
		"firewall":        {403, "<html>Forbidden</html>", network.Rejected, network.Rejected, network.Rejected},
		"firewall, 406":   {406, "<html>Not Acceptable</html>", network.Rejected, network.Rejected, network.Rejected},
		"parameter":       {400, wpError("rest_invalid_param", 400), network.Rejected, network.Rejected, network.Rejected},
		"empty":           {400, wpError("empty_content", 400), network.Rejected, network.Rejected, network.Rejected},
		"throttled":       {429, "<html>Slow down</html>", network.Throttled, network.Throttled, network.Throttled},
		"too large":       {413, "<html>413</html>", network.Rejected, network.Rejected, network.Rejected},
		"refused file":    {500, wpError("rest_upload_sideload_error", 500), network.Rejected, network.Rejected, network.Rejected},
		"huge body":       {500, wpError("db_insert_error", 500), network.Rejected, network.Rejected, network.Rejected},
		"plugin failed":   {500, wpError("internal_server_error", 500), "", network.Ambiguous, network.Transient},
		"bad gateway":     {502, "<html>502</html>", "", network.Ambiguous, network.Transient},
		"maintenance":     {503, wpError("wp_die", 503), network.Transient, network.Transient, network.Transient},
		"hash":            {412, wpError("rest_upload_hash_mismatch", 412), network.Transient, network.Transient, network.Transient},
		"empty success":   {200, "", "", network.Ambiguous, network.Transient},
		"page of success": {200, "<html>Welcome</html>", "", network.Ambiguous, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					if row.status == 503 {
						w.Header().Set("Retry-After", "600")
					}
					w.WriteHeader(row.status)
					_, _ = io.WriteString(w, row.body)
				case strings.HasSuffix(r.URL.Path, "/posts/5"):
					_, _ = io.WriteString(w, `{"id":5,"status":"draft","modified_gmt":"m"}`)
				default:
					_, _ = io.WriteString(w, `[]`)
				}
			}))
			t.Cleanup(server.Close)
			w := wordpress.New(platformtest.Client(t), wordpress.Options{Finish: finish})
			account := network.Account{BaseURL: server.URL + "/wp-json", Token: secret.NewText("desk:abcd")}
			class := func(err error) network.Class {
				if err == nil {
					return ""
				}
				e := network.AsError(err)
				if e.Message == "" || strings.Contains(e.Error(), "abcd") || row.status == 503 &&
					row.body[0] == '{' && e.RetryAt.IsZero() {
					t.Errorf("got %+v", e)
				}
				return e.Class
			}
			_, err := w.Publish(t.Context(), account, network.Submission{
				Key: "k", Text: "Tin", Handle: `{"slug":"s","id":5,"modified":"m"}`,
			})
			if got := class(err); got != row.publish {
				t.Errorf("Publish: got %s (%v), want %s", got, err, row.publish)
			}
			_, err = w.Stage(t.Context(), account, platformtest.NewImage(t, "image/png"))
			if got := class(err); got != row.upload {
				t.Errorf("Stage: got %s (%v), want %s", got, err, row.upload)
			}
			first, err := w.Prepare(t.Context(), account, network.Submission{Key: "k", Text: "Tin"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Prepare(t.Context(), account, network.Submission{Key: "k", Text: "Tin", Handle: first.Handle})
			if got := class(err); got != row.create {
				t.Errorf("Prepare: got %s (%v), want %q", got, err, row.create)
			}
		})
	}
}
