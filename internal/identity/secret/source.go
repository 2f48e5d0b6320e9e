package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Source is the location of the keyset: a file or text, in cleartext or encrypted with a
// KMS key.
type Source struct {
	Path string // DATELINE_KEYSET; ignored if JSON is set
	JSON Text   // DATELINE_KEYSET_JSON
	KMS  Cipher // DATELINE_KEYSET_KMS; nil if the keyset is in cleartext
}

// Cipher connects to the key management service that encrypts the keyset.
type Cipher func(ctx context.Context) (tink.AEADWithContext, error)

// kmsTimeout is the time limit for the key management service.
const kmsTimeout = 30 * time.Second

// name returns the name of the source for messages.
func (s Source) name() string {
	if !s.JSON.Empty() {
		return "DATELINE_KEYSET_JSON"
	}
	return s.Path
}

// isFile reports whether the keyset is a file, which can change while it is in use.
func (s Source) isFile() bool { return s.JSON.Empty() }

// wrapper returns the cipher of the keyset, or nil if it is in cleartext.
func (s Source) wrapper(ctx context.Context) (tink.AEADWithContext, error) {
	if s.KMS == nil {
		return nil, nil
	}
	return s.KMS(ctx)
}

func (s Source) read(ctx context.Context) (*keyset.Handle, error) {
	raw := []byte(s.JSON.Reveal())
	if s.isFile() {
		var err error
		if raw, err = os.ReadFile(s.Path); err != nil {
			return nil, fmt.Errorf("the keyset cannot be read (DATELINE_KEYSET): %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	w, err := s.wrapper(ctx)
	if err != nil {
		return nil, err
	}
	reader := keyset.NewJSONReader(bytes.NewReader(raw))
	if w != nil {
		handle, err := keyset.ReadWithContext(ctx, reader, w, nil)
		if err != nil {
			return nil, fmt.Errorf("%s is not a Tink keyset encrypted with DATELINE_KEYSET_KMS: %w", s.name(), err)
		}
		return handle, nil
	}
	handle, err := insecurecleartextkeyset.Read(reader)
	if err != nil {
		// The error of the reader can contain parts of the keyset.
		return nil, fmt.Errorf("%s is not a cleartext Tink keyset", s.name())
	}
	return handle, nil
}

func (s Source) encode(ctx context.Context, handle *keyset.Handle) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	w, err := s.wrapper(ctx)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	writer := keyset.NewJSONWriter(&buf)
	if w != nil {
		err = handle.WriteWithContext(ctx, writer, w, nil)
	} else {
		err = insecurecleartextkeyset.Write(handle, writer)
	}
	return buf.Bytes(), err
}

// CreateKeyset writes a new keyset to path, readable by its owner only. It returns false
// if the file already exists.
func CreateKeyset(path string) (created bool, err error) {
	return Create(context.Background(), Source{Path: path})
}

// Create creates the keyset file of a source, if it does not exist.
func Create(ctx context.Context, s Source) (created bool, err error) {
	if !s.isFile() {
		return false, nil
	}
	if _, err := os.Stat(s.Path); err == nil {
		return false, nil
	}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return false, err
	}
	raw, err := s.encode(ctx, handle)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return false, err
	}
	tmp, err := writeTemp(s.Path, raw)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp) }()
	// Link fails if the file exists, so that concurrent starts use the same keyset.
	if err := os.Link(tmp, s.Path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// writeTemp writes a temporary file next to path. The caller renames or removes it.
func writeTemp(path string, raw []byte) (name string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // 0600, see os.CreateTemp
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}
