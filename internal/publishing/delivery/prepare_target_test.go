package delivery_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

const uploadPath = "/api/v2/media"

// prepare runs PrepareTarget as one attempt of Temporal.
func (b *bench) prepare(in delivery.TargetInput) error { return b.prepareBy(b.publisher(), in) }

func (b *bench) prepareBy(p *delivery.Deps, in delivery.TargetInput) error {
	return delivery.New(*p).Prepare(b.t.Context(), delivery.Attempt{Number: 1}, in)
}

// countUploads returns a function that returns the uploads since then.
func (b *bench) countUploads() func() int {
	at := len(b.faults())
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.Latency, For: time.Millisecond, Method: http.MethodPost, Path: uploadPath, Count: -1,
	}))
	return func() int { return b.faults()[at].Seen }
}

func TestPrepare_UploadsOnce(t *testing.T) {
	b := newBench(t, fake.Options{})
	other := b.connect("other")
	one, two, three := b.upload(1), b.upload(2), b.upload(3)
	write, file := thread(2), b.withMedia(one)
	p := b.schedule(func(p *post.Post) {
		write(p)
		file(p)
		p.Thread[0].AttachmentIDs = idsOfMedia(one, two)
		p.ScheduledTime = time.Now().Add(time.Second).UTC()
	}, b.account.ID, other.ID)
	id, none := other.ID.String(), []scheduling.Segment{}
	p = b.change(p, scheduling.Edit{
		Overrides: map[string]*scheduling.Override{
			id: {Attachments: &[]string{three.ID.String(), two.ID.String()}, Thread: &none},
		},
	})
	uploads := b.countUploads()
	for _, a := range []delivery.TargetInput{inputOn(p, b.account), inputOn(p, other)} {
		b.must(b.prepare(a))
		b.must(b.prepare(a)) // Temporal may run it again
	}
	if n := uploads(); n != 5 {
		t.Errorf("%d uploads, want 3 and 2", n)
	}
	if n := lastEvent(t, b, p, post.EventPrepared)["attachments"]; n != 2.0 {
		t.Errorf("the timeline has %v attachments", n)
	}
	if now := b.read(p.ID); now.Status != post.Scheduled || len(b.published()) != 0 {
		t.Errorf("preparing published: %s", now.Status)
	}
	b.publish(b.publisher(), inputOn(p, b.account))
	b.publish(b.publisher(), inputOn(p, other))
	b.prove(p.ID, b.account, post.TargetPosted, 2)
	b.prove(p.ID, other, post.TargetPosted, 1)
	if n := uploads(); n != 5 {
		t.Errorf("%d uploads in the end", n)
	}
	if first := b.living(other)[0].Media; first[0].Bytes != three.Bytes || first[1].Bytes != two.Bytes {
		t.Errorf("the other account shows %+v", first)
	}
}

func TestPrepare_EditDiscardsIt(t *testing.T) {
	b := newBench(t, fake.Options{})
	one, two := b.upload(1), b.upload(2)
	words := "Corrected"
	list := func(s string) *[]string { return &[]string{s} }
	for name, row := range map[string]struct {
		edit     scheduling.Edit
		uploads  int // for the edited post
		isReused bool
	}{
		"Attachments": {edit: scheduling.Edit{Attachments: list(two.ID.String())}, uploads: 1},
		"Thread": {
			edit: scheduling.Edit{Thread: &[]scheduling.Segment{{
				Content:     "more",
				Attachments: *list(two.ID.String()),
			}}}, uploads: 2,
		},
		"Overrides": {
			edit: scheduling.Edit{Overrides: map[string]*scheduling.Override{
				b.account.ID.String(): {Attachments: list(two.ID.String())},
			}}, uploads: 1,
		},
		"Words": {edit: scheduling.Edit{Content: &words}, isReused: true},
	} {
		t.Run(name, func(t *testing.T) {
			file := b.withMedia(one)
			p := b.schedule(func(p *post.Post) { file(p); p.ScheduledTime = time.Now().Add(10 * time.Minute).UTC() })
			b.must(b.prepare(input(p)))
			changed := b.change(p, row.edit)
			if isReused := len(b.read(p.ID).PlatformMedia) > 2; isReused != row.isReused {
				t.Errorf("stored uploads %s", b.read(p.ID).PlatformMedia)
			}
			uploads := b.countUploads()
			// Unfinished uploads of the older content are not stored.
			b.must(b.prepare(input(p)))
			b.must(b.prepare(input(changed)))
			if n := uploads(); n != row.uploads {
				t.Errorf("%d uploads, want %d", n, row.uploads)
			}
		})
	}
}

