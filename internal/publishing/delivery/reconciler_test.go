package delivery_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

func (v *virtual) wantTarget(p *post.Post, status post.TargetStatus, ledger ...string) post.Target {
	v.t.Helper()
	got := v.finish(p)
	if got.Status != status {
		v.t.Errorf("got %s (%s: %s), want %s", got.Status, got.ErrorCode, got.ErrorMessage, status)
	}
	if states := v.store.ledger(got.ID); !slices.Equal(states, ledger) {
		v.t.Errorf("got ledger %v, want %v", states, ledger)
	}
	return got
}

func TestReconciler_FoundPostIsNotSentAgain(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.publish = losing(1)
		v.network.search = func(n int, _ network.Window) (network.Finding, error) {
			return network.Finding{
				Found: n == 2, Conclusive: true, Receipt: receipt("42"),
				Evidence: message.One("listed", "Listed."),
			}, nil
		}
		p := v.add(nil)
		got := v.wantTarget(p, post.TargetPosted, post.CallReconciledOK)
		if got.RemoteID != "42" || got.RemoteURL != receipt("42").URL || !got.SentAt.Equal(v.now) {
			t.Errorf("got %+v, want the listed post, sent when it was due", got)
		}
		v.wantSent(0)
		v.wantSearched(time.Second, 6*time.Second)
		if len(v.errs) != 0 {
			t.Errorf("got errors %v, want one attempt", v.errs)
		}
		if got := v.store.timeline(p.Targets[0].ID); !slices.Equal(got,
			[]string{"sending", "ambiguous", "reconciled", "posted"}) {
			t.Errorf("got timeline %v", got)
		}
		if got := v.store.lastEvent(post.EventReconciled); got["found"] != true || got["evidence"] != "Listed." {
			t.Errorf("the timeline has %v, want that the post was found", got)
		}
	})
}

// Without a key, a post is sent again only after all searches, and only once.
func TestReconciler_AbsentPostIsSentOnceMore(t *testing.T) {
	looks := []time.Duration{time.Second, 6 * time.Second, 21 * time.Second, 81 * time.Second}
	t.Run("SecondSucceeds", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.publish = losing(1)
			p := v.add(nil)
			got := v.wantTarget(p, post.TargetPosted, post.CallReconciledAbsent, post.CallAccepted)
			v.wantSent(0, 81*time.Second)
			v.wantSearched(looks...)
			if len(v.pauses) != 0 || got.Attempts != 2 {
				t.Errorf("got %d attempts and pauses %v, want 2 in one process", got.Attempts, v.pauses)
			}
			if said := v.store.lastEvent(post.EventRetrying); said["code"] != "absent" {
				t.Errorf("the timeline has %v", said)
			}
			if got := v.store.lastEvent(post.EventReconciled); got["found"] != false {
				t.Errorf("the timeline has %v, want that it was not found", got)
			}
		})
	})
	t.Run("SecondLost", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.publish = losing(9)
			v.wantTarget(v.add(nil), post.TargetUncertain, post.CallReconciledAbsent, post.CallManual)
			v.wantSent(0, 81*time.Second)
		})
	})
	t.Run("Inconclusive", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.publish = losing(1)
			v.network.search = func(int, network.Window) (network.Finding, error) { return network.Finding{}, nil }
			v.wantTarget(v.add(nil), post.TargetUncertain, post.CallManual)
			v.wantSent(0)
			v.wantSearched(looks...)
		})
	})
	// Only the last search counts, because listings lag.
	t.Run("InconclusiveAtTheEnd", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.publish = losing(1)
			v.network.search = func(n int, _ network.Window) (network.Finding, error) {
				return network.Finding{Conclusive: n < 4}, nil
			}
			v.wantTarget(v.add(nil), post.TargetUncertain, post.CallManual)
			v.wantSent(0)
		})
	})
}

