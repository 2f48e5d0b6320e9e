package delivery_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// fate is a fault of a publishing call and the expected result.
type fate struct {
	name   string
	faults []fake.Fault      // of the call that publishes the segment, unless they name another path
	refuse bool              // no connection when the segment is claimed
	file   bool              // the segment has an attachment
	status post.TargetStatus // of the target; empty: posted
	class  string            // of its error
	states []string          // of the segment's calls, in order
	made   bool              // it exists but is not found
	calls  int               // number of times that the network responded with the segment; 0: one
}

const longerThanAllLooks = time.Minute

func fates() []fate {
	accepted, found := []string{post.CallAccepted}, []string{post.CallReconciledOK}
	resent, again := []string{post.CallReconciledAbsent, post.CallAccepted}, []string{
		post.CallFailed, post.CallAccepted,
	}
	return []fate{
		{name: "ActThenReset", faults: []fake.Fault{{Kind: fake.ActThenReset}}, states: found},
		{name: "ActThen500", faults: []fake.Fault{{Kind: fake.ActThen500}}, states: found},
		{name: "ActThenHang", faults: []fake.Fault{{Kind: fake.ActThenHang}}, states: found},
		{name: "Malformed2xx", faults: []fake.Fault{{Kind: fake.Malformed2xx}}, states: found},
		{name: "ResetBefore", faults: []fake.Fault{{Kind: fake.ResetBefore}}, states: resent},
		{name: "Status503", faults: []fake.Fault{{Kind: fake.Status, Status: 503}}, states: resent},
		{name: "Refused", refuse: true},
		{name: "Throttled", faults: []fake.Fault{{Kind: fake.Status, Status: 429, For: time.Second}}, states: again},
		{
			name: "NotReadyYet", faults: []fake.Fault{{Kind: fake.Status, Status: 422, Body: notReadyBody}},
			states: again,
		},
		{
			name: "TokenRefused", faults: []fake.Fault{{Kind: fake.TokenExpired, Count: -1}},
			status: post.TargetFailed, class: "auth", states: []string{post.CallFailed},
		},
		{
			name: "Rejected", faults: []fake.Fault{{Kind: fake.Status, Status: 422}},
			status: post.TargetFailed, class: "rejected", states: []string{post.CallFailed},
		},
		{
			name: "HiddenForLonger", faults: []fake.Fault{
				{Kind: fake.Hide, For: longerThanAllLooks},
				{Kind: fake.ActThenReset},
			}, states: resent, calls: 2,
		},
		{
			name: "HiddenAndAlwaysLost", faults: []fake.Fault{
				{Kind: fake.Hide, For: longerThanAllLooks}, {Kind: fake.ActThenReset, Count: -1},
			},
			status: post.TargetUncertain, class: "ambiguous",
			states: []string{post.CallReconciledAbsent, post.CallManual}, made: true, calls: 2,
		},
		{
			name: "AlwaysReset", faults: []fake.Fault{{Kind: fake.ResetBefore, Count: -1}},
			status: post.TargetUncertain, class: "ambiguous", states: []string{
				post.CallReconciledAbsent, post.CallManual,
			},
		},
		{
			name: "CannotBeAsked", faults: []fake.Fault{
				{Kind: fake.ActThenReset}, {
					Kind: fake.Status, Status: 503, Count: -1, Method: http.MethodGet, Path: "/api/v1/accounts/",
				},
			},
			status: post.TargetUncertain, class: "ambiguous", states: []string{post.CallManual}, made: true,
		},
		{name: "Latency", faults: []fake.Fault{{Kind: fake.Latency, For: 300 * time.Millisecond}}, states: accepted},
		{
			name: "ClockAhead", faults: []fake.Fault{{
				Kind: fake.ClockSkew, For: 10 * time.Minute, Count: -1,
				Path: "/api/",
			}, {Kind: fake.ActThenReset}}, states: found,
		},
		{
			name: "ClockBehind", faults: []fake.Fault{{
				Kind: fake.ClockSkew, For: -10 * time.Minute, Count: -1,
				Path: "/api/",
			}, {Kind: fake.ActThenReset}}, states: found,
		},
		{
			name: "SlowUpload", file: true,
			faults: []fake.Fault{{
				Kind: fake.SlowUpload, For: 500 * time.Millisecond, Method: http.MethodPost,
				Path: "/api/v2/media",
			}}, states: accepted,
		},
		{
			name: "UploadLost", file: true,
			faults: []fake.Fault{{Kind: fake.ActThenReset, Method: http.MethodPost, Path: "/api/v2/media"}},
			states: accepted,
		},
		{name: "LostWithAFile", file: true, faults: []fake.Fault{{Kind: fake.ActThenReset}}, states: found},
		{name: "AbsentWithAFile", file: true, faults: []fake.Fault{{Kind: fake.ResetBefore}}, states: resent},
		{name: "HiddenWithAFile", file: true, faults: []fake.Fault{
			{Kind: fake.Hide, For: longerThanAllLooks},
			{Kind: fake.ActThen500},
		}, states: resent, calls: 2},
	}
}

