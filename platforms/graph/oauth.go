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

// OAuth connects accounts of Instagram and Threads, which share the flow: an
// authorize page, a token that lasts an hour for its code, and one that lasts 60
// days for that.
type OAuth struct {
	API     *API
	Service Service

	AuthorizeHost string        // of the authorize page
	TokenHost     string        // exchanges codes
	GraphHost     string        // exchanges and refreshes tokens
	Scopes        string        // separated by commas
	GrantPrefix   string        // prefix of the grant types: "ig", "th"
	Timeout       time.Duration // of the exchange of a code; 0: the API's timeout
}

// Register returns the operator's app.
func (l OAuth) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	return l.Service.Register(baseURL, redirectURI)
}

// AuthorizeURL returns the page on which the user grants access. The networks
// support no code challenge.
func (l OAuth) AuthorizeURL(app network.App, state, _ string) string {
	host := l.AuthorizeHost
	if app.BaseURL != "" {
		host = app.BaseURL
	}
	return host + "/oauth/authorize?" + url.Values{
		"client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "response_type": {"code"}, "scope": {l.Scopes},
		"state": {state},
	}.Encode()
}

// ExchangeCode exchanges a code for a response with a token that lasts an hour.
func (l OAuth) ExchangeCode(ctx context.Context, app network.App, code string) (*call.Response, error) {
	host, err := l.Service.Host(app.BaseURL, l.TokenHost)
	if err != nil {
		return nil, err
	}
	return l.API.Do(ctx, Call{
		Method: http.MethodPost, URL: host + "/oauth/access_token", Create: true, Timeout: l.Timeout,
		Form: url.Values{
			"client_id": {app.ClientID}, "client_secret": {app.ClientSecret.Reveal()}, "grant_type": {
				"authorization_code",
			},
			"redirect_uri": {app.RedirectURI}, "code": {code},
		},
		Secrets: []secret.Text{app.ClientSecret, secret.NewText(code)},
	})
}

// ExchangeLongLived exchanges a token that lasts an hour for one that lasts 60
// days.
func (l OAuth) ExchangeLongLived(
	ctx context.Context, app network.App, token secret.Text, granted []string,
) (network.Account, error) {
	host, err := l.Service.Host(app.BaseURL, l.GraphHost)
	if err != nil {
		return network.Account{}, err
	}
	account := network.Account{BaseURL: app.BaseURL, Token: token, Scopes: granted}
	return l.API.LongLived(ctx, host, "/access_token", l.GrantPrefix+"_exchange_token", app, account)
}

// Refresh extends a token for another 60 days. A token that is less than a day
// old cannot be refreshed and is returned unchanged.
func (l OAuth) Refresh(ctx context.Context, _ network.App, account network.Account) (network.Account, error) {
	host, err := l.Service.Host(account.BaseURL, l.GraphHost)
	if err != nil || IsTooNewToRefresh(account) {
		return account, err
	}
	return l.API.LongLived(ctx, host, "/refresh_access_token", l.GrantPrefix+"_refresh_token", network.App{}, account)
}

// RequireRemoteID returns the error for an account whose id at the network is not
// known; nil for others.
func (p Service) RequireRemoteID(account network.Account) error {
	if account.RemoteID != "" {
		return nil
	}
	return &network.Error{
		Class: network.Rejected, Code: "unknown_account",
		Message: "The account's id at " + p.Network + " is not known. Reconnect the account.",
	}
}
