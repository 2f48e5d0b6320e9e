package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// mortal is a store whose process is killed at a chosen moment: from then on none of
// its calls reach the database.
type mortal struct {
	delivery.Store
	mu   sync.Mutex
	dead bool
	// Moments: when one returns true for a segment, the process dies right then.
	beforeClaim, afterClaim, beforeFinish, afterFinish func(segment int) bool
	atNote                                             string // dies before it writes this event
}

var errKilled = errors.New("killed")

func (m *mortal) at(moment func(int) bool, segment int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = m.dead || moment != nil && moment(segment)
	if m.dead {
		return errKilled
	}
	return nil
}

func (m *mortal) Claim(ctx context.Context, c post.Call, lease time.Duration) (post.Call, bool, error) {
	if err := m.at(m.beforeClaim, c.Segment); err != nil {
		return c, false, err
	}
	claimed, ok, err := m.Store.Claim(ctx, c, lease)
	if err == nil && ok {
		err = m.at(m.afterClaim, c.Segment)
	}
	return claimed, ok, err
}

func (m *mortal) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	if err := m.at(m.beforeFinish, o.Segment); err != nil {
		return post.Post{}, false, err
	}
	p, ok, err := m.Store.RecordOutcome(ctx, o)
	if err == nil && ok {
		err = m.at(m.afterFinish, o.Segment)
	}
	return p, ok, err
}

func (m *mortal) RenewClaim(ctx context.Context, target uuid.UUID, fence int64, lease time.Duration) (bool, error) {
	if err := m.at(nil, 0); err != nil {
		return false, err
	}
	return m.Store.RenewClaim(ctx, target, fence, lease)
}

func (m *mortal) SetCallState(ctx context.Context, id uuid.UUID, state string, evidence map[string]any) error {
	if err := m.at(nil, 0); err != nil {
		return err
	}
	return m.Store.SetCallState(ctx, id, state, evidence)
}

func (m *mortal) AddEvent(
	ctx context.Context, id uuid.UUID, target *uuid.UUID, event, actor string, data map[string]any,
) error {
	if err := m.at(func(int) bool { return event == m.atNote }, 0); err != nil {
		return err
	}
	return m.Store.AddEvent(ctx, id, target, event, actor, data)
}

