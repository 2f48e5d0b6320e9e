package postgres_test

import (
	"bytes"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"

	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMigrate_IsIdempotent(t *testing.T) {
	s, err := postgres.Open(t.Context(), enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range []int{6, 0} {
		var log bytes.Buffer
		if err := s.Migrate(t.Context(), slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "migrated the database"); n < want || (want == 0 && n > 0) {
			t.Errorf("run %d applied %d migrations:\n%s", i+1, n, log.String())
		}
	}
	if _, _, found, err := s.Identity.Workspaces.FirstWorkspace(t.Context()); err != nil || found {
		t.Errorf("the new database has a workspace (%v, %v)", found, err)
	}
}

// stepwise migrates one step at a time.
func stepwise(t *testing.T, url string) (*sql.DB, *goose.Provider) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	migrations, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS("migrations"))
	if err != nil {
		t.Fatal(err)
	}
	return db, migrations
}

// Every migration can be rolled back, from the newest to the oldest, and applied
// again. A rollback restores the previous schema.
func TestMigrations_AreReversible(t *testing.T) {
	url := enginetest.Postgres(t)
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, migrations := stepwise(t, url)
	// The schema's objects that a rollback could leave behind.
	schema := func() (shape []string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), `
			select format('column %s.%s %s %s', table_name, column_name, udt_name, is_nullable) from information_schema.columns
				where table_schema = 'public' and table_name <> 'goose_db_version'
			union all select format('index %s', indexdef) from pg_indexes where schemaname = 'public' and tablename <> 'goose_db_version'
			union all select format('constraint %s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
				where connamespace = 'public'::regnamespace and conrelid::regclass::text <> 'goose_db_version'
			union all select format('type %s', typname) from pg_type where typnamespace = 'public'::regnamespace and typtype = 'e'
			union all select format('function %s', proname) from pg_proc where pronamespace = 'public'::regnamespace
			union all select format('trigger %s', tgname) from pg_trigger where not tgisinternal
			order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			// After a rollback, a check may be NOT VALID because of rows added since.
			shape = append(shape, strings.TrimSuffix(line, " NOT VALID"))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return shape
	}
	var before [][]string
	for {
		shape := schema()
		if _, err := migrations.UpByOne(t.Context()); errors.Is(err, goose.ErrNoNextVersion) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		before = append(before, shape)
	}
	if len(before) < 6 {
		t.Fatalf("only %d migrations", len(before))
	}
	whole := schema()
	for _, want := range slices.Backward(before) {
		undone, err := migrations.Down(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := schema(); !slices.Equal(got, want) {
			missing := slices.DeleteFunc(slices.Clone(want), func(line string) bool {
				return slices.Contains(got, line)
			})
			left := slices.DeleteFunc(got, func(line string) bool { return slices.Contains(want, line) })
			t.Errorf("rolling back %s leaves %q and lacks %q", undone.Source.Path, left, missing)
		}
	}
	if err := s.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if again := schema(); !slices.Equal(again, whole) {
		t.Error("after migrating again, the schema differs")
	}
}

func TestMigrate_RunsConcurrently(t *testing.T) {
	url := enginetest.Postgres(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestOpen_ReportsUnreachableDatabase(t *testing.T) {
	for _, url := range []string{"postgres://127.0.0.1:1/none?connect_timeout=2", "postgres://[broken"} {
		if s, err := postgres.Open(t.Context(), url); err == nil {
			s.Close()
			t.Errorf("%s opened", url)
		}
	}
}

func TestSchema_ScheduledPostsColumns(t *testing.T) {
	n := storetest.OpenNewsroom(t)
	for column, want := range map[string]string{
		"post_id": "uuid", "user_id": "uuid", "content": "text", "scheduled_time": "timestamp with time zone",
		"status": "USER-DEFINED", "retry_count": "integer", "attachment_urls": "ARRAY", "platform_media_ids": "jsonb",
		"thread_id": "uuid", "created_at": "timestamp with time zone", "updated_at": "timestamp with time zone",
	} {
		var got string
		n.Query(&got, "select coalesce((select data_type from information_schema.columns where table_name = "+
			"'scheduled_posts' and column_name = $1), 'missing')", column)
		if got != want {
			t.Errorf("%s is %s, want %s", column, got, want)
		}
	}
}

func TestSchema_TimesHaveTimeZones(t *testing.T) {
	n := storetest.OpenNewsroom(t)
	var naive int
	n.Query(&naive, "select count(*) from information_schema.columns where table_schema = 'public' and data_type = "+
		"'timestamp without time zone' and table_name <> 'goose_db_version'")
	if naive != 0 {
		t.Errorf("%d columns have times without a time zone", naive)
	}
}

func TestDuePosts_UsePartialIndex(t *testing.T) {
	n := storetest.OpenNewsroom(t)
	var definition string
	n.Query(&definition, "select indexdef from pg_indexes where indexname = 'scheduled_posts_due'")
	if !strings.Contains(definition, "(scheduled_time) WHERE (status = 'scheduled'") {
		t.Errorf("the index is %q", definition)
	}
	c, err := pgx.Connect(t.Context(), n.URL)
	n.Must(err)
	defer func() { _ = c.Close(t.Context()) }()
	_, err = c.Exec(t.Context(), "set enable_seqscan = off")
	n.Must(err)
	rows, err := c.Query(t.Context(),
		"explain select post_id from scheduled_posts where status = 'scheduled' and scheduled_time <= now()")
	n.Must(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	n.Must(err)
	if !strings.Contains(strings.Join(plan, "\n"), "scheduled_posts_due") {
		t.Errorf("the plan is\n%s", strings.Join(plan, "\n"))
	}
}

func TestSchema_ConstraintsRejectInvalidRows(t *testing.T) {
	n := storetest.OpenNewsroom(t)
	p := n.Create()
	for name, sql := range map[string]string{
		"a post without text and attachment": "update scheduled_posts set content = '' where post_id = $1",
		"an attachment without its position": "update scheduled_posts set attachment_ids = array[gen_random_uuid()] " +
			"where post_id = $1",
		"an unknown status":                 "update scheduled_posts set status = 'lost' where post_id = $1",
		"a negative count of retries":       "update scheduled_posts set retry_count = -1 where post_id = $1",
		"a posted target without remote id": "update post_targets set status = 'posted' where post_id = $1",
	} {
		c, err := pgx.Connect(t.Context(), n.URL)
		n.Must(err)
		if _, err := c.Exec(t.Context(), sql, p.ID); err == nil {
			t.Errorf("%s was stored", name)
		}
		_ = c.Close(t.Context())
	}
}
