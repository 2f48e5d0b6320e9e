// Package backup backs up the database to an archive, and restores the archive into an
// empty database.
//
// The archive is a tar file, compressed with zstd:
//
//	manifest.json              contents and time of the backup
//	keyset.sealed              keyset, encrypted with a passphrase (optional)
//	tables/<table>/<n>         rows of a table in the text format of COPY, in chunks
//	objects/<key>              objects of the bucket (optional)
//	end.json                   row and byte counts; if missing, the archive is truncated
//
// All tables are read in one snapshot. The archive does not contain the schema: a
// restore first applies the migrations up to the version of the backup. So a backup can
// be restored by all later versions, and into any major version of Postgres.
package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Format is the version of the archive format.
const Format = 1

const (
	manifestName = "manifest.json"
	keysetName   = "keyset.sealed"
	endName      = "end.json"
	tablePrefix  = "tables/"
	objectPrefix = "objects/"
)

// maxJSONSize limits the JSON documents that are read into memory.
const maxJSONSize = 64 << 20

// Manifest describes the contents of an archive.
type Manifest struct {
	Format     int         `json:"format"`
	Version    string      `json:"dateline"`          // of the program that wrote it
	Schema     int64       `json:"schema"`            // number of the last migration
	TakenAt    time.Time   `json:"taken_at"`          // snapshot time, by the database clock
	Keyset     bool        `json:"keyset"`            // whether the archive contains the keyset
	KeyIDs     []uint32    `json:"keys"`              // of the keyset at that time
	Objects    string      `json:"objects"`           // none, media or all
	Tables     []Table     `json:"tables"`            // in load order
	Partitions []Partition `json:"partitions"`        // of partitioned tables
	Excluded   []string    `json:"excluded"`          // tables whose rows are not backed up
	Sequences  []Sequence  `json:"sequences"`         // current values
	Server     string      `json:"postgres,omitzero"` // version of the server
}

// Table is a table in an archive.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Partition is a partition of a table.
type Partition struct {
	Of    string `json:"of"`
	Name  string `json:"name"`
	Bound string `json:"bound"` // in SQL syntax: FOR VALUES FROM (…) TO (…)
}

// Sequence is the state of a sequence.
type Sequence struct {
	Name   string `json:"name"`
	Last   int64  `json:"last"`
	Called bool   `json:"called"`
}

// Count is the number of rows and bytes of a table in an archive.
type Count struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// End is the last document of an archive.
type End struct {
	Tables  map[string]Count `json:"tables"`
	Objects int64            `json:"objects"`
	Missing int64            `json:"missing"` // referenced objects that are missing in the bucket
}

// ErrDamaged is returned for archives that are truncated or modified.
var ErrDamaged = errors.New("the backup is damaged or truncated; nothing was restored")

func damaged(reason string, args ...any) error {
	return fmt.Errorf("%w (%s)", ErrDamaged, fmt.Sprintf(reason, args...))
}

// archive writes the entries of an archive.
type archive struct {
	tar  *tar.Writer
	zstd *zstd.Encoder
	now  time.Time
}

func newArchive(w io.Writer, now time.Time) (*archive, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	return &archive{tar: tar.NewWriter(z), zstd: z, now: now}, nil
}

func (a *archive) entry(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: a.now, Format: tar.FormatPAX})
}

func (a *archive) object(f object, size int64) error {
	return a.tar.WriteHeader(&tar.Header{
		Name: objectPrefix + f.Key, Mode: 0o600, Size: size, ModTime: a.now,
		Format:     tar.FormatPAX,
		PAXRecords: map[string]string{contentTypeRecord: f.ContentType},
	})
}

func (a *archive) bytes(name string, raw []byte) error {
	if err := a.entry(name, int64(len(raw))); err != nil {
		return err
	}
	_, err := a.tar.Write(raw)
	return err
}

func (a *archive) document(name string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.bytes(name, raw)
}

func (a *archive) close() error { return errors.Join(a.tar.Close(), a.zstd.Close()) }

// chunkSize is the maximum size of a table entry: the size of a tar entry must be known
// in advance.
const chunkSize = 4 << 20

// tableWriter writes the output of COPY as entries of a table.
type tableWriter struct {
	to    *archive
	table string
	buf   []byte
	n     int
	bytes int64
	hash  hash.Hash
}

func newTableWriter(to *archive, table string) *tableWriter {
	return &tableWriter{to: to, table: table, buf: make([]byte, 0, chunkSize), hash: sha256.New()}
}

// Write implements io.Writer.
func (p *tableWriter) Write(raw []byte) (int, error) {
	for rest := raw; len(rest) > 0; {
		n := min(len(rest), chunkSize-len(p.buf))
		p.buf = append(p.buf, rest[:n]...)
		rest = rest[n:]
		if len(p.buf) == chunkSize {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(raw), nil
}

func (p *tableWriter) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	err := p.to.bytes(fmt.Sprintf("%s%s/%08d", tablePrefix, p.table, p.n), p.buf)
	p.hash.Write(p.buf)
	p.bytes += int64(len(p.buf))
	p.n++
	p.buf = p.buf[:0]
	return err
}

func (p *tableWriter) count(rows int64) (Count, error) {
	if err := p.flush(); err != nil {
		return Count{}, err
	}
	return Count{Rows: rows, Bytes: p.bytes, SHA256: hex.EncodeToString(p.hash.Sum(nil))}, nil
}

// Archive reads an archive sequentially.
type Archive struct {
	Manifest Manifest
	Sealed   []byte // encrypted keyset; nil if the archive does not contain it

	tar  *tar.Reader
	zstd *zstd.Decoder
	next *tar.Header // current entry; nil at the end
}

// Open reads the manifest and the keyset of an archive. The caller must close it.
func Open(r io.Reader) (*Archive, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	a := &Archive{tar: tar.NewReader(z), zstd: z}
	if err := a.readManifest(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *Archive) readManifest() error {
	if err := a.advance(); err != nil {
		return fmt.Errorf("not a backup of Dateline: %w", err)
	}
	if a.next == nil || a.next.Name != manifestName {
		return errors.New("not a backup of Dateline: no manifest")
	}
	if err := a.read(&a.Manifest); err != nil {
		return err
	}
	if a.Manifest.Format != Format {
		return fmt.Errorf("the backup has format %d, but this version reads %d; use the version that wrote it (%s)",
			a.Manifest.Format, Format, a.Manifest.Version)
	}
	if a.Manifest.Keyset {
		if a.next == nil || a.next.Name != keysetName {
			return damaged("the keyset is missing")
		}
		var err error
		if a.Sealed, err = io.ReadAll(io.LimitReader(a.tar, maxJSONSize)); err != nil {
			return damaged("%s", err)
		}
		return a.advance()
	}
	return nil
}

// Close releases the resources of the archive.
func (a *Archive) Close() { a.zstd.Close() }

func (a *Archive) advance() (err error) {
	if a.next, err = a.tar.Next(); errors.Is(err, io.EOF) {
		a.next, err = nil, nil
	}
	if err != nil {
		return damaged("%s", err)
	}
	return nil
}

// read decodes the current entry and advances to the next.
func (a *Archive) read(v any) error {
	if err := json.NewDecoder(io.LimitReader(a.tar, maxJSONSize)).Decode(v); err != nil {
		return damaged("%s: %s", a.next.Name, err)
	}
	return a.advance()
}
