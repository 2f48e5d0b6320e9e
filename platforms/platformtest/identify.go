package platformtest

import (
	"crypto/rand"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// testIdentify checks that Identify returns the connected account, and rejects an
// invalid token.
func testIdentify(t *testing.T, s Subject) {
	identifier, ok := s.Network.(network.Identifier)
	if !ok {
		if _, requested := s.Network.(network.Connector); !requested {
			t.Error("the network implements neither Connector nor Identifier")
		}
		return
	}
	known, err := identifier.Identify(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	if known.RemoteID != s.Account.RemoteID || known.Handle == "" || known.Name == "" || known.Token.Reveal() != s.Account.Token.Reveal() {
		t.Errorf("identified as %+v, want %+v", known, s.Account)
	}
	account := s.Account
	account.Token = secret.NewText("wrong-" + rand.Text())
	if s.BadToken != "" {
		account.Token = secret.NewText(s.BadToken)
	}
	_, err = identifier.Identify(t.Context(), account)
	wantError(t, err, network.Auth, account.Token)
}