// A network with idempotency keys gets the same request again 20 s after the call if it
// still remembers the key then.
func TestReconciler_KeyedPostIsSentAgain(t *testing.T) {
	const margin = 600 // seconds before a key's expiry in which it is not relied on
	parentID := uuid.New()
	reply := func(p *post.Post) { p.ThreadParentID = &parentID }
	for name, row := range map[string]struct {
		limits  network.Limits
		failing bool // the limits cannot be read after the call
		change  func(p *post.Post)
		again   time.Duration
		status  post.TargetStatus
	}{
		"LongWindow": {network.Limits{IdempotencyWindow: 3600}, false, nil, 20 * time.Second, post.TargetPosted},
		"JustLongEnough": {
			network.Limits{IdempotencyWindow: margin + 22},
			false, nil, 20 * time.Second,
			post.TargetPosted,
		},
		"TooShort": {
			network.Limits{IdempotencyWindow: margin + 21},
			false, nil, 81 * time.Second,
			post.TargetPosted,
		},
		"WithinTheMargin": {
			network.Limits{IdempotencyWindow: margin - 1},
			false, nil, 81 * time.Second,
			post.TargetPosted,
		},
		"None": {network.Limits{}, false, nil, 81 * time.Second, post.TargetPosted},
		"Reply": {
			network.Limits{IdempotencyWindow: 3600},
			false, reply, 20 * time.Second,
			post.TargetPosted,
		},
		"ReplyOfPostsOnly": {
			network.Limits{IdempotencyWindow: 3600, IdempotentPostsOnly: true},
			false, reply,
			81 * time.Second, post.TargetPosted,
		},
		"PostOfPostsOnly": {
			network.Limits{IdempotencyWindow: 3600, IdempotentPostsOnly: true},
			false, nil,
			20 * time.Second, post.TargetPosted,
		},
		"LimitsUnknown": {network.Limits{IdempotencyWindow: 3600}, true, nil, 5 * time.Minute, post.TargetPosted},
		"FinishesLate": {
			network.Limits{FinishesWithin: 2 * time.Minute}, false, nil, 2 * time.Minute, post.TargetPosted,
		},
		"FinishesEarly": {
			network.Limits{FinishesWithin: time.Minute}, false, nil, 81 * time.Second, post.TargetPosted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.store.parents = map[uuid.UUID]parent{parentID: {post.TargetPosted, "41"}}
				v.network.limits = row.limits
				v.network.limitsErr = func() error {
					if row.failing && len(v.network.sent) == 1 && len(v.network.searched) == 0 {
						return lost()
					}
					return nil
				}
				v.network.publish = losing(1)
				p := v.add(row.change)
				v.wantTarget(p, row.status, post.CallReconciledAbsent, post.CallAccepted)
				v.wantSent(0, row.again)
				if a, b := v.network.sent[0].Key, v.network.sent[1].Key; a != b || a == "" {
					t.Errorf("got keys %q and %q, want the same", a, b)
				}
				want := "absent"
				if row.again == 20*time.Second {
					want = "not_shown"
				}
				if said := v.store.lastEvent(post.EventRetrying); said["code"] != want {
					t.Errorf("the timeline has %v, want %s", said, want)
				}
			})
		})
	}
}

// A later segment of a thread is a reply, for which some networks ignore the key.
func TestReconciler_SegmentIsNoKeyedPost(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.limits = network.Limits{IdempotencyWindow: 3600, IdempotentPostsOnly: true}
		v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
			if n == 2 {
				return network.Receipt{}, lost()
			}
			return receipt(string(rune('0' + n))), nil
		}
		v.wantTarget(v.add(thread(2)), post.TargetPosted, post.CallAccepted, post.CallReconciledAbsent,
			post.CallAccepted)
		v.wantSent(0, 0, 81*time.Second)
	})
}

// A network that still remembered the key would have returned the post before it found
// that the uploads are gone: the key has expired.
func TestReconciler_ExpiredUploadsEndTheKey(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.limits.IdempotencyWindow = 3600
		v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
			switch n {
			case 1:
				return network.Receipt{}, lost()
			case 2:
				return network.Receipt{}, &network.Error{Class: network.Transient, Code: network.CodeMediaExpired}
			}
			return receipt("3"), nil
		}
		v.network.search = func(_ int, _ network.Window) (network.Finding, error) { return network.Finding{}, nil }
		v.wantTarget(v.add(nil), post.TargetUncertain, post.CallReconciledAbsent, post.CallManual)
		v.wantSent(0, 20*time.Second)
	})
}

