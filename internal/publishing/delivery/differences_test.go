package delivery_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

const unlistedWithWarning = `{"visibility":"unlisted","content_warning":"Bạo lực"}`

func differenceCodes(t post.Target) (codes []string) {
	for _, d := range t.Differences {
		codes = append(codes, d.Code)
	}
	return codes
}

// eventsOf are the events of one type of a post.
func (b *bench) eventsOf(p post.Post, kind string) (found []post.Event) {
	b.t.Helper()
	events, err := b.store.Publishing.Posts.Events(b.t.Context(), p.ID, 0, 200)
	b.must(err)
	for _, e := range events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

func (b *bench) letters() []post.DeadLetter {
	b.t.Helper()
	letters, err := b.store.Publishing.Ledger.DeadLetters(b.t.Context(), post.DeadLetterFilter{WorkspaceID: b.who.WorkspaceID, Limit: 10})
	b.must(err)
	return letters
}

// altered publishes a post of which the network changes parts.
func (b *bench) altered(options string, faults ...fake.Fault) post.Post {
	b.t.Helper()
	for _, f := range faults {
		f.Method, f.Path = http.MethodPost, createPath
		b.must(b.fake.Inject(f))
	}
	p := b.schedule(withOptions(post.Options{"mastodon": json.RawMessage(options)}))
	if result, _ := b.publish(b.publisher(), input(p)); result.Status != post.TargetPosted {
		b.t.Fatalf("got %+v, want posted: what differs is published", result)
	}
	if posts := b.fake.Posts(); len(posts) != 1 {
		b.t.Fatalf("got %d posts, want 1", len(posts))
	}
	return b.read(p.ID)
}

func TestDifferences_NeedADecisionIfReadersSeeWhatWasGuarded(t *testing.T) {
	for name, row := range map[string]struct {
		options string
		faults  []fake.Fault
		want    []string
		serious bool
	}{
		"wider": {
			unlistedWithWarning,
			[]fake.Fault{{Kind: fake.Alter, Part: fake.PartVisibility}},
			[]string{network.DifferenceWider},
			true,
		},
		"without its warning": {
			unlistedWithWarning,
			[]fake.Fault{{Kind: fake.Alter, Part: fake.PartWarning}},
			[]string{network.DifferenceNoWarning},
			true,
		},
		"both": {
			unlistedWithWarning,
			[]fake.Fault{
				{Kind: fake.Alter, Part: fake.PartWarning}, {Kind: fake.Alter, Part: fake.PartVisibility},
			},
			[]string{network.DifferenceWider, network.DifferenceNoWarning},
			true,
		},
		"without its poll": {
			`{"poll":{"choices":["Có","Không"],"duration_minutes":60}}`,
			[]fake.Fault{
				{Kind: fake.Alter, Part: fake.PartPoll},
			},
			[]string{network.DifferenceNoPoll},
			false,
		},
		"cut": {
			`{}`,
			[]fake.Fault{{Kind: fake.Alter, Part: fake.PartText}},
			[]string{network.DifferenceCut},
			false,
		},
		"as asked": {unlistedWithWarning, nil, nil, false},
		"wider, and its response lost": {
			`{"visibility":"unlisted"}`,
			[]fake.Fault{
				{Kind: fake.Alter, Part: fake.PartVisibility}, {Kind: fake.ActThenReset},
			},
			[]string{network.DifferenceWider},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.altered(row.options, row.faults...)
			target := p.Targets[0]
			if got := differenceCodes(target); !slices.Equal(got, row.want) || target.NeedsReview != row.serious {
				t.Errorf("got the differences %v and needs review %v, want %v and %v", got, target.NeedsReview,
					row.want, row.serious)
			}
			if n := len(b.eventsOf(p, post.EventDiffers)); n != min(len(row.want), 1) {
				t.Errorf("got %d events of differences, want one if there are any", n)
			}
			letters := b.letters()
			if (len(letters) == 1) != row.serious {
				t.Fatalf("got %d posts that need attention, want one if it is serious", len(letters))
			}
			if !row.serious {
				return
			}
			if l := letters[0]; l.Reason != post.ReasonDiffers || len(l.Differences) != len(row.want) ||
				l.Message == "" {
				t.Errorf("got %+v, want the reason differs with its sentences", l)
			}
			if counts, err := b.store.Publishing.Ledger.CountDeadLetters(t.Context(), b.who.WorkspaceID); err != nil ||
				len(counts) != 1 || counts[0].Reason != post.ReasonDiffers {
				t.Errorf("got the counts %+v, %v, want one that differs", counts, err)
			}
		})
	}
}

