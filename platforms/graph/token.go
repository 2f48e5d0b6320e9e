package graph

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// Tokens of Instagram Login and of Threads last an hour and are exchanged for
// tokens that last 60 days. Those can be refreshed when they are at least a day
// old, until they expire.
// https://developers.facebook.com/docs/instagram-platform/reference/refresh_access_token
// https://developers.facebook.com/docs/threads/get-started/long-lived-tokens
const (
	longLivedTTL  = 60 * 24 * time.Hour
	minRefreshAge = 24 * time.Hour
)

// LongLived exchanges or refreshes a token, depending on the grant type. It
// returns the account with the new token.
//
// Both calls require the token in the URL, and neither invalidates the old one.
func (a *API) LongLived(
	ctx context.Context, host, path, grant string, app network.App, account network.Account,
) (network.Account, error) {
	query := url.Values{"grant_type": {grant}, "access_token": {account.Token.Reveal()}}
	secrets := []secret.Text{account.Token, app.ClientSecret}
	if !app.ClientSecret.Empty() {
		query.Set("client_secret", app.ClientSecret.Reveal())
	}
	res, err := a.Do(ctx, Call{Method: http.MethodGet, URL: host + path, Query: query, Secrets: secrets})
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
	left := longLivedTTL
	if body.ExpiresIn > 0 && body.ExpiresIn < int64(longLivedTTL/time.Second) {
		left = time.Duration(body.ExpiresIn) * time.Second
	}
	account.Token = secret.NewText(body.AccessToken)
	account.RefreshToken = account.Token
	account.TokenExpiresAt = res.Received.Add(left).UTC()
	account.RefreshTokenExpiresAt = account.TokenExpiresAt
	return account, nil
}

// IsTooNewToRefresh reports whether a token cannot be refreshed yet, which is not
// necessary either.
func IsTooNewToRefresh(account network.Account) bool {
	return time.Until(account.TokenExpiresAt) > longLivedTTL-minRefreshAge
}