// A network that does not respond is searched for 15 minutes.
func TestReconciler_UnreachableNetworkIsSearchedLonger(t *testing.T) {
	failing := func(class network.Class, until int) func(int, network.Window) (network.Finding, error) {
		return func(n int, _ network.Window) (network.Finding, error) {
			if n <= until {
				return network.Finding{Found: true, Conclusive: true, Receipt: receipt("wrong")},
					&network.Error{Class: class, Message: "Down."}
			}
			return network.Finding{Found: true, Receipt: receipt("42")}, nil
		}
	}
	for name, row := range map[string]struct {
		class    network.Class
		until    int
		status   post.TargetStatus
		searches int
		last     time.Duration
	}{
		"Back":         {network.Transient, 6, post.TargetPosted, 7, 261 * time.Second},
		"NeverBack":    {network.Transient, 99, post.TargetUncertain, 18, 921 * time.Second},
		"NotSent":      {network.NotSent, 99, post.TargetUncertain, 18, 921 * time.Second},
		"Throttled":    {network.Throttled, 99, post.TargetUncertain, 18, 921 * time.Second},
		"Rejected":     {network.Rejected, 99, post.TargetUncertain, 4, 81 * time.Second},
		"Unauthorized": {network.Auth, 99, post.TargetUncertain, 4, 81 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.publish, v.network.search = losing(1), failing(row.class, row.until)
				got := v.finish(v.add(nil))
				searched := v.network.searched
				if got.Status != row.status || len(searched) != row.searches ||
					v.since(searched[len(searched)-1].at) != row.last {
					t.Errorf("got %s after %d searches, the last at %s, want %s after %d, the last at %s", got.Status,
						len(searched), v.since(searched[len(searched)-1].at), row.status, row.searches, row.last)
				}
				v.wantSent(0)
			})
		})
	}
}

// A network that is down for the key's whole lifetime is no reason to send again
// without the key.
func TestReconciler_UnreachableKeyedNetwork(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.limits.IdempotencyWindow = 610
		v.network.publish = losing(1)
		v.network.search = func(int, network.Window) (network.Finding, error) {
			return network.Finding{}, &network.Error{Class: network.Transient}
		}
		v.wantTarget(v.add(nil), post.TargetUncertain, post.CallManual)
		v.wantSent(0)
	})
}

