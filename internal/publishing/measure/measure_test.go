package measure_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/measure"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// newsroom reads metrics from fake networks, by a clock that the test sets.
type newsroom struct {
	*newsroomtest.Newsroom

	service *measure.Service
	started time.Time
	offset  time.Duration
}

func open(t *testing.T) *newsroom {
	t.Helper()
	return openWith(t, fake.Options{AutoApprove: true})
}

func openWith(t *testing.T, options fake.Options) *newsroom {
	t.Helper()
	t.Parallel()
	n := &newsroom{Newsroom: newsroomtest.OpenWith(t, options), started: time.Now()}
	n.service = &measure.Service{
		Store: n.Store.Publishing.Metrics, Accounts: n.Accounts, Networks: n.Networks,
		Share: measure.DefaultShare, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(n.offset) },
	}
	return n
}

// at sets the time since the posts were published. Their first readings are scheduled
// before, as they are within a minute of publishing.
func (n *newsroom) at(age time.Duration) {
	n.due()
	n.Fake.AgePosts(age - n.offset)
	n.offset = age
}

// due runs one round and returns the accounts that were due.
func (n *newsroom) due() []uuid.UUID {
	n.T.Helper()
	found, err := n.service.Due(n.T.Context())
	n.Must(err)
	return found
}

func (n *newsroom) measure(id uuid.UUID) measure.Summary {
	n.T.Helper()
	s, err := n.service.MeasureAccount(n.T.Context(), id, func() {})
	n.Must(err)
	return s
}

func (n *newsroom) status(id uuid.UUID) measure.Status {
	n.T.Helper()
	s, err := n.Store.Publishing.Metrics.MeasuringStatus(n.T.Context(), id)
	n.Must(err)
	return s
}

// connect connects an account of a network with a consent page.
func (n *newsroom) connect(name string) account.Account {
	n.T.Helper()
	if name == "mastodon" {
		return n.Connect("desk")
	}
	there, err := n.Fake.Add(fake.Account{Network: name, Name: "desk"})
	n.Must(err)
	if name == "facebook" {
		_, err = n.Fake.Add(fake.Account{Network: name, Kind: "page", OwnerID: there.ID, Name: "newsroom"})
		n.Must(err)
	}
	return n.Consented(name)[0]
}

// publish publishes a post on an account, and returns its id at the network.
func (n *newsroom) publish(a account.Account, text string) (post.Post, string) {
	n.T.Helper()
	p := n.Schedule(func(d *scheduling.Draft) { d.Content, d.Accounts = text, []string{a.ID.String()} })
	return p, n.send(p, a, network.Submission{Key: uuid.NewString(), Text: text}, 0)
}

// send publishes a segment as a publisher would.
func (n *newsroom) send(p post.Post, a account.Account, s network.Submission, segment int) string {
	n.T.Helper()
	ctx := n.T.Context()
	_, opened, err := n.Accounts.Open(ctx, a.ID)
	n.Must(err)
	adapter, _ := n.Networks.Get(a.Network)
	if preparer, ok := adapter.(network.Preparer); ok {
		for ready := false; !ready; {
			prepared, err := preparer.Prepare(ctx, opened, s)
			n.Must(err)
			s.Handle, ready = prepared.Handle, prepared.Ready
		}
	}
	receipt, err := adapter.Publish(ctx, opened, s)
	n.Must(err)
	n.Exec(
		`insert into remote_posts (account_id, remote_id, target_id, segment, remote_url, posted_at) values ($1, $2, $3, $4, $5, $6)`,
		a.ID, receipt.RemoteID, newsroomtest.TargetOn(p, a.ID).ID, segment, receipt.URL, n.started)
	n.Exec(`update post_targets set status = 'posted', remote_id = $2, posted_at = $3 where id = $1`,
		newsroomtest.TargetOn(p, a.ID).ID, receipt.RemoteID, n.started)
	return receipt.RemoteID
}

// metrics returns the latest metrics of the first part of a post.
func (n *newsroom) metrics(p post.Post) measure.PostPart {
	n.T.Helper()
	parts, err := n.Store.Publishing.Metrics.PostMetrics(n.T.Context(), p.ID)
	n.Must(err)
	if len(parts) == 0 {
		n.T.Fatalf("post %s has no measured parts", p.ID)
	}
	return parts[0]
}

