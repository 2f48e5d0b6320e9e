package publishing_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/testing/storetest"
)

// refuse makes the network refuse an account's token.
func (n *newsroom) refuse(a account.Account) {
	n.T.Helper()
	noted, err := n.Publishing.Accounts.MarkNeedsReconnect(n.T.Context(), a.ID, a.TokenVersion, account.LastError{
		Class: "auth", Message: "The token is revoked.",
	})
	if err != nil || !noted {
		n.T.Fatal(noted, err)
	}
}

func TestSaveAccount_KeepsIDAndDefault(t *testing.T) {
	n := open(t)
	n.refuse(n.Account)
	again, err := n.Publishing.Accounts.SaveAccount(t.Context(), account.Account{
		WorkspaceID: n.Workspace.ID, Network: "mastodon",
		BaseURL:  "https://social.example",
		RemoteID: "desk", Handle: "@newsdesk@social.example", Name: "News desk", Scopes: []string{"write"},
	}, storetest.Sealed)
	n.Must(err)
	if again.ID != n.Account.ID || !again.IsDefault || again.Status != account.Connected {
		t.Errorf("reconnected as %+v", again)
	}
	if again.Handle != "@newsdesk@social.example" || again.Name != "News desk" ||
		!slices.Equal(again.Scopes, []string{"write"}) {
		t.Errorf("reconnected as %+v", again)
	}
	if want, _ := storetest.Sealed(again.ID); !bytes.Equal(again.SealedToken, want) {
		t.Errorf("the token is %q", again.SealedToken)
	}
	if all, err := n.Publishing.Accounts.Accounts(t.Context(), n.Workspace.ID); err != nil || len(all) != 1 {
		t.Errorf("%d accounts, %v", len(all), err)
	}
}

