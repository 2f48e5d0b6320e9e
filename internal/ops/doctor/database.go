package doctor

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/infra/dbclock"
	"dateline/internal/storage/postgres"
)

// oldestPostgres is the oldest version that Dateline works with, as
// server_version_num says it.
const oldestPostgres = 140000

func database(ctx context.Context, o Options) []Finding {
	var l list
	if o.Config.DatabaseURL == "" {
		l.fail("database", "Set DATABASE_URL, or start `dateline up`.", "There is no database to look at.")
		return l
	}
	conn, err := pgx.Connect(ctx, o.Config.DatabaseURL)
	if err != nil {
		l.fail("database", connectAdvice(err), "It does not let us in: %s", said(err))
		return l
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	server(ctx, conn, &l)
	encryption(conn, &l)
	permissions(ctx, conn, &l)
	schema(ctx, conn, o, &l)
	return l
}

// said leaves out what pgx writes around an error: the URL's parts.
func said(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message + " (" + refused.Code + ")"
	}
	text := err.Error()
	if i := strings.LastIndex(text, "): "); i >= 0 {
		text = text[i+3:]
	}
	return text
}

func connectAdvice(err error) string {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return "Look whether Postgres runs and its host, port and TLS are those of DATABASE_URL."
	}
	switch refused.Code {
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		return "Set the role and password in DATABASE_URL that Postgres has; with Compose, .env must be the one that the volume was made with."
	case "3D000": // invalid_catalog_name
		return "Make the database: createdb --owner dateline dateline"
	case "53300": // too_many_connections
		return "Raise max_connections, or run fewer processes."
	default:
		return "See the log of Postgres."
	}
}

func server(ctx context.Context, conn *pgx.Conn, l *list) {
	var version, encoding, fsync string
	var number, connections, most int
	var standby, readOnly bool
	err := conn.QueryRow(ctx, `select current_setting('server_version'), current_setting('server_version_num')::int, current_setting('server_encoding'),
		current_setting('fsync'), pg_is_in_recovery(), current_setting('default_transaction_read_only')::bool,
		(select count(*) from pg_stat_activity where backend_type = 'client backend'), current_setting('max_connections')::int`).
		Scan(&version, &number, &encoding, &fsync, &standby, &readOnly, &connections, &most)
	if err != nil {
		l.fail("database", "See the log of Postgres.", "It does not answer: %s", said(err))
		return
	}
	if number < oldestPostgres {
		l.fail("database version", "Move the data to PostgreSQL 14 or newer with pg_upgrade.", "PostgreSQL %s is too old.", version)
	} else {
		l.ok("database version", "PostgreSQL %s", version)
	}
	if standby || readOnly {
		l.fail("database writable", "Point DATABASE_URL at the primary.", "It takes no writes: it is a standby, or set to read only.")
	}
	if encoding != "UTF8" {
		l.fail("database encoding", "Make a database with: createdb --encoding UTF8 --template template0 dateline", "It is %s; texts need UTF8.", encoding)
	}
	if fsync != "on" {
		l.warn("database durability", "Set fsync = on.", "fsync is off: a power cut may lose posts, or damage everything.")
	}
	if left := most - connections; left*10 < most*2 {
		l.warn("database connections", "Raise max_connections, or put a pooler in session mode between.", "%d of %d are in use.", connections, most)
	} else {
		l.ok("database connections", "%d of %d are in use", connections, most)
	}
}

func permissions(ctx context.Context, conn *pgx.Conn, l *list) {
	var schema, database, role string
	var create, temporary bool
	if err := conn.QueryRow(ctx, `select coalesce(current_schema(), ''), current_database(), current_user,
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), has_database_privilege(current_database(), 'TEMPORARY')`).
		Scan(&schema, &database, &role, &create, &temporary); err != nil {
		l.fail("database permissions", "See the log of Postgres.", "They cannot be read: %s", said(err))
		return
	}
	switch {
	case !create:
		l.fail("database permissions", "As a superuser: alter database "+database+" owner to "+role+"; grant create, usage on schema public to "+role,
			"%s may not make tables.", role)
	case !temporary:
		l.warn("database permissions", "As a superuser: grant temporary on database "+database+" to "+role, "%s may not make temporary tables, which restores need.", role)
	default:
		l.ok("database permissions", "%s may make tables", role)
	}
	for _, name := range postgres.Extensions() {
		var there, available bool
		if err := conn.QueryRow(ctx, "select exists (select 1 from pg_extension where extname = $1), exists (select 1 from pg_available_extensions where name = $1)", name).Scan(&there, &available); err != nil || there {
			continue
		}
		if !available {
			l.fail("database extension", "Install the package that holds it, such as postgresql-contrib.", "%s is not installed on the server.", name)
		}
	}
}

