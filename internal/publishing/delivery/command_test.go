package delivery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/postgres"
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

// fail makes the post a dead letter on all of its accounts.
func (b *bench) fail(p post.Post) {
	b.t.Helper()
	b.sql("update post_targets set status = 'failed' where post_id = $1", p.ID)
	b.sql("update scheduled_posts set status = 'failed' where post_id = $1", p.ID)
}

// diesAfterChange is a worker that ends right after the transaction of a change.
type diesAfterChange struct{ postgres.Delivery }

var errDied = errors.New("the worker died")

func (diesAfterChange) RecordCommand(context.Context, post.Guard) error { return errDied }

// A worker may die after the change and before Temporal knows it. When the activity runs
// again, the post may have moved on, so that the command would be refused by now.
func TestCommands_RecognizeTheirEarlierRun(t *testing.T) {
	b := newBench(t, fake.Options{})
	desk, other := b.connect("desk"), b.connect("other")
	content, same, later := "Corrected", text, time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339)
	draft := func(p *post.Post) { p.Status = post.Draft; inAnHour(p) }
	one := func(p post.Post) []uuid.UUID { return []uuid.UUID{p.Targets[0].ID} }
	failed := func(p post.Post) { b.fail(p) }
	named := func(name string) delivery.Command { return delivery.Command{Name: name} }
	edit := func(e scheduling.Edit) delivery.Command { return delivery.Command{Name: "edit", Edit: e} }
	segment := []scheduling.Segment{{Content: "The second part", AfterMinutes: 30}}
	for name, row := range map[string]struct {
		change  func(p *post.Post)
		before  func(p post.Post)
		command delivery.Command
		targets func(p post.Post) []uuid.UUID
		event   string // empty: nothing was changed
	}{
		"Cancel":          {inAnHour, nil, named("cancel"), nil, post.EventCanceled},
		"CancelADraft":    {draft, nil, named("cancel"), nil, post.EventCanceled},
		"PublishNow":      {inAnHour, nil, named("publish_now"), nil, post.EventPublishNow},
		"PublishADraft":   {draft, nil, named("publish_now"), nil, post.EventPublishNow},
		"Edit":            {inAnHour, nil, edit(scheduling.Edit{Content: &content}), nil, post.EventEdited},
		"Move":            {inAnHour, nil, edit(scheduling.Edit{ScheduledTime: &later}), nil, post.EventEdited},
		"EditNothing":     {inAnHour, nil, edit(scheduling.Edit{Content: &same}), nil, ""},
		"EditADraft":      {draft, nil, edit(scheduling.Edit{Content: &content}), nil, post.EventEdited},
		"EditAThread":     {inAnHour, nil, edit(scheduling.Edit{Thread: &segment}), nil, post.EventEdited},
		"EditADeadLetter": {inAnHour, failed, edit(scheduling.Edit{Content: &content}), nil, post.EventEdited},
		"Retry":           {inAnHour, failed, named("retry"), nil, post.EventRedriven},
		"RetryOne":        {inAnHour, failed, named("retry"), one, post.EventRedriven},
		"Discard":         {inAnHour, failed, named("discard"), nil, post.EventDiscarded},
		"DiscardOne":      {inAnHour, failed, named("discard"), one, post.EventDiscarded},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.schedule(row.change, desk.ID, other.ID)
			if row.before != nil {
				row.before(p)
			}
			c := row.command
			c.PostID, c.Key = p.ID, "run/update/"+c.Name+"/1"
			if row.targets != nil {
				c.Targets = row.targets(p)
			}
			dying := b.commands()
			if row.event != "" {
				dying.Store = diesAfterChange{b.store.Delivery()}
			}
			refusal, err := dying.Apply(t.Context(), c)
			if refusal.Code != "" || row.event != "" && !errors.Is(err, errDied) || row.event == "" && err != nil {
				t.Fatalf("the first run: %+v, %v", refusal, err)
			}
			if events := b.timeline(p.ID); row.event != "" && !slices.Contains(events, row.event) {
				t.Errorf("timeline %v, want %s", events, row.event)
			}
			b.sql("update post_targets set status = 'posted', remote_id = id::text where post_id = $1", p.ID)
			b.sql("update scheduled_posts set status = 'posted' where post_id = $1", p.ID)
			events, stored := b.timeline(p.ID), b.read(p.ID)
			if refusal, err := b.commands().Apply(t.Context(), c); err != nil || refusal.Code != "" {
				t.Errorf("the second run: %+v, %v", refusal, err)
			}
			if again := b.timeline(p.ID); !slices.Equal(again, events) || b.read(p.ID).Version != stored.Version {
				t.Errorf("after the second run: timeline %v, want %v", again, events)
			}
			c.Key = "run/update/" + c.Name + "/2"
			if refusal, err := b.commands().Apply(t.Context(), c); err != nil || refusal.Code == "" {
				t.Errorf("another command of the same kind: %+v, %v, want a refusal", refusal, err)
			}
		})
	}
}