// Posts are read at growing intervals, and every reading is stored.
func TestMeasureAccount_FollowsTheSchedule(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	p, _ := n.publish(a, "Measured")
	n.at(10 * time.Minute)
	if due := n.due(); len(due) != 0 {
		t.Errorf("due after 10 minutes: got %v, want none", due)
	}
	readings := 0
	for _, age := range []time.Duration{16 * time.Minute, 61 * time.Minute, 25 * time.Hour, 49 * time.Hour} {
		n.at(age)
		if due := n.due(); !slices.Equal(due, []uuid.UUID{a.ID}) {
			t.Fatalf("due after %v: got %v, want the account", age, due)
		}
		if s := n.measure(a.ID); s.Read != 1 || s.Reason != "" {
			t.Errorf("run after %v: got %+v, want one post", age, s)
		}
		if due := n.due(); len(due) != 0 {
			t.Errorf("due right after a reading: got %v, want none", due)
		}
		readings++
		if got := n.Count("select count(distinct at) from post_metric_readings"); got != readings {
			t.Errorf("stored readings after %v: got %d, want %d", age, got, readings)
		}
	}
	got := n.metrics(p)
	if got.State != measure.Measured || got.Latest[network.MetricLikes] == 0 {
		t.Errorf("latest: got %+v, want likes", got)
	}
	if _, ok := got.Latest[network.MetricViews]; ok {
		t.Errorf("latest: got %v, want no views, which Mastodon does not report", got.Latest)
	}
	n.at(120 * 24 * time.Hour)
	n.measure(a.ID)
	if left := n.Count("select count(*) from post_metrics where due_at is not null"); left != 0 {
		t.Errorf("%d posts are due after 120 days, want none", left)
	}
}

// Posts in the sandbox are read from the first minute on, and then like those of their network.
func TestMeasureAccount_ReadsTheSandboxEarly(t *testing.T) {
	for _, name := range []string{"mastodon", "threads", "facebook"} {
		t.Run(name, func(t *testing.T) {
			n := open(t)
			n.service.Sandbox = n.Fake.NetworkURL
			a := n.connect(name)
			n.publish(a, "Measured")
			n.at(50 * time.Second)
			if due := n.due(); len(due) != 0 {
				t.Errorf("due after 50 seconds: got %v, want none", due)
			}
			for _, age := range []time.Duration{61 * time.Second, 2 * time.Minute, 9 * time.Minute, 16 * time.Minute, time.Hour} {
				n.at(age)
				if s := n.measure(a.ID); s.Read != 1 {
					t.Errorf("run after %v: got %+v, want one post", age, s)
				}
			}
			n.at(90 * time.Minute)
			if due := n.due(); len(due) != 0 {
				t.Errorf("due after 90 minutes: got %v, want none", due)
			}
		})
	}
}

