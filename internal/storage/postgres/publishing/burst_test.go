package publishing_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/testing/storetest"
)

func TestClaimAll_ClaimsOnlyDueTargets(t *testing.T) {
	n := open(t)
	second := n.Connect("second")
	due := n.Create(func(d *post.NewPost) { d.AccountIDs = append(d.AccountIDs, second.ID) })
	canceled, edited, held := n.Create(), n.Create(), n.Create()
	calls := []post.Call{storetest.Call(due, 0, 1), storetest.Call(canceled, 0, 1), storetest.Call(edited, 0, 1), storetest.Call(held, 0, 1), storetest.Call(due, 1, 1)}
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(canceled))
	n.Must(err)
	words := "Better words"
	changed, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(edited), post.Change{Content: &words}, nil)
	n.Must(err)
	n.Claim(held, 0, 1, time.Minute)
	before := n.Reread(held)

	claimed, ok, err := n.Publishing.Ledger.ClaimAll(t.Context(), calls, time.Minute)
	n.Must(err)
	if fmt.Sprint(ok) != "[true false false false true]" {
		t.Fatalf("claimed %v", ok)
	}
	if claimed[0].Fence != 1 || claimed[4].Fence != 1 || claimed[0].ClaimedUntil.IsZero() {
		t.Errorf("claimed %+v", claimed)
	}
	if p := n.Reread(canceled); p.Status != post.Canceled {
		t.Errorf("the canceled post is %s", p.Status)
	}
	if p := n.Reread(edited); p.Status != post.Scheduled || p.Version != changed.Version {
		t.Errorf("a refused claim changed the post: %s, version %d", p.Status, p.Version)
	}
	if after := n.Reread(held); after.Version != before.Version || after.Targets[0].Fence != before.Targets[0].Fence {
		t.Error("another holder's claim was changed")
	}
	for _, i := range []int{0, 4} {
		if _, found, err := n.Publishing.Ledger.OpenCall(t.Context(), calls[i].TargetID); err != nil || !found {
			t.Errorf("call %d is not in the ledger: %v", i, err)
		}
	}
}

