package platformtest

import (
	"strings"
	"testing"

	"dateline/platforms/network"
)

// testMentions searches for the account itself.
func testMentions(t *testing.T, s Subject) {
	finder, ok := s.Network.(network.MentionFinder)
	if !ok {
		t.Skip("the network has no search for accounts")
	}
	if s.Fake == nil {
		t.Skip("Bluesky's own server passes searches on to a service that tests do not run")
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(s.Account.Handle, "@"), "@")
	found, err := finder.FindMentions(t.Context(), s.Account, "@"+name[:min(3, len(name))], 5)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || !strings.HasPrefix(strings.ToLower(found[0].Handle),
		"@"+strings.ToLower(name[:min(3, len(name))])) || found[0].Name == "" || found[0].AvatarURL == "" {
		t.Errorf("got %+v, want the account %s with name and avatar", found, s.Account.Handle)
	}
	if found, err := finder.FindMentions(t.Context(), s.Account, "nobody-has-this-name", 5); err != nil ||
		len(found) != 0 {
		t.Errorf("an unknown name: got %+v, %v, want none", found, err)
	}
}
