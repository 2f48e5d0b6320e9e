package publishing_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// An author edits an approved post, or an editor undoes the approval, while publishers claim it. Either that is too
// late, or no claim succeeds.
func TestApproval_PendingPostIsNeverClaimed(t *testing.T) {
	n := open(t)
	text := "Not approved"
	for name, unschedule := range map[string]func(p post.Post) (post.Post, error){
		"edited by an author": func(p post.Post) (post.Post, error) {
			return n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text, NeedsApproval: true}, nil)
		},
		"approval undone": func(p post.Post) (post.Post, error) {
			return n.Publishing.Posts.Reopen(t.Context(), n.Guard(p))
		},
	} {
		t.Run(name, func(t *testing.T) { neverClaimed(t, n, unschedule) })
	}
}

func neverClaimed(t *testing.T, n *newsroom, unschedule func(p post.Post) (post.Post, error)) {
	edits, claims := 0, 0
	for round := range 40 {
		p := n.Create()
		n.Exec("update scheduled_posts set approval = 'approved' where post_id = $1", p.ID)
		var edited, claimed bool
		var mu sync.Mutex
		var all sync.WaitGroup
		start := make(chan struct{})
		act := func(what func() error) {
			wait := time.Duration(rand.IntN(3_000)) * time.Microsecond
			all.Go(func() {
				<-start
				time.Sleep(wait)
				if err := what(); err != nil {
					t.Error(err)
				}
			})
		}
		act(func() error {
			got, err := unschedule(p)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				edited = got.IsPendingApproval()
			}
			return tooLate(err)
		})
		for range 4 {
			act(func() error {
				read, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), p.ID)
				if err != nil {
					return err
				}
				_, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(read, 0, 1), time.Minute)
				mu.Lock()
				defer mu.Unlock()
				claimed = claimed || ok
				return err
			})
		}
		close(start)
		all.Wait()
		end, err := n.Publishing.Posts.Post(t.Context(), p.ID)
		n.Must(err)
		if edited == claimed || edited != end.IsPendingApproval() ||
			claimed != (end.Status == post.Publishing && end.Content == "Hello") {
			t.Fatalf("round %d: edited %v, claimed %v, and the post is %+v", round, edited, claimed, end)
		}
		if edited {
			edits++
		} else {
			claims++
		}
	}
	t.Logf("%d changes and %d claims won", edits, claims)
}

// The constraints are the last line of defense: no statement schedules an unapproved
// post.
func TestApproval_ConstraintsKeepPendingPostsUnscheduled(t *testing.T) {
	n := open(t)
	p := n.Create(func(d *post.NewPost) { d.Post.Status, d.Post.Approval.State = post.Draft, post.ApprovalPending })
	for _, status := range []string{"scheduled", "publishing", "posted"} {
		tx := n.Begin()
		if _, err := tx.Exec(t.Context(), "update scheduled_posts set status = $1::post_status where post_id = $2",
			status, p.ID); err == nil {
			t.Errorf("a pending post became %s", status)
		}
		_ = tx.Rollback(t.Context())
	}
}
