package delivery_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"dateline/internal/publishing/post"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// server is a network that stores posts and may lose responses.
type server struct {
	v     *virtual
	keyed bool // it supports idempotency keys
	lose  int  // number of calls whose response is lost after they are delivered
	drop  int  // and of those lost before
	posts []network.Receipt
	texts []string
	byKey map[string]network.Receipt
}

func (s *server) publish(n int, submission network.Submission) (network.Receipt, error) {
	if s.keyed {
		if r, ok := s.byKey[submission.Key]; ok {
			return r, nil
		}
	}
	if n > s.lose && n <= s.lose+s.drop {
		return network.Receipt{}, lost()
	}
	r := receipt(fmt.Sprint(100 + n))
	r.CreatedAt = time.Now()
	s.posts, s.texts = append(s.posts, r), append(s.texts, submission.Text)
	if s.byKey == nil {
		s.byKey = map[string]network.Receipt{}
	}
	s.byKey[submission.Key] = r
	if n <= s.lose {
		return network.Receipt{}, lost()
	}
	return r, nil
}

func (s *server) search(int, network.Window) (network.Finding, error) {
	searched := s.v.network.searched[len(s.v.network.searched)-1]
	search, comparer := matching.New(searched.window), matching.NewComparer(searched.Text)
	for i, p := range s.posts {
		search.Add(matching.Post{
			Receipt: p, Verdict: comparer.Compare(s.texts[i]), MediaCountEqual: true, ReplyTargetEqual: true,
		})
	}
	return search.Result(searched.window.From, true, network.Note{}), nil
}

// storeMethods returns the methods of the store that an attempt with lost
// responses calls.
func storeMethods() []string {
	return []string{
		"Post", "MediaByID", "PublishedSegments", "Claim", "RenewClaim", "TakeOver", "OpenCall", "LastEpoch",
		"CountUnresolvedSends", "UnresolvedSince", "SetCallState", "SimilarCalls", "RecordOutcome", "AddEvent",
	}
}

// Whichever call to the database fails or ends the process, each segment of a post is
// published exactly once, and the post ends as posted.
func TestPublish_EveryStoreFailure(t *testing.T) {
	for name, network := range map[string]func(v *virtual) *server{
		"Answered":       func(v *virtual) *server { return &server{v: v} },
		"LostAfter":      func(v *virtual) *server { return &server{v: v, lose: 1} },
		"LostBefore":     func(v *virtual) *server { return &server{v: v, drop: 1} },
		"LostAfterKeyed": func(v *virtual) *server { return &server{v: v, lose: 1, keyed: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range storeMethods() {
				for nth := range 4 {
					for _, dies := range []bool{false, true} {
						if dies && method == "RenewClaim" {
							continue // it also runs in the background, where a panic ends the tests
						}
						t.Run(fmt.Sprintf("%s/%d/%t", method, nth, dies), func(t *testing.T) {
							inVirtualTime(t, func(v *virtual) {
								s := network(v)
								v.network.publish, v.network.search = s.publish, s.search
								if s.keyed {
									v.network.limits.IdempotencyWindow = 3600
								}
								seen := 0
								v.store.before = func(called string) error {
									if called != method {
										return nil
									}
									seen++
									if seen != nth+1 {
										return nil
									}
									if dies {
										panic(errMemory)
									}
									return errMemory
								}
								got := v.finishAfterCrashes(v.add(thread(2)))
								if got.Status != post.TargetPosted ||
									!slices.Equal(s.texts, []string{text + " (1)", text + " (2)"}) {
									t.Errorf("got %s with %q at the network, want posted with both segments once",
										got.Status, s.texts)
								}
								// A failure is never mistaken for a result. Claims are
								// also renewed in the background.
								reported := slices.ContainsFunc(v.errs, func(err error) bool {
									return errors.Is(err, errMemory)
								})
								if failed := seen > nth && !dies; failed != reported && method != "RenewClaim" {
									t.Errorf("got errors %v, want the failure: %t", v.errs, failed)
								}
							})
						})
					}
				}
			}
		})
	}
}

// finishAfterCrashes is finish for attempts that may panic.
func (v *virtual) finishAfterCrashes(p *post.Post) (target post.Target) {
	v.t.Helper()
	for range 3 {
		if func() (crashed bool) {
			defer func() { crashed = recover() != nil }()
			target = v.finish(p)
			return false
		}() {
			continue
		}
		return target
	}
	v.t.Fatal("it crashed again and again")
	return target
}
