package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"dateline/internal/infra/blob"
	"dateline/internal/publishing/media/metadata"
)

// chunkSize is the approximate size of the entries of a section: the size of a tar entry
// must be known in advance.
const chunkSize = 1 << 20

// Exported counts the objects in an archive by section.
type Exported map[Section]int

// writer writes an archive.
type writer struct {
	tar     *tar.Writer
	now     time.Time
	section Section
	part    int
	lines   bytes.Buffer
}

// ExportOptions describe what is exported.
type ExportOptions struct {
	Source     Source
	Objects    Objects
	Workspace  uuid.UUID
	Version    string               // of the program
	OnProgress func(Progress) error // called repeatedly; can be nil
}

// Export writes the archive of a workspace. Files that are missing in the object store
// are skipped.
func Export(ctx context.Context, w io.Writer, from ExportOptions) (Exported, error) {
	z, err := zstd.NewWriter(w)
	if err != nil {
		return nil, err
	}
	out := &writer{tar: tar.NewWriter(z), now: time.Now().UTC()}
	manifest, err := json.Marshal(Manifest{Format: Format, Version: from.Version, ExportedAt: out.now})
	if err != nil {
		return nil, err
	}
	if err := out.entry("manifest.json", manifest); err != nil {
		return nil, err
	}
	counts, files := Exported{}, []mediaRow{}
	at := Progress{Rows: counts}
	reportProgress := func() error {
		if from.OnProgress == nil {
			return nil
		}
		return from.OnProgress(at)
	}
	begin := func(total int) { at.RowsTotal = total }
	err = from.Source.ExportWorkspace(ctx, from.Workspace, begin, func(s Section, row json.RawMessage) error {
		counts[s]++
		if err := reportProgress(); err != nil {
			return err
		}
		if s == Media {
			var m mediaRow
			if err := json.Unmarshal(row, &m); err != nil {
				return err
			}
			files = append(files, m)
		}
		return out.line(s, row)
	})
	if err = errors.Join(err, out.flush()); err != nil {
		return counts, err
	}
	at.FilesTotal = len(files)
	written := map[string]bool{}
	for _, m := range files {
		if !written[m.SHA256] {
			written[m.SHA256] = true
			if err := out.file(ctx, from.Objects, m); err != nil {
				return counts, err
			}
		}
		at.Files++
		if err := reportProgress(); err != nil {
			return counts, err
		}
	}
	return counts, errors.Join(out.tar.Close(), z.Close(), reportProgress())
}

// mediaRow is the row of a media file.
type mediaRow struct {
	ID        uuid.UUID `json:"id"`
	ObjectKey string    `json:"object_key"`
	SHA256    string    `json:"sha256"`
	Bytes     int64     `json:"bytes"`
	FileName  string    `json:"file_name"`
	AltText   string    `json:"alt_text"`
	Removed   []string  `json:"metadata_removed"`
}

// removed returns the known categories of removed metadata.
func (m mediaRow) removed() (known []metadata.Category) {
	for _, c := range metadata.Categories() {
		if slices.Contains(m.Removed, string(c)) {
			known = append(known, c)
		}
	}
	return known
}

func (w *writer) entry(name string, raw []byte) error {
	if err := w.tar.WriteHeader(&tar.Header{
		Name: name, Mode: 0o600, Size: int64(len(raw)),
		ModTime: w.now,
	}); err != nil {
		return err
	}
	_, err := w.tar.Write(raw)
	return err
}

func (w *writer) line(s Section, row json.RawMessage) error {
	if s != w.section || w.lines.Len() >= chunkSize {
		if err := w.flush(); err != nil {
			return err
		}
		if s != w.section {
			w.section, w.part = s, 0
		}
	}
	w.lines.Write(row)
	return w.lines.WriteByte('\n')
}

func (w *writer) flush() error {
	if w.lines.Len() == 0 {
		return nil
	}
	err := w.entry(fmt.Sprintf("%s/%06d.jsonl", w.section, w.part), w.lines.Bytes())
	w.part++
	w.lines.Reset()
	return err
}

func (w *writer) file(ctx context.Context, from Objects, m mediaRow) error {
	body, err := from.Get(ctx, m.ObjectKey)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // missing; the archive still contains its row
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if err := w.tar.WriteHeader(&tar.Header{
		Name: filePrefix + m.SHA256, Mode: 0o600, Size: m.Bytes,
		ModTime: w.now,
	}); err != nil {
		return err
	}
	if _, err := io.Copy(w.tar, io.LimitReader(body, m.Bytes)); err != nil {
		return fmt.Errorf("reading %s: %w", m.ObjectKey, err)
	}
	return nil
}

// filePrefix is the prefix of the entries of media files.
const filePrefix = "files/"