func schema(ctx context.Context, conn *pgx.Conn, o Options, l *list) {
	newest, err := postgres.NewestMigration()
	if err != nil {
		l.fail("database schema", "This program is damaged; install it anew.", "Its migrations cannot be read: %s", err)
		return
	}
	var version int64
	err = conn.QueryRow(ctx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied").Scan(&version)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "42P01": // undefined_table
		l.fail("database schema", "Run: dateline migrate", "There are no tables yet.")
		return
	case err != nil:
		l.fail("database schema", "Is this Dateline's database? Its role must be able to read every table.", "It cannot be read: %s", said(err))
		return
	case version < newest:
		l.fail("database schema", "Run: dateline migrate", "It is at %d, and this version works with %d.", version, newest)
	case version > newest:
		l.warn("database schema", "Finish the rollout: processes of the older version work on, and should go soon.", "It is at %d, and this version knows %d.", version, newest)
	default:
		l.ok("database schema", "at %d", version)
	}
	owned(ctx, conn, l)
	hostClock(ctx, o, l)
	undecided(ctx, conn, l)
}

// owned looks for tables of somebody else: migrations fail on them.
func owned(ctx context.Context, conn *pgx.Conn, l *list) {
	var foreign int
	var example *string
	if err := conn.QueryRow(ctx, `select count(*), min(relname::text) from pg_class
		where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not pg_has_role(relowner, 'MEMBER')`).Scan(&foreign, &example); err == nil && foreign > 0 {
		l.fail("database ownership", "As a superuser: reassign owned by <the other role> to <this one>", "%d tables belong to another role, such as %s; migrations cannot change them.", foreign, *example)
	}
}

func hostClock(ctx context.Context, o Options, l *list) {
	s, err := postgres.Open(ctx, o.Config.DatabaseURL)
	if err != nil {
		l.fail("clock", "See the other findings.", "It cannot be compared: %s", said(err))
		return
	}
	defer s.Close()
	c := dbclock.New(dbclock.Options{Database: s.Time, Host: o.Now, Log: slog.New(slog.DiscardHandler)})
	if err := c.Measure(ctx); err != nil {
		l.fail("clock", "See the other findings.", "It cannot be compared: %s", said(err))
		return
	}
	off := c.Reading().Offset
	const advice = "Synchronise the clocks: timedatectl set-ntp true, or chronyc makestep, here or on the database's host."
	switch {
	case off.Abs() > dbclock.Limit:
		l.fail("clock", advice, "This host is %s apart from the database; processes here will not be ready.", off.Round(1e6))
	case off.Abs() > dbclock.Warning:
		l.warn("clock", advice, "This host is %s apart from the database.", off.Round(1e6))
	default:
		l.ok("clock", "%s apart from the database", off.Round(1e5))
	}
}

// undecided counts what waits for a person.
func undecided(ctx context.Context, conn *pgx.Conn, l *list) {
	var uncertain, overdue int
	if err := conn.QueryRow(ctx, `select (select count(*) from post_targets where status = 'uncertain'),
		(select count(*) from scheduled_posts where status = 'scheduled' and scheduled_time < clock_timestamp() - interval '2 minutes')`).Scan(&uncertain, &overdue); err != nil {
		return // the schema is behind; that is said already
	}
	if uncertain > 0 {
		l.warn("posts", "See GET /api/v1/dead-letters: confirm each, or send it again.", "Of %d it is not certain whether they were published.", uncertain)
	}
	if overdue > 0 {
		l.warn("posts", "Look whether a worker runs, and at its log.", "%d should be out for more than two minutes.", overdue)
	}
}