// The publisher is killed in the middle of a thread. Another one completes it, with
// each segment once and in order.
func TestThread_Interrupted(t *testing.T) {
	t.Parallel()
	at := func(segment int) func(int) bool { return func(s int) bool { return s == segment } }
	for _, row := range []struct {
		name  string
		kill  func(m *mortal)
		fault fake.Fault
		hit   int // the segment at which it dies
		out   int // published by then
		want  []string
	}{
		{
			name: "BeforeTheClaim", kill: func(m *mortal) { m.beforeClaim = at(1) }, hit: 1, out: 1,
			want: []string{post.CallAccepted},
		},
		{
			name: "BetweenClaimAndSendOfTheFirst", kill: func(m *mortal) { m.afterClaim = at(0) }, hit: 0, out: 0,
			want: []string{post.CallReconciledAbsent, post.CallAccepted},
		},
		{
			name: "BetweenClaimAndSend", kill: func(m *mortal) { m.afterClaim = at(1) }, hit: 1, out: 1,
			want: []string{post.CallReconciledAbsent, post.CallAccepted},
		},
		{
			name: "BetweenSendAndRecordOfTheFirst", kill: func(m *mortal) { m.beforeFinish = at(0) }, hit: 0, out: 1,
			want: []string{post.CallReconciledOK},
		},
		{
			name: "BetweenSendAndRecord", kill: func(m *mortal) { m.beforeFinish = at(1) }, hit: 1, out: 2,
			want: []string{post.CallReconciledOK},
		},
		{
			name: "BetweenSendAndRecordOfTheLast", kill: func(m *mortal) { m.beforeFinish = at(2) }, hit: 2, out: 3,
			want: []string{post.CallReconciledOK},
		},
		{
			name: "BetweenTwoSegments", kill: func(m *mortal) { m.afterFinish = at(0) }, hit: 0, out: 1,
			want: []string{post.CallAccepted},
		},
		{name: "AfterTheLast", kill: func(m *mortal) { m.afterFinish = at(2) }, hit: 2, out: 3, want: []string{
			post.CallAccepted,
		}},
		{
			name: "WhenItBeginsToLook", kill: func(m *mortal) { m.atNote = post.EventAmbiguous },
			fault: fake.Fault{Kind: fake.ActThenReset, Nth: 2}, hit: 1, out: 2, want: []string{post.CallReconciledOK},
		},
		{
			name: "WhenItHasFound", kill: func(m *mortal) { m.atNote = post.EventReconciled },
			fault: fake.Fault{Kind: fake.ActThen500, Nth: 2}, hit: 1, out: 2, want: []string{post.CallReconciledOK},
		},
		{
			name: "WhenItHasFoundNothing", kill: func(m *mortal) { m.atNote = post.EventReconciled },
			fault: fake.Fault{Kind: fake.ResetBefore, Nth: 2}, hit: 1, out: 1, want: []string{
				post.CallReconciledAbsent, post.CallAccepted,
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Lease = 400 * time.Millisecond
			p := b.schedule(thread(3))
			if row.fault.Kind != "" {
				b.fault(row.fault)
			}
			doomed := &mortal{Store: b.store.Delivery()}
			row.kill(doomed)
			dying := b.publisher()
			dying.Store = doomed
			if doomed.afterClaim != nil {
				// A dead process sends nothing.
				dying.Networks = changedNetwork{
					b.network(),
					func(n network.Network, ctx context.Context, a network.Account,
						s network.Submission,
					) (network.Receipt, error) {
						if err := doomed.at(nil, 0); err != nil {
							return network.Receipt{}, err
						}
						return n.Publish(ctx, a, s)
					},
				}
			}
			if _, err := b.once(dying, input(p)); err == nil || len(b.published()) != row.out {
				t.Fatalf("error %v with %d published, want %d", err, len(b.published()), row.out)
			}
			b.publish(b.publisher(), input(p))
			target := b.prove(p.ID, b.account, post.TargetPosted, 3)
			if got := states(b.entries(target.ID), row.hit); len(got) != len(row.want) || got[0] != row.want[0] ||
				got[len(got)-1] != row.want[len(row.want)-1] {
				t.Errorf("the calls ended %v, want %v", got, row.want)
			}
			for i, there := range b.published() {
				if there.Requests != 1 {
					t.Errorf("got %d calls for segment %d", there.Requests, i)
				}
			}
			b.wantDiscreet()
		})
	}
}

// The database is down for a while after a segment was accepted; the same worker
// resumes when it is back.
func TestThread_SurvivesADatabaseOutage(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 400 * time.Millisecond
	p := b.schedule(thread(3))
	fails := 3
	publisher := b.publisher()
	publisher.Store = &flaky{
		Store: b.store.Delivery(), finish: func(o post.Outcome) bool { fails--; return o.Segment == 1 && fails > 0 },
	}
	b.publish(publisher, input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 3)
}

// flaky is a store whose Finish fails a number of times.
type flaky struct {
	delivery.Store
	finish func(o post.Outcome) bool
}

func (f *flaky) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	if f.finish(o) {
		return post.Post{}, false, errDatabase
	}
	return f.Store.RecordOutcome(ctx, o)
}

