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

// minPostgresVersion is the oldest supported version, as server_version_num.
const minPostgresVersion = 140000

func database(ctx context.Context, o Options) []Finding {
	var l list
	if o.Config.DatabaseURL == "" {
		l.fail("database", "Set DATABASE_URL, or start `dateline up`.", "There is no database configured.")
		return l
	}
	conn, err := pgx.Connect(ctx, o.Config.DatabaseURL)
	if err != nil {
		l.fail("database", connectAdvice(err), "Connecting failed: %s", reason(err))
		return l
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	server(ctx, conn, &l)
	encryption(conn, &l)
	permissions(ctx, conn, &l)
	schema(ctx, conn, o, &l)
	return l
}

// reason returns an error without the parts of the URL that pgx adds.
func reason(err error) string {
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
		return "Check that Postgres is running, and the host, port and TLS mode in DATABASE_URL."
	}
	switch refused.Code {
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		return "Correct the role and password in DATABASE_URL. With Compose, use the .env with which the volume " +
			"was created."
	case "3D000": // invalid_catalog_name
		return "Create the database: createdb --owner dateline dateline"
	case "53300": // too_many_connections
		return "Raise max_connections, or run fewer processes."
	default:
		return "Check the Postgres log."
	}
}

func server(ctx context.Context, conn *pgx.Conn, l *list) {
	var version, encoding, fsync string
	var number, connections, maximum int
	var standby, readOnly bool
	err := conn.QueryRow(ctx,
		`select current_setting('server_version'), current_setting('server_version_num')::int,
			current_setting('server_encoding'),
		current_setting('fsync'), pg_is_in_recovery(), current_setting('default_transaction_read_only')::bool,
		(select count(*) from pg_stat_activity where backend_type = 'client backend'),
			current_setting('max_connections')::int`).
		Scan(&version, &number, &encoding, &fsync, &standby, &readOnly, &connections, &maximum)
	if err != nil {
		l.fail("database", "Check the Postgres log.", "The query failed: %s", reason(err))
		return
	}
	if number < minPostgresVersion {
		l.fail("database version", "Upgrade to PostgreSQL 14 or newer with pg_upgrade.", "PostgreSQL %s is too old.",
			version)
	} else {
		l.ok("database version", "PostgreSQL %s", version)
	}
	if standby || readOnly {
		l.fail("database writable", "Point DATABASE_URL at the primary.",
			"It is read-only: a standby, or configured as read-only.")
	}
	if encoding != "UTF8" {
		l.fail("database encoding", "Create a database with: createdb --encoding UTF8 --template template0 dateline",
			"It is %s, but must be UTF8.", encoding)
	}
	if fsync != "on" {
		l.warn("database durability", "Set fsync = on.",
			"fsync is off: a power failure can lose posts or corrupt the database.")
	}
	if free := maximum - connections; free*10 < maximum*2 {
		l.warn("database connections", "Raise max_connections, or use a connection pooler in session mode.",
			"%d of %d are in use.", connections, maximum)
	} else {
		l.ok("database connections", "%d of %d are in use", connections, maximum)
	}
}

func permissions(ctx context.Context, conn *pgx.Conn, l *list) {
	var schema, database, role string
	var create, temporary bool
	if err := conn.QueryRow(ctx, `select coalesce(current_schema(), ''), current_database(), current_user,
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), has_database_privilege(current_database(),
			'TEMPORARY')`).
		Scan(&schema, &database, &role, &create, &temporary); err != nil {
		l.fail("database permissions", "Check the Postgres log.", "They cannot be read: %s", reason(err))
		return
	}
	switch {
	case !create:
		l.fail("database permissions", "As a superuser: alter database "+database+" owner to "+role+
			"; grant create, usage on schema public to "+role,
			"%s cannot create tables.", role)
	case !temporary:
		l.warn("database permissions", "As a superuser: grant temporary on database "+database+" to "+role,
			"%s cannot create temporary tables, which are required for restores.", role)
	default:
		l.ok("database permissions", "%s can create tables", role)
	}
	for _, name := range postgres.Extensions() {
		var exists, available bool
		if err := conn.QueryRow(ctx,
			"select exists (select 1 from pg_extension where extname = $1), exists (select 1 from "+
				"pg_available_extensions where name = $1)", name).Scan(&exists, &available); err != nil || exists {
			continue
		}
		if !available {
			l.fail("database extension", "Install its package, such as postgresql-contrib.",
				"%s is not installed on the server.", name)
		}
	}
}

