package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/infra/message"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

func (s *server) preview(body object, headers ...string) (shown spec.PostPreview) {
	s.t.Helper()
	s.decode(s.send("POST", "/api/v1/posts/preview", body, headers...), 200, &shown)
	return shown
}

// warned lists the codes of warnings.
func warned(warnings *[]spec.Warning) string {
	codes := []string{}
	if warnings != nil {
		for _, w := range *warnings {
			codes = append(codes, w.Code)
		}
	}
	slices.Sort(codes)
	return strings.Join(codes, " ")
}

func TestPreview_CountsLikeEachNetwork(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk, sports := s.Connect("desk"), s.Connect("sports")
	link := "https://example.com/" + strings.Repeat("x", 100)
	shown := s.preview(hello(object{
		"content":  "Hà Nội " + link,
		"accounts": []string{desk.ID.String(), sports.ID.String()}, "thread": []any{
			object{"content": strings.Repeat("á", 501)},
		},
		"overrides": object{sports.ID.String(): object{"thread": []any{}}},
	}))
	if len(shown.Targets) != 2 || shown.Targets[0].AccountId != desk.ID || len(shown.Targets[0].Segments) != 2 ||
		len(shown.Targets[1].Segments) != 1 {
		t.Fatalf("got %+v", shown.Targets)
	}
	first, second := shown.Targets[0].Segments[0], shown.Targets[0].Segments[1]
	if *first.Characters != len([]rune("Hà Nội "))+23 || *first.CharactersAllowed != 500 || len(first.Problems) != 0 ||
		!strings.Contains(first.Text, "Hà Nội") {
		t.Errorf("the first part: %+v", first)
	}
	if *second.Characters != 501 || len(second.Problems) != 1 || second.Problems[0].Field != "thread[0].content" ||
		second.Problems[0].Code != "too_long" {
		t.Errorf("the second part: %+v", second)
	}
	if params := *second.Problems[0].Params; params["used"] != 501.0 || params["limit"] != 500.0 ||
		params["network"] != "Mastodon" {
		t.Errorf("the values of the message: got %v", params)
	}
	if len(shown.Problems) != 1 || shown.Problems[0].Message != second.Problems[0].Message ||
		shown.Price.MicroUsd != 0 || shown.Price.Formatted != "$0.00" {
		t.Errorf("in all: %+v", shown)
	}
	// The same problem prevents scheduling it.
	s.refused(s.send("POST", "/api/v1/posts",
		hello(object{"content": "Hà Nội", "thread": []any{object{"content": strings.Repeat("á", 501)}}})), 422,
		"invalid_request", "thread[0].content")
	if n := s.Count("select count(*) from scheduled_posts"); n != 0 {
		t.Errorf("%d posts are stored", n)
	}
}

func TestPreview_AcceptsIncompleteDrafts(t *testing.T) {
	t.Parallel()
	s := start(t)
	if shown := s.preview(object{}); len(shown.Targets) != 0 || len(shown.Problems) == 0 {
		t.Errorf("without an account: %+v", shown)
	}
	s.Connect("desk")
	shown := s.preview(object{"draft": true})
	if len(shown.Problems) != 0 || len(shown.Targets) != 1 || shown.Targets[0].Segments[0].Problems[0].Code != "empty" {
		t.Errorf("an empty draft: %+v", shown)
	}
	fields := func(shown spec.PostPreview) (all []string) {
		for _, p := range shown.Problems {
			all = append(all, p.Field)
		}
		return all
	}
	if got := fields(s.preview(object{
		"content": "a\x00", "accounts": []string{uuid.NewString(), "desk"},
		"time_zone": "Moon", "language": "!",
	})); fmt.Sprint(got) != "[time_zone accounts[1] accounts[0] "+
		"language content]" {
		t.Errorf("names %v", got)
	}
	// Characters are not counted when the network does not report its limits; this is
	// not a problem.
	s.Must(s.Fake.Close())
	s.Exec("update accounts set base_url = 'http://127.0.0.1:1'")
	if shown := s.preview(hello()); len(shown.Problems) != 0 || shown.Targets[0].Segments[0].Characters != nil ||
		shown.Targets[0].Segments[0].Text != "Hello" {
		t.Errorf("without limits: %+v", shown)
	}
}