// A reading is made once, however many runs claim it.
func TestMeasureAccount_ConcurrentRunsReadOnce(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	for _, text := range []string{"One", "Two", "Three"} {
		n.publish(a, text)
	}
	n.at(20 * time.Minute)
	n.due()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := n.service.MeasureAccount(t.Context(), a.ID, func() {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := n.Count("select count(*) from post_metric_readings where metric = 'likes'"); got != 3 {
		t.Errorf("readings of likes: got %d, want 3", got)
	}
}

// A run that stops leaves its claims to the next one.
func TestMeasureAccount_ContinuesAfterACrash(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	n.publish(a, "Claimed")
	n.at(20 * time.Minute)
	n.due()
	now := n.service.Now()
	if claimed, err := n.Store.Publishing.Metrics.ClaimReadings(t.Context(), a.ID, uuid.New(), now, now.Add(10*time.Minute),
		10); err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	if s := n.measure(a.ID); s.Read != 0 {
		t.Errorf("read %d posts that another run has claimed", s.Read)
	}
	n.at(31 * time.Minute)
	if s := n.measure(a.ID); s.Read != 1 {
		t.Errorf("read %d posts after the claim ended, want 1", s.Read)
	}
}

// A post is deleted only if two readings, ten minutes apart, do not find it while
// another post is found.
func TestMeasureAccount_ConfirmsDeletion(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	p, remoteID := n.publish(a, "Deleted at the network")
	n.publish(a, "Still there")
	n.at(20 * time.Minute)
	n.due()
	n.measure(a.ID)
	if _, err := n.Fake.DeletePost(remoteID); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		age  time.Duration
		want measure.State
	}{
		{61 * time.Minute, measure.Missing},
		{65 * time.Minute, measure.Missing},
		{75 * time.Minute, measure.Deleted},
		{200 * time.Minute, measure.Deleted},
	} {
		n.at(row.age)
		n.measure(a.ID)
		if got := n.metrics(p); got.State != row.want {
			t.Errorf("state after %v: got %s, want %s", row.age, got.State, row.want)
		}
	}
	if got := n.Count("select count(*) from post_events where type = 'deleted_at_network' and post_id = $1",
		p.ID); got != 1 {
		t.Errorf("events of the deletion: got %d, want 1", got)
	}
	if got := n.metrics(p).Latest; len(got) == 0 {
		t.Error("the last metrics of a deleted post are lost")
	}
}

// If all posts are missing, the network or a permission is at fault.
func TestMeasureAccount_OutageIsNoDeletion(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	p, _ := n.publish(a, "One")
	n.publish(a, "Two")
	n.at(20 * time.Minute)
	n.due()
	n.measure(a.ID)
	n.Must(n.Fake.Inject(fake.Fault{
		Kind: fake.Status, Method: http.MethodGet, Path: "/api/v1/statuses",
		Status: http.StatusOK, Body: "[]", Count: -1,
	}))
	for _, age := range []time.Duration{61 * time.Minute, 75 * time.Minute, 190 * time.Minute} {
		n.at(age)
		n.measure(a.ID)
		if got := n.metrics(p); got.State != measure.Missing {
			t.Errorf("state after %v: got %s, want %s", age, got.State, measure.Missing)
		}
	}
	n.Fake.ClearFaults()
	n.at(7 * time.Hour)
	n.measure(a.ID)
	if got := n.metrics(p); got.State != measure.Measured {
		t.Errorf("state after the outage: got %s, want %s", got.State, measure.Measured)
	}
}

// Refusals pause reading for as long as the network says, and change nothing else.
func TestMeasureAccount_Pauses(t *testing.T) {
	for _, row := range []struct {
		name   string
		fault  fake.Fault
		reason measure.Reason
		after  time.Duration // when reading resumes
	}{
		{
			"Status402",
			fake.Fault{Kind: fake.Status, Status: http.StatusPaymentRequired},
			measure.ReasonNoCredits,
			24 * time.Hour,
		},
		{
			"Status429",
			fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, For: 40 * time.Minute},
			measure.ReasonRateLimit, 40 * time.Minute,
		},
		{"Status401", fake.Fault{Kind: fake.TokenExpired}, measure.ReasonUnauthorized, 6 * time.Hour},
		{
			"Status503",
			fake.Fault{Kind: fake.Status, Status: http.StatusServiceUnavailable},
			measure.ReasonUnreachable,
			2 * time.Minute,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := open(t)
			a := n.connect("mastodon")
			p, _ := n.publish(a, "Paused")
			n.offset = 20 * time.Minute
			n.Fake.AgePosts(n.offset)
			n.due()
			row.fault.Method, row.fault.Path, row.fault.Count = http.MethodGet, "/api/v1/statuses", -1
			n.Must(n.Fake.Inject(row.fault))
			if s := n.measure(a.ID); s.Reason != row.reason || s.Read != 0 {
				t.Fatalf("got %+v, want a pause because of %s", s, row.reason)
			}
			s := n.status(a.ID)
			wait := s.ResumeAt.Sub(n.service.Now())
			if row.name == "Status429" { // by the network's clock
				wait = time.Until(s.ResumeAt)
			}
			if s.Message == "" || (wait-row.after).Abs() > time.Minute {
				t.Errorf("status: got %q until %v, want a message and %v", s.Message, wait, row.after)
			}
			if row.name != "Status429" && len(n.due()) != 0 {
				t.Error("a paused account is due")
			}
			stored, err := n.Store.Publishing.Accounts.Account(t.Context(), a.ID)
			n.Must(err)
			if stored.Status != account.Connected || stored.LastError != nil {
				t.Errorf("the account is %s with error %v; measuring must not change it", stored.Status,
					stored.LastError)
			}
			n.Fake.ClearFaults()
			n.at(25 * time.Hour)
			if due := n.due(); len(due) != 1 {
				t.Fatalf("due after the pause: got %v, want the account", due)
			}
			n.measure(a.ID)
			if got := n.metrics(p); got.State != measure.Measured || n.status(a.ID).Reason != "" {
				t.Errorf("after the pause: got %+v, %+v", got, n.status(a.ID))
			}
		})
	}
}

