package delivery_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestPublish_MediaThatIsProcessed(t *testing.T) {
	b := newBench(t, fake.Options{MediaDelay: time.Second})
	p := b.schedule(b.withMedia(b.upload(1)))
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
	posted := b.published()[0]
	if len(posted.Media) != 1 || posted.Media[0].Description != "The harbour at low tide" {
		t.Errorf("media %+v", posted.Media)
	}
}

// Uploads are reused: by the next attempt to publish, and by the next attempt of an
// upload that failed half way.
func TestPublish_ReusesUploads(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fake.Fault{
		"AfterAFailedSend":   {Kind: fake.ResetBefore, Method: http.MethodPost, Path: createPath},
		"AfterAFailedUpload": {Kind: fake.Status, Status: 503, Method: http.MethodPost, Path: "/api/v2/media", Nth: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(b.withMedia(b.upload(1), b.upload(2)))
			uploads := fake.Fault{
				Kind: fake.Latency, For: time.Millisecond, Method: http.MethodPost,
				Path: "/api/v2/media", Count: -1,
			}
			b.fault(fault)
			b.fault(uploads)
			b.publish(b.publisher(), input(p))
			b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2})
			if got := b.published()[0].Media; len(got) != 2 || got[0].ID > got[1].ID {
				t.Errorf("attachments %+v, want both in order", got)
			}
			wantUploads := 2
			if name == "AfterAFailedUpload" {
				wantUploads = 3
			}
			if got := b.hits(t, fake.Latency); got != wantUploads {
				t.Errorf("%d uploads, want %d", got, wantUploads)
			}
		})
	}
}

// awayStorage fails at first.
type awayStorage struct {
	media.Objects
	fails int
}

func (s *awayStorage) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.fails--; s.fails >= 0 {
		return nil, errors.New("the object storage does not respond")
	}
	return s.Objects.Get(ctx, key)
}

// An unavailable object store delays a post and uses up none of its attempts.
func TestPublish_WaitsForItsStorage(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(b.withMedia(b.upload(1)))
	publisher := b.publisher()
	publisher.Objects = &awayStorage{b.objects, 7}
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
}

// After a lost response, a post with media is found by its media, too.
func TestPublish_FindsLostPostWithMedia(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 500 * time.Millisecond
	p := b.schedule(b.withMedia(b.upload(1)))
	dying := b.publisher()
	dying.Store = &troubled{Store: b.store.Delivery(), finishFails: 1}
	if _, err := b.once(dying, input(p)); err == nil {
		t.Fatal("the worker did not die")
	}
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"}})
}

// Uploads that the network dropped before they were posted are repeated.
func TestPublish_UploadsExpiredMediaAgain(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.fault(fake.Fault{Kind: fake.MediaTTL, For: time.Millisecond, Method: http.MethodPost, Path: "/api/v2/media"})
	p := b.schedule(b.withMedia(b.upload(1)))
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{
		"1:definite_failure", "2:accepted",
	}})
}

// If the processing of an upload expires, it is repeated; if it fails, this is final.
func TestPublish_MediaThatIsNotProcessed(t *testing.T) {
	t.Parallel()
	t.Run("Expired", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		b.fault(fake.Fault{
			Kind: fake.MediaExpired, For: 50 * time.Millisecond, Method: http.MethodPost,
			Path: "/api/v2/media",
		})
		p := b.schedule(b.withMedia(b.upload(1)))
		b.publish(b.publisher(), input(p))
		b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{"1:accepted"}})
	})
	t.Run("Error", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		b.fault(fake.Fault{
			Kind: fake.MediaError, For: 50 * time.Millisecond, Method: http.MethodPost,
			Path: "/api/v2/media",
		})
		p := b.schedule(b.withMedia(b.upload(1)))
		b.publish(b.publisher(), input(p))
		b.check(p, want{status: post.TargetFailed, attempts: 1, class: "rejected", ledger: []string{}})
		if got := b.read(p.ID).Targets[0].ErrorMessage; got != "Error processing thumbnail for uploaded media" {
			t.Errorf("the reason is %q", got)
		}
	})
}