// The network refuses a duplicate. The post that it names decides.
func TestReconciler_Duplicate(t *testing.T) {
	created := func(v *virtual, at time.Duration) *network.Receipt {
		r := receipt("42")
		r.CreatedAt = v.now.Add(at)
		return &r
	}
	for name, row := range map[string]struct {
		first    error
		existing func(v *virtual) *network.Receipt
		search   func(int, network.Window) (network.Finding, error)
		known    bool // another post of ours is 42
		status   post.TargetStatus
		ledger   []string
	}{
		"OfAnUnresolvedSend": {
			lost(), func(v *virtual) *network.Receipt { return created(v, 0) }, nil, false,
			post.TargetPosted,
			[]string{post.CallReconciledAbsent, post.CallReconciledOK},
		},
		"NetworkClockBehind": {
			lost(), func(v *virtual) *network.Receipt { return created(v, -2*time.Minute) }, nil,
			false, post.TargetPosted,
			[]string{post.CallReconciledAbsent, post.CallReconciledOK},
		},
		"WithoutATime": {
			lost(), func(*virtual) *network.Receipt { r := receipt("42"); return &r }, nil, false,
			post.TargetPosted,
			[]string{post.CallReconciledAbsent, post.CallReconciledOK},
		},
		"Older": {
			lost(), func(v *virtual) *network.Receipt { return created(v, -2*time.Minute-time.Second) },
			nil, false, post.TargetFailed,
			[]string{post.CallReconciledAbsent, post.CallFailed},
		},
		"OfAnotherPost": {
			lost(), func(v *virtual) *network.Receipt { return created(v, 0) }, nil, true,
			post.TargetFailed,
			[]string{post.CallReconciledAbsent, post.CallFailed},
		},
		"Unnamed": {
			lost(), func(*virtual) *network.Receipt { return nil },
			func(n int, _ network.Window) (network.Finding, error) {
				return network.Finding{Found: n > 4, Conclusive: true, Receipt: receipt("42")}, nil
			}, false, post.TargetPosted,
			[]string{post.CallReconciledAbsent, post.CallReconciledOK},
		},
		"AfterAFailure": {
			&network.Error{Class: network.Transient},
			func(v *virtual) *network.Receipt { return created(v, 0) }, nil, false, post.TargetFailed,
			[]string{post.CallFailed, post.CallFailed},
		},
		"OfTheFirstSend": {
			nil, func(v *virtual) *network.Receipt { return created(v, 0) }, nil, false,
			post.TargetFailed,
			[]string{post.CallFailed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.search = row.search
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if n == 1 && row.first != nil {
						return network.Receipt{}, row.first
					}
					return network.Receipt{}, &network.Error{
						Class: network.Duplicate, Code: "duplicate", Message: "You already said that.",
						Existing: row.existing(v),
					}
				}
				if row.known {
					v.store.remote = append(v.store.remote, remotePost{
						uuid.New(), post.PublishedSegment{RemoteID: "42", PostedAt: v.now},
					})
				}
				got := v.wantTarget(v.add(nil), row.status, row.ledger...)
				if row.status == post.TargetPosted && (got.RemoteID != "42" || !got.SentAt.Equal(v.now)) {
					t.Errorf("got post %q sent at %s, want 42 of the first send", got.RemoteID, v.since(*got.SentAt))
				}
				if said := v.store.lastEvent(post.EventReconciled); row.status == post.TargetPosted &&
					said["found"] != true {
					t.Errorf("the timeline has %v, want that the post was found", said)
				}
				if row.status == post.TargetFailed && got.ErrorClass != string(network.Duplicate) {
					t.Errorf("got class %q, want duplicate", got.ErrorClass)
				}
			})
		})
	}
}

// If the network names a post that another operation created long ago, it is not
// mistaken for this one; ids from more than a day before the send are ignored.
func TestReconciler_DuplicateNamesAnOldPost(t *testing.T) {
	for age, want := range map[time.Duration]post.TargetStatus{
		24*time.Hour - time.Minute: post.TargetFailed,
		25 * time.Hour:             post.TargetPosted,
	} {
		t.Run(age.String(), func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if n == 1 {
						return network.Receipt{}, lost()
					}
					existing := receipt("42")
					return network.Receipt{}, &network.Error{Class: network.Duplicate, Existing: &existing}
				}
				v.store.remote = append(v.store.remote, remotePost{
					uuid.New(), post.PublishedSegment{RemoteID: "42", PostedAt: v.now.Add(-age)},
				})
				if got := v.finish(v.add(nil)); got.Status != want {
					t.Errorf("got %s, want %s", got.Status, want)
				}
			})
		})
	}
}

// twin adds another call with the same content whose outcome is unknown.
func (v *virtual) twin(change func(c *storedCall)) func(p *post.Post) *storedCall {
	return func(*post.Post) *storedCall {
		own := v.store.calls[len(v.store.calls)-1]
		c := &storedCall{Call: own.Call, State: post.CallAmbiguous}
		c.OperationID, c.TargetID = uuid.New(), uuid.New()
		change(c)
		v.store.calls = append(v.store.calls, c)
		return c
	}
}

