package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	schematool "go.temporal.io/server/tools/common/schema"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// upgradeDir contains the numbered schema changes among the server's embedded assets.
// They cover the executions tables only; Temporal provides none for the visibility
// tables of SQLite.
const upgradeDir = "sqlite/v3/temporal"

// prepareSchema prepares the file for this server: it sets up a new file, upgrades an
// older one, and refuses a file that it cannot upgrade. All in one transaction, so a
// crash leaves the file unchanged.
//
// Neither the server nor its CLI records the schema version of a SQLite file. So the
// version is stored in SQLite's user_version (minor number of sqliteschema.Version),
// and the file's schema is compared with the server's.
func prepareSchema(ctx context.Context, path string) error {
	// Created here so that only the owner can read it: SQLite gives its log files the same mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the database of --db-filename (its directory must exist and be writable): %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", sqliteURI(path)+"?_txlock=immediate&_pragma=busy_timeout(3000)")
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = db.Close() }()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain(path, err)
	}
	defer func() { _ = tx.Rollback() }() // No effect after a commit.
	if err := migrate(ctx, tx); err != nil {
		return explain(path, err)
	}
	if err := tx.Commit(); err != nil {
		return explain(path, err)
	}
	return nil
}

// sqliteURI escapes the path, which may hold characters that mean something in a URI (https://www.sqlite.org/uri.html).
func sqliteURI(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

func explain(path string, err error) error {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		switch failure.Code() & 0xff { // The low byte is the primary code.
		case sqlite3.SQLITE_BUSY:
			return fmt.Errorf("database %s is in use by another process, probably another temporald; stop that one first", path)
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s is not a SQLite database; choose another --db-filename", path)
		}
	}
	return fmt.Errorf("prepare database %s: %w", path, err)
}

func migrate(ctx context.Context, tx *sql.Tx) error {
	current, err := minorVersion(sqliteschema.Version)
	if err != nil {
		return err
	}
	have, err := columns(ctx, tx)
	if err != nil {
		return err
	}
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	switch {
	case len(have) == 0:
		err = sqliteschema.SetupSchemaOnDB(setupDB{tx: tx})
	case version > current:
		err = fmt.Errorf("its schema is 0.%d, newer than %s of this server; start it with the newer temporald",
			version, sqliteschema.Version)
	case version > 0 && version < current:
		update := &schematool.UpdateConfig{SchemaName: upgradeDir, TargetVersion: sqliteschema.Version}
		err = schematool.NewUpdateSchemaTask(upgradeDB{tx: tx, from: version}, update, log.NewNoopLogger()).Run()
	}
	if err != nil {
		return err
	}
	if err := checkColumns(ctx, tx); err != nil {
		return err
	}
	if err := dropRareIndexes(ctx, tx); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", current))
	return err
}

// checkColumns compares the file with a fresh schema in memory.
func checkColumns(ctx context.Context, tx *sql.Tx) error {
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return fmt.Errorf("open a database in memory: %w", err)
	}
	defer func() { _ = fresh.Close() }()
	freshTx, err := fresh.BeginTx(ctx, nil) // One transaction is one connection, and so one database in memory.
	if err != nil {
		return fmt.Errorf("open a database in memory: %w", err)
	}
	defer func() { _ = freshTx.Rollback() }()
	if err := sqliteschema.SetupSchemaOnDB(setupDB{tx: freshTx}); err != nil {
		return err
	}
	want, err := columns(ctx, freshTx)
	if err != nil {
		return err
	}
	have, err := columns(ctx, tx)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(want, func(c string) bool { return slices.Contains(have, c) })
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s (and %d more) that this Temporal server needs, and no upgrade for that exists; "+
			"it belongs to another program or to another Temporal version: use that version, or another --db-filename",
			missing[0], len(missing)-1)
	}
	return nil
}

// columns lists "table.column" for everything in the database.
func columns(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT t.name || '.' || c.name
		FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table'`)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list the tables: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func minorVersion(version string) (int, error) {
	var minor int
	if _, err := fmt.Sscanf(version, "0.%d", &minor); err != nil || strings.Count(version, ".") != 1 {
		return 0, fmt.Errorf("schema version %q is not of the form 0.N that temporald knows", version)
	}
	return minor, nil
}

// setupDB runs the server's set-up statements in our transaction. SetupSchemaOnDB calls Exec only.
type setupDB struct {
	sqlplugin.AdminDB
	tx *sql.Tx
}

func (d setupDB) Exec(stmt string, args ...any) error {
	_, err := d.tx.ExecContext(context.Background(), stmt, args...)
	return err
}

// upgradeDB runs the server's schema changes in our transaction. The update task calls the methods below only; the version
// is written by migrate, and there is no log of updates.
type upgradeDB struct {
	schematool.DB
	tx   *sql.Tx
	from int
}

func (d upgradeDB) Exec(stmt string, args ...any) error {
	_, err := d.tx.ExecContext(context.Background(), stmt, args...)
	return err
}
func (d upgradeDB) ReadSchemaVersion() (string, error)         { return fmt.Sprintf("0.%d", d.from), nil }
func (upgradeDB) UpdateSchemaVersion(string, string) error     { return nil }
func (upgradeDB) WriteSchemaUpdateLog(_, _, _, _ string) error { return nil }
