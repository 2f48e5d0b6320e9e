package delivery_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

// uncertain makes a segment's call end uncertain; made is whether the post exists at
// the network.
func (b *bench) uncertain(p post.Post, segment int, made bool) post.Post {
	b.t.Helper()
	kind := fake.ResetBefore
	if made {
		kind = fake.ActThenReset
		b.fault(fake.Fault{Kind: fake.Hide, For: longerThanAllLooks, Nth: segment + 1})
	}
	b.fault(fake.Fault{Kind: kind, Nth: segment + 1, Count: 2})
	b.publish(b.publisher(), input(p))
	live := segment
	if made {
		live++
	}
	b.prove(p.ID, b.account, post.TargetUncertain, live)
	return b.read(p.ID)
}

func TestDecide_Refused(t *testing.T) {
	b := newBench(t, fake.Options{})
	first := b.schedule(nil)
	for what, status := range map[string]post.TargetStatus{
		"Scheduled": post.TargetScheduled,
		"Posted":    post.TargetPosted,
	} {
		if status == post.TargetPosted {
			b.publish(b.publisher(), input(first))
		}
		_, err := b.scheduler.Confirm(t.Context(), b.guard(first), first.Targets[0].ID,
			"https://social.example/@desk/1", "")
		if got := b.refusal(err); got != "not_uncertain" {
			t.Errorf("%s: %q", what, got)
		}
	}
	b.publish(b.publisher(), input(first))
	taken := b.published()[0].URL
	second := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.ResetBefore, Count: -1})
	b.publish(b.publisher(), input(second))
	before := b.timeline(second.ID)
	if _, err := b.scheduler.Confirm(t.Context(), b.guard(second), second.Targets[0].ID, taken,
		""); b.refusal(err) != "taken" {
		t.Errorf("another post's URL: got %v", err)
	}
	if now := b.read(second.ID); now.Targets[0].Status != post.TargetUncertain ||
		now.Version != b.read(second.ID).Version || !slices.Equal(before, b.timeline(second.ID)) {
		t.Errorf("the refusal changed the target: %+v", now)
	}
	_, err := b.scheduler.Discard(t.Context(), b.guard(second), nil)
	b.must(err)
	if now := b.read(second.ID); now.Status != post.Canceled {
		t.Errorf("after it was discarded: got %s", now.Status)
	}
}

