package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrate migrates the schema to the version of this build. Concurrent callers wait for
// each other on an advisory lock. Older builds may keep running meanwhile; tests check
// that migrations are backward compatible.
func (s *Store) Migrate(ctx context.Context, log *slog.Logger) error {
	newest, err := NewestMigration()
	if err != nil {
		return err
	}
	if err := s.MigrateTo(ctx, log, newest); err != nil {
		return err
	}
	return s.noteRequired(ctx)
}

// MigrateTo migrates the schema to an older version than the newest, to restore a backup
// of that version. A newer schema is not changed.
func (s *Store) MigrateTo(ctx context.Context, log *slog.Logger, version int64) error {
	there, err := s.Schema(ctx)
	if err == nil {
		err = there.Migratable()
	}
	if err != nil {
		return err
	}
	there.warnIfNewer(log)
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// Retry the lock every second, for at most five minutes.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	sqlDB := stdlib.OpenDBFromPool(s.pool)
	defer func() { _ = sqlDB.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, sqlDB, dir, goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	results, err := provider.UpTo(ctx, version)
	if err != nil {
		return fmt.Errorf("migrating the database: %w", err)
	}
	for _, r := range results {
		log.Info("migrated the database", "migration", r.Source.Path, "took", r.Duration)
	}
	return nil
}

// NewestMigration returns the schema version of this build.
func NewestMigration() (int64, error) {
	numbers, err := buildMigrations()
	if err != nil {
		return 0, err
	}
	return numbers[len(numbers)-1], nil
}

// undefinedTable is the SQLSTATE for a table that does not exist.
const undefinedTable = "42P01"

// SchemaVersion returns the schema version of the database; 0: no schema.
func (s *Store) SchemaVersion(ctx context.Context) (version int64, err error) {
	err = s.pool.QueryRow(ctx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied").
		Scan(&version)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == undefinedTable {
		return 0, nil
	}
	return version, err
}

// Extensions lists the Postgres extensions that migrations create.
func Extensions() (names []string) {
	made := regexp.MustCompile(`(?im)^\s*create extension (?:if not exists )?"?(\w+)"?`)
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil // cannot fail: they are embedded
	}
	for _, e := range entries {
		raw, err := migrations.ReadFile("migrations/" + e.Name())
		if err != nil {
			continue
		}
		for _, m := range made.FindAllStringSubmatch(string(raw), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