// A missing permission is named on the account, and reconnecting resumes reading.
func TestMeasureAccount_NamesTheMissingScope(t *testing.T) {
	n := open(t)
	a := n.connect("threads")
	p, _ := n.publish(a, "Without permission")
	n.at(20 * time.Minute)
	n.due()
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.MissingScope, Scope: "threads_manage_insights", Count: -1}))
	if s := n.measure(a.ID); s.Reason != measure.ReasonMissingScope {
		t.Fatalf("got %+v, want a pause because of %s", s, measure.ReasonMissingScope)
	}
	if s := n.status(a.ID); s.MissingScope != "threads_manage_insights" || s.Message == "" {
		t.Errorf("status: got %+v, want the scope and a message", s)
	}
	if due := n.due(); len(due) != 0 {
		t.Errorf("due: got %v, want none", due)
	}
	n.Fake.ClearFaults()
	n.Consented("threads")
	if due := n.due(); len(due) != 1 {
		t.Fatalf("due after reconnecting: got %v, want the account", due)
	}
	n.measure(a.ID)
	if got := n.metrics(p); got.Latest[network.MetricViews] == 0 || n.status(a.ID).MissingScope != "" {
		t.Errorf("after reconnecting: got %+v, %+v", got, n.status(a.ID))
	}
}

// Facebook's counters need no further permission; its insights do.
func TestMeasureAccount_ReadsWhatTheScopesAllow(t *testing.T) {
	n := open(t)
	a := n.connect("facebook")
	p, _ := n.publish(a, "Counters only")
	n.at(25 * time.Hour)
	n.due()
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.MissingScope, Scope: "read_insights", Count: -1}))
	if s := n.measure(a.ID); s.Read != 1 || s.Reason != "" {
		t.Fatalf("got %+v, want one post", s)
	}
	got := n.metrics(p)
	if _, ok := got.Latest[network.MetricViews]; ok || got.Latest[network.MetricLikes] == 0 {
		t.Errorf("latest: got %v, want likes and no views", got.Latest)
	}
	if s := n.status(a.ID); s.MissingScope != "read_insights" {
		t.Errorf("missing scope: got %q, want read_insights", s.MissingScope)
	}
}

// A metric that the network has retired is not requested again for a week.
func TestMeasureAccount_RemembersRetiredMetrics(t *testing.T) {
	n := open(t)
	a := n.connect("facebook")
	p, _ := n.publish(a, "Renamed again")
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.RetiredMetric, Metric: "post_media_view", Count: -1}))
	requests := func() int {
		n.T.Helper()
		before := 0
		for _, c := range n.Fake.Counts() {
			before += c.Requests
		}
		return before
	}
	var calls []int
	for _, age := range []time.Duration{25 * time.Hour, 49 * time.Hour} {
		n.at(age)
		n.due()
		before := requests()
		if s := n.measure(a.ID); s.Read != 1 {
			t.Fatalf("after %v: got %+v, want one post", age, s)
		}
		calls = append(calls, requests()-before)
		got := n.metrics(p)
		if _, ok := got.Latest[network.MetricViews]; ok || got.Latest[network.MetricReach] == 0 {
			t.Errorf("latest: got %v, want reach and no views", got.Latest)
		}
	}
	if _, ok := n.status(a.ID).Refused["post_media_view"]; !ok {
		t.Errorf("refused: got %v, want post_media_view", n.status(a.ID).Refused)
	}
	if calls[1] >= calls[0] {
		t.Errorf("requests: got %v, want fewer the second time", calls)
	}
	n.Fake.ClearFaults()
	n.at(10 * 24 * time.Hour)
	n.due()
	n.measure(a.ID)
	if got := n.metrics(p); got.Latest[network.MetricViews] == 0 {
		t.Errorf("latest after a week: got %v, want views", got.Latest)
	}
}

// X charges for each post and day: nothing is read without a budget, and never more
// than it allows.
func TestMeasureAccount_KeepsTheBudget(t *testing.T) {
	n := open(t)
	a := n.connect("x")
	var posts []post.Post
	for _, text := range []string{"One", "Two", "Three"} {
		p, _ := n.publish(a, text)
		posts = append(posts, p)
	}
	n.at(20 * time.Minute)
	n.due()
	if s := n.measure(a.ID); s.Reason != measure.ReasonNoBudget || s.Read != 0 {
		t.Fatalf("without a budget: got %+v, want nothing to be read", s)
	}
	if due := n.due(); len(due) != 0 {
		t.Errorf("due without a budget: got %v, want none", due)
	}
	budget := "2"
	_, err := n.Accounts.Edit(t.Context(), n.Owner, a.ID, account.Edit{
		Settings: map[string]*string{measure.SettingReads: &budget},
	})
	n.Must(err)
	if due := n.due(); len(due) != 1 {
		t.Fatalf("due with a budget: got %v, want the account", due)
	}
	if s := n.measure(a.ID); s.Read != 2 {
		t.Errorf("with a budget of 2: read %d of %d posts, want 2", s.Read, len(posts))
	}
	if s := n.measure(a.ID); s.Reason != measure.ReasonBudgetUsed || s.Read != 0 {
		t.Errorf("got %+v, want a pause because of %s", s, measure.ReasonBudgetUsed)
	}
	if s := n.status(a.ID); s.ChargedReads != 2 {
		t.Errorf("charged reads: got %d, want 2", s.ChargedReads)
	}
}