// Two callbacks may arrive concurrently. The second one must not store a token that is
// sealed for an id which was never stored.
func TestSaveAccount_ConcurrentConnectionsAgree(t *testing.T) {
	n := open(t)
	var looked, all sync.WaitGroup
	looked.Add(2)
	for range 2 {
		var once sync.Once
		all.Go(func() {
			_, err := n.Publishing.Accounts.SaveAccount(t.Context(), account.Account{
				WorkspaceID: n.Workspace.ID, Network: "mastodon",
				BaseURL:  "https://social.example",
				RemoteID: "new", Handle: "@new@social.example", Name: "New",
			}, func(id uuid.UUID) ([]byte, error) {
				once.Do(func() { looked.Done(); looked.Wait() }) // both have seen that the account does not exist yet
				return storetest.Sealed(id)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	accounts, err := n.Publishing.Accounts.Accounts(t.Context(), n.Workspace.ID)
	n.Must(err)
	for _, a := range accounts {
		if want, _ := storetest.Sealed(a.ID); !bytes.Equal(a.SealedToken, want) {
			t.Errorf("the token of the account %s is %q", a.ID, a.SealedToken)
		}
	}
	if len(accounts) != 2 {
		t.Errorf("%d accounts", len(accounts))
	}
}

func TestSaveAccount_FirstIsTheDefault(t *testing.T) {
	n := open(t)
	second := n.Connect("sports")
	if !n.Account.IsDefault || second.IsDefault {
		t.Errorf("first %v, second %v", n.Account.IsDefault, second.IsDefault)
	}
	defaults, err := n.Publishing.Accounts.DefaultAccounts(t.Context(), n.Workspace.ID)
	if err != nil || len(defaults) != 1 || defaults[0].ID != n.Account.ID {
		t.Errorf("%v %v", defaults, err)
	}
	n.refuse(n.Account)
	if defaults, err = n.Publishing.Accounts.DefaultAccounts(t.Context(), n.Workspace.ID); err != nil || len(defaults) != 0 {
		t.Errorf("an account that needs to be reconnected is still a default: %v %v", defaults, err)
	}
}

func TestSaveAccount_InTwoWorkspaces(t *testing.T) {
	n := open(t)
	w, _, _ := n.Found("Rivals")
	theirs, err := n.Publishing.Accounts.SaveAccount(t.Context(), account.Account{
		WorkspaceID: w.ID, Network: "mastodon",
		BaseURL:  "https://social.example",
		RemoteID: "desk", Handle: "@desk@social.example", Name: "desk",
	}, storetest.Sealed)
	if err != nil || theirs.ID == n.Account.ID || !theirs.IsDefault {
		t.Errorf("%+v %v", theirs, err)
	}
}

func TestAccount_NotFound(t *testing.T) {
	n := open(t)
	_, err := n.Publishing.Accounts.Account(t.Context(), storetest.NewID())
	if e := storetest.Refused(t, err); e.Kind != apperr.KindNotFound || e.Code != "account_not_found" {
		t.Errorf("%+v", e)
	}
}

func TestSaveApp_KeepsTheFirst(t *testing.T) {
	n := open(t)
	app := account.App{
		Network: "mastodon", BaseURL: "https://social.example", RedirectURI: "https://d.example/cb",
		ClientID: "first", SealedSecret: []byte("1"),
	}
	n.Must(n.Publishing.Accounts.SaveApp(t.Context(), app))
	second := app
	second.ClientID = "second"
	n.Must(n.Publishing.Accounts.SaveApp(t.Context(), second))
	got, found, err := n.Publishing.Accounts.App(t.Context(), app.Network, app.BaseURL, app.RedirectURI)
	if err != nil || !found || got.ClientID != "first" {
		t.Errorf("%+v %v %v", got, found, err)
	}
	if _, found, err := n.Publishing.Accounts.App(t.Context(), app.Network, app.BaseURL, "https://elsewhere.example/cb"); found ||
		err != nil {
		t.Errorf("found for another address (%v)", err)
	}
}

func (n *newsroom) attempt(state string, life time.Duration) account.PendingAuthorization {
	sum := sha256.Sum256([]byte(state))
	return account.PendingAuthorization{
		StateHash: sum[:], WorkspaceID: n.Workspace.ID, UserID: n.User,
		Network: "mastodon", BaseURL: "https://social.example",
		RedirectURI: "https://d.example/cb", SealedVerifier: []byte("v"),
		ExpiresAt: time.Now().Add(life).Truncate(time.Millisecond).UTC(),
	}
}

func TestAuthorization_IsConsumedOnce(t *testing.T) {
	n := open(t)
	a := n.attempt("state", time.Minute)
	n.Must(n.Publishing.Accounts.SaveAuthorization(t.Context(), a))
	var mu sync.Mutex
	taken := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, found, err := n.Publishing.Accounts.ConsumeAuthorization(t.Context(), a.StateHash)
			if err != nil {
				t.Error(err)
			}
			if found {
				mu.Lock()
				defer mu.Unlock()
				taken++
				if got.UserID != a.UserID || got.BaseURL != a.BaseURL || !got.ExpiresAt.Equal(a.ExpiresAt) ||
					string(got.SealedVerifier) != "v" {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	all.Wait()
	if taken != 1 {
		t.Errorf("consumed %d times", taken)
	}
}

func TestAuthorization_Expires(t *testing.T) {
	n := open(t)
	old := n.attempt("old", -time.Second)
	n.Must(n.Publishing.Accounts.SaveAuthorization(t.Context(), old))
	if _, found, err := n.Publishing.Accounts.ConsumeAuthorization(t.Context(), old.StateHash); found || err != nil {
		t.Errorf("an expired attempt was found (%v)", err)
	}
	n.Must(n.Publishing.Accounts.SaveAuthorization(t.Context(), old))
	n.Must(n.Publishing.Accounts.SaveAuthorization(t.Context(), n.attempt("new", time.Minute)))
	var rows int
	n.Query(&rows, "select count(*) from connect_attempts")
	if rows != 1 {
		t.Errorf("%d attempts are stored, want the unexpired one", rows)
	}
}

func TestMoveSandbox_UpdatesAccounts(t *testing.T) {
	n := open(t)
	n.Must(n.Publishing.Accounts.MoveSandbox(t.Context(), "https://social.example")) // the first time there is nothing to move
	n.Must(n.Publishing.Accounts.MoveSandbox(t.Context(), "http://127.0.0.1:4002"))
	if a, err := n.Publishing.Accounts.Account(t.Context(), n.Account.ID); err != nil || a.BaseURL != "http://127.0.0.1:4002" {
		t.Errorf("the account is at %s, %v", a.BaseURL, err)
	}
}