// Other unresolved sends on the account limit what a search may conclude.
func TestReconciler_WindowCountsTwins(t *testing.T) {
	var low, high uuid.UUID
	for i := range high {
		high[i] = 0xff
	}
	for name, row := range map[string]struct {
		change func(c *storedCall)
		window int // seconds that the network remembers keys
		want   network.Window
	}{
		"None":      {nil, 0, network.Window{Pending: 1}},
		"NoneKeyed": {nil, 3600, network.Window{Pending: 1}},
		"Earlier": {func(c *storedCall) { c.SentAt = c.SentAt.Add(-time.Minute) }, 0, network.Window{
			Pending: 2, Position: 1,
		}},
		"Later": {
			func(c *storedCall) { c.SentAt, c.OperationID = c.SentAt.Add(time.Minute), low }, 0,
			network.Window{Pending: 2},
		},
		"SameTimeLow":  {func(c *storedCall) { c.OperationID = low }, 0, network.Window{Pending: 2, Position: 1}},
		"SameTimeHigh": {func(c *storedCall) { c.OperationID = high }, 0, network.Window{Pending: 2}},
		"Keyed":        {func(*storedCall) {}, 3600, network.Window{Pending: 2, Unassignable: true}},
		"OtherPicture": {func(c *storedCall) { c.Fingerprint = []byte("other") }, 0, network.Window{
			Pending: 2, Unassignable: true,
		}},
		"Manual": {func(c *storedCall) { c.State = post.CallManual }, 0, network.Window{
			Pending: 2, Unassignable: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.limits.IdempotencyWindow = row.window
				from := v.now
				p := v.add(nil)
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if n == 1 && row.change != nil {
						other := v.twin(row.change)(p)
						if other.OperationID == low {
							other.OperationID[0] = 0 // lower than every UUIDv7
						}
						if other.SentAt.Before(from) {
							from = other.SentAt
						}
					}
					if n == 1 {
						return network.Receipt{}, lost()
					}
					return receipt("2"), nil
				}
				v.finish(p)
				got := v.network.searched[0].window
				if got.Pending != row.want.Pending ||
					(got.Position != row.want.Position && name != "Keyed" && row.want.Unassignable == false) ||
					got.Unassignable != row.want.Unassignable || !got.From.Equal(from.Add(-2*time.Minute)) {
					t.Errorf("got window %+v, want %+v from %s", got, row.want, from.Add(-2*time.Minute))
				}
			})
		})
	}
}

// A finding is not used while another send may explain it.
func TestReconciler_UnsettledFindingIsNotUsed(t *testing.T) {
	for name, row := range map[string]struct {
		similar int
		// change runs while the network lists its posts, and returns a function that
		// reverts it
		change func(v *virtual, n int)
		found  bool
		want   post.TargetStatus
	}{
		"TwinIsSending": {0, func(*virtual, int) {}, true, post.TargetUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				p := v.add(nil)
				v.network.publish = func(int, network.Submission) (network.Receipt, error) {
					v.twin(func(c *storedCall) { c.State = post.CallSending })(p)
					return network.Receipt{}, lost()
				}
				v.network.search = func(_ int, _ network.Window) (network.Finding, error) {
					return network.Finding{Found: row.found, Receipt: receipt("42"), Similar: row.similar}, nil
				}
				if got := v.finish(p); got.Status != row.want {
					t.Errorf("got %s, want %s", got.Status, row.want)
				}
				v.wantSent(0)
			})
		})
	}
	// The other call ends while the network lists its posts: the next search counts.
	t.Run("TwinChangesMeanwhile", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			p := v.add(nil)
			var other *storedCall
			v.network.publish = func(int, network.Submission) (network.Receipt, error) {
				other = v.twin(func(*storedCall) {})(p)
				return network.Receipt{}, lost()
			}
			v.network.search = func(n int, _ network.Window) (network.Finding, error) {
				if n == 1 {
					other.State = post.CallReconciledOK
					return network.Finding{Found: true, Receipt: receipt("of the other one")}, nil
				}
				return network.Finding{Found: true, Receipt: receipt("42")}, nil
			}
			if got := v.finish(p); got.RemoteID != "42" || len(v.network.searched) != 2 {
				t.Errorf("got %q after %d searches, want the finding of the second", got.RemoteID,
					len(v.network.searched))
			}
		})
	})
	// A post that matches may belong to another call that is in flight.
	for name, row := range map[string]struct {
		similar  int
		inFlight bool
		assigned bool // the post is assigned meanwhile
		want     post.TargetStatus
		searches int // at least; at most twice as many, because some waits are random
	}{
		"InFlight":         {1, true, false, post.TargetUncertain, 15},
		"InFlightUnlike":   {0, true, false, post.TargetPosted, 4},
		"Assigned":         {1, false, true, post.TargetPosted, 5},
		"AssignedUnlike":   {0, false, true, post.TargetPosted, 4},
		"NothingMeanwhile": {1, false, false, post.TargetPosted, 4},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				p := v.add(nil)
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if n > 1 {
						return receipt("2"), nil
					}
					if row.inFlight {
						v.twin(func(c *storedCall) { c.State, c.ContentKey = post.CallSending, []byte("different") })(p)
					}
					return network.Receipt{}, lost()
				}
				v.network.search = func(n int, _ network.Window) (network.Finding, error) {
					if n == 4 && row.assigned {
						v.store.remote = append(v.store.remote, remotePost{
							uuid.New(), post.PublishedSegment{RemoteID: "43", PostedAt: time.Now()},
						})
					}
					return network.Finding{Conclusive: true, Similar: row.similar}, nil
				}
				got := v.finish(p)
				limit := row.searches
				if row.inFlight && row.similar > 0 {
					limit *= 2
				}
				if n := len(v.network.searched); got.Status != row.want || n < row.searches || n > limit {
					t.Errorf("got %s after %d searches, want %s after %d to %d", got.Status, n, row.want, row.searches,
						limit)
				}
			})
		})
	}
}

