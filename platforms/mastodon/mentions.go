package mastodon

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// FindMentions searches the accounts that the instance knows (GET
// /api/v1/accounts/search). https://docs.joinmastodon.org/methods/accounts/#search
func (m *Mastodon) FindMentions(
	ctx context.Context, account network.Account, query string, limit int,
) ([]network.Mention, error) {
	values := url.Values{"q": {strings.TrimPrefix(query, "@")}, "limit": {strconv.Itoa(limit)}, "resolve": {"false"}}
	res, err := m.do(ctx, account.BaseURL, "/api/v1/accounts/search?"+values.Encode(), call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
	if err != nil {
		return nil, err
	}
	var body []struct {
		Acct         string `json:"acct"`
		DisplayName  string `json:"display_name"`
		AvatarStatic string `json:"avatar_static"`
	}
	if err := res.Decode(&body); err != nil {
		return nil, err
	}
	var found []network.Mention
	for _, a := range body {
		if a.Acct != "" && len(found) < limit {
			found = append(found, network.Mention{Handle: "@" + a.Acct, Name: a.DisplayName, AvatarURL: a.AvatarStatic})
		}
	}
	return found, nil
}
