package identity_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
)

// sideBySide runs f in eight goroutines and counts how often it returns true.
func sideBySide(n *newsroom, f func(i int) (bool, error)) (count int) {
	n.T.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range 8 {
		wg.Go(func() {
			yes, err := f(i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				n.T.Error(err)
			}
			if yes {
				count++
			}
		})
	}
	wg.Wait()
	return count
}

func TestAdmit_ConcurrentLoginsCreateOneUser(t *testing.T) {
	n := open(t)
	var users sync.Map
	admitted := sideBySide(n, func(int) (bool, error) {
		user, why, err := n.Identity.Logins.Admit(t.Context(), login.Person{
			Issuer: "https://login.example", Subject: "ann",
			Email: "ann@news.example",
		}, workspace.Author)
		users.Store(user, true)
		return why == "", err
	})
	distinct := 0
	users.Range(func(any, any) bool { distinct++; return true })
	if admitted != 8 || distinct != 1 {
		t.Errorf("%d were admitted as %d users", admitted, distinct)
	}
}

func TestAdmit_EmailBelongsToOneUser(t *testing.T) {
	n := open(t)
	admitted := sideBySide(n, func(i int) (bool, error) {
		_, why, err := n.Identity.Logins.Admit(t.Context(),
			login.Person{Issuer: "https://login.example", Subject: string(rune('a' + i)), Email: "ann@news.example"},
			workspace.Author)
		return why == "", err
	})
	if admitted != 1 {
		t.Errorf("%d people got the account of one address", admitted)
	}
	// Another provider may know the same user by another name.
	if _, why, err := n.Identity.Logins.Admit(t.Context(), login.Person{
		Issuer: "https://other.example", Subject: "ann",
		Email: "ann@news.example",
	}, ""); why != "" || err != nil {
		t.Errorf("%v %v", why, err)
	}
}

func TestLoginLink_IsUsedOnce(t *testing.T) {
	n := open(t)
	hash, now := make([]byte, 32), time.Now()
	n.Must(n.Identity.Logins.PutLoginLink(t.Context(), n.User, hash, now.Add(time.Minute)))
	if used := sideBySide(n, func(int) (bool, error) {
		_, _, found, err := n.Identity.Logins.UseLoginLink(t.Context(), hash)
		return found, err
	}); used != 1 {
		t.Errorf("a link was used %d times", used)
	}
	if used := sideBySide(n,
		func(int) (bool, error) {
			return n.Identity.Logins.UseLoginAnswer(t.Context(), hash, now, now.Add(-time.Minute))
		}); used != 1 {
		t.Errorf("a response was used %d times", used)
	}
	if first, err := n.Identity.Logins.UseLoginAnswer(t.Context(), hash, now.Add(time.Hour), now.Add(time.Minute)); err != nil ||
		!first {
		t.Errorf("old responses are still stored: %v %v", first, err)
	}
}

func TestSessions_BelongToTheirUser(t *testing.T) {
	n := open(t)
	now := time.Now()
	limits := login.Limits{Created: now.Add(-time.Hour), Used: now.Add(-time.Hour)}
	s := login.Session{
		ID: uuid.Must(uuid.NewV7()), UserID: n.User, WorkspaceID: n.Workspace.ID, CreatedAt: now,
		LastUsedAt: now,
	}
	n.Must(n.Identity.Logins.InsertSession(t.Context(), s, make([]byte, 32), limits))
	if ended, err := n.Identity.Logins.EndSession(t.Context(), uuid.New(), s.ID); ended || err != nil {
		t.Errorf("ended by another user (%v)", err)
	}
	if moved, err := n.Identity.Logins.MoveSession(t.Context(), uuid.New(), s.ID, n.Workspace.ID); moved || err != nil {
		t.Errorf("moved by another user (%v)", err)
	}
	if _, found, err := n.Identity.Logins.SessionByHash(t.Context(), make([]byte, 32), limits); !found || err != nil {
		t.Errorf("not found (%v)", err)
	}
	if _, found, err := n.Identity.Logins.SessionByHash(t.Context(), make([]byte, 32),
		login.Limits{Created: now, Used: now.Add(-time.Hour)}); found || err != nil {
		t.Errorf("found beyond its age (%v)", err)
	}
}
