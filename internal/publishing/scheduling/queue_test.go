package scheduling_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

// queue creates a queue whose clock is on the Thursday before a clock change.
func queue(n *newsroomtest.Newsroom, name string, accounts []uuid.UUID, times ...string) account.Group {
	n.T.Helper()
	now := time.Date(2031, 3, 6, 17, 0, 0, 0, time.UTC)
	if real := time.Now(); real.After(now) {
		n.T.Fatal("move the test's clock into the future")
	}
	n.Scheduler.Now = func() time.Time { return now }
	g := account.Group{Name: name, Color: "blue", AccountIDs: accounts, TimeZone: "America/New_York"}
	for day := 1; day <= 7; day++ {
		for _, at := range times {
			g.Slots = append(g.Slots, account.Slot{Weekday: day, Time: at})
		}
	}
	g, err := (&account.Groups{Store: n.Store.Publishing.Accounts}).Create(n.T.Context(), n.Owner, g)
	n.Must(err)
	return g
}

func upcoming(n *newsroomtest.Newsroom, g account.Group, count int) []time.Time {
	var out []time.Time
	for at := range g.Upcoming(n.Scheduler.Now()) {
		if out = append(out, at); len(out) == count {
			break
		}
	}
	return out
}

func inQueue(n *newsroomtest.Newsroom, change ...func(*scheduling.Draft)) (post.Post, error) {
	d := scheduling.Draft{Content: uuid.NewString(), When: scheduling.NextFree}
	for _, f := range change {
		f(&d)
	}
	p, _, err := n.Scheduler.Schedule(n.T.Context(), n.Owner, d, idempotency.Key{})
	return p, err
}

// Posts that are scheduled, moved, reordered and canceled concurrently never share a
// slot, and none is lost, also around clock changes.
func TestQueue_ConcurrentChangesNeverShareASlot(t *testing.T) {
	for name, reorders := range map[string]bool{"Moves": false, "MovesAndReorders": true} {
		t.Run(name, func(t *testing.T) { testConcurrentQueue(t, reorders) })
	}
}