// Of concurrent decisions, one is accepted.
func TestDecide_Concurrent(t *testing.T) {
	t.Parallel()
	words := "Corrected"
	type act func(b *bench, p post.Post) error
	retry := func(b *bench, p post.Post) error {
		_, err := b.scheduler.Retry(b.t.Context(), b.guard(p), nil)
		return err
	}
	discard := func(b *bench, p post.Post) error {
		_, err := b.scheduler.Discard(b.t.Context(), b.guard(p), nil)
		return err
	}
	edit := func(b *bench, p post.Post) error {
		g := b.guard(p)
		g.IfVersion = p.Version
		_, err := b.scheduler.Edit(b.t.Context(), g, scheduling.Edit{Content: &words})
		return err
	}
	again := func(b *bench, p post.Post) error {
		_, err := b.scheduler.Resend(b.t.Context(), b.guard(p), p.Targets[0].ID)
		return err
	}
	confirm := func(b *bench, p post.Post) error {
		_, err := b.scheduler.Confirm(b.t.Context(), b.guard(p), p.Targets[0].ID, b.fake.URL()+"/@desk/12345", "")
		return err
	}
	for _, row := range []struct {
		name  string
		fault fake.Fault
		acts  []act
	}{
		{"Failed", fake.Fault{Kind: fake.Status, Status: 422, Count: 1}, []act{
			retry, discard, edit, retry, discard, edit,
		}},
		{"Uncertain", fake.Fault{Kind: fake.ResetBefore, Count: 2}, []act{
			again, confirm, discard, again, confirm, discard, retry, edit,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			for range 8 {
				b.fake.ClearFaults()
				p := b.schedule(nil)
				b.fault(row.fault)
				b.publish(b.publisher(), input(p))
				p = b.read(p.ID)
				var all sync.WaitGroup
				var mu sync.Mutex
				won := 0
				for _, do := range row.acts {
					all.Go(func() {
						if err := do(b, p); b.refusal(err) == "" {
							mu.Lock()
							won++
							mu.Unlock()
						}
					})
				}
				all.Wait()
				if won != 1 {
					t.Errorf("%d decisions were accepted: %v", won, b.timeline(p.ID))
				}
				now := b.read(p.ID)
				if now.Status == post.Publishing || now.Status == post.Scheduled {
					b.publish(b.publisher(), input(now))
				}
				if now = b.read(p.ID); now.Status != post.Posted && now.Status != post.Canceled {
					t.Errorf("it ended %s", now.Status)
				}
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		segments int
		segment  int
		exists   bool
	}{
		{"ItExists", 1, 0, true},
		{"TheFirstExists", 3, 0, true},
		{"TheMiddleExists", 3, 1, true},
		{"TheLastExists", 3, 2, true},
		{"ItDoesNot", 1, 0, false},
		{"TheMiddleDoesNot", 3, 1, false},
		{"TheLastDoesNot", 3, 2, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.uncertain(b.schedule(thread(row.segments)), row.segment, row.exists)
			target := p.Targets[0].ID
			for what, act := range map[string]func() error{
				"retry": func() error { _, err := b.scheduler.Retry(t.Context(), b.guard(p), nil); return err },
				"edit": func() error {
					s := "x"
					_, err := b.scheduler.Edit(t.Context(), b.guard(p), scheduling.Edit{Content: &s})
					return err
				},
				"cancel": func() error { _, err := b.scheduler.Cancel(t.Context(), b.guard(p)); return err },
			} {
				if b.refusal(act()) == "" {
					t.Errorf("%s of an uncertain target was not refused", what)
				}
			}
			var err error
			if row.exists {
				_, err = b.scheduler.Confirm(t.Context(), b.guard(p), target, b.published()[row.segment].URL, "")
			} else {
				_, err = b.scheduler.Resend(t.Context(), b.guard(p), target)
			}
			b.must(err)
			last := row.exists && row.segment+1 == row.segments
			if now := b.read(p.ID); (now.Status == post.Posted) != last {
				t.Errorf("the post is %s", now.Status)
			}
			_, err = b.scheduler.Resend(t.Context(), b.guard(p), target)
			if got := b.refusal(err); got != "not_uncertain" {
				t.Errorf("deciding twice: got %q", got)
			}
			b.publish(b.publisher(), input(p))
			b.prove(p.ID, b.account, post.TargetPosted, row.segments)
			if now := b.read(p.ID); now.Status != post.Posted {
				t.Errorf("the post is %s", now.Status)
			}
		})
	}
}

// Sends under one key whose responses are all lost may have created the post, even if
// no listing shows it. It must not count as failed, because then it could be edited and
// sent again.
func TestPublish_NoResponseUnderItsKey(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"TriesRunOut": 0, "TooLate": time.Minute} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Settled = 30 * time.Millisecond
			p := b.schedule(withLimit(limit-limit/6, limit))
			b.fault(fake.Fault{Kind: fake.Hide, For: longerThanAllLooks})
			b.fault(fake.Fault{Kind: fake.ActThenReset, Count: -1})
			if limit > 0 {
				b.timing.Backoff = 20 * time.Second // ends immediately
			}
			b.publish(b.publisher(), input(p))
			b.prove(p.ID, b.account, post.TargetUncertain, 1)
			_, err := b.scheduler.Confirm(t.Context(), b.guard(p), p.Targets[0].ID, b.published()[0].URL, "")
			b.must(err)
			b.prove(p.ID, b.account, post.TargetPosted, 1)
		})
	}
}
