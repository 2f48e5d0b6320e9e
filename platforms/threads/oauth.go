package threads

import (
	"context"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// scopes are the least that publishing, replies, deleting and reconciling need.
// https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
const scopes = "threads_basic,threads_content_publish,threads_manage_replies,threads_read_replies,threads_delete"

// Exchange turns the code into a token of an hour, and that into one of 60 days.
// The response does not say what was allowed: it is all that was asked for,
// because the page offers no choice of it.
func (t *Threads) Exchange(ctx context.Context, app network.App, code, _ string) (network.Account, error) {
	res, err := t.ExchangeCode(ctx, app, code)
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
		return network.Account{}, res.MalformedError("it has no access token")
	}
	return t.ExchangeLongLived(ctx, app, secret.NewText(answer.AccessToken), strings.Split(scopes, ","))
}

// Accounts returns the one account of a token.
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
		return nil, res.MalformedError("it has no account id or user name")
	}
	account.RemoteID, account.Handle, account.Name = answer.ID, "@"+answer.Username, answer.Name
	if account.Name == "" {
		account.Name = answer.Username
	}
	return []network.Account{account}, nil
}
