package zalo

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// scope stands for the permissions that the operator chose for the app: Zalo's responses
// name none.
const scope = "official_account"

// Register returns the app that the operator created at https://developers.zalo.me.
func (z *Zalo) Register(_ context.Context, baseURL, redirectURI string) (network.App, error) {
	if _, err := call.Host(title, baseURL, z.options.Sandbox, z.options.OAuthHost); err != nil {
		return network.App{}, err
	}
	if baseURL != "" {
		return network.SandboxApp(baseURL, redirectURI), nil
	}
	if z.options.ClientID == "" {
		return network.App{}, &network.Error{
			Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: "No application for Zalo is configured: create one at developers.zalo.me and set its id and " +
				"secret key.",
		}
	}
	return network.App{RedirectURI: redirectURI, ClientID: z.options.ClientID, ClientSecret: z.options.ClientSecret},
		nil
}

// AuthorizeURL returns the page on which an administrator of an Official Account chooses it.
// https://developers.zalo.me/docs/official-account/bat-dau/xac-thuc-va-uy-quyen-cho-ung-dung-new
func (z *Zalo) AuthorizeURL(app network.App, state, challenge string) string {
	return cmp.Or(app.BaseURL, z.options.OAuthHost) + "/v4/oa/permission?" + url.Values{
		"app_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "code_challenge": {challenge}, "state": {state},
	}.Encode()
}

// Exchange exchanges the code, which works once and for ten minutes, for tokens.
func (z *Zalo) Exchange(ctx context.Context, app network.App, code, verifier string) (network.Account, error) {
	account := network.Account{BaseURL: app.BaseURL, Scopes: []string{scope}}
	return z.tokens(ctx, app, account, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier},
	}, secret.NewText(code), secret.NewText(verifier))
}

// Refresh uses up the refresh token, which works once and for three months. If the response
// is lost, the old pair is lost too.
func (z *Zalo) Refresh(ctx context.Context, app network.App, account network.Account) (network.Account, error) {
	if account.RefreshToken.Empty() {
		return account, &network.Error{
			Class: network.Auth, Code: "no_refresh_token",
			Message: "Zalo issued no refresh token. Reconnect the account.",
		}
	}
	return z.tokens(ctx, app, account, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {account.RefreshToken.Reveal()},
	}, account.RefreshToken)
}

// tokens requests a pair of tokens. Refusals have the status 200.
func (z *Zalo) tokens(
	ctx context.Context, app network.App, account network.Account, form url.Values, secrets ...secret.Text,
) (network.Account, error) {
	host, err := call.Host(title, app.BaseURL, z.options.Sandbox, z.options.OAuthHost)
	if err != nil {
		return account, err
	}
	form.Set("app_id", app.ClientID)
	res, err := z.calls.Do(ctx, call.Request{
		Method: http.MethodPost, URL: host + "/v4/oa/access_token", Create: true, Timeout: z.options.ReadTimeout,
		Body: call.Form(form), Header: http.Header{"secret_key": {app.ClientSecret.Reveal()}},
		Secrets: append(secrets, app.ClientSecret),
	})
	if err != nil {
		return account, err
	}
	var body struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    number `json:"expires_in"` // seconds, in quotes

		Error       number `json:"error"`
		ErrorName   string `json:"error_name"`
		Description string `json:"error_description"`
		Message     string `json:"message"`
	}
	if !res.OK() {
		_ = json.Unmarshal(res.Body, &body) // an error page is not JSON: the status decides
		return account, res.StatusError("", cmp.Or(body.Description, body.ErrorName, body.Message))
	}
	if err := res.Decode(&body); err != nil {
		return account, err
	}
	if code := string(body.Error); code != "" && code != "0" {
		text := cmp.Or(body.Description, body.ErrorName, body.Message, "Zalo refused the login.")
		return account, tokenRefusal(res, form.Get("grant_type") == "refresh_token", code, text)
	}
	if body.AccessToken == "" {
		return account, res.MalformedError("it contains no access token")
	}
	account.Token, account.RefreshToken = secret.NewText(body.AccessToken), secret.NewText(body.RefreshToken)
	account.TokenExpiresAt, account.RefreshTokenExpiresAt = time.Time{}, time.Time{}
	if seconds := body.ExpiresIn.value(); seconds != nil {
		account.TokenExpiresAt = res.Received.Add(time.Duration(*seconds) * time.Second)
	}
	if body.RefreshToken != "" {
		account.RefreshTokenExpiresAt = res.Received.AddDate(0, 0, z.options.RefreshDays)
	}
	return account, nil
}

// tokenRefusal classifies a refusal by its text, because the codes are not verified. An
// unknown one does not disconnect an account.
func tokenRefusal(res *call.Response, isRefresh bool, code, text string) *network.Error {
	e := res.NewError(network.Rejected, code, text)
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, "secret"), strings.Contains(lower, "app id"), strings.Contains(lower, "app_id"):
		e.Code = "bad_client"
		e.Message = "Zalo does not know this installation's application: the operator must correct the app id and " +
			"secret key."
	case isRefresh && strings.Contains(lower, "refresh"):
		e.Class = network.Auth
	case isRefresh:
		e.Class = network.Transient
	}
	return e
}

// Accounts returns the token's only account, with what its plan allows.
// https://developers.zalo.me/docs/official-account/quan-ly/quan-ly-thong-tin-oa (oa/getoa)
func (z *Zalo) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := z.do(ctx, account, "/v2.0/oa/getoa", call.Request{})
	if err != nil {
		return nil, err
	}
	oa, err := dataOf[struct {
		ID        number `json:"oaid"`
		OlderID   number `json:"oa_id"`
		Name      string `json:"name"`
		Alias     string `json:"oa_alias"`
		Avatar    string `json:"avatar"`
		Plan      string `json:"package_name"`
		Followers number `json:"num_follower"`
	}](res)
	if err != nil {
		return nil, err
	}
	account.RemoteID, account.Kind = cmp.Or(string(oa.ID), string(oa.OlderID)), network.KindPage
	if account.RemoteID == "" {
		return nil, res.MalformedError("it contains no id of the account")
	}
	account.Handle, account.Name = cmp.Or(oa.Alias, account.RemoteID), cmp.Or(oa.Name, account.RemoteID)
	account.AvatarURL, account.Notes = oa.Avatar, nil
	if oa.Plan != "" {
		account.Notes = message.One("account_plan", "The plan is {plan}, with {limit} followers.[ Messages that are "+
			"left: {list}.]", oa.Plan, cmp.Or(string(oa.Followers), "0"), z.quota(ctx, account))
	}
	return []network.Account{account}, nil
}

// quota returns what is left of the messages of an account's plan, such as cs 1990/2000;
// empty: it cannot be read, or the app may not.
// https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/v3/GetQuotaCSFree.java
func (z *Zalo) quota(ctx context.Context, account network.Account) string {
	assets, _, err := send[[]struct {
		Product string `json:"product_type"`
		Total   number `json:"total"`
		Left    number `json:"remain"`
	}](ctx, z, account, z.options.QuotaPath, call.Request{}, map[string]string{"quota_owner": "OA"})
	if err != nil {
		return ""
	}
	var left []string
	for _, one := range assets {
		left = append(left, one.Product+" "+string(one.Left)+"/"+string(one.Total))
	}
	return strings.Join(left, ", ")
}
