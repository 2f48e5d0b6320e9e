package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
)

// Target describes the target of an import.
type Target struct {
	Store   Store
	Objects Objects
	Media   Library
	Sites   SiteCreator // if nil, sites are skipped
	Seeds   SeedCreator // if nil, seeds are skipped
	Audit   Audit
	Who     workspace.Principal
	// OnProgress is called repeatedly with the number of imported rows; optional.
	OnProgress func(rows, total int)
}

// Audit records the start and the result of an import in the audit log.
type Audit func(ctx context.Context, workspace uuid.UUID, action audit.Action, data map[string]any) error

// Imported is the result of an import.
type Imported struct {
	Added   map[Section]int64
	Skipped []string // skipped objects with the reason
}

// ErrInvalid is returned for files that are not a valid archive.
var ErrInvalid = errors.New("not a valid workspace archive")

// maxLineSize is the maximum size of a row.
const maxLineSize = 16 << 20

// Import imports an archive. Objects get new IDs, which are deterministic per workspace,
// so that a repeated import creates no duplicates.
//
// Nothing is published automatically, because the original installation may still be
// running: scheduled posts become drafts with their time, series are paused, and accounts
// must be connected. Posts in flight, and dead letters that would be retried
// automatically, are canceled.
func Import(ctx context.Context, r io.Reader, target Target) (done Imported, err error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return done, err
	}
	defer z.Close()
	dir, err := os.MkdirTemp("", "dateline-import-*")
	if err != nil {
		return done, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in := &importer{
		Target: target, dir: dir, done: Imported{Added: map[Section]int64{}},
		known: map[uuid.UUID]uuid.UUID{}, keys: map[uuid.UUID]string{},
	}
	if err := in.unpack(tar.NewReader(z)); err != nil {
		return done, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	// Recorded first, so that a crash during the import can be attributed.
	if err := target.Audit(ctx, target.Who.WorkspaceID, audit.WorkspaceImporting, nil); err != nil {
		return done, err
	}
	defer func() {
		err = errors.Join(err, target.Audit(context.WithoutCancel(ctx), target.Who.WorkspaceID, audit.WorkspaceImported,
			map[string]any{"added": in.done.Added, "skipped": len(in.done.Skipped), "complete": err == nil}))
	}()
	for _, load := range []func(context.Context) error{
		in.accounts, in.groups, in.labels, in.snippets, in.media,
		in.series, in.posts, in.links, in.sites, in.seeds,
	} {
		if err := load(ctx); err != nil {
			return in.done, err
		}
	}
	return in.done, nil
}

type importer struct {
	Target
	dir     string
	rows    int // that are imported, of total
	total   int
	done    Imported
	known   map[uuid.UUID]uuid.UUID // new IDs by those of the archive
	keys    map[uuid.UUID]string    // object keys of imported files
	replies []map[string]any        // replies, which are imported after the posts
}

// validEntry matches the allowed names of entries.
var validEntry = regexp.MustCompile(`^(manifest\.json|[a-z]+/[0-9]{6}\.jsonl|files/[0-9a-f]{64})$`) //nolint:gochecknoglobals // constant

// unpack writes the entries to disk, because files come last but are needed first.
func (i *importer) unpack(t *tar.Reader) error {
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if !validEntry.MatchString(h.Name) {
			return fmt.Errorf("unexpected entry %q", h.Name)
		}
		if n == 0 {
			var m Manifest
			if err := json.NewDecoder(io.LimitReader(t, maxLineSize)).Decode(&m); err != nil ||
				h.Name != "manifest.json" || m.Format != Format {
				return errors.Join(errors.New("the manifest is invalid or of an unsupported version"), err)
			}
			continue
		}
		path := filepath.Join(i.dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		lines := &lineCounter{}
		_, err = io.Copy(io.MultiWriter(f, lines), t) //nolint:gosec // the size is limited by the temporary disk
		if strings.HasSuffix(h.Name, ".jsonl") && !strings.HasPrefix(h.Name, string(Workspace)) {
			i.total += lines.n
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// lineCounter counts lines.
type lineCounter struct{ n int }

// Write implements io.Writer.
func (l *lineCounter) Write(text []byte) (int, error) {
	l.n += bytes.Count(text, []byte{'\n'})
	return len(text), nil
}

// imported reports that one more row is imported.
func (i *importer) imported() {
	i.rows++
	if i.OnProgress != nil {
		i.OnProgress(i.rows, i.total)
	}
}

// each imports a section row by row.
func (i *importer) each(s Section, do func(row map[string]any) error) error {
	return i.scan(s, func(row map[string]any) error {
		if err := do(row); err != nil {
			return err
		}
		i.imported()
		return nil
	})
}

// scan reads a section row by row.
func (i *importer) scan(s Section, do func(row map[string]any) error) error {
	files, err := filepath.Glob(filepath.Join(i.dir, string(s), "*.jsonl"))
	if err != nil {
		return err
	}
	for _, name := range files { // sorted by Glob
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, maxLineSize)
		for lines.Scan() {
			var row map[string]any
			decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
			decoder.UseNumber()
			if err := decoder.Decode(&row); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrInvalid, s, err)
			}
			if err := do(row); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	return nil
}

// newID returns the new ID of an object of the archive.
func (i *importer) newID(row map[string]any, field string) (uuid.UUID, error) {
	text, _ := row[field].(string)
	old, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, fmt.Errorf("a row has no valid %s", field)
	}
	if id, ok := i.known[old]; ok {
		return id, nil
	}
	id := uuid.NewSHA1(i.Who.WorkspaceID, old[:])
	i.known[old] = id
	return id, nil
}

// replaceIDs replaces all IDs of imported objects in a JSON value.
func (i *importer) replaceIDs(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) != 36 {
			return v
		}
		if old, err := uuid.Parse(v); err == nil {
			if id, ok := i.known[old]; ok {
				return id.String()
			}
		}
		return v
	case []any:
		for n := range v {
			v[n] = i.replaceIDs(v[n])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v)) // overrides have ids as keys
		for k, value := range v {
			key, _ := i.replaceIDs(k).(string)
			out[key] = i.replaceIDs(value)
		}
		return out
	default:
		return v
	}
}

