package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Register returns the operator's app, or the sandbox's.
func (l *LinkedIn) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	if _, err := l.host(baseURL, ""); err != nil {
		return network.App{}, err
	}
	if baseURL != "" {
		return network.SandboxApp(baseURL, redirectURI), nil
	}
	if l.options.ClientID == "" || l.options.ClientSecret.Empty() {
		return network.App{}, &network.Error{
			Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: "LinkedIn is not configured: the operator must add an app from developer.linkedin.com.",
		}
	}
	return network.App{RedirectURI: redirectURI, ClientID: l.options.ClientID, ClientSecret: l.options.ClientSecret},
		nil
}

// AuthorizeURL returns LinkedIn's page on which the user grants access
// (Authorization Code Flow). Apps with PKCE have a different page.
func (l *LinkedIn) AuthorizeURL(app network.App, state, challenge string) string {
	host, _ := l.host(app.BaseURL, l.options.WebHost)
	scopes := slices.Clone(l.options.MemberScopes)
	if l.options.Organizations || app.BaseURL != "" {
		scopes = append(scopes, l.options.OrganizationScopes...)
	}
	if l.options.MemberAnalytics || app.BaseURL != "" {
		scopes = append(scopes, scopeAnalytics)
	}
	query := url.Values{
		"response_type": {"code"},
		"client_id":     {app.ClientID},
		"redirect_uri":  {app.RedirectURI},
		"state":         {state},
		"scope":         {strings.Join(scopes, " ")},
	}
	path := "/oauth/v2/authorization?"
	if l.options.PKCE && app.BaseURL == "" {
		path = "/oauth/native-pkce/authorization?"
		query.Set("code_challenge", challenge)
		query.Set("code_challenge_method", "S256")
	}
	return host + path + query.Encode()
}

// tokens is the response of the token endpoint.
type tokens struct {
	AccessToken    string `json:"access_token"`
	ExpiresIn      int64  `json:"expires_in"`
	RefreshToken   string `json:"refresh_token"`
	RefreshExpires int64  `json:"refresh_token_expires_in"`
	Scope          string `json:"scope"`
}

// Exchange exchanges the code for a token that lasts 60 days. Only apps of
// partner programs get a refresh token.
func (l *LinkedIn) Exchange(ctx context.Context, app network.App, code, verifier string) (network.Account, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {app.RedirectURI}}
	if l.options.PKCE && app.BaseURL == "" {
		form.Set("code_verifier", verifier)
	}
	res, err := l.token(ctx, app, form, call.Request{
		Create: true, Timeout: l.options.ReadTimeout, Secrets: []secret.Text{
			secret.NewText(code), secret.NewText(verifier),
		},
	})
	var e *network.Error
	if errors.As(err, &e) && e.Class == network.Auth {
		e.Class = network.Rejected // a 401 is about the app and its code: there is no account yet
	}
	if err != nil {
		return network.Account{}, err
	}
	account := network.Account{BaseURL: app.BaseURL}
	err = res.into(&account)
	return account, err
}

// token calls the token endpoint.
func (l *LinkedIn) token(
	ctx context.Context, app network.App, form url.Values, request call.Request,
) (*tokenResponse, error) {
	host, err := l.host(app.BaseURL, l.options.WebHost)
	if err != nil {
		return nil, err
	}
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret.Reveal())
	request.Method, request.URL, request.Body = http.MethodPost, host+"/oauth/v2/accessToken", call.Form(form)
	request.Secrets = append(request.Secrets, app.ClientSecret)
	res, err := l.do(ctx, request)
	// RFC 6749, 5.2: these refusals are about the application, and not about an account.
	if e := network.AsError(err); e != nil && (e.Status == http.StatusUnauthorized || e.Code == "invalid_client" ||
		e.Code == "unauthorized_client") {
		e.Class, e.Code = network.Rejected, "bad_client"
		e.Message = "LinkedIn does not know this installation's application: the operator must correct the client id " +
			"and secret."
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return &tokenResponse{res}, nil
}

type tokenResponse struct{ res *call.Response }

// into copies the tokens of a response into an account. Missing fields are left
// unchanged.
func (a *tokenResponse) into(account *network.Account) error {
	var t tokens
	if err := a.res.Decode(&t); err != nil {
		return err
	}
	if t.AccessToken == "" {
		return a.res.MalformedError("it contains no access token")
	}
	account.Token = secret.NewText(t.AccessToken)
	account.TokenExpiresAt = a.in(t.ExpiresIn)
	if t.RefreshToken != "" {
		account.RefreshToken = secret.NewText(t.RefreshToken)
	}
	if t.RefreshExpires > 0 {
		account.RefreshTokenExpiresAt = a.in(t.RefreshExpires)
	}
	if t.Scope != "" { // separated by commas, although the standard says spaces
		account.Scopes = strings.FieldsFunc(t.Scope, func(r rune) bool { return r == ' ' || r == ',' })
	}
	return nil
}

