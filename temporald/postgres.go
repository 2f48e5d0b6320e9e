package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistencesql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/resolver"
	postgresschema "go.temporal.io/server/schema/postgresql/v12"
	schematool "go.temporal.io/server/tools/common/schema"
)

// visibilitySuffix is appended to the database's name for the visibility tables. They need a database of their own,
// because both schemas have a table named schema_version.
const visibilitySuffix = "_visibility"

// lockID is the advisory lock that a temporald holds on its database. Two servers would
// compete for its shards.
const lockID = 0x74656d706f72616c // "temporal"

// postgresDatabase is one of the two databases of a Temporal server on Postgres.
type postgresDatabase struct {
	name, schema, version string
}

// postgresDatabases returns the databases for executions and for visibility.
func postgresDatabases(u *url.URL) [2]postgresDatabase {
	name := strings.TrimPrefix(u.Path, "/")
	return [2]postgresDatabase{
		{name, "postgresql/v12/temporal", postgresschema.Version},
		{name + visibilitySuffix, "postgresql/v12/visibility", postgresschema.VisibilityVersion},
	}
}

// parsePostgresURL checks the value of --postgres-url.
func parsePostgresURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("it is not a URL; want postgres://user:password@host:5432/database") // the error has the password in it
	}
	if (u.Scheme != "postgres" && u.Scheme != "postgresql") || u.User.Username() == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("want postgres://user:password@host:5432/database")
	}
	return u, nil
}

// postgresConfig describes the connections to one database.
func postgresConfig(u *url.URL, database string) *config.SQL {
	password, _ := u.User.Password()
	attributes := map[string]string{}
	for name, values := range u.Query() {
		attributes[name] = values[0]
	}
	return &config.SQL{PluginName: postgresql.PluginNamePGX, ConnectAddr: u.Host, User: u.User.Username(), Password: password,
		DatabaseName: database, ConnectAttributes: attributes, MaxConns: 20, MaxIdleConns: 20}
}

// preparePostgres creates the databases that are missing, brings both to this server's schema, and claims them for this
// process until release is called.
func preparePostgres(ctx context.Context, u *url.URL) (release func(), err error) {
	for _, d := range postgresDatabases(u) {
		if err := createDatabase(ctx, u, d.name); err != nil {
			return nil, fmt.Errorf("create database %s: %w", d.name, err)
		}
	}
	if release, err = lockPostgres(ctx, u); err != nil {
		return nil, err
	}
	for _, d := range postgresDatabases(u) {
		if err := migratePostgres(u, d); err != nil {
			release()
			return nil, fmt.Errorf("prepare database %s: %w", d.name, err)
		}
	}
	return release, nil
}

// openPostgres connects to a database on the server of u. It reads sslmode as the plugin does, whose default is to disable it.
func openPostgres(u *url.URL, database string) (*sql.DB, error) {
	at, query := *u, u.Query()
	if !query.Has("sslmode") {
		query.Set("sslmode", "disable")
	}
	at.Path, at.RawQuery = "/"+database, query.Encode()
	return sql.Open("pgx", at.String())
}

// createDatabase does nothing if the database exists; then its owner needs no right to
// create databases.
func createDatabase(ctx context.Context, u *url.URL, name string) error {
	db, err := openPostgres(u, name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	err = db.PingContext(ctx)
	var refused *pgconn.PgError
	if err == nil || !errors.As(err, &refused) || refused.Code != "3D000" { // invalid_catalog_name
		return err
	}
	admin, err := openPostgres(u, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }()
	_, err = admin.ExecContext(ctx, `CREATE DATABASE "`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	return err
}

// lockPostgres holds an advisory lock on a connection of its own.
func lockPostgres(ctx context.Context, u *url.URL) (release func(), err error) {
	name := postgresDatabases(u)[0].name
	db, err := openPostgres(u, name)
	if err != nil {
		return nil, err
	}
	connection, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	var locked bool
	if err := connection.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockID)).Scan(&locked); err != nil || !locked {
		if err == nil {
			err = fmt.Errorf("database %s is in use by another temporald; stop that one first", name)
		}
		return nil, errors.Join(err, connection.Close(), db.Close())
	}
	return func() { _ = errors.Join(connection.Close(), db.Close()) }, nil
}

// migratePostgres sets up an empty database and updates an older one, as temporal-sql-tool does.
func migratePostgres(u *url.URL, d postgresDatabase) error {
	admin, err := persistencesql.NewSQLAdminDB(sqlplugin.DbKindUnknown, postgresConfig(u, d.name), resolver.NewNoopResolver(),
		log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }()
	db := schemaDB{AdminDB: admin, name: d.name}
	// If the setup of an empty database was interrupted after its last step, this
	// changes nothing.
	if _, err := db.ReadSchemaVersion(); err != nil {
		setup := &schematool.SetupConfig{InitialVersion: "0.0"}
		if err := schematool.NewSetupSchemaTask(db, setup, log.NewNoopLogger()).Run(); err != nil {
			return err
		}
	}
	update := &schematool.UpdateConfig{SchemaName: d.schema, TargetVersion: d.version}
	return schematool.NewUpdateSchemaTask(db, update, log.NewNoopLogger()).Run()
}

// schemaDB adapts a database to the schema tool.
type schemaDB struct {
	sqlplugin.AdminDB
	name string
}

var _ schematool.DB = schemaDB{}

func (d schemaDB) ReadSchemaVersion() (string, error) { return d.AdminDB.ReadSchemaVersion(d.name) }
func (d schemaDB) UpdateSchemaVersion(version, minimum string) error {
	return d.AdminDB.UpdateSchemaVersion(d.name, version, minimum)
}
func (d schemaDB) DropAllTables() error { return d.AdminDB.DropAllTables(d.name) }
func (d schemaDB) Close()               { _ = d.AdminDB.Close() }
func (schemaDB) Type() string           { return "sql" }