func schema(ctx context.Context, conn *pgx.Conn, o Options, l *list) {
	newest, err := postgres.NewestMigration()
	if err != nil {
		l.fail("database schema", "The program is damaged; reinstall it.", "Its migrations cannot be read: %s", err)
		return
	}
	var version int64
	err = conn.QueryRow(ctx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied").
		Scan(&version)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "42P01": // undefined_table
		l.fail("database schema", "Run: dateline migrate", "There are no tables yet.")
		return
	case err != nil:
		l.fail("database schema", "Check that this is the database of Dateline, and that the role can read all tables.",
			"It cannot be read: %s", reason(err))
		return
	case version < newest:
		l.fail("database schema", "Run: dateline migrate", "It is at version %d, but this program requires %d.",
			version, newest)
	case version > newest:
		l.warn("database schema",
			"Finish the rollout: processes of the older version still work, but should be replaced soon.",
			"It is at version %d, and this program at %d.", version, newest)
	default:
		l.ok("database schema", "version %d", version)
	}
	ownership(ctx, conn, l)
	hostClock(ctx, o, l)
	pendingPosts(ctx, conn, l)
}

// ownership checks for tables of other roles, which migrations cannot change.
func ownership(ctx context.Context, conn *pgx.Conn, l *list) {
	var foreign int
	var example *string
	if err := conn.QueryRow(ctx, `select count(*), min(relname::text) from pg_class
		where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not pg_has_role(relowner,
			'MEMBER')`).Scan(&foreign, &example); err == nil && foreign > 0 {
		l.fail("database ownership", "As a superuser: reassign owned by <the other role> to <this one>",
			"%d tables belong to another role, such as %s; migrations cannot change them.", foreign, *example)
	}
}

func hostClock(ctx context.Context, o Options, l *list) {
	s, err := postgres.Open(ctx, o.Config.DatabaseURL)
	if err != nil {
		l.fail("clock", "See the other findings.", "It cannot be measured: %s", reason(err))
		return
	}
	defer s.Close()
	c := dbclock.New(dbclock.Options{Database: s.Time, Host: o.Now, Log: slog.New(slog.DiscardHandler)})
	if err := c.Measure(ctx); err != nil {
		l.fail("clock", "See the other findings.", "It cannot be measured: %s", reason(err))
		return
	}
	offset := c.Reading().Offset
	const advice = "Synchronize the clocks with NTP on this host and on that of the database: timedatectl set-ntp " +
		"true, or chronyc makestep."
	switch {
	case offset.Abs() > dbclock.Limit:
		l.fail("clock", advice, "This host is %s off the database clock; processes on it will not be ready.",
			offset.Round(1e6))
	case offset.Abs() > dbclock.Warning:
		l.warn("clock", advice, "This host is %s off the database clock.", offset.Round(1e6))
	default:
		l.ok("clock", "%s off the database clock", offset.Round(1e5))
	}
}

// pendingPosts counts posts that need attention.
func pendingPosts(ctx context.Context, conn *pgx.Conn, l *list) {
	var uncertain, overdue int
	if err := conn.QueryRow(ctx, `select (select count(*) from post_targets where status = 'uncertain'),
		(select count(*) from scheduled_posts where status = 'scheduled'
			and scheduled_time < clock_timestamp() - interval '2 minutes')`).Scan(&uncertain, &overdue); err != nil {
		return // the schema is outdated, which is already reported
	}
	if uncertain > 0 {
		l.warn("posts", "Confirm or resend each of them (GET /api/v1/dead-letters).", "%d have an uncertain outcome.",
			uncertain)
	}
	if overdue > 0 {
		l.warn("posts", "Check that a worker is running, and its log.", "%d are overdue by more than two minutes.",
			overdue)
	}
}