// A worker freezes in the middle of a thread, at each of its steps. Another one takes
// over and completes the thread; then the first resumes.
func TestThread_FrozenWorkerWakes(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"BeforeTheClaim", "AfterTheClaim", "BeforeItRecords", "AfterItRecorded"} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Lease = 400 * time.Millisecond
			p := b.schedule(thread(3))
			frozen := b.publisher()
			frozen.Store = &sleeper{Store: b.store.Delivery(), step: step, segment: 1, sleep: func() {
				time.Sleep(b.timing.Lease)
				b.publish(b.publisher(), input(p))
			}}
			result, err := b.once(frozen, input(p))
			if err == nil && !result.Stale {
				t.Errorf("it did not notice the lost claim: %+v", result)
			}
			b.publish(frozen, input(p))
			b.prove(p.ID, b.account, post.TargetPosted, 3)
			for i, there := range b.published() {
				if there.Requests != 1 {
					t.Errorf("got %d calls for segment %d", there.Requests, i)
				}
			}
		})
	}
}

// Several workers have the same thread at once, as after a network partition: the
// claims allow one call at a time.
func TestThread_ByManyWorkersAtOnce(t *testing.T) {
	b := newBench(t, fake.Options{CreateDelay: 30 * time.Millisecond})
	b.timing.Lease = time.Second
	due := time.Now().Add(200 * time.Millisecond).UTC()
	write := thread(4)
	p := b.schedule(func(p *post.Post) { write(p); p.ScheduledTime = due })
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { b.publish(b.publisher(), input(p)) })
	}
	all.Wait()
	b.prove(p.ID, b.account, post.TargetPosted, 4)
}

// sleeper runs sleep once, at a step of a segment.
type sleeper struct {
	delivery.Store
	step    string
	segment int
	sleep   func()
	once    sync.Once
}

func (s *sleeper) at(step string, segment int) {
	if step == s.step && segment == s.segment {
		s.once.Do(s.sleep)
	}
}

func (s *sleeper) Claim(ctx context.Context, c post.Call, lease time.Duration) (post.Call, bool, error) {
	s.at("BeforeTheClaim", c.Segment)
	claimed, ok, err := s.Store.Claim(ctx, c, lease)
	if ok {
		s.at("AfterTheClaim", c.Segment)
	}
	return claimed, ok, err
}

func (s *sleeper) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	s.at("BeforeItRecords", o.Segment)
	p, ok, err := s.Store.RecordOutcome(ctx, o)
	s.at("AfterItRecorded", o.Segment)
	return p, ok, err
}

// A worker reads a thread while another one sends a segment, and reads the ledger when
// that one is done: the segment is not sent again.
func TestThread_ReadDuringACall(t *testing.T) {
	t.Parallel()
	for segment, name := range []string{"First", "Second"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(thread(3))
			reader := &pausing{Store: b.store.Delivery(), reached: make(chan struct{}), goOn: make(chan struct{})}
			second := b.publisher()
			second.Store = reader
			var done sync.WaitGroup
			first, calls := b.publisher(), 0
			first.Store = &mortal{Store: b.store.Delivery(), afterFinish: func(s int) bool { return s == segment }}
			first.Networks = changedNetwork{b.network(), func(n network.Network, ctx context.Context, a network.Account,
				s network.Submission,
			) (network.Receipt, error) {
				if calls++; calls == segment+1 {
					done.Go(func() { b.publish(second, input(p)) })
					<-reader.reached
				}
				return n.Publish(ctx, a, s)
			}}
			_, err := b.once(first, input(p))
			close(reader.goOn)
			done.Wait()
			if err == nil {
				t.Fatal("the first worker did not die")
			}
			target := b.prove(p.ID, b.account, post.TargetPosted, 3)
			for i, there := range b.published() {
				if there.Requests != 1 {
					t.Errorf("got %d calls for segment %d: %+v", there.Requests, i, b.entries(target.ID))
				}
			}
		})
	}
}

// pausing is a store whose first OpenCall waits.
type pausing struct {
	delivery.Store
	once          sync.Once
	reached, goOn chan struct{}
}

func (s *pausing) OpenCall(ctx context.Context, target uuid.UUID) (post.Call, bool, error) {
	s.once.Do(func() {
		close(s.reached)
		<-s.goOn
	})
	return s.Store.OpenCall(ctx, target)
}