func TestPrepare_ReportsProblems(t *testing.T) {
	b := newBench(t, fake.Options{MaxCharacters: 60})
	p := b.schedule(func(p *post.Post) {
		p.Thread = []post.Segment{{Content: strings.Repeat("far too long ", 10)}}
		p.ScheduledTime = time.Now().Add(10 * time.Minute).UTC()
	})
	b.must(b.prepare(input(p)))
	found := lastEvent(t, b, p, post.EventProblem)
	if message, _ := found["message"].(string); found["code"] != "too_long" ||
		!strings.HasPrefix(message, "Segment 2 of 2: ") {
		t.Errorf("the timeline has %v", found)
	}
	if now := b.read(p.ID); now.Status != post.Scheduled || now.Targets[0].ErrorClass != "" {
		t.Errorf("the post is %+v", now)
	}
	b.must(b.prepare(input(b.change(p, scheduling.Edit{Thread: &[]scheduling.Segment{{Content: "short"}}}))))
	lastEvent(t, b, p, post.EventPrepared)
}

// An upload that fails is repeated, without those that succeeded.
func TestPrepare_Resumes(t *testing.T) {
	b := newBench(t, fake.Options{})
	file := b.withMedia(b.upload(1), b.upload(2))
	p := b.schedule(func(p *post.Post) { file(p); p.ScheduledTime = time.Now().Add(10 * time.Minute).UTC() })
	uploads := b.countUploads()
	b.must(b.fake.Inject(fake.Fault{Kind: fake.Status, Status: 503, Method: http.MethodPost, Path: uploadPath, Nth: 2}))
	if err := b.prepare(input(p)); err == nil || strings.Contains(err.Error(), text) {
		t.Errorf("a failed upload: got %v", err)
	}
	b.must(b.prepare(input(p)))
	if n := uploads(); n != 3 {
		t.Errorf("%d uploads", n)
	}
	b.must(b.fake.Inject(fake.Fault{Kind: fake.TokenExpired, Method: http.MethodPost, Path: uploadPath}))
	b.must(b.prepare(input(b.change(p, scheduling.Edit{Attachments: &[]string{p.AttachmentIDs[0].String()}}))))
	if found := lastEvent(t, b, p, post.EventProblem); found["class"] != "auth" {
		t.Errorf("the timeline has %v", found)
	}
}

func idsOfMedia(items ...media.Item) []uuid.UUID {
	ids := make([]uuid.UUID, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return ids
}

// Uploads that expire before the post's time are repeated.
func TestPrepare_ExpiredUploadsAreRenewed(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]time.Duration{"Expired": -time.Hour, "BeforeItsTime": 3 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			file := b.withMedia(b.upload(1))
			p := b.schedule(func(p *post.Post) { file(p); p.ScheduledTime = time.Now().Add(10 * time.Minute).UTC() })
			uploads := b.countUploads()
			b.must(b.prepare(input(p)))
			b.sql(`update scheduled_posts set platform_media_ids =
				regexp_replace(platform_media_ids::text, '"expires_at": "[^"]*"', '"expires_at": "' || $1 || '"')::jsonb`, time.Now().Add(left).UTC().Format(time.RFC3339))
			b.must(b.prepare(input(p)))
			if n := uploads(); n != 2 {
				t.Errorf("%d uploads", n)
			}
			b.must(b.prepare(input(p)))
			if n := uploads(); n != 2 {
				t.Errorf("%d uploads, although the new one is valid", n)
			}
			now, err := b.scheduler.PublishNow(t.Context(), b.guard(p))
			b.must(err)
			b.publish(b.publisher(), input(now))
			b.prove(p.ID, b.account, post.TargetPosted, 1)
		})
	}
}