func TestClaimAll_OverlappingBurstsClaimEachTargetOnce(t *testing.T) {
	n := open(t)
	posts := make([]post.Post, 40)
	for i := range posts {
		posts[i] = n.Create()
	}
	wins := make(map[uuid.UUID]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for round := range 8 {
		all.Go(func() {
			calls := make([]post.Call, 0, len(posts))
			for i := range posts { // each in another order, so that locks could deadlock
				calls = append(calls, storetest.Call(posts[(i*7+round*5)%len(posts)], 0, 1))
			}
			claimed, ok, err := n.Publishing.Ledger.ClaimAll(t.Context(), calls, time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range claimed {
				if ok[i] {
					wins[claimed[i].TargetID]++
				}
			}
		})
	}
	all.Wait()
	for _, p := range posts {
		if wins[p.Targets[0].ID] != 1 {
			t.Errorf("target of %s was claimed %d times", p.ID, wins[p.Targets[0].ID])
		}
	}
}

// The targets of a post may end at the same moment, in different processes: the last one
// waits for the others and sees how they have ended.
func TestRecordPosted_SeesTargetsThatEndedWhileItWaited(t *testing.T) {
	n := open(t)
	second := n.Connect("second")
	p := n.Create(func(d *post.NewPost) { d.AccountIDs = append(d.AccountIDs, second.ID) })
	first, last := n.Claim(p, 0, 1, time.Minute), n.Claim(p, 1, 1, time.Minute)
	other := n.Begin()
	_, err := other.Exec(t.Context(), "select 1 from scheduled_posts where post_id = $1 for no key update", p.ID)
	n.Must(err)
	_, err = other.Exec(t.Context(), `update post_targets set status = 'posted', remote_id = '1', posted_at = now(),
		claimed_until = null where id = $1`, first.TargetID)
	n.Must(err)
	_, err = other.Exec(t.Context(), "update scheduled_posts set version = version + 1 where post_id = $1", p.ID)
	n.Must(err)
	recorded := make(chan error, 1)
	go func() {
		ok, err := n.Publishing.Ledger.RecordPosted(t.Context(), []post.Outcome{storetest.Posted(last, "2")})
		if err == nil && !ok[0] {
			err = errors.New("not recorded")
		}
		recorded <- err
	}()
	waiting := `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
	for n.Count(waiting) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	before := n.Reread(p).Version
	n.Must(other.Commit(t.Context()))
	n.Must(<-recorded)
	got := n.Reread(p)
	require.Equal(t, post.Posted, got.Status)
	require.NotNil(t, got.PostedAt)
	require.EqualValues(t, before+2, got.Version)
	if events := n.EventTypes(p); events[len(events)-1] != post.EventStatus {
		t.Errorf("timeline %v, want the status at its end", events)
	}
}

func TestRecordPosted_MatchesFinish(t *testing.T) {
	n := open(t)
	second := n.Connect("second")
	whole := n.Create(func(d *post.NewPost) { d.AccountIDs = append(d.AccountIDs, second.ID) })
	half := n.Create(func(d *post.NewPost) { d.AccountIDs = append(d.AccountIDs, second.ID) })
	lost := n.Create()
	outcomes := []post.Outcome{
		storetest.Posted(n.Claim(whole, 0, 1, time.Minute), "1"),
		storetest.Posted(n.Claim(whole, 1, 1, time.Minute), "2"),
		storetest.Posted(n.Claim(half, 0, 1, time.Minute), "3"), storetest.Posted(n.Claim(lost, 0, 1, time.Minute), "4"),
	}
	outcomes[3].Fence-- // another holder has the claim now

	ok, err := n.Publishing.Ledger.RecordPosted(t.Context(), outcomes)
	n.Must(err)
	if fmt.Sprint(ok) != "[true true true false]" {
		t.Fatalf("recorded %v", ok)
	}
	p := n.Reread(whole)
	require.Equal(t, post.Posted, p.Status)
	require.NotNil(t, p.PostedAt)
	require.NotEmpty(t, p.Targets[0].RemoteID)
	require.Equal(t, 1, p.Targets[0].Attempts)
	require.Nil(t, p.Targets[0].ClaimedUntil)
	if !p.Targets[0].SentAt.Equal(*outcomes[0].SentAt) && !p.Targets[1].SentAt.Equal(*outcomes[0].SentAt) {
		t.Errorf("sent at %v, want %v", p.Targets[0].SentAt, outcomes[0].SentAt)
	}
	if p := n.Reread(half); p.Status != post.Publishing || p.PostedAt != nil {
		t.Errorf("the post with an open target is %s", p.Status)
	}
	if p := n.Reread(lost); p.Status != post.Publishing || p.Targets[0].Status != post.TargetPublishing {
		t.Errorf("an outcome without the claim was recorded: %s", p.Targets[0].Status)
	}
	events, err := n.Publishing.Posts.Events(t.Context(), whole.ID, 0, 100)
	n.Must(err)
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e.Type]++
	}
	if kinds[post.EventPosted] != 2 || kinds[post.EventStatus] != 1 {
		t.Errorf("the timeline has %v", kinds)
	}
	// Neither outcome has evidence or event data: it must not be stored as null or an
	// array.
	if odd := n.Count(`select count(*) from operations where jsonb_typeof(evidence) <> 'object'`) +
		n.Count(`select count(*) from post_events where jsonb_typeof(data) <> 'object'`); odd != 0 {
		t.Errorf("%d rows have JSON that is not an object", odd)
	}
	if _, found, err := n.Publishing.Ledger.OpenCall(t.Context(), outcomes[0].TargetID); err != nil || found {
		t.Errorf("the ledger still has an open call: %v", err)
	}
}

func TestCountDue_CountsScheduledPostsInWindow(t *testing.T) {
	n := open(t)
	at := time.Now().Add(time.Hour).Truncate(10 * time.Second)
	for _, off := range []time.Duration{-time.Millisecond, 0, 9 * time.Second, 10 * time.Second} {
		n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = at.Add(off) })
	}
	canceled := n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = at })
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(canceled))
	n.Must(err)
	if due, err := n.Publishing.Ledger.CountDue(t.Context(), at, at.Add(10*time.Second)); err != nil || due != 2 {
		t.Errorf("%d are due, %v", due, err)
	}
}

// Counting must not read more than linearly many rows, even if the statistics of
// Postgres are older than the burst and report no scheduled posts.
func TestCountPlanned_ReadsLinearRowsWithStaleStatistics(t *testing.T) {
	n := open(t)
	const burst = 200
	var last post.Post
	for range burst {
		last = n.Create()
	}
	n.Exec("update post_targets set status = 'canceled'")
	n.Exec("update scheduled_posts set status = 'canceled'")
	n.Exec("analyze")
	n.Exec("update post_targets set status = 'scheduled'")
	n.Exec("update scheduled_posts set status = 'scheduled'")

	tx := n.Begin()
	q := db.New(tx)
	read := func() (rows int) {
		t.Helper()
		const sql = "select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int from pg_stat_xact_user_tables where " +
			"relname in ('post_targets', 'scheduled_posts')"
		n.Must(tx.QueryRow(t.Context(), sql).Scan(&rows))
		return rows
	}
	at := last.ScheduledTime
	calls, err := q.CountPlanned(t.Context(),
		db.CountPlannedParams{
			WorkspaceID: n.Workspace.ID, AccountID: n.Account.ID,
			FromTime: at.Add(-time.Hour), ToTime: at.Add(time.Hour), Most: 10 * burst,
		})
	n.Must(err)
	counting := read()
	if calls != burst || counting > 10*burst {
		t.Errorf("counted %d calls of %d, and read %d rows for it", calls, burst, counting)
	}
	near, err := q.NearbyPosts(t.Context(), db.NearbyPostsParams{
		Ns: []int{0}, PostIds: []uuid.UUID{storetest.NewID()},
		SeriesIds:  []uuid.UUID{storetest.NewID()},
		AccountIds: []uuid.UUID{n.Account.ID}, Ats: []time.Time{at}, Fingerprints: [][]byte{
			last.Fingerprint(last.Targets[0]),
		},
		WorkspaceID: n.Workspace.ID, SameSeconds: 86400, NearSeconds: 300,
	})
	n.Must(err)
	if looking := read() - counting; len(near) != 2 || looking > 10*burst {
		t.Errorf("found %d neighbours, and read %d rows for it", len(near), looking)
	}
}

// Scheduling for an account must not read the posts of other accounts, of which a large
// newsroom has thousands within minutes.
func TestNearbyPosts_ReadsOnlyPostsOfTheAccount(t *testing.T) {
	n := open(t)
	desk := n.Account
	var last post.Post
	for range 200 {
		last = n.Create()
	}
	n.Exec("analyze")
	n.Account = n.Connect("sport")
	first := n.Create()
	tx := n.Begin()
	near, err := db.New(tx).NearbyPosts(t.Context(),
		db.NearbyPostsParams{
			Ns: []int{0, 1}, PostIds: []uuid.UUID{storetest.NewID(), storetest.NewID()}, SeriesIds: []uuid.UUID{
				storetest.NewID(), storetest.NewID(),
			},
			AccountIds: []uuid.UUID{n.Account.ID, desk.ID}, Ats: []time.Time{last.ScheduledTime, last.ScheduledTime},
			Fingerprints: [][]byte{{}, {}},
			WorkspaceID:  n.Workspace.ID, SameSeconds: 86400, NearSeconds: 300,
		})
	n.Must(err)
	var rows int
	const sql = "select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int from pg_stat_xact_user_tables where " +
		"relname in ('post_targets', 'scheduled_posts')"
	n.Must(tx.QueryRow(t.Context(), sql).Scan(&rows))
	if len(near) != 2 || near[0].PostID != first.ID || rows > 20 {
		t.Errorf("found %+v, and read %d rows for it", near, rows)
	}
}

// An account's posts are found by their time, also after it changed in any way.
func TestNearbyPosts_FindsMovedPosts(t *testing.T) {
	n := open(t)
	p := n.Create()
	later := p.ScheduledTime.Add(24 * time.Hour)
	_, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{ScheduledTime: &later}, nil)
	n.Must(err)
	for at, want := range map[time.Time]int{p.ScheduledTime: 0, later: 1} {
		near, err := n.Publishing.Posts.NearbyPosts(t.Context(), n.Workspace.ID, []post.Slot{
			{PostID: storetest.NewID(), AccountID: n.Account.ID, At: at},
		})
		n.Must(err)
		if len(near) != want {
			t.Errorf("%d posts near %s, want %d", len(near), at, want)
		}
	}
	n.Exec("update scheduled_posts set scheduled_time = scheduled_time + interval '1 day' where post_id = $1", p.ID)
	if near, err := n.Publishing.Posts.NearbyPosts(t.Context(), n.Workspace.ID,
		[]post.Slot{{PostID: storetest.NewID(), AccountID: n.Account.ID, At: later.Add(24 * time.Hour)}}); err != nil ||
		len(near) != 1 {
		t.Errorf("%d posts near the third time, %v", len(near), err)
	}
}