func testConcurrentQueue(t *testing.T, reorders bool) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "02:30", "03:30", "09:00")
	slots := upcoming(n, g, 200)

	var lock sync.Mutex
	live, canceled := map[uuid.UUID]time.Time{}, map[uuid.UUID]bool{}
	taken := 0
	worker := func(rng *rand.Rand) error {
		var mine []uuid.UUID
		note := func(p post.Post) {
			lock.Lock()
			defer lock.Unlock()
			live[p.ID] = p.ScheduledTime
		}
		for range 5 {
			pick := func() int { return rng.IntN(len(mine)) }
			switch what := rng.IntN(10); {
			case reorders && len(mine) > 0 && what%2 == 1:
				move := post.QueueMove{GroupID: g.ID, PostID: mine[pick()]}
				lock.Lock()
				for id := range live { // any of them, or the end of the queue
					move.Before = id
					break
				}
				lock.Unlock()
				_, err := n.Scheduler.ReorderQueue(t.Context(),
					post.Guard{WorkspaceID: n.Workspace.ID, PostID: move.PostID}, move)
				if err != nil && !hasCode(err, "not_in_queue") {
					return err
				}
			case len(mine) == 0 || what < 4:
				p, err := inQueue(n)
				if err != nil {
					return err
				}
				mine = append(mine, p.ID)
				note(p)
			case what < 6: // a draft gets a slot
				p := draft(n, func(d *scheduling.Draft) { d.Content = uuid.NewString() })
				p, err := n.Scheduler.ScheduleDraft(t.Context(), guard(n, p), scheduling.Time{
					When: scheduling.NextFree,
				})
				if err != nil {
					return err
				}
				mine = append(mine, p.ID)
				note(p)
			case what < 8: // moved to some slot, which may be taken
				to := slots[rng.IntN(24)].Format(time.RFC3339)
				p, err := n.Scheduler.Edit(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: mine[pick()]},
					scheduling.Edit{ScheduledTime: &to})
				if hasCode(err, post.CodeSlotTaken) {
					lock.Lock()
					taken++
					lock.Unlock()
					continue
				}
				if err != nil {
					return err
				}
				note(p)
			case what < 9: // to the next free one
				p, err := n.Scheduler.Edit(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: mine[pick()]},
					scheduling.Edit{When: scheduling.NextFree})
				if err != nil {
					return err
				}
				note(p)
			default:
				i := pick()
				p, err := n.Scheduler.Cancel(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: mine[i]})
				if err != nil {
					return err
				}
				lock.Lock()
				delete(live, p.ID)
				canceled[p.ID] = true
				lock.Unlock()
				mine = slices.Delete(mine, i, i+1)
			}
		}
		return nil
	}
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = worker(rand.New(rand.NewPCG(uint64(i), 1))) }) //nolint:gosec // a seed makes it repeatable
	}
	all.Wait()
	n.Must(errors.Join(errs...))

	got := map[time.Time]uuid.UUID{}
	for id, at := range live {
		p, err := n.Store.Publishing.Posts.PostInWorkspace(t.Context(), n.Workspace.ID, id)
		n.Must(err)
		if reorders {
			at = p.ScheduledTime
		}
		if p.Status != post.Scheduled || !p.ScheduledTime.Equal(at) || len(p.Targets) != 1 {
			t.Errorf("post %s: got %s at %s with %d targets, want scheduled at %s with one", id, p.Status,
				p.ScheduledTime, len(p.Targets), at)
		}
		if p.QueueGroupID == nil || *p.QueueGroupID != g.ID {
			t.Errorf("post %s: got the queue %v, want %s", id, p.QueueGroupID, g.ID)
		}
		if other, twice := got[at]; twice {
			t.Errorf("%s and %s both have the slot %s", id, other, at)
		}
		if got[at] = id; !g.HasSlotAt(at) {
			t.Errorf("%s is not a slot", at)
		}
	}
	for id := range canceled {
		if p, err := n.Store.Publishing.Posts.PostInWorkspace(t.Context(), n.Workspace.ID, id); err != nil || p.Status != post.Canceled {
			t.Errorf("post %s: got %s (%v), want canceled", id, p.Status, err)
		}
	}
	want := slots[slices.IndexFunc(slots, func(at time.Time) bool { _, there := got[at]; return !there })]
	if p, err := inQueue(n); err != nil || !p.ScheduledTime.Equal(want) {
		t.Errorf("got %s (%v), want the first free slot %s", p.ScheduledTime, err, want)
	}
	t.Logf("%d posts scheduled, %d canceled, %d moves refused because the slot was taken", len(live), len(canceled),
		taken)
}

// Clocks skip 02:30 on 9 March 2031: that slot coincides with the one at 03:30, and
// only one post is scheduled there.
func TestQueue_SkippedTimeIsNotBookedTwice(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Nights", []uuid.UUID{a.ID}, "02:30", "03:30")
	zone, _ := timezone.Load(g.TimeZone)
	var got []string
	for range 6 {
		p, err := inQueue(n)
		n.Must(err)
		got = append(got, p.ScheduledTime.In(zone).Format("Mon 15:04"))
	}
	if want := []string{
		"Fri 02:30", "Fri 03:30", "Sat 02:30", "Sat 03:30", "Sun 03:30",
		"Mon 02:30",
	}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQueue_CanceledRejectedAndMovedPostsFreeTheirSlot(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00")
	first := upcoming(n, g, 1)[0]
	for name, free := range map[string]func(p post.Post) error{
		"cancel": func(p post.Post) error { _, err := n.Scheduler.Cancel(t.Context(), guard(n, p)); return err },
		"move": func(p post.Post) error {
			elsewhere := first.Add(90 * time.Minute).Format(time.RFC3339)
			moved, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{ScheduledTime: &elsewhere})
			if moved.QueueGroupID != nil {
				t.Errorf("got queue %v, want none: %s is not a slot", moved.QueueGroupID, elsewhere)
			}
			return err
		},
		"publish now": func(p post.Post) error {
			_, err := n.Scheduler.PublishNow(t.Context(), guard(n, p))
			return err
		},
		"reject": func(p post.Post) error {
			on := true
			_, err := n.People.ChangeWorkspace(t.Context(), n.Owner, workspace.Change{AuthorsNeedApproval: &on})
			n.Must(err)
			author := post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, IsAuthor: true}
			text := "Changed by an author"
			p, err = n.Scheduler.Edit(t.Context(), author, scheduling.Edit{Content: &text})
			n.Must(err)
			if other, err := inQueue(n); err != nil || other.ScheduledTime.Equal(first) {
				t.Errorf("got %s (%v): a pending post has lost its slot", other.ScheduledTime, err)
			}
			_, err = n.Scheduler.Reject(t.Context(), guard(n, p), "Not yet")
			return err
		},
	} {
		p, err := inQueue(n)
		n.Must(err)
		if !p.ScheduledTime.Equal(first) {
			t.Fatalf("%s: got %s, want the slot %s: it was not freed", name, p.ScheduledTime, first)
		}
		n.Must(free(p))
	}
}

