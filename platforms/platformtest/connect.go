package platformtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

func testConnect(t *testing.T, s Subject) {
	app, err := s.Connector.Register(t.Context(), s.BaseURL, s.RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	if app.ClientID == "" || app.RedirectURI != s.RedirectURI {
		t.Errorf("app %+v", app)
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	allow := func() string {
		callback := s.Approve(t, s.Connector.AuthorizeURL(app, "a state", challenge))
		if callback.Get("state") != "a state" || callback.Get("code") == "" {
			t.Fatalf("the callback got %v", callback)
		}
		return callback.Get("code")
	}
	if !s.NoPKCE {
		code := allow()
		_, err = s.Connector.Exchange(t.Context(), app, code, "another verifier")
		wantError(t, err, network.Rejected, app.ClientSecret, secret.NewText(code))
	}
	_, err = s.Connector.Exchange(t.Context(), app, "made up", verifier)
	wantError(t, err, network.Rejected, app.ClientSecret)

	account, err := s.Connector.Exchange(t.Context(), app, allow(), verifier)
	if err != nil {
		t.Fatal(err)
	}
	if account.Token.Empty() || len(account.Scopes) == 0 {
		t.Errorf("account without token or scopes: %+v", account)
	}
	found, err := s.Connector.Accounts(t.Context(), account)
	if err != nil || len(found) == 0 {
		t.Fatalf("may post as %d accounts: %v", len(found), err)
	}
	for _, one := range found {
		if one.RemoteID == "" {
			t.Error("one.RemoteID is empty")
		}
		if one.Handle == "" {
			t.Error("one.Handle is empty")
		}
		if one.Name == "" {
			t.Error("one.Name is empty")
		}
		if one.AvatarURL == "" && one.Kind != network.KindOrganization {
			t.Errorf("%s has no picture", one.Handle)
		}
		testPicture(t, one)
		if one.Token.Empty() {
			t.Errorf("not identified: %+v", one)
		}
		if one.BaseURL != account.BaseURL {
			t.Errorf("one.BaseURL: got %v, want %v", one.BaseURL, account.BaseURL)
		}
		as := s
		as.Account = one
		publish(t, as, submission(t, as, "Connected"))
		testRenewal(t, as, app)
	}
	_, err = s.Connector.Accounts(t.Context(), network.Account{
		BaseURL: account.BaseURL, Token: secret.NewText("wrong"),
	})
	wantError(t, err, network.Auth)
}

// testPicture checks that the address of an account's picture serves an image. Those of real
// servers are at hosts of their own, such as gravatar.com.
func testPicture(t *testing.T, one network.Account) {
	t.Helper()
	address, err := url.Parse(one.AvatarURL)
	if err != nil || !net.ParseIP(address.Hostname()).IsLoopback() {
		return
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, one.AvatarURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK ||
		!strings.HasPrefix(kind, "image/") {
		t.Errorf("the picture of %s: got %d %s, want 200 and an image", one.Handle, response.StatusCode, kind)
	}
}

// testRenewal checks that refreshed tokens are valid, and that revoking
// invalidates them.
func testRenewal(t *testing.T, s Subject, app network.App) {
	if refresher, ok := s.Network.(network.Refresher); ok &&
		(!s.Account.RefreshToken.Empty() || !s.Account.TokenExpiresAt.IsZero()) {
		renewed, err := refresher.Refresh(t.Context(), app, s.Account)
		if err != nil {
			t.Fatalf("Refresh: %v", err)
		}
		if renewed.Token.Empty() || renewed.RemoteID != s.Account.RemoteID ||
			renewed.TokenExpiresAt.Before(time.Now()) {
			t.Errorf("renewed as %+v", renewed)
		}
		s.Account = renewed
		publish(t, s, submission(t, s, "Renewed"))
	}
	revoker, ok := s.Network.(network.Revoker)
	if !ok {
		return
	}
	sub := prepare(t, s, submission(t, s, "Revoked"))
	for _, attempt := range []string{"first", "second"} {
		if err := revoker.Revoke(t.Context(), app, s.Account); err != nil {
			t.Errorf("%s revocation: %v", attempt, err)
		}
	}
	_, err := s.Network.Publish(t.Context(), s.Account, sub)
	wantError(t, err, network.Auth, s.Account.Token)
}

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
	testPicture(t, known)
	if known.RemoteID != s.Account.RemoteID || known.Handle == "" || known.Name == "" ||
		known.Token.Reveal() != s.Account.Token.Reveal() {
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
