package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/storage/postgres"
)

// Hold selects the scheduled posts that a restore holds. The backup does not contain
// what was published after it was written, and a post must never be published twice.
type Hold string

// The supported values.
const (
	// HoldDue holds posts that were due before the restore, because they may already be
	// published.
	HoldDue Hold = "due"
	// HoldAll holds all scheduled posts, because later ones may have been published early
	// since the backup.
	HoldAll Hold = "all"
	// HoldReconcile searches for posts that were due at their network. Found posts are
	// marked as posted, provably missing ones are published, and all others are held.
	HoldReconcile Hold = "reconcile"
)

// Target describes the target of a restore.
type Target struct {
	Database string // URL of an empty database
	Bucket   Bucket // if nil, objects are skipped
	Hold     Hold   // default: due
	Replace  bool   // replace existing data
	Log      *slog.Logger
}

// Restored is the result of a restore.
type Restored struct {
	At         time.Time // by the database clock
	Rows       int64
	Objects    int64
	Held       int64 // held targets
	Reconciled int64 // targets that are reconciled first
	Scheduled  int64 // posts that will be published at their time
	Tokens     int64 // valid API tokens
}

// ErrNotEmpty is returned if the target database has data.
var ErrNotEmpty = errors.New("the database is not empty; restore into an empty one, or replace its data with --replace")

// Restore loads the tables and objects of an archive. Nothing else may use the database
// during the restore, and the original installation must be stopped. If the restore
// fails, the tables are empty.
func (a *Archive) Restore(ctx context.Context, t Target) (r Restored, err error) {
	if t.Hold == "" {
		t.Hold = HoldDue
	}
	if !slices.Contains([]Hold{HoldDue, HoldAll, HoldReconcile}, t.Hold) {
		return r, fmt.Errorf("hold must be due, all or reconcile: %q", t.Hold)
	}
	if err := a.prepare(ctx, t); err != nil {
		return r, err
	}
	conn, err := connect(ctx, t.Database)
	if err != nil {
		return r, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := a.alone(ctx, tx, t.Replace); err != nil {
			return err
		}
		counts := map[string]Count{}
		if err := a.loadTables(ctx, tx, counts, &r); err != nil {
			return err
		}
		if r.Objects, err = a.loadObjects(ctx, t.Bucket); err != nil {
			return err
		}
		if err := a.ended(counts); err != nil {
			return err
		}
		for _, s := range a.Manifest.Sequences {
			if _, err := tx.Exec(ctx,
				"select setval(to_regclass(quote_ident($1))::regclass, $2, $3) where to_regclass(quote_ident($1)) "+
					"is not null", s.Name, s.Last, s.Called); err != nil {
				return err
			}
		}
		return postRestore(ctx, tx, a.Manifest, t.Hold, &r)
	})
	if err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx) // the data is restored
	return r, t.migrate(ctx, func(s *postgres.Store) error { return s.Migrate(ctx, t.Log) })
}

// prepare migrates the database to the schema version of the archive.
func (a *Archive) prepare(ctx context.Context, t Target) error {
	return t.migrate(ctx, func(s *postgres.Store) error {
		newest, err := postgres.NewestMigration()
		if err != nil {
			return err
		}
		if a.Manifest.Schema > newest {
			return fmt.Errorf("the backup was made by a later version (%s); restore it with that one",
				a.Manifest.Version)
		}
		there, err := s.SchemaVersion(ctx)
		if err != nil {
			return err
		}
		if there > a.Manifest.Schema {
			return fmt.Errorf("the database has the tables of a later version than the backup (%d, %d): restore into "+
				"a new database", there, a.Manifest.Schema)
		}
		return s.MigrateTo(ctx, t.Log, a.Manifest.Schema)
	})
}

