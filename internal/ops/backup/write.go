package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/secret"
)

// Bucket is the object store.
type Bucket interface {
	Size(ctx context.Context, key string) (int64, error)
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
}

// The objects that an archive can contain.
const (
	NoObjects    = "none"
	MediaObjects = "media" // uploads and their renditions
	AllObjects   = "all"   // media and crawled pages
)

// Source describes what is backed up.
type Source struct {
	Database   string      // URL
	Version    string      // of the program
	Keyset     secret.Text // if empty, it is not included
	KeyIDs     []uint32    // see secret.Export
	Passphrase secret.Text // encrypts the keyset
	Bucket     Bucket      // required unless Objects is none
	Objects    string      // none (default), media or all
	OnProgress Progress    // optional
}

// Part is a part of a backup.
type Part string

// The parts, in the order in which they are written.
const (
	RowsPart    Part = "rows"
	ObjectsPart Part = "objects"
)

// Progress is called repeatedly while a part is written. The totals are those of the
// snapshot.
type Progress func(part Part, done, total int64)

// Write writes a backup. It does not block other users of the database.
func Write(ctx context.Context, w io.Writer, s Source) (Manifest, End, error) {
	m := Manifest{Format: Format, Version: s.Version, Keyset: !s.Keyset.Empty(), KeyIDs: s.KeyIDs, Objects: s.Objects}
	end := End{Tables: map[string]Count{}}
	if m.Objects == "" {
		m.Objects = NoObjects
	}
	conn, err := connect(ctx, s.Database)
	if err != nil {
		return m, end, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return m, end, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// The transaction timestamp is not later than the snapshot.
	if err := tx.QueryRow(ctx, "select transaction_timestamp(), current_setting('server_version'), coalesce((select "+
		"max(version_id) from "+schemaTable+" where is_applied), 0)").
		Scan(&m.TakenAt, &m.Server, &m.Schema); err != nil {
		return m, end, fmt.Errorf("not a database of Dateline: %w", err)
	}
	m.TakenAt = m.TakenAt.UTC()
	if err := describe(ctx, tx, &m); err != nil {
		return m, end, err
	}
	to, err := newArchive(w, time.Now())
	if err != nil {
		return m, end, err
	}
	if err := s.write(ctx, to, tx, m, &end); err != nil {
		return m, end, errors.Join(err, to.close())
	}
	return m, end, to.close()
}

func (s Source) write(ctx context.Context, to *archive, tx pgx.Tx, m Manifest, end *End) error {
	if err := to.document(manifestName, m); err != nil {
		return err
	}
	if !s.Keyset.Empty() {
		sealed, err := sealKeyset(s.Keyset, s.Passphrase)
		if err != nil {
			return err
		}
		if err := to.bytes(keysetName, sealed); err != nil {
			return err
		}
	}
	lines, err := s.rowCounter(ctx, tx, m.Tables)
	if err != nil {
		return err
	}
	for _, t := range m.Tables {
		p := newTableWriter(to, t.Name)
		tag, err := tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(p, lines), t.copyOut())
		if err != nil {
			return fmt.Errorf("reading the table %s: %w", t.Name, err)
		}
		if end.Tables[t.Name], err = p.count(tag.RowsAffected()); err != nil {
			return err
		}
	}
	if m.Objects != NoObjects {
		if err := s.writeObjects(ctx, to, tx, m.Objects, end); err != nil {
			return err
		}
	}
	return to.document(endName, end)
}

// rowCounter returns the writer that reports the written rows. Without OnProgress they are
// not counted in advance.
func (s Source) rowCounter(ctx context.Context, tx pgx.Tx, tables []Table) (io.Writer, error) {
	if s.OnProgress == nil {
		return io.Discard, nil
	}
	var total int64
	for _, t := range tables {
		n, err := collect[int64](ctx, tx, "select count(*) from "+quoted(t.Name))
		if err != nil {
			return nil, err
		}
		total += n[0]
	}
	return &lineCounter{report: func(n int64) { s.OnProgress(RowsPart, n, total) }}, nil
}

// connect opens a connection with a fixed text format for times, numbers and bounds.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not valid")
	}
	for name, value := range map[string]string{
		"timezone": "UTC", "datestyle": "ISO, MDY", "intervalstyle": "postgres",
		"application_name":   "dateline backup",
		"extra_float_digits": "3", "bytea_output": "hex", "statement_timeout": "0", "lock_timeout": "30s",
		"idle_in_transaction_session_timeout": "0",
	} {
		cfg.RuntimeParams[name] = value
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return conn, nil
}
