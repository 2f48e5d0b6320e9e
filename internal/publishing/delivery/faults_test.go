package delivery_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestPublish_Once(t *testing.T) {
	b := newBench(t, fake.Options{})
	due := time.Now().Add(700 * time.Millisecond).UTC()
	p := b.schedule(func(p *post.Post) { p.ScheduledTime, p.Language = due, "en" })
	result, pauses := b.publish(b.publisher(), input(p))
	if result.Status != post.TargetPosted || len(pauses) != 0 {
		t.Errorf("result %+v, pauses %v", result, pauses)
	}
	done := b.check(p, want{
		status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"},
		timeline: []string{"created", "sending", "posted", "status"},
	})
	if done.Status != post.Posted || done.PostedAt == nil || b.live.n == 0 {
		t.Errorf("the post is %s at %v, %d notices", done.Status, done.PostedAt, b.live.n)
	}
	if early := due.Sub(b.published()[0].ReceivedAt); early > 5*time.Millisecond {
		t.Errorf("received %s before its time", early)
	}
	// Temporal may run the activity again if its completion is lost.
	result, _ = b.publish(b.publisher(), input(p))
	if result.Status != post.TargetPosted || len(b.published()) != 1 {
		t.Errorf("run again: %+v, %d posts", result, len(b.published()))
	}
}

// Every fault must end with exactly one post at the network.
func TestPublish_Faults(t *testing.T) {
	t.Parallel()
	reconciled := []string{"created", "sending", "ambiguous", "reconciled", "posted", "status"}
	resent := []string{"created", "sending", "ambiguous", "reconciled", "retrying", "sending", "posted", "status"}
	for _, row := range []struct {
		name  string
		fault fake.Fault
		want  want
	}{
		{"ResetBefore", fake.Fault{Kind: fake.ResetBefore}, want{
			attempts: 2, ledger: []string{"1:reconciled_absent", "2:accepted"}, timeline: resent,
		}},
		{"Status502", fake.Fault{Kind: fake.Status, Status: 502, Body: "<html>"}, want{
			attempts: 2, ledger: []string{"1:reconciled_absent", "2:accepted"}, timeline: resent,
		}},
		{"ActThenReset", fake.Fault{Kind: fake.ActThenReset}, want{
			attempts: 1, ledger: []string{"1:reconciled_ok"}, timeline: reconciled,
		}},
		{"ActThen500", fake.Fault{Kind: fake.ActThen500}, want{
			attempts: 1, ledger: []string{"1:reconciled_ok"}, timeline: reconciled,
		}},
		{"ActThenHang", fake.Fault{Kind: fake.ActThenHang}, want{
			attempts: 1, ledger: []string{"1:reconciled_ok"}, timeline: reconciled,
		}},
		{"Malformed2xx", fake.Fault{Kind: fake.Malformed2xx}, want{
			attempts: 1, ledger: []string{"1:reconciled_ok"}, timeline: reconciled,
		}},
		{"Latency", fake.Fault{Kind: fake.Latency, For: 300 * time.Millisecond}, want{
			attempts: 1, ledger: []string{"1:accepted"},
		}},
		{"ClockBehind", fake.Fault{Kind: fake.ClockSkew, For: -time.Minute}, want{
			attempts: 1, ledger: []string{"1:accepted"},
		}},
		{
			"MediaNotReady",
			fake.Fault{
				Kind: fake.Status, Status: 422,
				Body: `{"error":"Cannot attach files that have not finished processing. Try again in a moment!"}`,
			},
			want{attempts: 2, ledger: []string{"1:definite_failure", "2:accepted"}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(nil)
			b.fault(row.fault)
			b.publish(b.publisher(), input(p))
			row.want.status, row.want.posts = post.TargetPosted, 1
			b.check(p, row.want)
		})
	}
}

