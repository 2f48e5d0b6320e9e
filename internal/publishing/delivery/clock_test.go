package delivery_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"dateline/internal/infra/dbclock"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// A host with a wrong clock publishes at the time by the database's clock, and lateness
// is measured with it.
func TestPublish_UsesTheDatabaseClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"Ahead": time.Minute, "Behind": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			wrong := dbclock.New(dbclock.Options{
				Database: b.store.Time, Log: slog.New(slog.DiscardHandler),
				Host: func() time.Time { return time.Now().Add(ahead) },
			})
			b.must(wrong.Measure(t.Context()))
			publisher := b.publisher()
			publisher.Clock = wrong
			publisher.Networks = changedNetwork{
				b.network(),
				func(n network.Network, ctx context.Context, a network.Account, s network.Submission) (network.Receipt,
					error,
				) {
					receipt, err := n.Publish(ctx, a, s)
					receipt.SentAt = receipt.SentAt.Add(ahead) // the value that this host's clock would give
					return receipt, err
				},
			}
			due := time.Now().Add(3 * time.Second).UTC()
			p := b.schedule(func(p *post.Post) { p.ScheduledTime = due })
			b.publish(publisher, input(p))
			b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1})
			// A minute would show; delays of a slow machine are shorter.
			if late := b.published()[0].ReceivedAt.Sub(due); late < -500*time.Millisecond || late > 30*time.Second {
				t.Errorf("published %s after its time", late)
			}
			target := b.read(p.ID).Targets[0]
			for what, at := range map[string]time.Time{"sent": *target.SentAt, "posted": *target.PostedAt} {
				if late := at.Sub(due); late < -500*time.Millisecond || late > 30*time.Second {
					t.Errorf("recorded as %s %s after its time", what, late)
				}
			}
		})
	}
}
