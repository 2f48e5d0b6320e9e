package instagram

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// scopes are the minimum for publishing, comments and reconciling, and the one for
// metrics, which people may decline.
// https://developers.facebook.com/docs/instagram-platform/instagram-api-with-instagram-login/business-login
const scopes = "instagram_business_basic,instagram_business_content_publish,instagram_business_manage_comments," +
	scopeInsights

// Exchange exchanges the code for a token that lasts an hour, and that for one
// that lasts 60 days.
func (i *Instagram) Exchange(ctx context.Context, app network.App, code, _ string) (network.Account, error) {
	res, err := i.ExchangeCode(ctx, app, code)
	if err != nil {
		return network.Account{}, err
	}
	token, granted, err := shortToken(res)
	if err != nil {
		return network.Account{}, err
	}
	return i.ExchangeLongLived(ctx, app, token, granted)
}

// shortToken parses the token and the granted permissions, which were observed as
// a list and as a comma-separated text, both at the top level and in a list named
// data.
func shortToken(res *call.Response) (secret.Text, []string, error) {
	type body struct {
		AccessToken string          `json:"access_token"`
		Permissions json.RawMessage `json:"permissions"`
	}
	var outer struct {
		body
		Data []body `json:"data"`
	}
	if err := res.Decode(&outer); err != nil {
		return secret.Text{}, nil, err
	}
	a := outer.body
	if len(outer.Data) > 0 {
		a = outer.Data[0]
	}
	if a.AccessToken == "" {
		return secret.Text{}, nil, res.MalformedError("it contains no access token")
	}
	granted := strings.Split(scopes, ",")
	var list []string
	var text string
	switch {
	case json.Unmarshal(a.Permissions, &list) == nil && len(list) > 0:
		granted = list
	case json.Unmarshal(a.Permissions, &text) == nil && text != "":
		granted = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return secret.NewText(a.AccessToken), granted, nil
}

// Accounts returns the token's only account.
func (i *Instagram) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := i.get(ctx, account, url.Values{"fields": {"user_id,username,name,profile_picture_url"}}, "me")
	if err != nil {
		return nil, err
	}
	type body struct {
		ID       string `json:"user_id"` // of the account; id is specific to this app
		Username string `json:"username"`
		Name     string `json:"name"`
		Avatar   string `json:"profile_picture_url"`
	}
	var outer struct {
		body
		Data []body `json:"data"` // as in the documentation
	}
	if err := res.Decode(&outer); err != nil {
		return nil, err
	}
	a := outer.body
	if len(outer.Data) > 0 {
		a = outer.Data[0]
	}
	if a.ID == "" || a.Username == "" {
		return nil, res.MalformedError("it contains no account id or user name")
	}
	account.RemoteID, account.Handle, account.Name = a.ID, "@"+a.Username, a.Name
	account.AvatarURL = a.Avatar
	if account.Name == "" {
		account.Name = a.Username
	}
	return []network.Account{account}, nil
}