func TestPublish_RefusedConnection(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	publisher := b.publisher()
	var accept func() error
	// The network refuses connections from before the claim. It closes open ones, but the
	// client may use one before it notices, and then cannot say that nothing was sent.
	publisher.Store = &troubled{Store: b.store.Delivery(), beforeClaim: func() {
		var err error
		accept, err = b.fake.Refuse(0)
		b.must(err)
		b.client.CloseIdleConnections()
	}}
	publisher.Networks = changedNetwork{b.network(), func(n network.Network, ctx context.Context, a network.Account,
		s network.Submission,
	) (network.Receipt, error) {
		receipt, err := n.Publish(ctx, a, s)
		b.must(accept())
		return receipt, err
	}}
	b.publish(publisher, input(p))
	done := b.check(p, want{
		status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{
			"1:definite_failure", "2:accepted",
		},
		timeline: []string{"created", "sending", "retrying", "sending", "posted", "status"},
	})
	if done.RetryCount != 1 {
		t.Errorf("%d retries are counted", done.RetryCount)
	}
}

func TestPublish_Throttled(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	// More often than a post has attempts: throttling uses none.
	b.fault(fake.Fault{
		Kind: fake.Status, Status: http.StatusTooManyRequests, Count: 6,
		Header: map[string]string{"Retry-After": "0", "X-RateLimit-Reset": "2026-01-01T00:00:00Z"},
	})
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1})
}

func TestPublish_ThrottledUntil(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, For: 3 * time.Second})
	began := time.Now()
	_, pauses := b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{
		"1:definite_failure", "2:accepted",
	}})
	// Resets have whole seconds. The pause was long enough if the second call was
	// accepted.
	if len(pauses) != 1 || pauses[0] > 4*time.Second || time.Since(began) < 3*time.Second {
		t.Errorf("got pauses %v and %s in all, want one until the reset after 3 s", pauses, time.Since(began))
	}
	if lastEvent(t, b, p, post.EventRetrying)["retry_at"] == nil {
		t.Error("the timeline lacks the time of the next attempt")
	}
}

func TestPublish_TokenRefused(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.TokenExpired})
	_, pauses := b.publish(b.publisher(), input(p))
	b.check(p, want{
		status: post.TargetFailed, attempts: 1, class: "auth", ledger: []string{"1:definite_failure"},
		timeline: []string{"created", "sending", "failed", "status"},
	})
	after, err := b.store.Publishing.Accounts.Account(t.Context(), b.account.ID)
	if err != nil || after.Status != account.NeedsReconnect || len(pauses) != 0 {
		t.Errorf("the account is %s, error %v, pauses %v", after.Status, err, pauses)
	}
}

func TestPublish_Rejected(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Body: `{"error":"Validation failed: no ` + text + `"}`})
	_, pauses := b.publish(b.publisher(), input(p))
	done := b.check(p, want{
		status: post.TargetFailed, attempts: 1, class: "rejected", ledger: []string{"1:definite_failure"},
	})
	if len(pauses) != 0 || done.Status != post.Failed {
		t.Errorf("paused %v, the post is %s", pauses, done.Status)
	}
}

// The network's error must not reach Temporal: it may quote the post.
func TestPublish_ErrorsAreDiscreet(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{
		Kind: fake.Status, Status: http.StatusTooManyRequests, Header: map[string]string{
			"Retry-After": "0", "X-RateLimit-Reset": "2026-01-01T00:00:00Z",
		},
		Body: `{"error":"Slow down, ` + b.token + `, with ` + text + `"}`,
	})
	_, pauses := b.publish(b.publisher(), input(p))
	if len(pauses) != 1 || len(b.errors) != 1 {
		t.Fatalf("paused %v, errors %v", pauses, b.errors)
	}
	b.wantDiscreet()
}

func TestPublish_ContentNoLongerAllowed(t *testing.T) {
	b := newBench(t, fake.Options{MaxCharacters: 10})
	p := b.schedule(nil)
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetFailed, attempts: 1, class: "rejected", ledger: []string{}})
}

func TestPublish_TriesRunOut(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{
		Kind: fake.Status, Status: 422, Count: -1,
		Body: `{"error":"Cannot attach files that have not finished processing. Try again in a moment!"}`,
	})
	_, pauses := b.publish(b.publisher(), input(p))
	done := b.check(p, want{status: post.TargetFailed, attempts: 5, class: "transient"})
	if len(pauses) != 4 || !slices.IsSorted(pauses) || done.Status != post.Failed ||
		len(b.ledger(p.Targets[0].ID)) != 5 {
		t.Errorf("paused %v, the post is %s, ledger %v", pauses, done.Status, b.ledger(p.Targets[0].ID))
	}
}

