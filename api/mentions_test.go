package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"dateline/api/spec"
)

func TestFindMentions_SearchesTheNetworkOfTheAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := s.Connect("desk")
	s.Connect("desktop")
	search := func(query string) (found spec.MentionList) {
		t.Helper()
		s.decode(s.send("GET", "/api/v1/accounts/"+desk.ID.String()+"/mentions?q="+query, nil), 200, &found)
		return found
	}
	found := search("des")
	if len(found.Mentions) != 2 || found.Mentions[0].Handle != "@desk" || found.Mentions[0].Name != "Desk" ||
		found.Mentions[1].Handle != "@desktop" {
		t.Errorf("got %+v, want @desk and @desktop", found.Mentions)
	}
	// The fake's avatars are at a private address, which is never fetched for a page.
	for _, m := range found.Mentions {
		if m.Avatar != nil {
			t.Errorf("%s: got an avatar from a private address", m.Handle)
		}
	}
	if got := search("%40desktop"); len(got.Mentions) != 1 {
		t.Errorf("got %+v, want @desktop", got.Mentions)
	}
	s.refused(s.send("GET", "/api/v1/accounts/"+uuid.NewString()+"/mentions?q=desk", nil), 404, "account_not_found")
	// Searches use the rate limits of publishing, so they are limited; repeated ones are cached.
	for i := range 28 {
		search(fmt.Sprintf("name%d", i))
	}
	s.refused(s.send("GET", "/api/v1/accounts/"+desk.ID.String()+"/mentions?q=more", nil), 409, "too_many_searches")
	search("des")
}
