package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// releasedMigrations lists the released migrations with their checksums: "sha256  file
// release", in the order of their numbers.
//
//go:embed released_migrations.txt
var releasedMigrations string

// Schema compares the schema of a database with that of a build.
type Schema struct {
	Build    int64 // newest migration of this build
	Database int64 // newest migration of the database; 0: empty

	builds   []int64 // all migrations of this build, ascending
	applied  []int64
	required int64 // oldest build that can use the database, recorded by the build that migrated it; 0: unknown
}

// ErrSchema means that a build and a database are incompatible. The message names the
// remedy.
var ErrSchema = errors.New("the database schema does not fit this build")

// Migratable returns why this build must not migrate the database; nil: it may.
func (s Schema) Migratable() error {
	if len(s.applied) == 0 {
		return nil
	}
	if !slices.Contains(s.applied, s.builds[0]) {
		return fmt.Errorf("%w: the database was made by a build from before migration %05d, from which "+
			"upgrades start. "+
			"Start the build that made it, run `dateline export` for each workspace, and import the files into a new "+
			"database with `dateline import`", ErrSchema, s.builds[0])
	}
	for _, n := range s.applied {
		if n < s.Build && !slices.Contains(s.builds, n) {
			return fmt.Errorf("%w: the database has migration %05d, which this build does not know although it knows "+
				"a newer one (%05d): "+
				"a build of another branch made it. Use a build of that branch, or restore a backup from before it",
				ErrSchema, n, s.Build)
		}
	}
	for _, n := range s.builds {
		if n < s.Database && !slices.Contains(s.applied, n) {
			return fmt.Errorf("%w: the database is at migration %05d but lacks %05d: a build of another "+
				"branch made it. "+
				"Use a build of that branch, or restore a backup from before it", ErrSchema, s.Database, n)
		}
	}
	if s.Build < s.required {
		return fmt.Errorf("%w: the database is at migration %05d, this build is at %05d, and the database needs a "+
			"build at %05d or later. "+
			"Going back is supported by one release: start a newer build, or restore the backup that was made before "+
			"the upgrade (`dateline restore`)", ErrSchema, s.Database, s.Build, s.required)
	}
	return nil
}

// Usable returns why this build must not use the database without migrating it; nil: it
// may.
func (s Schema) Usable(log *slog.Logger) error {
	if err := s.Migratable(); err != nil {
		return err
	}
	switch {
	case s.Database == 0:
		return fmt.Errorf("%w: the database has no tables yet. Run `dateline migrate`", ErrSchema)
	case s.Database < s.Build:
		return fmt.Errorf("%w: the database is at migration %05d and this build needs %05d. Run `dateline migrate` "+
			"of this build", ErrSchema, s.Database, s.Build)
	}
	s.warnIfNewer(log)
	return nil
}

// newer reports whether a newer build has migrated the database and this build can still
// use it.
func (s Schema) newer() bool { return s.Database > s.Build }

func (s Schema) warnIfNewer(log *slog.Logger) {
	if s.newer() {
		log.Warn("the database was migrated by a later build; finish the rollout or the rollback", "database",
			s.Database, "build", s.Build)
	}
}

// Schema returns the schema versions of the database and this build.
func (s *Store) Schema(ctx context.Context) (Schema, error) {
	builds, err := buildMigrations()
	if err != nil {
		return Schema{}, err
	}
	out := Schema{Build: builds[len(builds)-1], builds: builds}
	rows, err := s.pool.Query(ctx,
		"select version_id from goose_db_version where is_applied and version_id > 0 order by version_id")
	if err == nil {
		out.applied, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == undefinedTable {
		return out, nil
	}
	if err != nil || len(out.applied) == 0 {
		return out, err
	}
	out.Database = out.applied[len(out.applied)-1]
	var note *string
	if err := s.pool.QueryRow(ctx, "select obj_description('goose_db_version'::regclass, 'pg_class')").
		Scan(&note); err != nil {
		return out, err
	}
	if note != nil {
		number, _ := strings.CutPrefix(*note, requiredNote)
		out.required, _ = strconv.ParseInt(number, 10, 64) // an unknown comment requires nothing
	}
	return out, nil
}

// requiredNote is the prefix of the comment on goose's table that contains the oldest
// build that can use the database.
const requiredNote = "oldest usable build: "

// noteRequired writes that comment after a migration. The version never decreases.
func (s *Store) noteRequired(ctx context.Context) error {
	now, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	required := oldestUsable(releasedMigrations)
	if now.newer() || required <= now.required {
		return nil
	}
	// COMMENT takes no parameters.
	_, err = s.pool.Exec(ctx, fmt.Sprintf("comment on table goose_db_version is '%s%d'", requiredNote, required))
	return err
}

// released is a line of releasedMigrations.
type released struct {
	sum, file, release string
	number             int64
}

func parseReleased(list string) (out []released, err error) {
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("released_migrations.txt: want checksum, file and release, got %q",
				strings.TrimSpace(line))
		}
		n, err := goose.NumericComponent(fields[1])
		if err != nil {
			return nil, err
		}
		out = append(out, released{sum: fields[0], file: fields[1], release: fields[2], number: n})
	}
	return out, nil
}

// oldestUsable returns the newest migration of the previous release: migrations must stay
// compatible with that release. 0: there is none.
func oldestUsable(list string) (oldest int64) {
	all, err := parseReleased(list)
	if err != nil || len(all) == 0 {
		return 0 // a test checks that the list can be parsed
	}
	builds, err := buildMigrations()
	if err != nil {
		return 0
	}
	last := all[len(all)-1]
	if builds[len(builds)-1] > last.number {
		return last.number // this build has migrations after the last release
	}
	for _, r := range all {
		if r.release != last.release {
			oldest = r.number
		}
	}
	return oldest
}

// buildMigrations returns the numbers of this build's migrations, ascending.
func buildMigrations() (numbers []int64, err error) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, err := goose.NumericComponent(e.Name())
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}