func (a *tokenResponse) in(seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return a.res.Received.Add(time.Duration(seconds) * time.Second).UTC()
}

// Refresh refreshes the token (Refresh Tokens with OAuth 2.0). The refresh token
// stays the same and its lifetime is not extended, so this can be repeated.
func (l *LinkedIn) Refresh(ctx context.Context, app network.App, account network.Account) (network.Account, error) {
	if account.RefreshToken.Empty() {
		return account, &network.Error{
			Class: network.Auth, Code: "no_refresh_token",
			Message: "LinkedIn issues no refresh tokens to this app. Reconnect the account.",
		}
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {account.RefreshToken.Reveal()}}
	res, err := l.token(ctx, app, form, call.Request{Secrets: []secret.Text{account.RefreshToken, account.Token}})
	var e *network.Error
	if errors.As(err, &e) && e.Class == network.Rejected && (e.Code == "invalid_grant" ||
		e.Code == "invalid_request" && (strings.Contains(e.Message, "refresh token") ||
			strings.Contains(e.Message, "revoked"))) {
		e.Class = network.Auth
	}
	if err != nil {
		return account, err
	}
	err = res.into(&account)
	return account, err
}

// Accounts returns the member and, if the token has the scope, the organizations
// that they can post for.
func (l *LinkedIn) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	host, err := l.host(account.BaseURL, l.options.APIHost)
	if err != nil {
		return nil, err
	}
	// Sign In with LinkedIn using OpenID Connect. This endpoint has no version.
	res, err := l.do(ctx, call.Request{Method: http.MethodGet, URL: host + "/v2/userinfo", Token: account.Token})
	if err != nil {
		return nil, err
	}
	var profile struct {
		Sub     string `json:"sub"`
		Name    string `json:"name"`
		Picture string `json:"picture"`
	}
	if err := res.Decode(&profile); err != nil {
		return nil, err
	}
	if profile.Sub == "" || profile.Name == "" {
		return nil, res.MalformedError("it contains no id or name of the member")
	}
	member := account
	member.RemoteID, member.Kind = "urn:li:person:"+profile.Sub, network.KindPerson
	member.Name, member.Handle = profile.Name, profile.Name // the address of the profile is not reported
	member.AvatarURL = profile.Picture
	found := []network.Account{member}
	if !slices.ContainsFunc(account.Scopes, func(s string) bool {
		return s == "rw_organization_admin" ||
			s == "r_organization_admin"
	}) {
		return found, nil
	}
	organizations, err := l.organizations(ctx, account)
	if err != nil {
		return nil, err
	}
	return append(found, organizations...), nil
}

// organizations lists the organizations in which the member has a role that can
// post (Organization Access Control by Role; Organization Lookup).
func (l *LinkedIn) organizations(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := l.rest(ctx, account, "/rest/organizationAcls?q=roleAssignee&state=APPROVED&count=100", finder())
	if err != nil {
		return nil, err
	}
	var acls listed[struct {
		Organization string `json:"organization"`
		Role         string `json:"role"`
		State        string `json:"state"`
	}]
	if err := res.Decode(&acls); err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range acls.Elements {
		id, ok := strings.CutPrefix(a.Organization, "urn:li:organization:")
		if ok && a.State == "APPROVED" && canPost(a.Role) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	res, err = l.rest(ctx, account, "/rest/organizations?ids=List("+strings.Join(ids, ",")+")",
		call.Request{Method: http.MethodGet, Header: http.Header{"X-Restli-Method": {"BATCH_GET"}}})
	if err != nil {
		return nil, err
	}
	var names struct {
		Results map[string]struct {
			Name   string `json:"localizedName"`
			Vanity string `json:"vanityName"`
		} `json:"results"`
	}
	if err := res.Decode(&names); err != nil {
		return nil, err
	}
	found := make([]network.Account, len(ids))
	for i, id := range ids {
		one, known := account, names.Results[id]
		one.RemoteID, one.Kind = "urn:li:organization:"+id, network.KindOrganization
		one.Name, one.Handle = known.Name, "linkedin.com/company/"+known.Vanity
		if known.Name == "" {
			one.Name = "Organization " + id
		}
		if known.Vanity == "" {
			one.Handle = "linkedin.com/company/" + id
		}
		found[i] = one
	}
	return found, nil
}

// canPost reports whether w_organization_social works for a role (Posts API,
// Permissions).
func canPost(role string) bool {
	switch role {
	case "ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER":
		return true
	}
	return false
}