func TestWarnings_DuplicateText(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.Connect("desk"), s.Connect("sports")
	both := []string{a.ID.String(), b.ID.String()}
	first := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"content": "Bão số 9\n đổ bộ", "accounts": both[:1], "scheduled_time": in(20 * time.Hour)})), 201)
	if first.Warnings != nil && strings.Contains(warned(first.Warnings), "duplicate") {
		t.Errorf("the first post has warnings: %v", warned(first.Warnings))
	}
	// Decomposed Unicode, other case and other white space make no difference.
	again := object{
		"content": "  BA\u0303O SO\u0302\u0301 9 đo\u0302\u0309  bo\u0323\u0302 ", "accounts": both,
		"scheduled_time": in(30 * time.Hour),
	}
	duplicates := func(warnings *[]spec.Warning) (found []spec.Warning) {
		for _, w := range *warnings {
			if w.Code == "duplicate_content" {
				found = append(found, w)
			}
		}
		return found
	}
	shown := s.preview(again)
	p := s.post(s.send("POST", "/api/v1/posts", again), 201)
	for _, warnings := range []*[]spec.Warning{&shown.Warnings, p.Warnings} {
		found := duplicates(warnings)
		require.Len(t, found, 1, "got %+v", found)
		require.Equal(t, a.ID, *found[0].AccountId, "got %+v", found)
		require.Equal(t, first.Id, *found[0].PostId, "got %+v", found)
		require.True(t, found[0].OtherTime.Equal(*first.ScheduledTime), "got %+v", found)
		require.Contains(t, found[0].Message, first.Id.String(), "got %+v", found)
	}
	// An override with other text avoids the warning, until an edit.
	path := "/api/v1/posts/" + p.Id.String()
	p = s.post(s.send("PATCH", path, object{"overrides": object{a.ID.String(): object{"content": "Other words"}}}), 200)
	if p.Warnings != nil && len(duplicates(p.Warnings)) != 0 {
		t.Errorf("got %+v", p.Warnings)
	}
	p = s.post(s.send("PATCH", path, object{"overrides": object{a.ID.String(): nil}}), 200)
	if len(duplicates(p.Warnings)) != 1 {
		t.Errorf("got %+v", p.Warnings)
	}
	s.post(s.send("DELETE", "/api/v1/posts/"+first.Id.String(), nil), 200)
	if p := s.post(s.send("PATCH", path, object{"language": "vi"}), 200); p.Warnings != nil &&
		len(duplicates(p.Warnings)) != 0 {
		t.Errorf("a canceled post counts: %+v", p.Warnings)
	}
	s.Finish(s.Claim(s.Schedule(func(d *scheduling.Draft) { d.Accounts = both[1:] })), post.TargetPosted)
	old := hello(object{"accounts": both[1:], "scheduled_time": in(5 * time.Hour)})
	if found := duplicates(s.post(s.send("POST", "/api/v1/posts", old), 201).Warnings); len(found) != 1 ||
		!strings.Contains(found[0].Message, "was published on") {
		t.Errorf("got %+v", found)
	}
	s.Exec("update post_targets set posted_at = posted_at - interval '31 days', status = 'posted', remote_id " +
		"= id::text")
	s.Exec("update post_targets set posted_at = now() - interval '31 days'")
	if shown := s.preview(hello(object{"accounts": both[1:], "scheduled_time": in(7 * time.Hour)})); len(
		duplicates(&shown.Warnings)) != 0 {
		t.Errorf("posts older than 30 days count: %+v", shown.Warnings)
	}
}