// setOwner assigns a row to the workspace and the importing user.
func (i *importer) setOwner(row map[string]any) {
	row["workspace_id"], row["user_id"] = i.Who.WorkspaceID, i.Who.UserID
}

func (i *importer) add(ctx context.Context, s Section, table Table, row map[string]any) (bool, error) {
	n, err := i.Store.ImportRows(ctx, table, []map[string]any{row})
	if s != "" {
		i.done.Added[s] += n
	}
	return n > 0, err
}

func (i *importer) skip(format string, args ...any) {
	i.done.Skipped = append(i.done.Skipped, fmt.Sprintf(format, args...))
}

func (i *importer) series(ctx context.Context) error {
	return i.each(Series, func(row map[string]any) error {
		id, err := i.newID(row, "id")
		if err != nil {
			return err
		}
		notes, _ := row["notes"].([]any)
		row["id"] = id
		row["template"] = i.replaceIDs(row["template"])
		if row["status"] == "active" {
			row["status"] = "paused"
		}
		i.setOwner(row)
		if _, err := i.add(ctx, Series, SeriesRows, row); err != nil {
			return err
		}
		for _, n := range notes {
			note, ok := n.(map[string]any)
			if !ok {
				continue
			}
			note["series_id"] = id
			if _, err := i.add(ctx, "", ExceptionRows, note); err != nil {
				return err
			}
		}
		return nil
	})
}

// importedID returns the new ID of an imported object, and nil for all other IDs: an
// archive must not reference existing objects.
func (i *importer) importedID(v any) any {
	text, _ := v.(string)
	old, err := uuid.Parse(text)
	if err != nil {
		return nil
	}
	if id, ok := i.known[old]; ok {
		return id.String()
	}
	return nil
}

// createdID is importedID of an object that this import or an earlier one created.
func (i *importer) createdID(v any) any {
	text, _ := v.(string)
	old, err := uuid.Parse(text)
	if id := i.importedID(v); err == nil && id == uuid.NewSHA1(i.Who.WorkspaceID, old[:]).String() {
		return id
	}
	return nil
}
