package delivery_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// forgetful is a mortal that dies when it stores what was prepared.
type forgetful struct {
	*mortal
	keeps int // before it dies
}

func (f *forgetful) SetPlatformMedia(
	ctx context.Context, id uuid.UUID, revision int64, account uuid.UUID, handles json.RawMessage,
) error {
	if err := f.at(func(int) bool { f.keeps--; return f.keeps < 0 }, 0); err != nil {
		return err
	}
	return f.Store.SetPlatformMedia(ctx, id, revision, account, handles)
}

// A worker is killed between any two steps of preparing and publishing. The next one
// completes the thread, with each part once.
func TestPrepare_KilledBeforePublishing(t *testing.T) {
	t.Parallel()
	at := func(segment int) func(int) bool { return func(s int) bool { return s == segment } }
	for name, kill := range map[string]func(*forgetful){
		"BeforeItNotesAnUpload":     func(m *forgetful) { m.keeps = 0 },
		"BeforeItNotesAContainer":   func(m *forgetful) { m.keeps = 1 },
		"BeforeItNotesTheNext":      func(m *forgetful) { m.keeps = 2 },
		"BeforeTheClaim":            func(m *forgetful) { m.beforeClaim = at(0) },
		"BetweenClaimAndSend":       func(m *forgetful) { m.afterClaim = at(0) },
		"BetweenSendAndRecord":      func(m *forgetful) { m.beforeFinish = at(0) },
		"BeforeTheClaimOfTheNext":   func(m *forgetful) { m.beforeClaim = at(1) },
		"BetweenSendAndRecordOfTwo": func(m *forgetful) { m.beforeFinish = at(1) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Lease = 400 * time.Millisecond
			var all sync.WaitGroup
			for _, n := range inAdvances() {
				a := b.connectAt(n.network, n.network+"killed")
				p := b.illustrated(n.segments(), a)
				all.Go(func() {
					doomed := &forgetful{mortal: &mortal{Store: b.store.Delivery()}, keeps: 1000}
					kill(doomed)
					if doomed.keeps == 1000 {
						b.must(b.prepare(inputOn(p, a))) // ahead of its time, by another worker
					}
					dying := b.publisher()
					dying.Store = doomed
					// A dead process sends nothing.
					dying.Networks = b.tamper(n.network,
						func(to network.Network, ctx context.Context, as network.Account,
							s network.Submission,
						) (network.Receipt, error) {
							if err := doomed.at(nil, 0); err != nil {
								return network.Receipt{}, err
							}
							return to.Publish(ctx, as, s)
						})
					_, _ = b.once(dying, inputOn(p, a)) // whether it reaches the step depends on the network
					b.publish(b.publisher(), inputOn(p, a))
					if target := b.checkOnce(p, a, n.network+"killed"); target.Status != post.TargetPosted {
						t.Errorf("%s: %s %s %q", n.network, target.Status, target.ErrorClass, target.ErrorMessage)
					}
				})
			}
			all.Wait()
			b.wantDiscreet()
		})
	}
}

// Containers expire after a day. One that has not been sent is created again. After an
// ambiguous send nothing replaces it, and a person decides.
func TestPrepare_ExpiredContainers(t *testing.T) {
	t.Parallel()
	for _, networkName := range []string{"instagram", "threads"} {
		for _, unclear := range []bool{false, true} {
			t.Run(networkName+map[bool]string{false: "", true: "AfterAnUnclearSend"}[unclear], func(t *testing.T) {
				var ahead atomic.Int64
				b := newBench(t, fake.Options{
					Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
				})
				b.timing.Unanswered = 600 * time.Millisecond
				a := b.connectAt(networkName, "desk")
				p := b.illustrated(1, a)
				b.must(b.prepare(inputOn(p, a)))
				sends := 0
				publisher := b.publisher()
				publisher.Networks = b.tamper(networkName,
					func(to network.Network, ctx context.Context, as network.Account,
						s network.Submission,
					) (network.Receipt, error) {
						if sends++; sends == 1 && unclear {
							return network.Receipt{}, &network.Error{
								Class: network.Ambiguous, Code: "timeout", Message: "The network did not answer.",
							}
						}
						if sends == 1 || sends == 2 && unclear {
							ahead.Store(int64(25 * time.Hour))
						}
						return to.Publish(ctx, as, s)
					})
				b.publish(publisher, inputOn(p, a))
				want := map[bool]post.TargetStatus{false: post.TargetPosted, true: post.TargetUncertain}[unclear]
				if target := b.checkOnce(p, a, "desk"); target.Status != want {
					t.Errorf("%s %s %q, want %s", target.Status, target.ErrorClass, target.ErrorMessage, want)
				}
			})
		}
	}
}

// Limits that the network reports while a post is prepared apply to the next one.
func TestPrepare_LearnsLimits(t *testing.T) {
	b := newBench(t, fake.Options{
		NetworkRates: map[string]map[string]fake.Rate{"instagram": {"posts": {Requests: 7, Per: 24 * time.Hour}}},
	})
	a := b.connectAt("instagram", "desk")
	b.publish(b.publisher(), inputOn(b.illustrated(1, a), a)) // not in the limits below
	p := b.illustrated(1, a)
	publisher, _ := b.within(nil)
	b.must(b.prepareBy(publisher, inputOn(p, a)))
	n, _ := b.networks.Get("instagram")
	_, use, err := b.accounts.Open(t.Context(), a.ID)
	b.must(err)
	allowed, err := n.Limits(t.Context(), use)
	b.must(err)
	buckets, err := publisher.Limits.(*ratelimit.Limiter).Buckets(t.Context(), ratelimit.Caller{
		Network: "instagram", BaseURL: a.BaseURL, RemoteID: a.RemoteID, Quotas: allowed.Quotas,
	})
	b.must(err)
	at := slices.IndexFunc(buckets, func(k ratelimit.Bucket) bool { return k.Name == "posts" })
	if at < 0 || buckets[at].Limit != 7 || buckets[at].Available(time.Now()) != 6 {
		t.Errorf("got the limits %+v, want 6 of 7 posts left", buckets)
	}
}