func TestWarnings_PostsCloseInTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.Connect("desk"), s.Connect("sports")
	at := time.Now().AddDate(0, 0, 2).Truncate(24 * time.Hour).Add(5 * time.Hour) // noon in Hà Nội
	when := func(minutes int, account uuid.UUID, text string) object {
		return object{
			"content": text, "accounts": []string{account.String()},
			"scheduled_time": at.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339),
		}
	}
	first := s.post(s.send("POST", "/api/v1/posts", when(0, a.ID, "One")), 201)
	for i, c := range []struct {
		minutes int
		account uuid.UUID
		want    string
	}{
		{4, a.ID, "time_conflict"},
		{-4, a.ID, "time_conflict"},
		{0, a.ID, "time_conflict"},
		{5, a.ID, ""},
		{-5, a.ID, ""},
		{0, b.ID, ""},
	} {
		shown := s.preview(when(c.minutes, c.account, fmt.Sprint("Text ", i)))
		if got := warned(&shown.Warnings); got != c.want {
			t.Errorf("%d minutes away: %q", c.minutes, got)
		}
		if c.want != "" && (*shown.Warnings[0].PostId != first.Id || !shown.Warnings[0].OtherTime.Equal(at)) {
			t.Errorf("names %+v", shown.Warnings[0])
		}
	}
	// A post does not conflict with itself, and nothing conflicts with a draft.
	if p := s.post(s.send("PATCH", "/api/v1/posts/"+first.Id.String(), object{"content": "Two"}),
		200); p.Warnings != nil {
		t.Errorf("got %+v", *p.Warnings)
	}
	s.post(s.send("POST", "/api/v1/posts", when(100, a.ID, "Draft")), 201)
	s.Exec("update scheduled_posts set status = 'draft' where content = 'Draft'")
	if shown := s.preview(when(101, a.ID, "Next to a draft")); len(shown.Warnings) != 0 {
		t.Errorf("got %+v", shown.Warnings)
	}
}

func TestWarnings_NightAndMissingAltText(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	bare, described := s.upload("a.png", "").Id.String(), s.upload("b.png", "A flood").Id.String()
	for _, c := range []struct {
		at, zone string
		files    []string
		want     string
	}{
		{"2028-12-24T04:59", "Asia/Ho_Chi_Minh", nil, "night"},
		{"2028-12-24T00:00", "America/New_York", nil, "night"},
		{"2028-12-24T05:00", "Asia/Ho_Chi_Minh", nil, ""},
		{"2028-12-24T23:59", "Asia/Ho_Chi_Minh", nil, ""},
		{"2028-12-24T12:00", "Asia/Ho_Chi_Minh", []string{bare, described}, "no_alt_text"},
		{"2028-12-24T12:00", "Asia/Ho_Chi_Minh", []string{described}, ""},
	} {
		body := object{"content": "x", "scheduled_time": c.at, "time_zone": c.zone}
		if c.files != nil {
			body["attachments"] = c.files
		}
		if shown := s.preview(body); warned(&shown.Warnings) != c.want {
			t.Errorf("%s in %s: %+v", c.at, c.zone, shown.Warnings)
		}
	}
	p := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"attachments": []string{bare}, "scheduled_time": "2028-12-24T02:00"})), 201)
	if got := warned(p.Warnings); got != "night no_alt_text" {
		t.Error(got)
	}
}

// counting counts queries for nearby posts.
type counting struct {
	scheduling.Store
	asked atomic.Int32
}

func (c *counting) NearbyPosts(ctx context.Context, workspace uuid.UUID, spots []post.Slot) ([]post.NearbyPost, error) {
	c.asked.Add(1)
	return c.Store.NearbyPosts(ctx, workspace, spots)
}

