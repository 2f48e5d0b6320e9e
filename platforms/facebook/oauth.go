package facebook

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// scopes are the minimum for choosing a Page, publishing, comments and
// reconciling, and read_insights for metrics, which people may decline.
// https://developers.facebook.com/docs/permissions
const scopes = "pages_show_list,pages_manage_posts,pages_read_engagement,pages_manage_engagement," + scopeInsights

// Register returns the operator's app, or the sandbox's.
func (f *Facebook) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	return f.service.Register(baseURL, redirectURI)
}

// AuthorizeURL returns the dialog in which the user grants access and chooses
// Pages.
// https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
func (f *Facebook) AuthorizeURL(app network.App, state, _ string) string {
	host, _ := f.service.Host(app.BaseURL, f.options.WebHost)
	return host + "/" + f.options.Version + "/dialog/oauth?" + url.Values{
		"client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "response_type": {"code"}, "scope": {scopes},
		"state": {state},
	}.Encode()
}

// Exchange exchanges the code for a token that lasts an hour, and that for one
// that lasts 60 days. Page tokens derived from it do not expire.
// https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived
func (f *Facebook) Exchange(ctx context.Context, app network.App, code, _ string) (network.Account, error) {
	short, err := f.token(ctx, app, url.Values{"code": {code}, "redirect_uri": {app.RedirectURI}}, secret.NewText(code))
	if err != nil {
		return network.Account{}, err
	}
	account, err := f.token(ctx, app,
		url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {short.Token.Reveal()}}, short.Token)
	if err != nil {
		return network.Account{}, err
	}
	account.RefreshTokenExpiresAt = time.Now().UTC().AddDate(0, 0, f.options.DataAccessDays)
	account.Scopes, err = f.granted(ctx, account)
	return account, err
}

// token calls the token endpoint with a form, so that no secret is part of a URL.
func (f *Facebook) token(
	ctx context.Context, app network.App, form url.Values, secrets ...secret.Text,
) (network.Account, error) {
	host, err := f.service.Host(app.BaseURL, f.options.GraphHost)
	if err != nil {
		return network.Account{}, err
	}
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret.Reveal())
	res, err := f.api.Do(ctx, graph.Call{
		Method: http.MethodPost, URL: host + "/" + f.options.Version + "/oauth/access_token", Form: form, Create: true,
		Timeout: f.options.ReadTimeout, Secrets: append(secrets, app.ClientSecret),
	})
	if err != nil {
		return network.Account{}, err
	}
	var body struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Account{}, err
	}
	if body.AccessToken == "" {
		return network.Account{}, res.MalformedError("it contains no access token")
	}
	account := network.Account{BaseURL: app.BaseURL, Token: secret.NewText(body.AccessToken)}
	if body.ExpiresIn > 0 {
		account.TokenExpiresAt = res.Received.Add(time.Duration(body.ExpiresIn) * time.Second).UTC()
	}
	return account, nil
}

// granted returns the permissions that the user granted; the dialog lets them
// decline some.
func (f *Facebook) granted(ctx context.Context, account network.Account) ([]string, error) {
	var body graph.Page[struct {
		Permission string `json:"permission"`
		Status     string `json:"status"`
	}]
	if _, err := f.get(ctx, account, "/me/permissions", nil, &body); err != nil {
		return nil, err
	}
	var names []string
	for _, p := range body.Data {
		if p.Status == "granted" {
			names = append(names, p.Permission)
		}
	}
	return names, nil
}

// Identify reads the token's account. A Page's token identifies the Page.
// https://developers.facebook.com/docs/pages-api/overview
func (f *Facebook) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	var me struct {
		ID       string  `json:"id"`
		Name     string  `json:"name"`
		Username string  `json:"username"`
		Picture  picture `json:"picture"`
	}
	res, err := f.get(ctx, account, "/me", url.Values{"fields": {"id,name,username,picture{url}"}}, &me)
	if err != nil {
		return account, err
	}
	if me.ID == "" || me.Name == "" {
		return account, res.MalformedError("it contains no id or name")
	}
	account.RemoteID, account.Name, account.Handle, account.AvatarURL = me.ID, me.Name, me.Name, me.Picture.Data.URL
	if me.Username != "" {
		account.Handle = "@" + me.Username
	}
	return account, nil
}

// picture is the profile picture of a user or a Page.
// https://developers.facebook.com/docs/graph-api/reference/profile-picture-source
type picture struct {
	Data struct {
		URL string `json:"url"`
	} `json:"data"`
}

// maxPages is the maximum number of list pages to read.
const maxPages = 5

// Accounts returns the Pages that the user can post to, each with its own token.
// https://developers.facebook.com/docs/graph-api/reference/user/accounts
func (f *Facebook) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	var found []network.Account
	query := url.Values{"fields": {"id,name,username,access_token,tasks,picture{url}"}, "limit": {"100"}}
	for range maxPages {
		var body graph.Page[struct {
			ID       string   `json:"id"`
			Name     string   `json:"name"`
			Username string   `json:"username"`
			Token    string   `json:"access_token"`
			Tasks    []string `json:"tasks"`
			Picture  picture  `json:"picture"`
		}]
		if _, err := f.get(ctx, account, "/me/accounts", query, &body); err != nil {
			return nil, err
		}
		for _, p := range body.Data {
			if p.ID == "" || p.Name == "" || p.Token == "" || !slices.Contains(p.Tasks, "CREATE_CONTENT") {
				continue
			}
			page := account
			page.RemoteID, page.Name, page.Handle, page.Kind = p.ID, p.Name, p.Name, network.KindPage
			page.AvatarURL = p.Picture.Data.URL
			if p.Username != "" {
				page.Handle = "@" + p.Username
			}
			page.Token, page.TokenExpiresAt = secret.NewText(p.Token), time.Time{}
			found = append(found, page)
		}
		if body.NextCursor() == "" {
			break
		}
		query.Set("after", body.NextCursor())
	}
	if len(found) == 0 {
		return nil, &network.Error{
			Class: network.Rejected, Code: "no_pages",
			Message: "This user can publish to no Page, or granted access to none.",
		}
	}
	return found, nil
}
