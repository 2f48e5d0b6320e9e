package delivery_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// An attempt that finds another's claim waits in its worker until the lease expires,
// searches for the post and sends it, without returning to Temporal.
func TestRetryInProcess_FinishesADeadWorkersPost(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	dying := b.publisher()
	dying.Store = &mortal{Store: b.store.Delivery(), afterClaim: func(int) bool { return true }}
	if _, err := b.once(dying, input(p)); err == nil {
		t.Fatal("it did not die")
	}
	result, err := b.once(b.publisher(), input(p))
	if err != nil || result.Status != post.TargetPosted {
		t.Fatalf("%+v, %v", result, err)
	}
	b.prove(p.ID, b.account, post.TargetPosted, 1)
}

// If the claim keeps being renewed, the attempt waits at Temporal in the end.
func TestRetryInProcess_StopsWaitingForALiveClaim(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 500 * time.Millisecond
	p := b.schedule(nil)
	dying := b.publisher()
	dying.Store = &mortal{Store: b.store.Delivery(), afterClaim: func(int) bool { return true }}
	if _, err := b.once(dying, input(p)); err == nil {
		t.Fatal("it did not die")
	}
	waiting := b.publisher()
	waiting.Store = &held{Store: b.store.Delivery()}
	_, err := b.once(waiting, input(p))
	var pause *delivery.RetryError
	if !errors.As(err, &pause) || pause.Delay == 0 {
		t.Fatalf("%v", err)
	}
	b.prove(p.ID, b.account, post.TargetPublishing, 0)
}

// held is a store in which another attempt keeps its claim.
type held struct{ delivery.Store }

func (*held) TakeOver(context.Context, post.Call, int64, time.Duration) (int64, bool, error) {
	return 0, false, nil
}
