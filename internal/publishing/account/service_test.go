package account_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// allow opens the consent page, which allows immediately, and returns the callback's
// parameters.
func allow(t *testing.T, link string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	back, err := answer.Location()
	if err != nil {
		t.Fatalf("the consent page: got %s: %v", answer.Status, err)
	}
	if !strings.HasPrefix(back.String(), "https://dateline.example/api/v1/oauth/callback?") {
		t.Errorf("redirected to %s", back)
	}
	return back.Query()
}

// connectError returns the first problem of a refused request.
func connectError(t *testing.T, err error) apperr.FieldError {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) || e.Kind != apperr.KindInvalid || len(e.Fields) == 0 {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e.Fields[0]
}

func TestOAuth_ConnectsTheAccount(t *testing.T) {
	n := newsroomtest.Open(t)
	there, err := n.Fake.AddAccount("desk")
	n.Must(err)
	link, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL() + "/",
	})
	n.Must(err)
	asked, err := url.Parse(link)
	n.Must(err)
	if q := asked.Query(); q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 ||
		len(q.Get("state")) < 43 || q.Get("response_type") != "code" {
		t.Errorf("got the parameters %v", q)
	}
	back := allow(t, link)
	made, err := n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
		State: back.Get("state"), Code: back.Get("code"),
	})
	n.Must(err)
	a := made.Account
	require.Equal(t, there.ID, a.RemoteID)
	require.Equal(t, n.Fake.URL(), a.BaseURL)
	require.Equal(t, n.Workspace.ID, a.WorkspaceID)
	require.True(t, a.IsDefault)
	require.Equal(t, account.Connected, a.Status)
	require.True(t, strings.HasPrefix(a.Handle, "@desk@"))
	_, opened, err := n.Accounts.Open(t.Context(), a.ID)
	n.Must(err)
	if opened.Token.Empty() || strings.Contains(string(a.SealedToken), opened.Token.Reveal()) {
		t.Error("the token is missing or not sealed")
	}
	connector, _ := n.Networks.Connector("mastodon")
	if who, err := connector.Accounts(t.Context(), opened); err != nil || len(who) != 1 || who[0].RemoteID != there.ID {
		t.Errorf("the token belongs to %+v, %v", who, err)
	}

	// A state is valid for one callback.
	_, err = n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
		State: back.Get("state"), Code: back.Get("code"),
	})
	if p := connectError(t, err); p.Field != "state" || p.Code != "unknown" {
		t.Errorf("again: %+v", p)
	}
}

func TestOAuth_SealsSecrets(t *testing.T) {
	n := newsroomtest.Open(t)
	_, err := n.Fake.AddAccount("desk")
	n.Must(err)
	link, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL(),
	})
	n.Must(err)
	asked, err := url.Parse(link)
	n.Must(err)
	if rows := n.Count("select count(*) from connect_attempts where connect_attempts::text like '%' || $1 || '%'",
		asked.Query().Get("state")); rows != 0 {
		t.Error("the state is stored in plain text")
	}
	if rows := n.Count("select count(*) from network_apps where client_id = $1",
		asked.Query().Get("client_id")); rows != 1 {
		t.Errorf("%d registrations", rows)
	}
	_, err = n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL(),
	})
	n.Must(err)
	if rows := n.Count("select count(*) from network_apps"); rows != 1 {
		t.Errorf("%d registrations after two connections", rows)
	}
}

func TestOAuth_RequiresStateAndCode(t *testing.T) {
	n := newsroomtest.Open(t)
	_, err := n.Fake.AddAccount("desk")
	n.Must(err)
	_, err = n.Accounts.CompleteAuthorization(t.Context(), account.Callback{State: "made up", Code: "code"})
	if p := connectError(t, err); p.Field != "state" {
		t.Errorf("%+v", p)
	}
	link, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL(),
	})
	n.Must(err)
	_, err = n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
		State: allow(t, link).Get("state"), Code: "another code",
	})
	if p := connectError(t, err); p.Field != "code" {
		t.Errorf("%+v", p)
	}
	// A code of another connection does not match this one's verifier.
	first, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL(),
	})
	n.Must(err)
	second, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "mastodon", BaseURL: n.Fake.URL(),
	})
	n.Must(err)
	_, err = n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
		State: allow(t, first).Get("state"), Code: allow(t, second).Get("code"),
	})
	if p := connectError(t, err); p.Field != "code" {
		t.Errorf("%+v", p)
	}
	if rows := n.Count("select count(*) from accounts"); rows != 0 {
		t.Errorf("%d accounts are connected", rows)
	}
}