// Every fault at every possible call: whatever responses are lost, each segment exists
// once if the network allows to find out, and other targets are not affected.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	for _, f := range fates() {
		t.Run(f.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Unanswered = 600 * time.Millisecond
			places := []struct {
				name     string
				segments int
				hit      int
				accounts []account.Account
			}{
				{name: "single", segments: 1},
				{name: "first", segments: 3},
				{name: "middle", segments: 3, hit: 1},
				{name: "last", segments: 3, hit: 2},
				{name: "beside", segments: 1},
			}
			for i, at := range places {
				places[i].accounts = []account.Account{b.connect(at.name)}
			}
			places[4].accounts = append(places[4].accounts, b.connect("untroubled"))
			var all sync.WaitGroup
			for _, at := range places {
				all.Go(func() { f.applyTo(b, at.segments, at.hit, at.name, at.accounts) })
			}
			all.Wait()
			b.wantDiscreet()
		})
	}
}

// applyTo applies the fault to a segment of a post on the first account.
func (f fate) applyTo(b *bench, segments, hit int, name string, accounts []account.Account) {
	for _, fault := range f.faults {
		fault.Account = name
		if fault.Path == "" {
			fault.Method, fault.Path, fault.Nth = http.MethodPost, createPath, hit+1
		}
		b.must(b.fake.Inject(fault))
	}
	write := thread(segments)
	picture := b.upload(uint8(hit)) //nolint:gosec // 0 to 2
	p := b.schedule(func(p *post.Post) {
		write(p)
		switch {
		case f.file && hit == 0:
			b.withMedia(picture)(p)
		case f.file:
			p.Thread[hit-1].AttachmentIDs = append(p.Thread[hit-1].AttachmentIDs, picture.ID)
		}
	}, idsOf(accounts)...)
	var both sync.WaitGroup
	for i, a := range accounts {
		publisher := b.publisher()
		if f.refuse && i == 0 {
			publisher.Store = &refused{Store: b.store.Delivery(), bench: b, segment: hit}
		}
		both.Go(func() { b.publish(publisher, inputOn(p, a)) })
	}
	both.Wait()
	status, live := f.status, segments
	if status == "" {
		status = post.TargetPosted
	}
	if status != post.TargetPosted {
		live = hit
		if f.made {
			live++
		}
	}
	target := b.prove(p.ID, accounts[0], status, live)
	if target.ErrorClass != f.class {
		b.t.Errorf("%s: the error is %q, want %q", name, target.ErrorClass, f.class)
	}
	ledger := b.entries(target.ID)
	if got := states(ledger, hit); f.states != nil && !slices.Equal(got, f.states) {
		b.t.Errorf("%s: the calls ended %v, want %v", name, got, f.states)
	}
	for i, there := range b.living(accounts[0]) {
		want := 1
		if i == hit {
			want = max(f.calls, 1)
		}
		if there.Requests != want {
			b.t.Errorf("%s: got %d calls for segment %d, want %d", name, there.Requests, i, want)
		}
	}
	for i := range segments {
		want := []string{post.CallAccepted}
		if i > hit && status != post.TargetPosted {
			want = []string{}
		}
		if got := states(ledger, i); i != hit && !f.refuse && !slices.Equal(got, want) {
			b.t.Errorf("%s: the calls of segment %d ended %v, want %v", name, i, got, want)
		}
	}
	for _, other := range accounts[1:] {
		b.prove(p.ID, other, post.TargetPosted, segments)
	}
	if after, err := b.store.Publishing.Accounts.Account(b.t.Context(), accounts[0].ID); err != nil ||
		(after.Status == account.NeedsReconnect) != (f.class == "auth") {
		b.t.Errorf("%s: the account is %s, error %v", name, after.Status, err)
	}
}

// refused makes the network refuse connections when a segment is about to be
// claimed.
type refused struct {
	delivery.Store
	bench   *bench
	segment int
	once    sync.Once
}

func (s *refused) Claim(ctx context.Context, c post.Call, lease time.Duration) (post.Call, bool, error) {
	if c.Segment == s.segment {
		s.once.Do(func() {
			s.bench.must(s.bench.fake.Inject(fake.Fault{Kind: fake.Refuse, For: 20 * time.Millisecond}))
		})
	}
	return s.Store.Claim(ctx, c, lease)
}
