package mastodon

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// scopes are the minimum for publishing, deleting and reconciling.
// https://docs.joinmastodon.org/api/oauth-scopes/
const scopes = "read:accounts read:statuses write:statuses write:media"

// Register registers Dateline at an instance (POST /api/v1/apps). The result must
// be stored: one registration serves all accounts of the instance.
func (m *Mastodon) Register(ctx context.Context, baseURL, redirectURI string) (network.App, error) {
	base, err := m.base(baseURL)
	if err != nil {
		return network.App{}, err
	}
	form := url.Values{"client_name": {m.options.AppName}, "redirect_uris": {redirectURI}, "scopes": {scopes}}
	if m.options.Website != "" {
		form.Set("website", m.options.Website)
	}
	res, err := m.do(ctx, base, "/api/v1/apps", call.Request{Method: http.MethodPost, Body: call.Form(form)})
	if err != nil {
		return network.App{}, err
	}
	var body struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	if err := res.Decode(&body); err != nil {
		return network.App{}, err
	}
	if body.ClientID == "" || body.ClientSecret == "" {
		return network.App{}, res.MalformedError("it contains no client id or secret")
	}
	return network.App{
		BaseURL:      base,
		RedirectURI:  redirectURI,
		ClientID:     body.ClientID,
		ClientSecret: secret.NewText(body.ClientSecret),
	}, nil
}

// AuthorizeURL returns the instance's page on which the user grants access.
// Versions before 4.3 ignore the code challenge.
func (m *Mastodon) AuthorizeURL(app network.App, state, challenge string) string {
	query := url.Values{
		"response_type":         {"code"},
		"client_id":             {app.ClientID},
		"redirect_uri":          {app.RedirectURI},
		"scope":                 {scopes},
		"state":                 {state},
		"code_challenge":        {challenge},
		"code_challenge_method": {"S256"},
	}
	return strings.TrimSuffix(app.BaseURL, "/") + "/oauth/authorize?" + query.Encode()
}

// Exchange exchanges the code for tokens (POST /oauth/token). A code works once:
// if the response is lost, the user has to grant access again.
func (m *Mastodon) Exchange(ctx context.Context, app network.App, code, verifier string) (network.Account, error) {
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {app.RedirectURI},
		"code_verifier": {verifier},
		"scope":         {scopes},
	}
	return m.grant(ctx, app, network.Account{BaseURL: app.BaseURL}, form, secret.NewText(code),
		secret.NewText(verifier))
}

// Refresh refreshes the tokens of servers whose tokens expire. Mastodon's do not
// expire; its OAuth library issues refresh tokens, which work once, if it is
// configured to (Doorkeeper, use_refresh_token).
func (m *Mastodon) Refresh(ctx context.Context, app network.App, account network.Account) (network.Account, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {account.RefreshToken.Reveal()}}
	fresh, err := m.grant(ctx, app, account, form, account.RefreshToken, account.Token)
	var refused *network.Error
	if errors.As(err, &refused) {
		// RFC 6749, 5.2: only this refusal is about the refresh token.
		switch {
		case refused.Code == codeInvalidGrant:
			refused.Class = network.Auth
		case refused.Class == network.Auth:
			refused.Class = network.Rejected
		}
	}
	return fresh, err
}

// grant requests tokens and returns the account with them.
func (m *Mastodon) grant(
	ctx context.Context, app network.App, account network.Account, form url.Values, secrets ...secret.Text,
) (network.Account, error) {
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret.Reveal())
	res, err := m.do(ctx, app.BaseURL, "/oauth/token", call.Request{
		Method:  http.MethodPost,
		Body:    call.Form(form),
		Create:  true,
		Timeout: m.options.ReadTimeout,
		Secrets: append(secrets, app.ClientSecret),
	})
	if err != nil {
		return network.Account{}, err
	}
	var body struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    int64  `json:"expires_in"` // seconds; RFC 6749, 5.1
		Scope        string `json:"scope"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Account{}, err
	}
	if body.AccessToken == "" {
		return network.Account{}, res.MalformedError("it contains no access token")
	}
	account.Token, account.RefreshToken = secret.NewText(body.AccessToken), secret.NewText(body.RefreshToken)
	account.Scopes = strings.Fields(body.Scope)
	account.TokenExpiresAt = time.Time{}
	if body.ExpiresIn > 0 {
		account.TokenExpiresAt = res.Received.Add(time.Duration(body.ExpiresIn) * time.Second)
	}
	return account, nil
}

// Fields is an access token, for users who created one at their instance
// (Preferences, Development).
func (m *Mastodon) Fields() []network.FormField {
	return []network.FormField{{
		Name: "access_token", Label: "Access token", Secret: true,
		Help: "Create one at your instance under Preferences, Development, New application.",
	}}
}

// ConnectForm reads the account that the token belongs to.
func (m *Mastodon) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	base, err := m.base(baseURL)
	if err != nil {
		return nil, err
	}
	return m.Accounts(ctx, network.Account{BaseURL: base, Token: values["access_token"]})
}

// Accounts returns the token's only account.
func (m *Mastodon) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	found, err := m.Identify(ctx, account)
	if err != nil {
		return nil, err
	}
	return []network.Account{found}, nil
}

// Identify reads the token's account (GET /api/v1/accounts/verify_credentials).
func (m *Mastodon) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	res, err := m.do(ctx, account.BaseURL, "/api/v1/accounts/verify_credentials",
		call.Request{Method: http.MethodGet, Token: account.Token})
	// The call has no parameters, so that a refusal is about the token: snac (2.94)
	// answers a revoked one with 422.
	if e := network.AsError(err); e != nil && e.Class == network.Rejected {
		switch e.Status {
		case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
			e.Class = network.Auth
		}
	}
	if err != nil {
		return account, err
	}
	var body struct {
		ID          string `json:"id"`
		Username    string `json:"username"`
		DisplayName string `json:"display_name"`
		Avatar      string `json:"avatar_static"`
	}
	if err := res.Decode(&body); err != nil {
		return account, err
	}
	if body.ID == "" || body.Username == "" {
		return account, res.MalformedError("it contains no account id or user name")
	}
	// The domain of handles may differ from the host of the API.
	home, err := m.instance(ctx, account.BaseURL)
	if err != nil {
		return account, err
	}
	account.RemoteID = body.ID
	account.Notes = home.software.notes()
	account.Handle = "@" + body.Username + "@" + home.domain
	account.Name, account.AvatarURL = body.DisplayName, body.Avatar
	if account.Name == "" {
		account.Name = body.Username
	}
	return account, nil
}

// Revoke revokes a token (POST /oauth/revoke). Revoking an unknown token is not
// an error (RFC 7009).
func (m *Mastodon) Revoke(ctx context.Context, app network.App, account network.Account) error {
	form := url.Values{
		"client_id": {app.ClientID}, "client_secret": {app.ClientSecret.Reveal()},
		"token": {account.Token.Reveal()},
	}
	_, err := m.do(ctx, app.BaseURL, "/oauth/revoke", call.Request{
		Method: http.MethodPost, Body: call.Form(form), Secrets: []secret.Text{app.ClientSecret, account.Token},
	})
	return err
}

// DefaultInstance is empty: accounts must name their instance.
func (m *Mastodon) DefaultInstance() string { return "" }
