package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/secret"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// scopes are the least that publishing, replies, deleting and reconciling need.
// https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
const scopes = "threads_basic,threads_content_publish,threads_manage_replies,threads_read_replies,threads_delete"

// Register gives the operator's app.
func (t *Threads) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	return t.place.Register(baseURL, redirectURI)
}

// AuthorizeURL is the page where the person allows access. It knows no code
// challenge.
func (t *Threads) AuthorizeURL(app network.App, state, _ string) string {
	host := t.options.AuthorizeHost
	if app.BaseURL != "" {
		host = app.BaseURL
	}
	return host + "/oauth/authorize?" + url.Values{
		"client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "response_type": {"code"}, "scope": {scopes}, "state": {state},
	}.Encode()
}

// Exchange turns the code into a token of an hour, and that into one of 60 days.
// The answer does not say what was allowed: it is all that was asked for, because
// the page offers no choice of it.
func (t *Threads) Exchange(ctx context.Context, app network.App, code, _ string) (network.Account, error) {
	host, err := t.place.Host(app.BaseURL, t.options.GraphHost)
	if err != nil {
		return network.Account{}, err
	}
	res, err := t.api.Do(ctx, graph.Call{
		Method: http.MethodPost, URL: host + "/oauth/access_token", Create: true, Timeout: t.options.ReadTimeout,
		Form: url.Values{
			"client_id": {app.ClientID}, "client_secret": {app.ClientSecret.Reveal()}, "grant_type": {"authorization_code"},
			"redirect_uri": {app.RedirectURI}, "code": {code},
		},
		Secrets: []secret.Text{app.ClientSecret, secret.NewText(code)},
	})
	if err != nil {
		return network.Account{}, err
	}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := res.Decode(&answer); err != nil {
		return network.Account{}, err
	}
	if answer.AccessToken == "" {
		return network.Account{}, res.Unreadable("it has no access token")
	}
	return t.api.LongLived(ctx, host, "/access_token", "th_exchange_token", app,
		network.Account{BaseURL: app.BaseURL, Token: secret.NewText(answer.AccessToken), Scopes: strings.Split(scopes, ",")})
}

// Refresh renews a token for another 60 days. One that is not a day old yet
// cannot be renewed, and is given back as it is.
func (t *Threads) Refresh(ctx context.Context, _ network.App, account network.Account) (network.Account, error) {
	host, err := t.place.Host(account.BaseURL, t.options.GraphHost)
	if err != nil || graph.TooYoung(account) {
		return account, err
	}
	return t.api.LongLived(ctx, host, "/refresh_access_token", "th_refresh_token", network.App{}, account)
}

// Accounts gives the one account of a token.
// https://developers.facebook.com/docs/threads/threads-profiles
func (t *Threads) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := t.get(ctx, account, "id,username,name", "me")
	if err != nil {
		return nil, err
	}
	var answer struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	}
	if err := res.Decode(&answer); err != nil {
		return nil, err
	}
	if answer.ID == "" || answer.Username == "" {
		return nil, res.Unreadable("it has no account id or user name")
	}
	account.RemoteID, account.Handle, account.Name = answer.ID, "@"+answer.Username, answer.Name
	if account.Name == "" {
		account.Name = answer.Username
	}
	return []network.Account{account}, nil
}
