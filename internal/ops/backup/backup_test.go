package backup_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/ops/backup"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/s3test"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// room is a newsroom that is backed up.
type room struct {
	*newsroomtest.Newsroom
	t *testing.T
}

func open(t *testing.T) room {
	t.Helper()
	r := room{newsroomtest.Open(t), t}
	r.Connect("desk")
	return r
}

func (r room) backup(change ...func(*backup.Source)) []byte {
	r.t.Helper()
	var out bytes.Buffer
	s := backup.Source{Database: r.DatabaseURL, Version: "test"}
	for _, f := range change {
		f(&s)
	}
	_, _, err := backup.Write(r.t.Context(), &out, s)
	r.Must(err)
	return out.Bytes()
}

// restore loads an archive into a new database.
func (r room) restore(raw []byte, hold backup.Hold, change ...func(*backup.Target)) (url string, done backup.Restored) {
	r.t.Helper()
	to := backup.Target{Database: enginetest.Postgres(r.t), Hold: hold, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&to)
	}
	a, err := backup.Open(bytes.NewReader(raw))
	r.Must(err)
	defer a.Close()
	done, err = a.Restore(r.t.Context(), to)
	r.Must(err)
	return to.Database, done
}

// rows reads every row of every table as text, with some exceptions.
func (r room) rows(url string) map[string][]string {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), url)
	r.Must(err)
	defer func() { _ = c.Close(r.t.Context()) }()
	query := func(sql string) []string {
		rows, err := c.Query(r.t.Context(), sql)
		r.Must(err)
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		r.Must(err)
		return out
	}
	all := map[string][]string{}
	for _, table := range query("select table_name::text from information_schema.tables where table_schema = " +
		"'public' and table_type = 'BASE TABLE'") {
		all[table] = query(`select x::text from "` + table + `" x order by 1`)
	}
	return all
}

func (r room) one(url, sql string, args ...any) (text string) {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), url)
	r.Must(err)
	defer func() { _ = c.Close(r.t.Context()) }()
	r.Must(c.QueryRow(r.t.Context(), sql, args...).Scan(&text))
	return text
}

func TestRestore_RestoresEveryRow(t *testing.T) {
	r := open(t)
	r.Schedule(func(d *scheduling.Draft) { d.Content = "Tab\tnew\nline \\N and 'quotes' – tiếng Việt 🗞" })
	posted := r.Finish(r.Claim(r.Schedule()), post.TargetPosted)
	r.Site()
	r.Exec("insert into view_pages (site_id, page, unique_method, views) values (gen_random_uuid(), 'Bài viết', " +
		"'set', 12)")
	// Counts of a month whose partition the migrations do not create.
	r.Exec("create table view_hours_20200101 partition of view_hours for values from ('2020-01-01Z') to " +
		"('2020-01-02Z')")
	r.Exec("insert into view_hours (page_id, kind, hour, day, count, funnel) values (1, 'view', '2020-01-01T05:00Z', " +
		"'2020-01-01', 7, 7)")
	r.Exec("insert into crawl_domains (domain) values ('news.example')")
	r.Exec("insert into urls (domain_id, id, rank, kind, url) select id, gen_random_uuid(), 1, 'article', " +
		"'https://news.example/1' from crawl_domains")
	r.Exec("insert into workers (identity) values ('gone')")

	before := r.rows(r.DatabaseURL)
	url, done := r.restore(r.backup(), backup.HoldDue)
	after := r.rows(url)
	if done.Rows == 0 || done.Scheduled != 1 || done.Held != 0 {
		t.Errorf("%+v", done)
	}
	// These depend on time and place, or are changed by the restore.
	changed := []string{
		"workers", "sessions", "login_links", "member_login_links", "connect_attempts", "account_choices", "crawl_slots", "goose_db_version",
		"webhook_cursor", "post_events", "scheduled_posts", "site_changes",
	}
	for table, want := range before {
		if got := after[table]; !slices.Contains(changed, table) && !slices.Equal(got, want) {
			t.Errorf("%s is %q, was %q", table, got, want)
		}
	}
	if len(after["workers"]) != 0 {
		t.Error("a previous worker is still registered")
	}
	for _, table := range []string{"scheduled_posts", "post_events"} {
		if len(after[table]) != len(before[table]) {
			t.Errorf("%s has %d rows of %d", table, len(after[table]), len(before[table]))
		}
	}
	if got := r.one(url, "select content from scheduled_posts where content "+
		"like 'Tab%'"); got != "Tab\tnew\nline \\N and 'quotes' – tiếng Việt 🗞" {
		t.Errorf("the text is %q", got)
	}
	if got := r.one(url, "select status::text from post_targets where post_id = $1", posted.ID); got != "posted" {
		t.Errorf("the published post is %s", got)
	}
	// Sequences continue after the restored IDs.
	r.one(url, "insert into crawl_domains (domain) values ('other.example') returning id::text")
}

