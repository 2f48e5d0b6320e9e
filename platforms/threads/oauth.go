package threads

import (
	"context"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// scopes are the minimum for publishing, replies, deleting and reconciling, and the
// one for metrics.
// https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
const scopes = "threads_basic,threads_content_publish,threads_manage_replies,threads_read_replies,threads_delete," +
	scopeInsights

// Exchange exchanges the code for a token that lasts an hour, and that for one
// that lasts 60 days. The response does not contain the granted scopes: they are
// all requested ones, because users cannot choose.
func (t *Threads) Exchange(ctx context.Context, app network.App, code, _ string) (network.Account, error) {
	res, err := t.ExchangeCode(ctx, app, code)
	if err != nil {
		return network.Account{}, err
	}
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Account{}, err
	}
	if body.AccessToken == "" {
		return network.Account{}, res.MalformedError("it contains no access token")
	}
	return t.ExchangeLongLived(ctx, app, secret.NewText(body.AccessToken), strings.Split(scopes, ","))
}

// Accounts returns the token's only account.
// https://developers.facebook.com/docs/threads/threads-profiles
func (t *Threads) Accounts(ctx context.Context, account network.Account) ([]network.Account, error) {
	res, err := t.get(ctx, account, "id,username,name,threads_profile_picture_url", "me")
	if err != nil {
		return nil, err
	}
	var body struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
		Avatar   string `json:"threads_profile_picture_url"`
	}
	if err := res.Decode(&body); err != nil {
		return nil, err
	}
	if body.ID == "" || body.Username == "" {
		return nil, res.MalformedError("it contains no account id or user name")
	}
	account.RemoteID, account.Handle, account.Name = body.ID, "@"+body.Username, body.Name
	account.AvatarURL = body.Avatar
	if account.Name == "" {
		account.Name = body.Username
	}
	return []network.Account{account}, nil
}