// A worker that lost its claim while its response was lost changes nothing: the new
// holder knows more.
func TestReconciler_LostClaimIsStale(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(int, network.Submission) (network.Receipt, error) {
			p.Targets[0].Fence++
			return network.Receipt{}, lost()
		}
		result, err := v.once(p)
		if err != nil || !result.Stale || len(v.network.searched) != 0 {
			t.Errorf("got %+v, %v and %d searches, want stale without a search", result, err, len(v.network.searched))
		}
		if got := v.store.ledger(p.Targets[0].ID); !slices.Equal(got, []string{post.CallSending}) {
			t.Errorf("got ledger %v, want the call as it was", got)
		}
		if got := v.store.timeline(p.Targets[0].ID); !slices.Equal(got, []string{post.EventSending}) {
			t.Errorf("got timeline %v, want nothing new", got)
		}
	})
}

// A thread whose segment was found continues immediately.
func TestReconciler_FoundSegmentContinuesTheThread(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.publish = losing(1)
		v.network.search = func(int, network.Window) (network.Finding, error) {
			return network.Finding{Found: true, Receipt: receipt("42")}, nil
		}
		p := v.add(thread(2))
		_, err := v.once(p)
		var again *delivery.RetryError
		if !errors.As(err, &again) || again.Kind != delivery.RetryWaiting || again.Delay > time.Second {
			t.Errorf("got %v, want another attempt immediately", err)
		}
		v.wantTarget(p, post.TargetPosted, post.CallReconciledOK, post.CallAccepted)
		if got := v.network.sent[1].ReplyTo; got != "42" {
			t.Errorf("the second segment replies to %q, want 42", got)
		}
	})
}

// The claim is renewed for the duration of the search, so that no other worker searches
// and sends.
func TestReconciler_RenewsItsClaimWhileSearching(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.publish = losing(1)
		p := v.add(nil)
		v.network.search = func(int, network.Window) (network.Finding, error) {
			if until := p.Targets[0].ClaimedUntil; until == nil || !until.After(time.Now()) {
				t.Errorf("the claim ended at %v, before the search", until)
			}
			time.Sleep(time.Minute)
			return network.Finding{Conclusive: true}, nil
		}
		v.wantTarget(p, post.TargetPosted, post.CallReconciledAbsent, post.CallAccepted)
	})
}
