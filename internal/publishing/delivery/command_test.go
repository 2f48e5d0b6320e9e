package delivery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

func (b *bench) planner() *delivery.Planner {
	return &delivery.Planner{Store: b.store.Publishing.Ledger}
}

func (b *bench) commands() *delivery.Commands {
	return &delivery.Commands{Store: b.store.Delivery(), Scheduler: b.scheduler, Live: b.live}
}

func inAnHour(p *post.Post) { p.ScheduledTime = time.Now().Add(time.Hour).UTC() }

func TestCommands_Apply(t *testing.T) {
	b := newBench(t, fake.Options{})
	content, long, later := "Corrected", strings.Repeat("x", 501), time.Now().Add(2*time.Hour).UTC().
		Format(time.RFC3339)
	for _, row := range []struct {
		name    string
		command delivery.Command
		event   string
		check   func(p post.Post) bool
	}{
		{
			"Content",
			delivery.Command{Name: "edit", Edit: scheduling.Edit{Content: &content}},
			post.EventEdited,
			func(p post.Post) bool { return p.Content == content && p.Revision == 2 },
		},
		{
			"Time",
			delivery.Command{Name: "edit", Edit: scheduling.Edit{ScheduledTime: &later}},
			post.EventEdited,
			func(p post.Post) bool { return p.ScheduledTime.Format(time.RFC3339) == later },
		},
		{
			"TooLong",
			delivery.Command{Name: "edit", Edit: scheduling.Edit{Content: &long}},
			post.EventRefused,
			func(p post.Post) bool { return p.Revision == 1 },
		},
		{"Nothing", delivery.Command{Name: "edit"}, post.EventRefused, func(p post.Post) bool {
			return p.Revision == 1
		}},
		{"Broken", delivery.Command{Name: "edit", InputError: "no object"}, post.EventRefused, func(p post.Post) bool {
			return p.Revision == 1
		}},
		{"Cancel", delivery.Command{Name: "cancel"}, post.EventCanceled, func(p post.Post) bool {
			return p.Status == post.Canceled
		}},
		{"PublishNow", delivery.Command{Name: "publish_now"}, post.EventPublishNow, func(p post.Post) bool {
			return !p.ScheduledTime.After(time.Now()) && p.Status == post.Scheduled
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := b.schedule(inAnHour)
			row.command.PostID = p.ID
			if _, err := b.commands().Apply(t.Context(), row.command); err != nil {
				t.Fatal(err)
			}
			if now := b.read(p.ID); !row.check(now) {
				t.Errorf("the post is %+v", now)
			}
			if events := b.timeline(p.ID); !slices.Equal(events, []string{post.EventCreated, row.event}) {
				t.Errorf("timeline %v", events)
			}
		})
	}
}

// A local activity may run twice: the second run must not fail.
func TestCommands_ApplyTwice(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(inAnHour)
	for range 2 {
		refusal, err := b.commands().Apply(t.Context(), delivery.Command{PostID: p.ID, Name: "cancel"})
		if err != nil || refusal.Code != "" {
			t.Errorf("refused with %+v, %v", refusal, err)
		}
	}
	if events := b.timeline(p.ID); !slices.Equal(events, []string{post.EventCreated, post.EventCanceled}) {
		t.Errorf("timeline %v", events)
	}
}

func TestCommands_ApplyTooLate(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.publish(b.publisher(), input(p))
	content := "Corrected"
	for _, c := range []delivery.Command{
		{Name: "cancel"},
		{Name: "publish_now"},
		{Name: "edit", Edit: scheduling.Edit{Content: &content}},
	} {
		c.PostID = p.ID
		refusal, err := b.commands().Apply(t.Context(), c)
		b.must(err)
		note := lastEvent(t, b, p, post.EventRefused)
		if note["asked"] != c.Name || note["code"] != "too_late" ||
			!strings.Contains(note["reason"].(string), "already published") ||
			refusal.Code != "too_late" || refusal.Reason != note["reason"] {
			t.Errorf("%s was refused with %v, and answered with %+v", c.Name, note, refusal)
		}
	}
	if now := b.read(p.ID); now.Status != post.Posted || now.Content != text {
		t.Errorf("the post is %+v", now)
	}
}

func TestReadPost(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(inAnHour)
	view, err := b.planner().ReadPost(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, post.Scheduled, view.Status)
	require.Equal(t, int64(1), view.Revision)
	require.Len(t, view.Targets, 1)
	require.Equal(t, "mastodon", view.Targets[0].Network)
	require.WithinDuration(t, p.ScheduledTime, view.ScheduledTime, 0)
	var missing *delivery.PermanentError
	for _, try := range []func() error{
		func() error { _, err := b.planner().ReadPost(t.Context(), uuid.New()); return err },
		func() error {
			_, err := b.commands().Apply(t.Context(), delivery.Command{PostID: uuid.New(), Name: "cancel"})
			return err
		},
	} {
		if err := try(); !errors.As(err, &missing) {
			t.Errorf("a deleted post: got %v, want a non-retryable error", err)
		}
	}
}
