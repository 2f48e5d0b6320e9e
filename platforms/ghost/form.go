package ghost

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The fields of the form.
const (
	fieldSite = article.FieldSite
	fieldKey  = "admin_key"
)

// Fields are a site and an Admin API key.
func (*Ghost) Fields() []network.FormField {
	return []network.FormField{
		{Name: fieldSite, Label: "Site address", Help: "The address of the home page, such as https://news.example."},
		{
			Name: fieldKey, Label: "Admin API key", Secret: true,
			Help: "Create a custom integration in Ghost under Settings, Integrations, and copy its Admin API key.",
		},
	}
}

// ConnectForm finds the site's API and verifies the key.
func (g *Ghost) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	site := values[fieldSite].Reveal()
	if baseURL != "" && !strings.HasPrefix(site, baseURL+"/") { // the sandbox, which has several sites
		site = baseURL
	}
	key := strings.TrimSpace(values[fieldKey].Reveal())
	if key == "" {
		return nil, rejected(fieldKey, "missing", "Enter an Admin API key.")
	}
	root, err := g.discover(ctx, site)
	if err != nil {
		return nil, err
	}
	account, err := g.Identify(ctx, network.Account{BaseURL: root, Token: secret.NewText(key)})
	if err != nil {
		e := network.AsError(err)
		if e.Class == network.Auth && e.Field == "" {
			e.Field = fieldKey
		}
		return nil, e
	}
	return []network.Account{account}, nil
}

const sitePath = "/site/"

// discover returns the address below which a site has its API: that of the site, or another
// one to which it redirects.
func (g *Ghost) discover(ctx context.Context, site string) (string, error) {
	home, err := g.base(site)
	if err != nil {
		return "", err
	}
	res, err := g.calls.Do(ctx, call.Request{
		Method: http.MethodGet, URL: home + adminAPI + sitePath, Timeout: g.options.ReadTimeout,
	})
	if err != nil {
		e := network.AsError(err)
		e.Field = fieldSite
		return "", e
	}
	root, found := strings.CutSuffix(res.URL, adminAPI+sitePath)
	var about siteResponse
	if !res.OK() || !found || json.Unmarshal(res.Body, &about) != nil || about.Site.Version == "" {
		return "", rejected(fieldSite, "no_ghost", "No Admin API of Ghost was found at this address. Enter the "+
			"address at which you open Ghost's admin pages, without /ghost/.")
	}
	return g.base(root)
}

// siteResponse describes a site. https://docs.ghost.org/admin-api/#the-site-endpoint
type siteResponse struct {
	Site struct {
		Title   string `json:"title"`
		URL     string `json:"url"`
		Icon    string `json:"icon"`
		Logo    string `json:"logo"`
		Version string `json:"version"`
	} `json:"site"`
}

// Identify verifies the key, and reads the name of the site. The account is the site: a new
// key, also of another integration, is for the same account.
func (g *Ghost) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	_, err := g.do(ctx, account, "/posts/", url.Values{"limit": {"1"}, "fields": {"id"}}, call.Request{})
	if err != nil {
		return account, err
	}
	res, err := g.do(ctx, account, sitePath, nil, call.Request{})
	if err != nil {
		return account, err
	}
	var about siteResponse
	if err := res.Decode(&about); err != nil {
		return account, err
	}
	u, err := url.Parse(about.Site.URL)
	if err != nil || u.Host == "" {
		return account, res.MalformedError("it contains no address of the site")
	}
	account.RemoteID, account.Kind = strings.TrimRight(u.Host+u.Path, "/"), network.KindPage
	account.Handle, account.Name, account.AvatarURL = account.RemoteID, about.Site.Title, about.Site.Icon
	if account.Name == "" {
		account.Name = account.Handle
	}
	if account.AvatarURL == "" {
		account.AvatarURL = about.Site.Logo
	}
	return account, nil
}