// What was refused stays refused, with the reason at that time, and is not applied by a
// later run.
func TestCommands_RepeatARefusal(t *testing.T) {
	b := newBench(t, fake.Options{})
	for name, row := range map[string]struct {
		command delivery.Command
		meant   func(p post.Post) // makes the command possible
	}{
		"Retry":   {delivery.Command{Name: "retry"}, b.fail},
		"Discard": {delivery.Command{Name: "discard"}, b.fail},
		"Edit": {delivery.Command{Name: "edit", InputError: "It must be an object."}, func(p post.Post) {
			b.sql("update scheduled_posts set scheduled_time = now() + interval '1 day' where post_id = $1", p.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.schedule(inAnHour)
			c := row.command
			c.PostID, c.Key = p.ID, "run/signal/"+c.Name+"/1"
			first, err := b.commands().Apply(t.Context(), c)
			if err != nil || first.Code == "" || first.Reason == "" {
				t.Fatalf("got %+v, %v, want a refusal", first, err)
			}
			row.meant(p)
			c.InputError = ""
			second, err := b.commands().Apply(t.Context(), c)
			if err != nil || second != first {
				t.Errorf("the second run: %+v, %v, want %+v", second, err, first)
			}
			if events := b.timeline(p.ID); !slices.Equal(events, []string{post.EventCreated, post.EventRefused}) {
				t.Errorf("timeline %v", events)
			}
		})
	}
}

// A worker that was only slow may still run the activity when another one does.
func TestCommands_RunAtTheSameTime(t *testing.T) {
	b := newBench(t, fake.Options{})
	for name, before := range map[string]func(p post.Post){
		"publish_now": func(post.Post) {}, "cancel": func(post.Post) {}, "retry": b.fail, "discard": b.fail,
	} {
		t.Run(name, func(t *testing.T) {
			p := b.schedule(inAnHour)
			before(p)
			events := len(b.timeline(p.ID))
			c := delivery.Command{PostID: p.ID, Name: name, Key: "run/update/x"}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for {
						refusal, err := b.commands().Apply(t.Context(), c)
						if err != nil {
							continue // Temporal tries again
						}
						if refusal.Code != "" {
							t.Errorf("refused with %+v", refusal)
						}
						return
					}
				})
			}
			all.Wait()
			after := b.timeline(p.ID)
			added := slices.DeleteFunc(slices.Clone(after[events:]), func(e string) bool {
				return e == post.EventStatus
			})
			if len(added) != 1 || added[0] == post.EventRefused {
				t.Errorf("added %v, want one change", added)
			}
		})
	}
}

// looksTooEarly is a worker that looked for the result of another run before that ended.
type looksTooEarly struct{ postgres.Delivery }

func (looksTooEarly) FindCommand(context.Context, uuid.UUID, string) (delivery.Refusal, bool, error) {
	return delivery.Refusal{}, false, nil
}

func TestCommands_AnotherRunWasFaster(t *testing.T) {
	b := newBench(t, fake.Options{})
	content := "Corrected"
	for name, before := range map[string]func(p post.Post){
		"publish_now": func(post.Post) {}, "cancel": func(post.Post) {}, "edit": func(post.Post) {},
		"retry": b.fail, "discard": b.fail,
	} {
		t.Run(name, func(t *testing.T) {
			p := b.schedule(inAnHour)
			before(p)
			c := delivery.Command{PostID: p.ID, Name: name, Key: "run/update/x", Edit: scheduling.Edit{Content: &content}}
			if refusal, err := b.commands().Apply(t.Context(), c); err != nil || refusal.Code != "" {
				t.Fatalf("the faster run: %+v, %v", refusal, err)
			}
			events := b.timeline(p.ID)
			slower := b.commands()
			slower.Store = looksTooEarly{b.store.Delivery()}
			// After an error Temporal tries again.
			if refusal, err := slower.Apply(t.Context(), c); refusal.Code != "" {
				t.Errorf("the slower run: %+v, %v", refusal, err)
			}
			if after := b.timeline(p.ID); !slices.Equal(after, events) {
				t.Errorf("timeline %v, want %v", after, events)
			}
		})
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
