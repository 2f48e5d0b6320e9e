package x_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/x"
)

// connectBy completes the OAuth flow and returns the app and the account.
func connectBy(t *testing.T, n *x.X, base string, client *http.Client) (network.App, network.Account) {
	t.Helper()
	app, err := n.Register(t.Context(), base, redirectURI)
	if err != nil {
		t.Fatal(err)
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	callback := approve(t, client, n.AuthorizeURL(app, "state", base64.RawURLEncoding.EncodeToString(sum[:])))
	account, err := n.Exchange(t.Context(), app, callback.Get("code"), verifier)
	if err != nil {
		t.Fatal(err)
	}
	return app, account
}

func TestRefresh_RotatesTokens(t *testing.T) {
	_, n, created, client := startFake(t, fake.Options{AutoApprove: true})
	app, first := connectBy(t, n, created.BaseURL, client)
	if first.RefreshToken.Empty() || time.Until(first.TokenExpiresAt) < 110*time.Minute ||
		time.Until(first.TokenExpiresAt) > 2*time.Hour {
		t.Fatalf("expires at %v", first.TokenExpiresAt)
	}
	first.ID, first.Settings = "ours", map[string]string{"tier": "premium"}
	second, err := n.Refresh(t.Context(), app, first)
	if err != nil {
		t.Fatal(err)
	}
	if second.RefreshToken.Reveal() == first.RefreshToken.Reveal() || second.Token.Reveal() == first.Token.Reveal() ||
		second.ID != "ours" || second.Settings["tier"] != "premium" {
		t.Errorf("renewed as %+v", second)
	}
	_, err = n.Refresh(t.Context(), app, first)
	if e := network.AsError(err); e == nil || e.Class != network.Auth ||
		strings.Contains(e.Error(), first.RefreshToken.Reveal()) {
		t.Errorf("a used refresh token: %v", err)
	}
	if _, err := n.Refresh(t.Context(), app, second); err != nil {
		t.Errorf("the new one: %v", err)
	}
	first.RefreshToken = secret.Text{}
	if _, err := n.Refresh(t.Context(), app, first); network.AsError(err).Class != network.Auth {
		t.Errorf("without a refresh token: %v", err)
	}
}

// A lost response may have used up the token. Other failures do not disconnect the
// account.
func TestRefresh_LostResponse(t *testing.T) {
	server, n, created, client := startFake(t, fake.Options{AutoApprove: true})
	app, account := connectBy(t, n, created.BaseURL, client)
	for name, row := range map[string]struct {
		fault fake.Fault
		class network.Class
	}{
		"ResetBefore": {fake.Fault{Kind: fake.ResetBefore}, network.Ambiguous},
		"502":         {fake.Fault{Kind: fake.Status, Status: 502}, network.Ambiguous},
		"429":         {fake.Fault{Kind: fake.Status, Status: 429, For: time.Minute}, network.Throttled},
		"BadClient": {
			fake.Fault{Kind: fake.Status, Status: 401, Body: `{"error":"unauthorized_client"}`},
			network.Rejected,
		},
	} {
		t.Run(name, func(t *testing.T) {
			row.fault.Path = "/x/2/oauth2/token"
			if err := server.Inject(row.fault); err != nil {
				t.Fatal(err)
			}
			defer server.ClearFaults()
			_, err := n.Refresh(t.Context(), app, account)
			e := network.AsError(err)
			if e == nil || e.Class != row.class {
				t.Fatalf("%v, want %s", err, row.class)
			}
			for _, hidden := range []secret.Text{account.RefreshToken, app.ClientSecret} {
				if strings.Contains(e.Error(), hidden.Reveal()) {
					t.Errorf("an error contains a secret: %v", e)
				}
			}
		})
	}
	if err := server.Inject(fake.Fault{Kind: fake.ActThenReset, Path: "/x/2/oauth2/token"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Refresh(t.Context(), app, account); network.AsError(err).Class != network.Ambiguous {
		t.Errorf("%v, want ambiguous", err)
	}
	if _, err := n.Refresh(t.Context(), app, account); network.AsError(err).Class != network.Auth {
		t.Errorf("%v: the token was used up", err)
	}
}

// Without a secret, the client id is in the form and the Authorization header is
// absent.
func TestExchange_PublicClient(t *testing.T) {
	var header, form string
	n, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		header, form = r.Header.Get("Authorization"), r.PostForm.Encode()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"token_type":"bearer","expires_in":7200,"access_token":"new","refresh_token":"newer"}`))
	})
	app := network.App{BaseURL: account.BaseURL, ClientID: "public", RedirectURI: redirectURI}
	renewed, err := n.Refresh(t.Context(), app, account)
	if err != nil || renewed.Token.Reveal() != "new" || renewed.RefreshToken.Reveal() != "newer" {
		t.Errorf("renewed as %+v, %v", renewed, err)
	}
	if header != "" || form != "client_id=public&grant_type=refresh_token&refresh_token=secret-refresh" {
		t.Errorf("sent %q with header %q", form, header)
	}
}

func TestExchange_Refused(t *testing.T) {
	n, account := textIs(t, 401,
		`{"error":"unauthorized_client","error_description":"Missing valid authorization header"}`)
	app := network.App{BaseURL: account.BaseURL, ClientID: "id", ClientSecret: secret.NewText("hush")}
	if _, err := n.Exchange(t.Context(), app, "code", "verifier"); network.AsError(err).Code != "bad_client" ||
		network.AsError(err).Class != network.Rejected {
		t.Errorf("a wrong client: %v", err)
	}
	n, account = textIs(t, 200,
		`{"errors":[{"type":"https://api.x.com/2/problems/not-authorized-for-resource","detail":"User has been suspended."}]}`)
	if _, err := n.Accounts(t.Context(), account); network.AsError(err).Class != network.Rejected ||
		!strings.Contains(err.Error(), "suspended") {
		t.Errorf("a suspended user: %v", err)
	}
	n, account = textIs(t, 200, `{}`)
	if _, err := n.Exchange(t.Context(), network.App{BaseURL: account.BaseURL}, "code",
		"verifier"); network.AsError(err).Class != network.Ambiguous {
		t.Errorf("no token: %v", err)
	}
	n, account = textIs(t, 400,
		`{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`)
	if err := n.Revoke(t.Context(), network.App{BaseURL: account.BaseURL}, account); err != nil {
		t.Errorf("an expired token: %v", err)
	}
}
