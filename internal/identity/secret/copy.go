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

// Export gives the keyset as it is stored, for a copy of it, and the ids of its
// keys. What a key management service has encrypted stays encrypted.
func Export(ctx context.Context, s Source) (raw Text, ids []uint32, err error) {
	all, err := Keys(ctx, s)
	if err != nil {
		return Text{}, nil, err
	}
	for _, k := range all {
		ids = append(ids, k.ID)
	}
	if !s.lives() {
		return s.JSON, ids, nil
	}
	text, err := os.ReadFile(s.Path)
	return NewText(string(text)), ids, err
}

// Import puts a copy of a keyset where the source has its file. A file that is
// there already is left as it is: it reports false when it is the same, and an
// error when it is another one, which must not be lost.
func Import(ctx context.Context, s Source, raw Text) (written bool, err error) {
	if !s.lives() {
		return false, errors.New("the keyset is given as text (DATELINE_KEYSET_JSON); it is not written anywhere")
	}
	// One that cannot be opened is no copy worth keeping.
	given := s
	given.JSON = raw
	if _, err := given.read(ctx); err != nil {
		return false, err
	}
	there, err := os.ReadFile(s.Path)
	switch {
	case err == nil && bytes.Equal(bytes.TrimSpace(there), bytes.TrimSpace([]byte(raw.Reveal()))):
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s holds another keyset than the backup; move it away first", s.Path)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return false, err
	}
	tmp, err := writeAside(s.Path, []byte(raw.Reveal()))
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp) }()
	return true, os.Link(tmp, s.Path)
}
