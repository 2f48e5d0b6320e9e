package publishing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// Fifty people and publishers act on one post concurrently, many times. Whichever wins,
// the responses remain true.
func TestClaim_RacesWithEditAndCancel(t *testing.T) {
	n := open(t)
	for round := range 12 {
		p := n.Create()
		var mu sync.Mutex
		texts := map[int64]string{p.Revision: p.Content} // acknowledged revisions
		var canceled, claims []int64
		var all sync.WaitGroup
		start := make(chan struct{})
		act := func(what func() error) {
			wait := time.Duration(rand.IntN(8_000)) * time.Microsecond
			all.Go(func() {
				<-start
				time.Sleep(wait)
				if err := what(); err != nil {
					t.Error(err)
				}
			})
		}
		for i := range 20 {
			act(func() error {
				text := fmt.Sprintf("round %d, edit %d", round, i)
				got, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
				if err != nil {
					return tooLate(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if got.Content != text || texts[got.Revision] != "" {
					return fmt.Errorf("edit %q returned %q, revision %d", text, got.Content, got.Revision)
				}
				texts[got.Revision] = text
				return nil
			})
		}
		for range 2 {
			act(func() error {
				got, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(p))
				if err != nil {
					return tooLate(err)
				}
				mu.Lock()
				defer mu.Unlock()
				canceled = append(canceled, got.Revision)
				return nil
			})
		}
		for range 28 {
			act(func() error {
				read, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), p.ID)
				if err != nil {
					return err
				}
				c, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(read, 0, 1), time.Minute)
				if err != nil {
					return err
				}
				if ok {
					mu.Lock()
					defer mu.Unlock()
					claims = append(claims, c.Revision)
				}
				return nil
			})
		}
		close(start)
		all.Wait()

		end, err := n.Publishing.Posts.Post(t.Context(), p.ID)
		n.Must(err)
		switch {
		case len(canceled)+len(claims) > 1:
			t.Fatalf("round %d: %d cancels and %d claims were acknowledged", round, len(canceled), len(claims))
		case len(canceled) == 1:
			if end.Status != post.Canceled || end.Revision != canceled[0] || end.Targets[0].Fence != 0 {
				t.Errorf("round %d: the cancel was acknowledged, and the post is %+v", round, end)
			}
		case len(claims) == 1:
			if end.Status != post.Publishing || end.Revision != claims[0] || end.Content != texts[claims[0]] {
				t.Errorf("round %d: revision %d was claimed, and the post is %+v", round, claims[0], end)
			}
		}
		for revision := range texts {
			if revision > end.Revision {
				t.Errorf("round %d: the edit of revision %d was acknowledged after the end at %d", round, revision,
					end.Revision)
			}
		}
		if end.Status != post.Canceled && end.Content != texts[end.Revision] {
			t.Errorf("round %d: the text %q is not the last one acknowledged, %q", round, end.Content,
				texts[end.Revision])
		}
	}
}

// tooLate accepts refusals: another request was first.
func tooLate(err error) error {
	var e *apperr.Error
	if errors.As(err, &e) && e.Code == "too_late" {
		return nil
	}
	return err
}
