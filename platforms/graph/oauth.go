package graph

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// OAuth connects accounts of Instagram and Threads, which share the way: a page
// where the user allows access, a token of an hour for its code, and one of 60
// days for that.
type OAuth struct {
	API     *API
	Service Service

	AuthorizeHost string        // of the page
	TokenHost     string        // that takes codes
	GraphHost     string        // that takes tokens
	Scopes        string        // asked for, with commas between them
	GrantPrefix   string        // what the names of grants begin with: "ig", "th"
	Timeout       time.Duration // for the exchange of a code; 0: as the API's
}

// Register returns the operator's app.
func (l OAuth) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	return l.Service.Register(baseURL, redirectURI)
}

// AuthorizeURL is the page where the user allows access. It knows no code
// challenge.
func (l OAuth) AuthorizeURL(app network.App, state, _ string) string {
	host := l.AuthorizeHost
	if app.BaseURL != "" {
		host = app.BaseURL
	}
	return host + "/oauth/authorize?" + url.Values{
		"client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "response_type": {"code"}, "scope": {l.Scopes}, "state": {state},
	}.Encode()
}

// ExchangeCode turns a code into the response that has a token of an hour.
func (l OAuth) ExchangeCode(ctx context.Context, app network.App, code string) (*call.Response, error) {
	host, err := l.Service.Host(app.BaseURL, l.TokenHost)
	if err != nil {
		return nil, err
	}
	return l.API.Do(ctx, Call{
		Method: http.MethodPost, URL: host + "/oauth/access_token", Create: true, Timeout: l.Timeout,
		Form: url.Values{
			"client_id": {app.ClientID}, "client_secret": {app.ClientSecret.Reveal()}, "grant_type": {"authorization_code"},
			"redirect_uri": {app.RedirectURI}, "code": {code},
		},
		Secrets: []secret.Text{app.ClientSecret, secret.NewText(code)},
	})
}

// ExchangeLongLived turns a token of an hour into one of 60 days.
func (l OAuth) ExchangeLongLived(ctx context.Context, app network.App, token secret.Text, granted []string) (network.Account, error) {
	host, err := l.Service.Host(app.BaseURL, l.GraphHost)
	if err != nil {
		return network.Account{}, err
	}
	account := network.Account{BaseURL: app.BaseURL, Token: token, Scopes: granted}
	return l.API.LongLived(ctx, host, "/access_token", l.GrantPrefix+"_exchange_token", app, account)
}

// Refresh renews a token for another 60 days. One that is not a day old yet
// cannot be renewed, and is given back as it is.
func (l OAuth) Refresh(ctx context.Context, _ network.App, account network.Account) (network.Account, error) {
	host, err := l.Service.Host(account.BaseURL, l.GraphHost)
	if err != nil || IsTooNewToRefresh(account) {
		return account, err
	}
	return l.API.LongLived(ctx, host, "/refresh_access_token", l.GrantPrefix+"_refresh_token", network.App{}, account)
}

// RequireRemoteID is the problem of an account whose id at the network is not
// known; nil for the others.
func (p Service) RequireRemoteID(account network.Account) error {
	if account.RemoteID != "" {
		return nil
	}
	return &network.Error{Class: network.Rejected, Code: "unknown_account", Message: "The account's id at " + p.Network + " is not known: connect it again."}
}