// Segments of a thread are compared one by one.
func TestDifferences_NameTheSegment(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.Alter, Part: fake.PartReply, Method: http.MethodPost, Path: createPath,
		Nth: 2,
	}))
	p := b.schedule(thread(3))
	if result, _ := b.publish(b.publisher(), input(p)); result.Status != post.TargetPosted {
		t.Fatalf("got %+v, want posted", result)
	}
	got := b.read(p.ID).Targets[0].Differences
	if len(got) != 1 || got[0].Segment != 1 || got[0].Code != network.DifferenceNoReply {
		t.Errorf("got %+v, want that segment 1 is no reply", got)
	}
}

func TestDifferences_AreAcceptedOrDeletedThereByAPerson(t *testing.T) {
	wider := fake.Fault{Kind: fake.Alter, Part: fake.PartVisibility}
	guard := func(b *bench, p post.Post) post.Guard {
		return post.Guard{WorkspaceID: b.who.WorkspaceID, PostID: p.ID, Actor: b.who.Actor(), UserID: b.who.UserID}
	}
	t.Run("accepted", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.altered(`{"visibility":"unlisted"}`, wider)
		after, err := b.scheduler.Discard(t.Context(), guard(b, p), nil)
		b.must(err)
		if target := after.Targets[0]; target.NeedsReview || target.Status != post.TargetPosted ||
			len(target.Differences) != 1 || len(b.letters()) != 0 {
			t.Errorf("got %+v, want a published target that needs no more review", target)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.altered(`{"visibility":"unlisted"}`, wider)
		after, err := b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		b.must(err)
		if target := after.Targets[0]; target.Status != post.TargetPosted || target.DeletedAt == nil ||
			target.NeedsReview || after.Status != post.Posted {
			t.Errorf("got %+v, want a published target that was deleted there", target)
		}
		if posts := b.fake.Posts(); len(posts) != 1 || !posts[0].Deleted {
			t.Errorf("got %+v, want one post, deleted", posts)
		}
		_, err = b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		wantCode(t, err, "not_deletable")
		_, err = b.scheduler.Retry(t.Context(), guard(b, p), nil)
		wantCode(t, err, "not_a_dead_letter")
		result, _ := b.publish(b.publisher(), input(b.read(p.ID)))
		if posts := b.fake.Posts(); len(posts) != 1 {
			t.Errorf("got %d posts after another attempt (%+v), want 1", len(posts), result)
		}
	})
	t.Run("deleted with its thread", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(thread(3))
		b.publish(b.publisher(), input(p))
		_, err := b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		b.must(err)
		for i, one := range b.fake.Posts() {
			if !one.Deleted {
				t.Errorf("segment %d still exists", i)
			}
		}
	})
	t.Run("refused by the network", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.altered(`{"visibility":"unlisted"}`, wider)
		b.must(b.fake.Inject(fake.Fault{Kind: fake.Status, Status: http.StatusForbidden, Method: http.MethodDelete}))
		_, err := b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		wantCode(t, err, "not_deleted")
		if target := b.read(p.ID).Targets[0]; !target.NeedsReview || target.DeletedAt != nil {
			t.Errorf("got %+v, want that it still needs review", target)
		}
		_, err = b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		b.must(err)
	})
	t.Run("before it is published", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(nil)
		_, err := b.scheduler.DeletePublished(t.Context(), guard(b, p), p.Targets[0].ID)
		wantCode(t, err, "not_deletable")
	})
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}
