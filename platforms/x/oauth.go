package x

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// scopes are the minimum for publishing, deleting and reconciling. The last one
// is required for refresh tokens.
// https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code
const scopes = "tweet.read tweet.write users.read media.write offline.access"

// Register returns the application that the operator created in X's developer
// console.
func (x *X) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	if _, _, err := x.hosts(baseURL); err != nil {
		return network.App{}, err
	}
	if baseURL != "" {
		return network.SandboxApp(baseURL, redirectURI), nil
	}
	if x.options.ClientID == "" {
		return network.App{}, &network.Error{
			Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: "No application for X is configured: create one in X's developer console and set its client id " +
				"and secret.",
		}
	}
	return network.App{RedirectURI: redirectURI, ClientID: x.options.ClientID, ClientSecret: x.options.ClientSecret},
		nil
}

// AuthorizeURL returns X's page on which the user grants access.
func (x *X) AuthorizeURL(app network.App, state, challenge string) string {
	query := url.Values{
		"response_type":         {"code"},
		"client_id":             {app.ClientID},
		"redirect_uri":          {app.RedirectURI},
		"scope":                 {scopes},
		"state":                 {state},
		"code_challenge":        {challenge},
		"code_challenge_method": {"S256"},
	}
	_, web, err := x.hosts(app.BaseURL)
	if err != nil {
		web = x.options.Web
	}
	return strings.TrimSuffix(web, "/") + "/i/oauth2/authorize?" + query.Encode()
}

// Exchange exchanges the code, which works once and for 30 seconds, for tokens.
func (x *X) Exchange(ctx context.Context, app network.App, code, verifier string) (network.Account, error) {
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {app.RedirectURI},
		"code_verifier": {verifier},
	}
	return x.tokens(ctx, app, form, network.Account{BaseURL: app.BaseURL}, secret.NewText(code),
		secret.NewText(verifier))
}

// Refresh uses up the refresh token and returns the account with a new pair. If
// the response is lost, the old pair is lost too: X documents no grace period.
func (x *X) Refresh(ctx context.Context, app network.App, account network.Account) (network.Account, error) {
	if account.RefreshToken.Empty() {
		return account, &network.Error{
			Class: network.Auth, Code: "no_refresh_token", Message: "X issued no refresh token. Reconnect the account.",
		}
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {account.RefreshToken.Reveal()}}
	renewed, err := x.tokens(ctx, app, form, account, account.RefreshToken)
	if e := network.AsError(err); e != nil && e.Status == http.StatusBadRequest &&
		(e.Code == "invalid_grant" || e.Code == "invalid_request" && strings.Contains(e.Message, "token was invalid")) {
		// X returns invalid_request where RFC 6749 §5.2 has invalid_grant.
		e.Class = network.Auth
		return account, e
	}
	return renewed, err
}

// tokens requests a pair of tokens (POST /2/oauth2/token).
// https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token
func (x *X) tokens(
	ctx context.Context, app network.App, form url.Values, account network.Account, secrets ...secret.Text,
) (network.Account, error) {
	res, err := x.authenticated(ctx, app, "/oauth2/token", form, true, secrets...)
	if err != nil {
		return account, err
	}
	var body struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    int64  `json:"expires_in"`
		Scope        string `json:"scope"`
	}
	if err := res.Decode(&body); err != nil {
		return account, err
	}
	if body.AccessToken == "" {
		return account, res.MalformedError("it contains no access token")
	}
	account.Token, account.RefreshToken = secret.NewText(body.AccessToken), secret.NewText(body.RefreshToken)
	account.TokenExpiresAt = time.Time{}
	if body.ExpiresIn > 0 {
		account.TokenExpiresAt = res.Received.Add(time.Duration(body.ExpiresIn) * time.Second)
	}
	if body.Scope != "" {
		account.Scopes = strings.Fields(body.Scope)
	}
	return account, nil
}

// authenticated makes a call as the application: a confidential client uses HTTP
// Basic, a public client only its id.
func (x *X) authenticated(
	ctx context.Context, app network.App, path string, form url.Values, create bool, secrets ...secret.Text,
) (*call.Response, error) {
	request := call.Request{Method: http.MethodPost, Create: create, Secrets: append(secrets, app.ClientSecret)}
	if app.ClientSecret.Empty() {
		form.Set("client_id", app.ClientID)
	} else {
		// RFC 6749 §2.3.1
		pair := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(app.ClientID) + ":" +
			url.QueryEscape(app.ClientSecret.Reveal())))
		request.Header = http.Header{"Authorization": {"Basic " + pair}}
		request.Secrets = append(request.Secrets, secret.NewText(pair))
	}
	request.Body = call.Form(form)
	res, err := x.do(ctx, app.BaseURL, path, request)
	if e := network.AsError(err); e != nil && (e.Status == http.StatusUnauthorized || e.Code == "invalid_client" ||
		e.Code == "unauthorized_client") {
		e.Class, e.Code = network.Rejected, "bad_client"
		e.Message = "X does not know this installation's application: the operator must correct the client id " +
			"and secret."
		return nil, e
	}
	return res, err
}

// Revoke revokes both tokens (POST /2/oauth2/revoke). Revoking an unknown token
// is not an error (RFC 7009 §2.2).
func (x *X) Revoke(ctx context.Context, app network.App, account network.Account) error {
	for hint, token := range map[string]secret.Text{
		"refresh_token": account.RefreshToken,
		"access_token":  account.Token,
	} {
		if token.Empty() {
			continue
		}
		form := url.Values{"token": {token.Reveal()}, "token_type_hint": {hint}}
		_, err := x.authenticated(ctx, app, "/oauth2/revoke", form, false, token)
		if e := network.AsError(err); e != nil && (e.Status != http.StatusBadRequest || e.Code != "invalid_request") {
			return e
		}
	}
	return nil
}

// Accounts returns the token's only account (GET /2/users/me).
func (x *X) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := x.do(ctx, account.BaseURL, "/users/me?user.fields=profile_image_url", call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
	if err != nil {
		return nil, err
	}
	var body struct {
		Data struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Username string `json:"username"`
			Avatar   string `json:"profile_image_url"`
		} `json:"data"`
	}
	if err := res.Decode(&body); err != nil {
		return nil, err
	}
	if body.Data.ID == "" || body.Data.Username == "" {
		return nil, partialError(res, "account id or user name")
	}
	account.RemoteID, account.Handle, account.Name = body.Data.ID, "@"+body.Data.Username, body.Data.Name
	account.AvatarURL = body.Data.Avatar
	if account.Name == "" {
		account.Name = body.Data.Username
	}
	return []network.Account{account}, nil
}