func TestConnectWithToken_ConnectsTheAccount(t *testing.T) {
	n := newsroomtest.Open(t)
	first := n.Connect("desk")
	again := n.Connect("desk")
	if first.ID != again.ID || !strings.HasPrefix(first.Handle, "@desk@") || first.Name != "Desk" {
		t.Errorf("connected %+v, then %+v", first, again)
	}
}

func TestConnectWithToken_ErrorOmitsTheToken(t *testing.T) {
	n := newsroomtest.Open(t)
	_, err := n.Accounts.ConnectWithToken(t.Context(), n.Owner, "mastodon", n.Fake.URL(), secret.NewText("wrong-horse"))
	if p := connectError(t, err); p.Field != "access_token" || p.Code != "auth" {
		t.Errorf("%+v", p)
	}
	if strings.Contains(err.Error(), "wrong-horse") {
		t.Errorf("the error shows the token: %v", err)
	}
	_, err = n.Accounts.ConnectWithToken(t.Context(), n.Owner, "mastodon", n.Fake.URL(), secret.Text{})
	if p := connectError(t, err); p.Field != "access_token" || p.Code != "required" {
		t.Errorf("%+v", p)
	}
}

func TestConnect_RejectsInvalidInstances(t *testing.T) {
	n := newsroomtest.Open(t)
	for address, code := range map[string]string{
		"": "invalid", "social.example": "invalid",
		"ftp://social.example": "invalid", "https://": "invalid",
		"https://user:pw@social.example": "invalid", "http://social.example": "rejected",
		"javascript:alert(1)": "invalid", "https://a b": "invalid",
	} {
		_, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
			Network: "mastodon", BaseURL: address,
		})
		if p := connectError(t, err); p.Field != "base_url" || p.Code != code {
			t.Errorf("%q: %+v", address, p)
		}
	}
	_, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
		Network: "myspace", BaseURL: "https://social.example",
	})
	if p := connectError(t, err); p.Field != "network" || p.Code != "unknown" {
		t.Errorf("%+v", p)
	}
}

// Users who may connect accounts must not reach private networks.
func TestConnect_NeverCallsPrivateAddresses(t *testing.T) {
	n := newsroomtest.Open(t)
	var asked atomic.Int32
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	for _, address := range []string{
		plain.URL, secure.URL, strings.Replace(plain.URL, "127.0.0.1", "localhost", 1),
		"https://169.254.169.254", "https://10.0.0.1",
		"https://[::1]", "https://[::ffff:127.0.0.1]", "https://0.0.0.0",
	} {
		_, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
			Network: "mastodon", BaseURL: address,
		})
		if p := connectError(t, err); p.Field != "base_url" {
			t.Errorf("%s: %+v", address, p)
		}
		if strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: the error reveals the resolved address: %v", address, err)
		}
		_, err = n.Accounts.ConnectWithToken(t.Context(), n.Owner, "mastodon", address, secret.NewText("token"))
		if p := connectError(t, err); p.Field != "base_url" && p.Field != "access_token" {
			t.Errorf("%s: %+v", address, p)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("got %d requests", n)
	}
}

func TestOpen_RejectsTokensOfAnotherAccount(t *testing.T) {
	n := newsroomtest.Open(t)
	first, second := n.Connect("desk"), n.Connect("sports")
	n.Exec("update accounts set token = (select token from accounts where id = $1) where id = $2", first.ID, second.ID)
	if _, opened, err := n.Accounts.Open(t.Context(), second.ID); err == nil || !opened.Token.Empty() {
		t.Errorf("opened (%v)", err)
	}
}
