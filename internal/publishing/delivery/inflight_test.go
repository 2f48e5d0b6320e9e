package delivery_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

// A change reaches a post that waits in memory for a distant time: immediately with a
// notification, and a little later without one. A post that is due soon keeps waiting.
func TestInFlight_ChangeEndsAWaitingAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		notice bool
	}{{"with a notification", true}, {"without a notification", false}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.publisher()
			p.InFlight = &delivery.InFlight{}
			notices := make(chan []uuid.UUID, 1)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go p.InFlight.Follow(ctx, notices, b.store.Installation.Workers, slog.New(b.log.handler()))

			later := func(p *post.Post) { p.ScheduledTime = time.Now().Add(time.Hour) }
			edited, nearby := b.schedule(later), b.schedule(later)
			type end struct {
				result delivery.TargetResult
				err    error
			}
			ended, waited := make(chan end, 1), make(chan end, 1)
			go func() {
				result, err := b.onceIn(ctx, p, input(edited))
				ended <- end{result, err}
			}()
			go func() {
				result, err := b.onceIn(ctx, p, input(nearby))
				waited <- end{result, err}
			}()
			for p.InFlight.Count(edited.ID) == 0 || p.InFlight.Count(nearby.ID) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			if c.notice {
				notices <- []uuid.UUID{edited.ID, nearby.ID, uuid.New()} // about something else
			}
			content := "Tide tables for the harbour, week 49"
			_, err := b.scheduler.Edit(t.Context(), b.guard(edited), scheduling.Edit{Content: &content})
			b.must(err)
			if c.notice {
				notices <- []uuid.UUID{edited.ID, nearby.ID}
			}
			if got := <-ended; got.err != nil || !got.result.Stale {
				t.Errorf("the edited post ended with %+v, %v", got.result, got.err)
			}
			select {
			case got := <-waited:
				t.Errorf("the nearby ended with %+v, %v", got.result, got.err)
			case <-time.After(100 * time.Millisecond):
			}
			if n := len(b.fake.Posts()); n != 0 {
				t.Errorf("%d are published", n)
			}
			stop()
			<-waited
		})
	}
}