// The replies of a thread to itself are not those of readers.
func TestMeasureAccount_SubtractsOwnReplies(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	p, root := n.publish(a, "A thread")
	n.send(p, a, network.Submission{Key: uuid.NewString(), Text: "Its second part", ReplyTo: root}, 1)
	n.at(16 * time.Minute)
	n.due()
	n.measure(a.ID)
	opened, use, err := n.Accounts.Open(t.Context(), a.ID)
	n.Must(err)
	m, _ := n.Networks.Measurer(opened.Network)
	got, err := m.Measure(context.WithoutCancel(t.Context()), use, network.MeasureRequest{
		Posts: []network.PostRef{{RemoteID: root}},
	})
	n.Must(err)
	if counted, stored := got.Posts[root].Values[network.MetricReplies],
		n.metrics(p).Latest[network.MetricReplies]; stored != counted-1 {
		t.Errorf("replies: got %d, want %d without the own one", stored, counted-1)
	}
}

// Reading stops when posts have used more than the rest of the limit, which the
// network reports with the first response.
func TestMeasureAccount_LeavesTheLimitToPosts(t *testing.T) {
	n := openWith(t, fake.Options{AutoApprove: true, Rates: fake.MastodonRates()})
	n.service.Limits, n.service.Share = n.Limits, 5 // of 300 calls
	a := n.connect("mastodon")
	for i := range 25 {
		n.publish(a, "Limited "+strconv.Itoa(i))
	}
	n.at(20 * time.Minute)
	n.due()
	if s := n.measure(a.ID); s.Reason != measure.ReasonRateLimit || s.Read != 20 {
		t.Errorf("got %+v, want one call for 20 posts and a pause because of %s", s, measure.ReasonRateLimit)
	}
	if s := n.status(a.ID); !s.ResumeAt.After(n.service.Now()) {
		t.Errorf("resume at %v, want later", s.ResumeAt)
	}
}

func TestDue_FindsOldPostsOnceAnHour(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	n.publish(a, "Published before metrics were read")
	hour := time.Now().Add(10 * time.Hour).Truncate(time.Hour)
	n.service.Now = func() time.Time { return hour.Add(30 * time.Minute) }
	if found := n.due(); len(found) != 0 {
		t.Errorf("within the hour: got %v, want no account", found)
	}
	n.service.Now = func() time.Time { return hour.Add(time.Hour + 20*time.Second) }
	if found := n.due(); !slices.Contains(found, a.ID) {
		t.Errorf("at the full hour: got %v, want the account", found)
	}
}

// burst is near until it is over; nil: it lasts.
type burst struct{ over <-chan struct{} }

func (b burst) IsBurstNear(time.Time) bool {
	select {
	case <-b.over:
		return false
	default:
		return true
	}
}

// Reading waits while many posts are sent at once, so that it does not delay them.
func TestMeasureAccount_WaitsForABurst(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	p, _ := n.publish(a, "Measured after a burst")
	n.at(16 * time.Minute)
	n.due()
	over := make(chan struct{})
	n.service.Bursts = burst{over}
	done := make(chan measure.Summary)
	go func() {
		s, err := n.service.MeasureAccount(t.Context(), a.ID, func() {})
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	select {
	case <-done:
		t.Fatal("metrics were read during a burst")
	case <-time.After(500 * time.Millisecond):
	}
	close(over)
	if s := <-done; s.Read != 1 {
		t.Errorf("read %d posts after the burst, want 1", s.Read)
	}
	if part := n.metrics(p); part.State != measure.Measured {
		t.Errorf("the post is %s", part.State)
	}
}

// A stream of posts that never ends delays readings, but does not stop them.
func TestMeasureAccount_ReadsDuringAnEndlessBurst(t *testing.T) {
	n := open(t)
	a := n.connect("mastodon")
	n.publish(a, "Measured in a burst")
	n.at(16 * time.Minute)
	n.due()
	n.service.Bursts = burst{}
	if s := n.measure(a.ID); s.Read != 1 {
		t.Errorf("read %d posts, want 1", s.Read)
	}
}
