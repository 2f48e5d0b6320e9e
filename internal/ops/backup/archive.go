// Package backup writes what Dateline keeps in Postgres into one archive, and
// reads it back into an empty database.
//
// The archive is a tar, compressed with zstd:
//
//	manifest.json              what is in it, and since when nothing is
//	keyset.sealed              the keyset, sealed with a passphrase; may be missing
//	tables/<table>/<n>         the table's rows in COPY's text format, in pieces
//	objects/<key>              files of the bucket; may be missing
//	end.json                   how many rows and bytes there were; without it, the archive is cut off
//
// All tables are read in one snapshot. The schema is not in the archive: a
// restore builds it from the migrations, up to the version that the archive was
// made at, so an archive can be read by every later version, and by any major
// version of Postgres.
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

// Format is the version of the archive's form.
const Format = 1

const (
	manifestName = "manifest.json"
	keysetName   = "keyset.sealed"
	endName      = "end.json"
	tablePrefix  = "tables/"
	objectPrefix = "objects/"
)

// mostJSON bounds the documents of an archive that are read into memory.
const mostJSON = 64 << 20

// Manifest says what is in an archive.
type Manifest struct {
	Format     int         `json:"format"`
	Version    string      `json:"dateline"`          // that made it
	Schema     int64       `json:"schema"`            // number of the last migration
	TakenAt    time.Time   `json:"taken_at"`          // by the database: nothing later is in it
	Keyset     bool        `json:"keyset"`            // sealed in the archive
	KeyIDs     []uint32    `json:"keys"`              // of the keyset when it was taken
	Objects    string      `json:"objects"`           // none, media or all
	Tables     []Table     `json:"tables"`            // in the order in which they can be loaded
	Partitions []Partition `json:"partitions"`        // of tables that are divided as time goes by
	LeftOut    []string    `json:"left_out"`          // tables whose rows are of no use later
	Sequences  []Sequence  `json:"sequences"`         // the next ids
	Server     string      `json:"postgres,omitzero"` // version of the server it was read from
}

// Table is one table of an archive.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Partition is a part of a table.
type Partition struct {
	Of    string `json:"of"`
	Name  string `json:"name"`
	Bound string `json:"bound"` // as Postgres writes it: FOR VALUES FROM (…) TO (…)
}

// Sequence is how far a table's ids have been given out.
type Sequence struct {
	Name   string `json:"name"`
	Last   int64  `json:"last"`
	Called bool   `json:"called"`
}

// Count is what an archive holds of a table.
type Count struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// End closes an archive.
type End struct {
	Tables  map[string]Count `json:"tables"`
	Objects int64            `json:"objects"`
	Missing int64            `json:"missing"` // objects that rows name and the bucket does not have
}

// ErrDamaged says that an archive is cut off or was changed.
var ErrDamaged = errors.New("the backup is damaged or cut off; nothing was restored")

func damaged(why string, args ...any) error {
	return fmt.Errorf("%w (%s)", ErrDamaged, fmt.Sprintf(why, args...))
}

// archive writes the entries.
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

func (a *archive) object(f file, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Name: objectPrefix + f.Key, Mode: 0o600, Size: size, ModTime: a.now, Format: tar.FormatPAX,
		PAXRecords: map[string]string{contentTypeRecord: f.ContentType}})
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

// pieceSize is how much of a table is in one entry: a tar wants to know sizes
// ahead.
const pieceSize = 4 << 20

// pieces writes what COPY gives as entries of a table.
type pieces struct {
	to    *archive
	table string
	buf   []byte
	n     int
	bytes int64
	hash  hash.Hash
}

func newPieces(to *archive, table string) *pieces {
	return &pieces{to: to, table: table, buf: make([]byte, 0, pieceSize), hash: sha256.New()}
}

// Write takes rows.
func (p *pieces) Write(raw []byte) (int, error) {
	for rest := raw; len(rest) > 0; {
		n := min(len(rest), pieceSize-len(p.buf))
		p.buf = append(p.buf, rest[:n]...)
		rest = rest[n:]
		if len(p.buf) == pieceSize {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(raw), nil
}

func (p *pieces) flush() error {
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

func (p *pieces) count(rows int64) (Count, error) {
	if err := p.flush(); err != nil {
		return Count{}, err
	}
	return Count{Rows: rows, Bytes: p.bytes, SHA256: hex.EncodeToString(p.hash.Sum(nil))}, nil
}

// Archive is one that is being read, from its beginning to its end.
type Archive struct {
	Manifest Manifest
	Sealed   []byte // the keyset; nil: it is not in the archive

	tar  *tar.Reader
	zstd *zstd.Decoder
	next *tar.Header // read, and not used yet; nil: the end
}

// Open reads an archive's beginning. The caller closes it.
func Open(r io.Reader) (*Archive, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	a := &Archive{tar: tar.NewReader(z), zstd: z}
	if err := a.begin(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *Archive) begin() error {
	if err := a.advance(); err != nil {
		return fmt.Errorf("this is no backup of Dateline: %w", err)
	}
	if a.next == nil || a.next.Name != manifestName {
		return errors.New("this is no backup of Dateline: it has no manifest")
	}
	if err := a.read(&a.Manifest); err != nil {
		return err
	}
	if a.Manifest.Format != Format {
		return fmt.Errorf("the backup has the form %d, and this version reads %d; use the version that made it (%s)", a.Manifest.Format, Format, a.Manifest.Version)
	}
	if a.Manifest.Keyset {
		if a.next == nil || a.next.Name != keysetName {
			return damaged("the keyset is missing")
		}
		var err error
		if a.Sealed, err = io.ReadAll(io.LimitReader(a.tar, mostJSON)); err != nil {
			return damaged("%s", err)
		}
		return a.advance()
	}
	return nil
}

// Close ends the reading.
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

// read decodes the current entry and goes on to the next.
func (a *Archive) read(v any) error {
	if err := json.NewDecoder(io.LimitReader(a.tar, mostJSON)).Decode(v); err != nil {
		return damaged("%s: %s", a.next.Name, err)
	}
	return a.advance()
}