// A post that was due since the backup may be published: a person decides, or it is
// searched for and sent at most once.
func TestRestore_PausesPostsThatMayBePublished(t *testing.T) {
	r := open(t)
	soon := r.Schedule(func(d *scheduling.Draft) { d.Content = "due before the restore" })
	later := r.Schedule(func(d *scheduling.Draft) { d.Content = "due after it" })
	sending := r.Claim(r.Schedule(func(d *scheduling.Draft) { d.Content = "in flight at the backup" }))
	auth := r.Schedule(func(d *scheduling.Draft) { d.Content = "would be retried automatically" })
	r.Dead(auth, post.TargetFailed)
	r.Exec("update post_targets set error_class = 'auth' where post_id = $1", auth.ID)
	refused := r.Dead(r.Schedule(), post.TargetFailed)
	raw := r.backup()
	r.Exec("update scheduled_posts set scheduled_time = now() - interval '1 minute' where post_id = $1", soon.ID)
	rawDue := r.backup() // the same rows, one of which is due by now

	state := func(url string, p post.Post) string {
		return r.one(url, "select p.status || ' ' || t.status || ' ' || coalesce(t.error_code, '') from "+
			"scheduled_posts p join post_targets t using (post_id) where p.post_id = $1", p.ID)
	}
	url, done := r.restore(rawDue, backup.HoldDue)
	if done.Held != 3 || done.Scheduled != 1 {
		t.Errorf("%+v", done)
	}
	for p, want := range map[*post.Post]string{
		&soon: "publishing uncertain restored", &later: "scheduled scheduled ",
		{ID: sending.PostID}: "publishing uncertain restored",
		&auth:                "publishing uncertain restored", &refused: "failed failed ",
	} {
		if got := state(url, *p); got != want {
			t.Errorf("%q is %q, want %q", p.Content, got, want)
		}
	}
	url, done = r.restore(raw, backup.HoldAll)
	if done.Held != 4 || done.Scheduled != 0 || state(url, later) != "publishing uncertain restored" {
		t.Errorf("all held: %+v, %s", done, state(url, later))
	}
	url, done = r.restore(rawDue, backup.HoldReconcile)
	if done.Held != 0 || done.Reconciled != 3 || state(url, soon) != "publishing publishing restored" {
		t.Errorf("to be searched for: %+v, %s", done, state(url, soon))
	}
	if n := r.one(url, "select count(*)::text from operations where state = 'ambiguous'"); n != "3" {
		t.Errorf("%s calls are searched for", n)
	}
}

// Webhooks are notified only of events after the cursor.
func TestRestore_WebhooksContinueAfterCursor(t *testing.T) {
	r := open(t)
	r.Finish(r.Claim(r.Schedule()), post.TargetPosted)
	r.Exec("update webhook_cursor set tx = (select max(tx) from post_events), event_id = (select max(id) from " +
		"post_events)")
	delivered := r.Count("select count(*) from post_events")
	r.Finish(r.Claim(r.Schedule()), post.TargetPosted)
	url, _ := r.restore(r.backup(), backup.HoldDue)
	undelivered := r.one(url,
		"select count(*)::text from post_events e, webhook_cursor c where (e.tx, e.id) > (c.tx, c.event_id) and e.tx "+
			"< pg_snapshot_xmin(pg_current_snapshot())")
	if want := r.Count("select count(*) from post_events") - delivered; undelivered != r.one(url,
		"select $1::int::text", want) || want == 0 {
		t.Errorf("%s events are undelivered, want %d", undelivered, want)
	}
}

func TestRestore_RejectsADatabaseInUse(t *testing.T) {
	r := open(t)
	raw := r.backup()
	later := r.Schedule()
	restore := func(replace bool) error {
		a, err := backup.Open(bytes.NewReader(raw))
		r.Must(err)
		defer a.Close()
		_, err = a.Restore(t.Context(), backup.Target{
			Database: r.DatabaseURL, Replace: replace, Log: slog.New(slog.DiscardHandler),
		})
		return err
	}
	if err := restore(false); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("restored over it: %v", err)
	}
	if n := r.Count("select count(*) from scheduled_posts where post_id = $1", later.ID); n != 1 {
		t.Error("the post is gone")
	}
	r.Must(restore(true))
	if n := r.Count("select count(*) from scheduled_posts"); n != 0 {
		t.Errorf("got %d posts of the replaced database, want 0", n)
	}
}

func TestRestore_RestoresFiles(t *testing.T) {
	r := open(t)
	key := "media/ab/abcdef"
	r.Must(r.Objects.Put(t.Context(), key, "image/png", 5, strings.NewReader("image")))
	r.Exec("insert into media_objects (object_key, claimed_until) values ($1, now()), ('media/lost', now())", key)
	raw := r.backup(func(s *backup.Source) { s.Bucket, s.Objects = r.Objects, backup.MediaObjects })
	bucket := s3test.Bucket(t)
	url, done := r.restore(raw, backup.HoldDue, func(to *backup.Target) { to.Bucket = bucket })
	if done.Objects != 1 {
		t.Errorf("%+v", done)
	}
	body, err := bucket.Get(t.Context(), key)
	r.Must(err)
	if got, err := io.ReadAll(body); err != nil || string(got) != "image" {
		t.Errorf("%q, %v", got, err)
	}
	if n, some, err := backup.Missing(t.Context(), url, bucket); err != nil || n != 1 || some[0] != "media/lost" {
		t.Errorf("missing: %d %v %v", n, some, err)
	}
}

// The snapshot is consistent, whatever is written meanwhile.
func TestBackup_WithConcurrentWrites(t *testing.T) {
	r := open(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				r.Schedule(func(d *scheduling.Draft) {
					d.ScheduledTime = time.Now().Add(time.Hour).Format(time.RFC3339)
				})
			}
		}
	}()
	for range 3 {
		url, _ := r.restore(r.backup(), backup.HoldDue)
		if n := r.one(url, "select count(*)::text from scheduled_posts p where not exists (select from post_targets "+
			"t where t.post_id = p.post_id)"); n != "0" {
			t.Errorf("%s posts have no target", n)
		}
	}
	close(stop)
	<-stopped
}
