package bluesky

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// FindMentions searches accounts while a name is typed
// (app.bsky.actor.searchActorsTypeahead), through the account's server.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead
func (b *Bluesky) FindMentions(
	ctx context.Context, account network.Account, query string, limit int,
) ([]network.Mention, error) {
	values := url.Values{"q": {strings.TrimPrefix(query, "@")}, "limit": {strconv.Itoa(limit)}}
	res, err := b.do(ctx, account.BaseURL, "app.bsky.actor.searchActorsTypeahead", values, call.Request{
		Token: account.Token,
	})
	if err != nil {
		return nil, err
	}
	var body struct {
		Actors []struct {
			Handle      string `json:"handle"`
			DisplayName string `json:"displayName"`
			Avatar      string `json:"avatar"`
		} `json:"actors"`
	}
	if err := res.Decode(&body); err != nil {
		return nil, err
	}
	var found []network.Mention
	for _, a := range body.Actors {
		if a.Handle != "" && len(found) < limit {
			found = append(found, network.Mention{Handle: "@" + a.Handle, Name: a.DisplayName, AvatarURL: a.Avatar})
		}
	}
	return found, nil
}
