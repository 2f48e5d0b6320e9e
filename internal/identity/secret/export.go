package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Export returns the stored keyset, for a backup, and the IDs of its keys. A keyset that
// is encrypted with a KMS key stays encrypted.
func Export(ctx context.Context, s Source) (raw Text, ids []uint32, err error) {
	all, err := Keys(ctx, s)
	if err != nil {
		return Text{}, nil, err
	}
	for _, k := range all {
		ids = append(ids, k.ID)
	}
	if !s.isFile() {
		return s.JSON, ids, nil
	}
	text, err := os.ReadFile(s.Path)
	return NewText(string(text)), ids, err
}

// Import writes a keyset from a backup to the file of the source. An existing file is
// never replaced: Import returns false if it has the same keyset, and an error otherwise.
func Import(ctx context.Context, s Source, raw Text) (written bool, err error) {
	if !s.isFile() {
		return false, errors.New("the keyset is given as DATELINE_KEYSET_JSON and cannot be written")
	}
	// Reject a keyset that cannot be read.
	given := s
	given.JSON = raw
	if _, err := given.read(ctx); err != nil {
		return false, err
	}
	existing, err := os.ReadFile(s.Path)
	switch {
	case err == nil && bytes.Equal(bytes.TrimSpace(existing), bytes.TrimSpace([]byte(raw.Reveal()))):
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s has another keyset than the backup; move it away first", s.Path)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return false, err
	}
	tmp, err := writeTemp(s.Path, []byte(raw.Reveal()))
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp) }()
	return true, os.Link(tmp, s.Path)
}