// Uploads that are gone after an ambiguous send may belong to a post that it created,
// however late the network lists it: search before uploading again.
func TestPublish_LooksBeforeItStagesAgain(t *testing.T) {
	var ahead atomic.Int64
	b := newBench(t, fake.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	// The first send succeeds, its key expires with the response lost, and listings
	// show the post only after the second one.
	b.fault(fake.Fault{Kind: fake.ActThenReset})
	b.fault(fake.Fault{Kind: fake.Hide, For: 10 * time.Minute})
	key := 0
	publisher := b.publisher()
	publisher.Networks = changedNetwork{b.network(), func(n network.Network, ctx context.Context, a network.Account,
		s network.Submission,
	) (network.Receipt, error) {
		key++
		s.Key += strconv.Itoa(key) // a network that has forgotten the key
		receipt, err := n.Publish(ctx, a, s)
		if key == 2 {
			ahead.Store(int64(11 * time.Minute))
		}
		return receipt, err
	}}
	p := b.schedule(b.withMedia(b.upload(1)))
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{
		"1:reconciled_absent", "2:reconciled_ok",
	}})
}

// hits returns how often a fault was triggered.
func (b *bench) hits(t *testing.T, kind fake.FaultKind) int {
	t.Helper()
	for _, f := range b.faults() {
		if f.Kind == kind {
			return f.Hits
		}
	}
	t.Fatalf("there is no fault %s", kind)
	return 0
}

func TestPublish_ReplyWaitsForItsParent(t *testing.T) {
	b := newBench(t, fake.Options{})
	parent := b.schedule(func(p *post.Post) { p.ScheduledTime = time.Now().Add(600 * time.Millisecond).UTC() })
	reply := b.reply(parent)
	done := make(chan []time.Duration)
	go func() {
		_, pauses := b.publish(b.publisher(), input(reply))
		done <- pauses
	}()
	b.publish(b.publisher(), input(parent))
	if pauses := <-done; len(pauses) == 0 {
		t.Error("the reply did not wait")
	}
	posts := b.published()
	if len(posts) != 2 || posts[0].ReplyTo != "" || posts[1].ReplyTo != posts[0].ID ||
		b.read(reply.ID).Status != post.Posted {
		t.Errorf("posts %+v", posts)
	}
	// Waiting adds no events, so that the timeline stays readable.
	if events := b.timeline(reply.ID); len(events) != 4 {
		t.Errorf("timeline %v", events)
	}
}

func TestPublish_ReplyToNothing(t *testing.T) {
	b := newBench(t, fake.Options{})
	parent := b.schedule(nil)
	reply := b.reply(parent)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422})
	b.publish(b.publisher(), input(parent))
	b.publish(b.publisher(), input(reply))
	b.check(reply, want{status: post.TargetFailed, attempts: 1, class: "rejected", ledger: []string{}})
}

func (b *bench) reply(parent post.Post) post.Post {
	return b.schedule(func(p *post.Post) { p.ThreadID, p.ThreadParentID = &parent.ID, &parent.ID })
}

// Two accounts of one post: one fails, the other is published.
func TestPublish_Partly(t *testing.T) {
	b := newBench(t, fake.Options{})
	second := b.connect("evening")
	p := b.schedule(nil, b.account.ID, second.ID)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Account: "evening"})
	for _, target := range p.Targets {
		b.publish(b.publisher(), delivery.TargetInput{PostID: p.ID, TargetID: target.ID, Revision: p.Revision})
	}
	if done := b.read(p.ID); done.Status != post.PartlyPosted || len(b.published()) != 1 || done.PostedAt == nil {
		t.Errorf("the post is %s at %v with %d posts", done.Status, done.PostedAt, len(b.published()))
	}
}