func TestBulk_ComparesTenThousandRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	counted := &counting{Store: s.Scheduler.Store}
	s.Scheduler.Store = counted
	there := s.Schedule(func(d *scheduling.Draft) {
		d.Content, d.ScheduledTime = "There already", "2028-12-20T12:00:00Z"
	})
	var rows strings.Builder
	at := time.Date(2028, 12, 24, 5, 0, 0, 0, time.UTC)
	for i := range 10_000 {
		fmt.Fprintf(&rows, "{\"content\": \"Row %d\", \"scheduled_time\": %q}\n", i+1,
			at.Add(time.Duration(i)*10*time.Minute).Format(time.RFC3339))
	}
	text := strings.Replace(rows.String(), `"Row 3"`, `"row  1"`, 1)
	text = strings.Replace(text, `"Row 4"`, `"THERE already"`, 1)
	// Row 5, next to row 6
	text = strings.Replace(text, at.Add(40*time.Minute).Format(time.RFC3339),
		at.Add(51*time.Minute).Format(time.RFC3339), 1)
	before := counted.asked.Load()
	statements := s.Count("select xact_commit from pg_stat_database where datname = current_database()")
	var done spec.BulkResult
	s.decode(s.send("POST", "/api/v1/posts/bulk?dry_run=true", text, "Content-Type", "application/x-ndjson"), 200,
		&done)
	if n := counted.asked.Load() - before; n != 1 || done.Valid != 10_000 {
		t.Errorf("%d queries for %d valid rows", n, done.Valid)
	}
	if n := s.Count("select xact_commit from pg_stat_database where datname = current_database()") -
		statements; n > 100 {
		t.Errorf("got %d queries", n)
	}
	for row, want := range map[int]string{
		1: "", 2: "", 3: "duplicate_content", 4: "duplicate_content",
		5: "time_conflict", 6: "",
	} {
		if got := warned(done.Rows[row-1].Warnings); got != want {
			t.Errorf("row %d: %q", row, got)
		}
	}
	if w := *done.Rows[2].Warnings; !strings.Contains(w[0].Message, "row 1,") {
		t.Errorf("row 3 does not name the other row: %+v", w)
	}
	if w := *done.Rows[3].Warnings; *w[0].PostId != there.ID {
		t.Errorf("row 4 does not name the other post: %+v", w)
	}
}

// billed is a network that charges for posts.
type billed struct{ network.Network }

func (billed) Price(c network.Content) network.Price {
	return network.Price{
		MicroUSD: int64(10_000 + 5_000*len(c.Media)), Reasons: message.One("billed", "Every post is billed."),
	}
}

type billedNetworks struct{ scheduling.Networks }

func (n billedNetworks) Get(name string) (network.Network, bool) {
	found, ok := n.Networks.Get(name)
	return billed{found}, ok
}

func TestPrice_BeforeAndAfterScheduling(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.Connect("desk")
	free := s.send("POST", "/api/v1/posts", hello())
	if s.post(free, 201).Price != nil {
		t.Errorf("a free post has a price: %s", free.body)
	}
	s.Scheduler.Networks = billedNetworks{s.Scheduler.Networks}
	other := s.Connect("sports")
	body := hello(object{
		"content": "Paid", "accounts": []string{first.ID.String(), other.ID.String()},
		"thread":    []any{object{"content": "More", "attachments": []string{s.upload("a.png", "x").Id.String()}}},
		"overrides": object{other.ID.String(): object{"thread": []any{}}},
	})
	shown := s.preview(body)
	require.Equal(t, int64(35_000), shown.Price.MicroUsd)
	require.Equal(t, "$0.035", shown.Price.Formatted)
	require.Len(t, shown.Price.Reasons, 1)
	require.Equal(t, int64(25_000), shown.Targets[0].Price.MicroUsd)
	require.Equal(t, int64(15_000), shown.Targets[0].Segments[1].Price.MicroUsd)
	require.Equal(t, "$0.01", shown.Targets[1].Price.Formatted)
	p := s.post(s.send("POST", "/api/v1/posts", body), 201)
	if p.Price == nil || p.Price.MicroUsd != 35_000 {
		t.Errorf("scheduled: %+v", p.Price)
	}
	if p = s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"thread": []any{}}), 200); p.Price == nil ||
		p.Price.MicroUsd != 20_000 {
		t.Errorf("edited: %+v", p.Price)
	}
	var many spec.BulkResult
	rows := lines(hello(object{"content": "One"}),
		hello(object{"content": "Two", "accounts": []string{first.ID.String(), other.ID.String()}}))
	s.decode(s.send("POST", "/api/v1/posts/bulk?dry_run=true", rows, "Content-Type", "application/x-ndjson"), 200,
		&many)
	require.NotNil(t, many.Price)
	require.NotNil(t, many.Rows[0].Price)
	require.NotNil(t, many.Rows[1].Price)
	require.Equal(t, int64(20_000), many.Rows[1].Price.MicroUsd)
	require.Equal(t, many.Rows[0].Price.MicroUsd+20_000, many.Price.MicroUsd)
	require.Len(t, many.Price.Reasons, 1)
}