func TestQueue_PostWithoutQueueTakesTheTimeOfItsAccounts(t *testing.T) {
	n := newsroomtest.Open(t)
	a, b := n.Connect("desk"), n.Connect("sports")
	g := queue(n, "Both", []uuid.UUID{a.ID, b.ID}, "09:00")
	slots := upcoming(n, g, 2)
	only := func(id uuid.UUID) func(*scheduling.Draft) {
		return func(d *scheduling.Draft) { d.Accounts = []string{id.String()} }
	}
	n.Schedule(only(a.ID), func(d *scheduling.Draft) { d.ScheduledTime = slots[0].Format(time.RFC3339) })
	if p, err := inQueue(n, only(a.ID)); err != nil || !p.ScheduledTime.Equal(slots[1]) {
		t.Errorf("got %s (%v), want %s: the account has a post at the first slot", p.ScheduledTime, err, slots[1])
	}
	if p, err := inQueue(n, only(b.ID)); err != nil || !p.ScheduledTime.Equal(slots[0]) {
		t.Errorf("got %s (%v), want %s: the other account is free then", p.ScheduledTime, err, slots[0])
	}
}

func TestQueue_SmallestGroupWithAllAccountsIsMeant(t *testing.T) {
	n := newsroomtest.Open(t)
	a, b := n.Connect("desk"), n.Connect("sports")
	both := queue(n, "Both", []uuid.UUID{a.ID, b.ID}, "08:00")
	own := queue(n, "Sports", []uuid.UUID{b.ID}, "10:00")
	queue(n, "Without slots", []uuid.UUID{a.ID})
	for name, c := range map[string]struct {
		accounts []string
		want     uuid.UUID
	}{
		"both accounts":             {[]string{a.ID.String(), b.ID.String()}, both.ID},
		"its own group":             {[]string{b.ID.String()}, own.ID},
		"a group without slots: no": {[]string{a.ID.String()}, both.ID},
	} {
		p, err := inQueue(n, func(d *scheduling.Draft) { d.Accounts = c.accounts })
		if err != nil || p.QueueGroupID == nil || *p.QueueGroupID != c.want {
			t.Errorf("%s: got %v (%v), want %s", name, p.QueueGroupID, err, c.want)
		}
	}
	shown, err := n.Scheduler.Preview(t.Context(), n.Owner, scheduling.Draft{
		Content: "x", SaveAsDraft: true, Accounts: []string{b.ID.String()},
	})
	if err != nil || shown.Next == nil || shown.Next.Group.ID != own.ID ||
		!shown.Next.At.Equal(upcoming(n, own, 2)[1]) {
		t.Errorf("got %+v (%v), want the second slot of %s", shown.Next, err, own.Name)
	}
}

