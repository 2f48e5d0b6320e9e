package publishing_test

import (
	"crypto/sha256"
	"sync"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

func keyed(key, body string) func(*post.NewPost) {
	sum := sha256.Sum256([]byte(body))
	return func(d *post.NewPost) {
		d.Idempotency = idempotency.Key{Key: key, RequestHash: sum[:]}
		d.Post.Content = body
	}
}

func TestIdempotencyKey_TwentyConcurrentRequests(t *testing.T) {
	n := open(t)
	var mu sync.Mutex
	made := map[uuid.UUID]int{}
	fresh := 0
	var all sync.WaitGroup
	for range 20 {
		d := n.Draft(keyed("key", "Hello"))
		all.Go(func() {
			p, replayed, err := n.Publishing.Posts.CreatePost(t.Context(), d)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			made[p.ID]++
			if !replayed {
				fresh++
			}
			if len(p.Targets) != 1 || p.Content != "Hello" {
				t.Errorf("answered with %+v", p)
			}
		})
	}
	all.Wait()
	if len(made) != 1 || fresh != 1 {
		t.Errorf("%d posts, %d of them new", len(made), fresh)
	}
	var rows int
	n.Query(&rows, "select count(*) from scheduled_posts")
	if rows != 1 {
		t.Errorf("%d rows", rows)
	}
}

func TestIdempotencyKey_RejectsADifferentRequest(t *testing.T) {
	n := open(t)
	first := n.Create(keyed("key", "Hello"))
	_, _, err := n.Publishing.Posts.CreatePost(t.Context(), n.Draft(keyed("key", "Something else")))
	if e := storetest.Refused(t, err); e.Code != "idempotency_key_reused" || e.Fields[0].Field != "Idempotency-Key" {
		t.Errorf("%+v", e)
	}
	_, _, err = n.Publishing.Posts.ReplayedPost(t.Context(), n.Workspace.ID, n.Draft(keyed("key", "Something else")).Idempotency)
	if e := storetest.Refused(t, err); e.Code != "idempotency_key_reused" {
		t.Errorf("%+v", e)
	}
	again, found, err := n.Publishing.Posts.ReplayedPost(t.Context(), n.Workspace.ID, n.Draft(keyed("key", "Hello")).Idempotency)
	if err != nil || !found || again.ID != first.ID {
		t.Errorf("%v %v %v", again.ID, found, err)
	}
	if _, found, err := n.Publishing.Posts.ReplayedPost(t.Context(), n.Workspace.ID,
		n.Draft(keyed("new", "Hello")).Idempotency); found || err != nil {
		t.Errorf("an unused key was found (%v)", err)
	}
}

func TestIdempotencyKey_ReplayReturnsTheCurrentPost(t *testing.T) {
	n := open(t)
	first := n.Create(keyed("key", "Hello"))
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(first))
	n.Must(err)
	again, replayed, err := n.Publishing.Posts.CreatePost(t.Context(), n.Draft(keyed("key", "Hello")))
	if err != nil || !replayed || again.ID != first.ID || again.Status != post.Canceled {
		t.Errorf("%+v %v %v", again, replayed, err)
	}
}

func TestIdempotencyKey_BelongsToItsWorkspace(t *testing.T) {
	n := open(t)
	n.Create(keyed("key", "Hello"))
	other, owner, _ := n.Found("Rivals")
	p, replayed, err := n.Publishing.Posts.CreatePost(t.Context(), n.Draft(keyed("key", "Theirs"), func(d *post.NewPost) {
		d.Post.WorkspaceID, d.Post.UserID, d.AccountIDs = other.ID, owner, nil
	}))
	if err != nil || replayed || p.Content != "Theirs" {
		t.Errorf("%+v %v %v", p, replayed, err)
	}
}

func TestIdempotencyKey_FailedRequestKeepsItUnused(t *testing.T) {
	n := open(t)
	broken := n.Draft(keyed("key", "Hello"), func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{storetest.NewID()} })
	if _, _, err := n.Publishing.Posts.CreatePost(t.Context(), broken); err == nil {
		t.Fatal("a post to an account that does not exist was stored")
	}
	if _, replayed, err := n.Publishing.Posts.CreatePost(t.Context(), n.Draft(keyed("key", "Hello"))); err != nil || replayed {
		t.Errorf("%v %v", replayed, err)
	}
}

func TestIdempotencyKey_ExpiresAfterAWeek(t *testing.T) {
	n := open(t)
	n.Create(keyed("old", "Hello"))
	n.Exec("update idempotency_keys set created_at = now() - interval '8 days'")
	n.Create(keyed("new", "Hello"))
	n.Must(n.Publishing.Ledger.DeleteExpiredIdempotencyKeys(t.Context()))
	for key, want := range map[string]bool{"old": false, "new": true} {
		if _, found, err := n.Publishing.Posts.ReplayedPost(t.Context(), n.Workspace.ID,
			n.Draft(keyed(key, "Hello")).Idempotency); err != nil || found != want {
			t.Errorf("%s: %v %v", key, found, err)
		}
	}
}