// After two lost responses a person decides; nothing is sent again.
func TestPublish_Uncertain(t *testing.T) {
	t.Parallel()
	t.Run("LostTwice", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(nil)
		b.fault(fake.Fault{Kind: fake.ResetBefore, Count: -1})
		b.publish(b.publisher(), input(p))
		done := b.check(p, want{
			status: post.TargetUncertain, attempts: 2, class: "ambiguous", ledger: []string{
				"1:reconciled_absent", "2:manual",
			},
		})
		if done.Status != post.Publishing {
			t.Errorf("the post is %s", done.Status)
		}
		result, _ := b.publish(b.publisher(), input(p))
		if result.Status != post.TargetUncertain || len(b.ledger(p.Targets[0].ID)) != 2 {
			t.Errorf("run again: %+v", result)
		}
	})
	t.Run("CannotAsk", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		b.timing.Unanswered = time.Second
		p := b.schedule(nil)
		b.fault(fake.Fault{Kind: fake.ActThenReset})
		b.fault(fake.Fault{
			Kind: fake.Status, Status: 503, Count: -1, Method: http.MethodGet,
			Path: "/api/v1/accounts/",
		})
		b.publish(b.publisher(), input(p))
		b.check(p, want{status: post.TargetUncertain, posts: 1, attempts: 1, class: "ambiguous", ledger: []string{
			"1:manual",
		}})
	})
}

// A throttled call is not ambiguous: a lost response after it is the first.
func TestPublish_ThrottledThenLost(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{
		Kind: fake.Status, Status: http.StatusTooManyRequests, Count: 2,
		Header: map[string]string{"Retry-After": "0", "X-RateLimit-Reset": "2026-01-01T00:00:00Z"},
	})
	b.fault(fake.Fault{Kind: fake.ResetBefore, Nth: 3})
	b.publish(b.publisher(), input(p))
	b.check(p, want{
		status: post.TargetPosted, posts: 1, attempts: 2,
		ledger: []string{"1:definite_failure", "2:definite_failure", "3:reconciled_absent", "4:accepted"},
	})
}

// A network that is down for a while must not make posts uncertain.
func TestPublish_FoundWhenTheNetworkIsBack(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.ActThenReset})
	b.fault(fake.Fault{Kind: fake.Status, Status: 503, Count: 7, Method: http.MethodGet, Path: "/api/v1/accounts/"})
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"}})
}

func TestPublish_HiddenListing(t *testing.T) {
	t.Parallel()
	t.Run("AppearsInTime", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(nil)
		b.fault(fake.Fault{Kind: fake.Hide, For: 150 * time.Millisecond})
		b.fault(fake.Fault{Kind: fake.ActThenReset})
		b.publish(b.publisher(), input(p))
		b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"}})
	})
	// The post was considered absent and sent again: by the key, the network returns
	// the first one.
	t.Run("AppearsTooLate", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(nil)
		b.fault(fake.Fault{Kind: fake.Hide, For: time.Minute})
		b.fault(fake.Fault{Kind: fake.ActThenReset})
		b.publish(b.publisher(), input(p))
		b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, repeats: 1, ledger: []string{
			"1:reconciled_absent", "2:accepted",
		}})
	})
}

// Two posts with the same text are two posts, also when both responses are lost.
func TestPublish_SameWordsTwice(t *testing.T) {
	b := newBench(t, fake.Options{})
	first, second := b.schedule(nil), b.schedule(nil)
	b.publish(b.publisher(), input(first))
	b.fault(fake.Fault{Kind: fake.ActThenReset})
	b.publish(b.publisher(), input(second))
	one, two := b.read(first.ID).Targets[0], b.read(second.ID).Targets[0]
	if one.Status != post.TargetPosted || two.Status != post.TargetPosted || one.RemoteID == two.RemoteID ||
		len(b.published()) != 2 {
		t.Errorf("%+v\n%+v\n%d posts", one, two, len(b.published()))
	}
}