func TestQueue_RefusalsNameTheField(t *testing.T) {
	n := newsroomtest.Open(t)
	a, b := n.Connect("desk"), n.Connect("sports")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00")
	empty := queue(n, "Empty", []uuid.UUID{a.ID})
	slot := upcoming(n, g, 1)[0]
	parent := n.Schedule(func(d *scheduling.Draft) { d.ScheduledTime = slot.Add(time.Minute).Format(time.RFC3339) })
	for name, c := range map[string]struct {
		change func(*scheduling.Draft)
		field  string
		code   string
	}{
		"another word": {func(d *scheduling.Draft) { d.When = "soon" }, "when", "invalid"},
		"and a time": {
			func(d *scheduling.Draft) { d.ScheduledTime = slot.Format(time.RFC3339) }, "when",
			"conflict",
		},
		"a draft": {func(d *scheduling.Draft) { d.SaveAsDraft = true }, "when", "draft_has_no_slot"},
		"a reply": {
			func(d *scheduling.Draft) { d.ThreadParentID = parent.ID.String() }, "when",
			"reply_needs_time",
		},
		"unknown": {
			func(d *scheduling.Draft) { d.QueueGroupID = uuid.NewString() }, "queue_group_id",
			"unknown",
		},
		"without slots": {
			func(d *scheduling.Draft) { d.QueueGroupID = empty.ID.String() }, "queue_group_id",
			"no_slots",
		},
		"no such group": {
			func(d *scheduling.Draft) { d.Accounts = []string{b.ID.String()} }, "queue_group_id",
			"required",
		},
		"other accounts": {
			func(d *scheduling.Draft) { d.Accounts, d.QueueGroupID = []string{b.ID.String()}, g.ID.String() },
			"queue_group_id", "not_covered",
		},
		"no slot then": {func(d *scheduling.Draft) {
			d.When, d.QueueGroupID, d.ScheduledTime = "", g.ID.String(), slot.Add(time.Hour).Format(time.RFC3339)
		}, "scheduled_time", "no_slot"},
	} {
		_, err := inQueue(n, c.change)
		var e *apperr.Error
		if !errors.As(err, &e) ||
			!slices.ContainsFunc(e.Fields,
				func(f apperr.FieldError) bool { return f.Field == c.field && f.Code == c.code }) {
			t.Errorf("%s: got %v, want %s at %s", name, err, c.code, c.field)
		}
	}
}

func TestQueue_SlotsListsFreeAndTaken(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00")
	times := upcoming(n, g, 3)
	p := n.Schedule(func(d *scheduling.Draft) {
		d.ScheduledTime, d.QueueGroupID = times[1].Format(time.RFC3339), g.ID.String()
	})
	got, err := n.Scheduler.Slots(t.Context(), n.Owner, times[0], times[2])
	n.Must(err)
	if len(got) != 2 || !got[0].At.Equal(times[0]) || !got[1].At.Equal(times[1]) {
		t.Fatalf("got %+v, want slots at %s and %s", got, times[0], times[1])
	}
	if got[0].PostID != nil || got[1].PostID == nil || *got[1].PostID != p.ID {
		t.Errorf("got the posts %v and %v, want none and %s", got[0].PostID, got[1].PostID, p.ID)
	}
	n.Must((&account.Groups{Store: n.Store.Publishing.Accounts}).Delete(t.Context(), n.Owner, g.ID))
	if p, err := n.Store.Publishing.Posts.PostInWorkspace(t.Context(), n.Workspace.ID, p.ID); err != nil || p.Status != post.Scheduled ||
		p.QueueGroupID != nil {
		t.Errorf("got %+v (%v), want it scheduled without a queue", p, err)
	}
}

// GET /queue-slots and next_free agree on which slots are free.
func TestQueue_SlotsOmitsTimesOfOtherPosts(t *testing.T) {
	n := newsroomtest.Open(t)
	a, b := n.Connect("desk"), n.Connect("sports")
	times := upcoming(n, queue(n, "Desk", []uuid.UUID{a.ID, b.ID}, "09:00"), 3)
	at := func(id uuid.UUID, when time.Time) post.Post {
		return n.Schedule(func(d *scheduling.Draft) {
			d.Accounts, d.ScheduledTime = []string{id.String()}, when.Format(time.RFC3339)
		})
	}
	free := func(want ...time.Time) {
		t.Helper()
		got, err := n.Scheduler.Slots(t.Context(), n.Owner, times[0], times[2].Add(time.Second))
		n.Must(err)
		if len(got) != len(want) ||
			!slices.EqualFunc(got, want, func(s scheduling.Slot, at time.Time) bool {
				return s.At.Equal(at) &&
					s.PostID == nil
			}) {
			t.Errorf("got %+v, want free slots at %v", got, want)
		}
	}
	first := at(a.ID, times[0])
	free(times[1], times[2])
	at(b.ID, times[2])
	free(times[1])
	at(a.ID, times[1].Add(time.Minute)) // not at a slot
	free(times[1])
	n.Exec("update scheduled_posts set status = 'canceled' where post_id = $1", first.ID)
	free(times[0], times[1])
}

func hasCode(err error, code string) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Code == code
}
