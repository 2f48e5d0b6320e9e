package publishing_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

// laterZones returns a newer database in which Vietnam has Japan's rules, two hours ahead,
// and Vancouver those of Edmonton, an hour ahead.
func laterZones(t *testing.T) *timezone.Database {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{"tzdata.zi": []byte("# version 2099a\n")}
	for name, rules := range map[string]string{
		"Asia/Ho_Chi_Minh":  "Asia/Tokyo",
		"America/Vancouver": "America/Edmonton",
	} {
		raw, err := os.ReadFile(filepath.Join("/usr/share/zoneinfo", rules))
		if err != nil {
			t.Skipf("the system has no zones to compose a database of: %v", err)
		}
		files[name] = raw
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return timezone.Open("", dir)
}

func TestApplyTimeZones_KeepsLocalTimes(t *testing.T) {
	n := open(t)
	release, later := timezone.Open(""), laterZones(t)
	now := time.Now().UTC().Truncate(time.Second)
	at := func(zone string, ahead time.Duration) post.Post {
		return n.Create(func(d *post.NewPost) { d.Post.TimeZone, d.Post.ScheduledTime = zone, now.Add(ahead) })
	}
	days := 240 * time.Hour
	moved := at("Asia/Ho_Chi_Minh", days)
	// The latter would be due in 30 minutes
	due, soonAfter := at("Asia/Ho_Chi_Minh", 30*time.Minute), at("Asia/Ho_Chi_Minh", 150*time.Minute)
	far := at("Asia/Ho_Chi_Minh", 200*time.Minute)
	other, utc := at("Europe/Paris", days), at("UTC", days)
	canceled := at("Asia/Ho_Chi_Minh", days)
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(canceled))
	n.Must(err)

	apply := func(d *timezone.Database) int {
		t.Helper()
		_, moves, err := n.Publishing.Posts.ApplyTimeZones(t.Context(), d, now)
		n.Must(err)
		return len(moves)
	}
	if got := apply(release); got != 0 {
		t.Fatalf("the first database moved %d posts; want none", got)
	}
	if got := apply(later); got != 4 {
		t.Errorf("the newer database lists %d posts; want 4", got)
	}
	for name, c := range map[string]struct {
		p    post.Post
		want time.Duration // ahead of now
		held any           // of the event; nil: no event
	}{
		"moved":                           {moved, days - 2*time.Hour, false},
		"due within the hour":             {due, 30 * time.Minute, true},
		"would be due within the hour":    {soonAfter, 150 * time.Minute, true},
		"due after the hour":              {far, 80 * time.Minute, false},
		"zone without changes":            {other, days, nil},
		"UTC":                             {utc, days, nil},
		"canceled, so nothing is planned": {canceled, days, nil},
	} {
		got := n.Reread(c.p)
		if ahead := got.ScheduledTime.Sub(now); ahead != c.want {
			t.Errorf("%s: due in %s; want %s", name, ahead, c.want)
		}
		held, listed := n.zoneEvent(c.p.ID)
		if listed != (c.held != nil) || listed && held != c.held {
			t.Errorf("%s: listed %v, held %v; want %v", name, listed, held, c.held)
		}
		if changed := got.Version > c.p.Version+1 || got.Version > c.p.Version &&
			name != "canceled, so nothing is planned"; changed != (c.held == false) {
			t.Errorf("%s: version %d after %d", name, got.Version, c.p.Version)
		}
	}
	if got := n.Count("select count(*) from post_events where type = 'system_trouble' and data ->> 'alert' = " +
		"'TimeZonesChanged 2099a'"); got != 1 {
		t.Errorf("the workspace was told %d times; want once", got)
	}
	if got := apply(later); got != 0 {
		t.Errorf("the same database again moved %d posts", got)
	}
	if got := apply(release); got != 0 {
		t.Errorf("an older database moved %d posts", got)
	}
	if got := n.Reread(moved).ScheduledTime; !got.Equal(moved.ScheduledTime.Add(-2 * time.Hour)) {
		t.Errorf("after all: %s", got)
	}
}

// Slots are a shift apart, so each post takes the place of the next.
func TestApplyTimeZones_KeepsQueues(t *testing.T) {
	n := open(t)
	now := time.Now().UTC().Truncate(time.Hour)
	var group uuid.UUID
	n.Query(&group, "insert into account_groups (id, workspace_id, name, color, account_ids, time_zone, slots) "+
		"values (gen_random_uuid(), $1, 'Web', 'blue', array[$2]::uuid[], 'Asia/Ho_Chi_Minh', '[]') returning id",
		n.Workspace.ID, n.Account.ID)
	var posts []post.Post
	for i := range 4 {
		p := n.Create(func(d *post.NewPost) {
			d.Post.TimeZone, d.Post.ScheduledTime = "Asia/Ho_Chi_Minh", now.Add(time.Duration(24+2*i)*time.Hour)
		})
		n.Exec("update scheduled_posts set queue_group_id = $2 where post_id = $1", p.ID, group)
		posts = append(posts, p)
	}
	foreign := n.Create(func(d *post.NewPost) { d.Post.TimeZone, d.Post.ScheduledTime = "UTC", now.Add(22*time.Hour) })
	n.Exec("update scheduled_posts set queue_group_id = $2 where post_id = $1", foreign.ID, group)
	for _, d := range []*timezone.Database{timezone.Open(""), laterZones(t)} {
		_, _, err := n.Publishing.Posts.ApplyTimeZones(t.Context(), d, now)
		n.Must(err)
	}
	var inQueue []bool
	for _, p := range append(posts, foreign) {
		got := n.Reread(p)
		if want := p.ScheduledTime.Add(-2 * time.Hour); p.ID != foreign.ID && !got.ScheduledTime.Equal(want) {
			t.Errorf("got %s; want %s", got.ScheduledTime, want)
		}
		inQueue = append(inQueue, got.QueueGroupID != nil)
	}
	if !slices.Equal(inQueue, []bool{false, true, true, true, true}) {
		t.Errorf("in the queue: %v; want all but the first, whose slot another post has", inQueue)
	}
}

// zoneEvent returns whether the timeline lists a change of the rules, and holds the post.
func (n *newsroom) zoneEvent(p uuid.UUID) (held any, listed bool) {
	n.T.Helper()
	var state string
	n.Query(&state, "select coalesce(string_agg(data ->> 'held', ' '), '') from post_events where post_id = $1 and "+
		"type = 'time_zone_changed'", p)
	if state == "" {
		return nil, false
	}
	return state == "true", true
}
