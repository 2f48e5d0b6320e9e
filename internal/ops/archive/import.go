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

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
)

// Into is where an archive is taken in.
type Into struct {
	Store   Store
	Objects Objects
	Media   Library
	Sites   SiteMaker // nil: sites are left out
	Seeds   SeedMaker // nil: seeds are left out
	Audit   Audit
	Who     workspace.Principal
}

// Audit notes that an import began, and what came of it.
type Audit func(ctx context.Context, workspace uuid.UUID, what audit.Action, data map[string]any) error

// Imported says what came in, and what did not.
type Imported struct {
	Added map[Section]int64
	Left  []string // what was left out, and why
}

// ErrNoArchive says that something is no export of a workspace.
var ErrNoArchive = errors.New("this is no export of a workspace")

// mostLine is how long a row may be.
const mostLine = 16 << 20

// Import takes an archive in. Everything gets ids of its own, always the same in
// one workspace, so that doing it twice adds nothing twice.
//
// What would publish by itself does not: the installation that the archive comes
// from may still run. Waiting posts become drafts with their time, series are
// paused, and accounts have to be connected. A post that was being sent, and a
// dead letter that would come back by itself, is canceled.
func Import(ctx context.Context, r io.Reader, into Into) (done Imported, err error) {
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
	in := &importer{Into: into, dir: dir, done: Imported{Added: map[Section]int64{}}, known: map[uuid.UUID]uuid.UUID{}, keys: map[uuid.UUID]string{}}
	if err := in.unpack(tar.NewReader(z)); err != nil {
		return done, fmt.Errorf("%w: %w", ErrNoArchive, err)
	}
	// Before anything comes in: should the process die half way, it is known whose doing that was.
	if err := into.Audit(ctx, into.Who.WorkspaceID, audit.WorkspaceImporting, nil); err != nil {
		return done, err
	}
	defer func() {
		err = errors.Join(err, into.Audit(context.WithoutCancel(ctx), into.Who.WorkspaceID, audit.WorkspaceImported, map[string]any{"added": in.done.Added, "left_out": len(in.done.Left), "whole": err == nil}))
	}()
	for _, load := range []func(context.Context) error{in.accounts, in.media, in.series, in.posts, in.links, in.sites, in.seeds} {
		if err := load(ctx); err != nil {
			return in.done, err
		}
	}
	return in.done, nil
}

type importer struct {
	Into
	dir   string
	done  Imported
	known map[uuid.UUID]uuid.UUID // ids of the archive and their new ones
	keys  map[uuid.UUID]string    // where new files lie
	first []map[string]any        // replies, until the posts that they answer are there
}

// names are those that an archive's entries may have.
var names = regexp.MustCompile(`^(manifest\.json|[a-z]+/[0-9]{6}\.jsonl|files/[0-9a-f]{64})$`) //nolint:gochecknoglobals // a constant in all but name

// unpack writes the entries to disk: files come last and are needed early.
func (i *importer) unpack(t *tar.Reader) error {
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if !names.MatchString(h.Name) {
			return fmt.Errorf("it holds %q", h.Name)
		}
		if n == 0 {
			var m Manifest
			if err := json.NewDecoder(io.LimitReader(t, mostLine)).Decode(&m); err != nil || h.Name != "manifest.json" || m.Format != Format {
				return errors.Join(errors.New("its manifest cannot be read, or is of another version"), err)
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
		_, err = io.Copy(f, t) //nolint:gosec // who may import may fill the disk of the import, and no more
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// each reads a section row by row.
func (i *importer) each(s Section, do func(row map[string]any) error) error {
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
		lines.Buffer(nil, mostLine)
		for lines.Scan() {
			var row map[string]any
			decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
			decoder.UseNumber()
			if err := decoder.Decode(&row); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrNoArchive, s, err)
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

// fresh gives an id of the archive its new one.
func (i *importer) fresh(row map[string]any, field string) (uuid.UUID, error) {
	text, _ := row[field].(string)
	old, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, fmt.Errorf("a row has no %s", field)
	}
	if id, ok := i.known[old]; ok {
		return id, nil
	}
	id := uuid.NewSHA1(i.Who.WorkspaceID, old[:])
	i.known[old] = id
	return id, nil
}

// renamed replaces the ids of what came in, wherever they stand.
func (i *importer) renamed(v any) any {
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
			v[n] = i.renamed(v[n])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = i.renamed(v[k])
		}
		return v
	default:
		return v
	}
}

// own makes a row the workspace's.
func (i *importer) own(row map[string]any) {
	row["workspace_id"], row["user_id"] = i.Who.WorkspaceID, i.Who.UserID
}

func (i *importer) add(ctx context.Context, s Section, table Table, row map[string]any) (bool, error) {
	n, err := i.Store.ImportRows(ctx, table, []map[string]any{row})
	if s != "" {
		i.done.Added[s] += n
	}
	return n > 0, err
}

func (i *importer) left(format string, args ...any) {
	i.done.Left = append(i.done.Left, fmt.Sprintf(format, args...))
}

func (i *importer) series(ctx context.Context) error {
	return i.each(Series, func(row map[string]any) error {
		id, err := i.fresh(row, "id")
		if err != nil {
			return err
		}
		notes, _ := row["notes"].([]any)
		row["id"] = id
		row["template"] = i.renamed(row["template"])
		if row["status"] == "active" {
			row["status"] = "paused"
		}
		i.own(row)
		if _, err := i.add(ctx, Series, SeriesRows, row); err != nil {
			return err
		}
		for _, n := range notes {
			note, ok := n.(map[string]any)
			if !ok {
				continue
			}
			note["series_id"] = id
			if _, err := i.add(ctx, "", NoteRows, note); err != nil {
				return err
			}
		}
		return nil
	})
}

// ours is the new id of something that came in, and nothing for anything else:
// an archive must not reach what is not its own.
func (i *importer) ours(v any) any {
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