func (t Target) migrate(ctx context.Context, do func(*postgres.Store) error) error {
	s, err := postgres.Open(ctx, t.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// alone checks that no data is lost without the user's consent, and empties the tables:
// migrations insert a few rows.
func (a *Archive) alone(ctx context.Context, tx pgx.Tx, replace bool) error {
	var used bool
	if err := tx.QueryRow(ctx,
		"select exists (select 1 from users) or exists (select 1 from crawl_domains) or exists (select 1 from "+
			"view_pages)").Scan(&used); err != nil {
		return err
	}
	if used && !replace {
		return ErrNotEmpty
	}
	names, err := collect[string](ctx, tx, `select quote_ident(c.relname) from pg_class c
		where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname <> $1`, schemaTable)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "truncate "+strings.Join(names, ", ")+" restart identity")
	return err
}

func (a *Archive) loadTables(ctx context.Context, tx pgx.Tx, counts map[string]Count, r *Restored) error {
	for _, p := range a.Manifest.Partitions {
		if !validBound.MatchString(p.Bound) {
			return damaged("the partition %s", p.Name)
		}
		if _, err := tx.Exec(ctx, "create table if not exists "+quoted(p.Name)+" partition of "+quoted(p.Of)+" "+
			p.Bound); err != nil {
			return err
		}
	}
	for _, t := range a.Manifest.Tables {
		body := &table{archive: a, name: t.Name, hash: sha256.New()}
		tag, err := tx.Conn().PgConn().CopyFrom(ctx, body, t.copyIn())
		if body.err != nil {
			return body.err
		}
		if err != nil {
			return fmt.Errorf("loading the table %s: %w", t.Name, err)
		}
		counts[t.Name] = Count{
			Rows: tag.RowsAffected(), Bytes: body.bytes,
			SHA256: hex.EncodeToString(body.hash.Sum(nil)),
		}
		r.Rows += tag.RowsAffected()
	}
	return nil
}

// table reads the pieces of one table as if they were one.
type table struct {
	archive *Archive
	name    string
	bytes   int64
	hash    interface {
		io.Writer
		Sum([]byte) []byte
	}
	err error // that is not the database's
}

func (t *table) Read(to []byte) (int, error) {
	for {
		if t.archive.next == nil || !strings.HasPrefix(t.archive.next.Name, tablePrefix+t.name+"/") {
			return 0, io.EOF
		}
		n, err := t.archive.tar.Read(to)
		t.bytes += int64(n)
		_, _ = t.hash.Write(to[:n]) // a hash never fails to write
		if errors.Is(err, io.EOF) {
			err = t.archive.advance()
		} else if err != nil {
			err = damaged("%s", err)
		}
		if err != nil {
			t.err = err
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// ended compares the loaded rows with the written ones.
func (a *Archive) ended(counts map[string]Count) error {
	if a.next == nil || a.next.Name != endName {
		return damaged("its end is missing")
	}
	var end End
	if err := a.read(&end); err != nil {
		return err
	}
	for _, t := range a.Manifest.Tables {
		if counts[t.Name] != end.Tables[t.Name] {
			return damaged("the table %s has %d rows of %d", t.Name, counts[t.Name].Rows, end.Tables[t.Name].Rows)
		}
	}
	return nil
}

// Verify reads an archive to its end without restoring anything.
func (a *Archive) Verify() (End, error) {
	counts := map[string]Count{}
	for _, t := range a.Manifest.Tables {
		body := &table{archive: a, name: t.Name, hash: sha256.New()}
		lines := &lineCounter{}
		if _, err := io.Copy(lines, body); err != nil {
			return End{}, err
		}
		counts[t.Name] = Count{Rows: lines.n, Bytes: body.bytes, SHA256: hex.EncodeToString(body.hash.Sum(nil))}
	}
	if _, err := a.loadObjects(context.Background(), nil); err != nil {
		return End{}, err
	}
	return End{Tables: counts}, a.ended(counts)
}

// lineCounter counts rows: in COPY's text format a line break ends a row and is
// written as \n inside of one.
type lineCounter struct {
	n      int64
	report func(n int64) // optional
}

func (l *lineCounter) Write(raw []byte) (int, error) {
	l.n += int64(bytes.Count(raw, []byte{'\n'}))
	if l.report != nil {
		l.report(l.n)
	}
	return len(raw), nil
}
