package wordpress

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The fields of the form.
const (
	fieldSite     = article.FieldSite
	fieldUser     = "user"
	fieldPassword = "app_password"
)

// Fields are a site, a user name and an application password.
func (*WordPress) Fields() []network.FormField {
	return []network.FormField{
		{Name: fieldSite, Label: "Site address", Help: "The address of the home page, such as https://news.example."},
		{Name: fieldUser, Label: "User name", Help: "A user with the role author, editor or administrator."},
		{
			Name: fieldPassword, Label: "Application password", Secret: true,
			Help: "Create one in WordPress under Users, Profile, Application Passwords.",
		},
	}
}

// ConnectForm finds the site's API and verifies the password and the user's role.
func (w *WordPress) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	site := values[fieldSite].Reveal()
	if baseURL != "" { // the sandbox
		site = baseURL
	}
	user := strings.TrimSpace(values[fieldUser].Reveal())
	// WordPress shows the password in groups of four and ignores the spaces.
	password := strings.Join(strings.Fields(values[fieldPassword].Reveal()), "")
	if user == "" || strings.Contains(user, ":") {
		return nil, rejected(fieldUser, "missing", "Enter the user name with which you log in to WordPress.")
	}
	if password == "" {
		return nil, rejected(fieldPassword, "missing", "Enter an application password.")
	}
	root, err := w.discover(ctx, site)
	if err != nil {
		return nil, err
	}
	account, err := w.Identify(ctx, network.Account{BaseURL: root, Token: secret.NewText(user + ":" + password)})
	if err == nil {
		err = w.verifyPassword(ctx, account)
	}
	if err != nil {
		e := network.AsError(err)
		if e.Class == network.Auth && e.Field == "" {
			e.Field = fieldPassword
		}
		return nil, e
	}
	return []network.Account{account}, nil
}

// apiLink matches the header with which every page names the API.
// https://developer.wordpress.org/rest-api/using-the-rest-api/discovery/
var apiLink = regexp.MustCompile(`<([^>]+)>;\s*rel="?https://api\.w\.org/"?`) //nolint:gochecknoglobals // compiled once

// index describes a site and its API.
type index struct {
	Name           string          `json:"name"`
	Home           string          `json:"home"`
	Namespaces     []string        `json:"namespaces"`
	Authentication json.RawMessage `json:"authentication"` // an empty list if there is no way
}

// discover returns the address of the API of a site.
func (w *WordPress) discover(ctx context.Context, site string) (string, error) {
	home, err := w.base(site)
	if err != nil {
		return "", err
	}
	res, err := w.calls.Do(ctx, call.Request{
		Method: http.MethodGet, URL: home + "/", Timeout: w.options.ReadTimeout,
		Header: http.Header{"Accept": {"text/html"}},
	})
	if err != nil {
		e := network.AsError(err)
		e.Field = fieldSite
		return "", e
	}
	candidates := []string{home + "/wp-json", home + "/index.php?rest_route="}
	if link := apiLink.FindStringSubmatch(strings.Join(res.Header.Values("Link"), ", ")); link != nil {
		// Without permalinks it ends with ?rest_route=/, in any encoding.
		named := strings.TrimRight(strings.Replace(link[1], "%2F", "/", 1), "/")
		candidates = append([]string{named}, candidates...)
	}
	for _, candidate := range candidates {
		root, err := w.base(candidate)
		if err != nil {
			continue
		}
		found, err := w.index(ctx, network.Account{BaseURL: root})
		if err != nil || !strings.Contains(strings.Join(found.Namespaces, " "), "wp/v2") {
			continue
		}
		if !strings.Contains(string(found.Authentication), `"application-passwords"`) {
			return "", rejected(fieldSite, "no_app_passwords", "This site offers no application passwords. WordPress "+
				"offers them only if it knows that it is reached by https: check what the proxy in front of it "+
				"reports, and whether a plugin turns them off.")
		}
		return root, nil
	}
	return "", rejected(fieldSite, "no_wordpress", "No REST API of WordPress was found at this address. Check the "+
		"address, and whether a plugin or the web server blocks /wp-json/.")
}

func (w *WordPress) index(ctx context.Context, account network.Account) (found index, err error) {
	res, err := w.do(ctx, account, "/", nil, call.Request{})
	if err != nil {
		return found, err
	}
	return found, decode(res, &found)
}

// Identify reads the user and the name of the site, and checks the user's role.
// https://developer.wordpress.org/rest-api/reference/users/
func (w *WordPress) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	res, err := w.do(ctx, account, "/wp/v2/users/me", url.Values{"context": {"edit"}}, call.Request{})
	if err != nil {
		return account, err
	}
	var me struct {
		ID           int64             `json:"id"`
		Username     string            `json:"username"`
		Name         string            `json:"name"`
		Avatars      map[string]string `json:"avatar_urls"`
		Capabilities map[string]any    `json:"capabilities"`
	}
	if err := decode(res, &me); err != nil {
		return account, err
	}
	if me.ID == 0 {
		return account, res.MalformedError("it contains no user id")
	}
	account.Scopes = nil
	// Contributors have none of these, and WordPress drops the slug of their posts.
	for _, needed := range []string{"publish_posts", "upload_files", "edit_published_posts"} {
		if allowed, _ := me.Capabilities[needed].(bool); !allowed {
			return account, rejected(fieldUser, "role_too_low", "This user may not publish or upload on the site. "+
				"Use one with the role author, editor or administrator.")
		}
		account.Scopes = append(account.Scopes, needed)
	}
	about, err := w.index(ctx, account)
	if err != nil {
		return account, err
	}
	account.RemoteID, account.Kind = idText(me.ID), network.KindPage
	account.Handle, account.Name = me.Username+"@"+article.HostOf(about.Home), about.Name
	if account.Name == "" {
		account.Name = me.Name
	}
	account.AvatarURL = me.Avatars["96"]
	return account, nil
}

// verifyPassword checks that the login is by an application password, which can be revoked,
// and not by the user's own one, which some plugins accept.
func (w *WordPress) verifyPassword(ctx context.Context, account network.Account) error {
	_, err := w.do(ctx, account, "/wp/v2/users/me/application-passwords/introspect", nil, call.Request{})
	switch e := network.AsError(err); {
	case e == nil, e.Code == "rest_no_route": // before WordPress 5.7
		return nil
	case e.Status == http.StatusNotFound, e.Status == http.StatusForbidden, e.Class == network.Auth:
		return rejected(fieldPassword, "main_password", "This is not an application password. Create one in "+
			"WordPress under Users, Profile, Application Passwords.")
	default:
		return e
	}
}
