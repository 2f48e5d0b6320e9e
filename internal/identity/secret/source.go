package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Source says where the keyset is: in a file or given as text, in the clear or
// encrypted by a key management service.
type Source struct {
	Path string // DATELINE_KEYSET; not used when JSON is given
	JSON Text   // DATELINE_KEYSET_JSON
	KMS  string // DATELINE_KEYSET_KMS: the key that encrypts the keyset; empty: it is in the clear
}

const awsPrefix = "aws-kms://"

// kmsPatience is how long a key management service may take.
const kmsPatience = 30 * time.Second

// name is where the keyset comes from, for messages.
func (s Source) name() string {
	if !s.JSON.Empty() {
		return "DATELINE_KEYSET_JSON"
	}
	return s.Path
}

// lives says that the keyset may change while it is in use.
func (s Source) lives() bool { return s.JSON.Empty() }

// wrapper encrypts the keyset itself; nil: nothing does.
func (s Source) wrapper(ctx context.Context) (tink.AEADWithContext, error) {
	if s.KMS == "" {
		return nil, nil
	}
	if !strings.HasPrefix(s.KMS, awsPrefix) {
		return nil, errors.New("DATELINE_KEYSET_KMS names no key that can be used here")
	}
	w, err := awskms.NewAEADWithContext(ctx, strings.TrimPrefix(s.KMS, awsPrefix))
	if err != nil {
		return nil, fmt.Errorf("the key management service cannot be used (DATELINE_KEYSET_KMS): %w", err)
	}
	return w, nil
}

func (s Source) read(ctx context.Context) (*keyset.Handle, error) {
	raw := []byte(s.JSON.Reveal())
	if s.lives() {
		var err error
		if raw, err = os.ReadFile(s.Path); err != nil {
			return nil, fmt.Errorf("the keyset that opens account tokens cannot be read (DATELINE_KEYSET): %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, kmsPatience)
	defer cancel()
	w, err := s.wrapper(ctx)
	if err != nil {
		return nil, err
	}
	reader := keyset.NewJSONReader(bytes.NewReader(raw))
	if w != nil {
		handle, err := keyset.ReadWithContext(ctx, reader, w, nil)
		if err != nil {
			return nil, fmt.Errorf("%s is no Tink keyset that the key of DATELINE_KEYSET_KMS opens: %w", s.name(), err)
		}
		return handle, nil
	}
	handle, err := insecurecleartextkeyset.Read(reader)
	if err != nil {
		// The reader may quote what it could not read.
		return nil, fmt.Errorf("%s is no Tink keyset in the clear", s.name())
	}
	return handle, nil
}

func (s Source) encode(ctx context.Context, handle *keyset.Handle) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsPatience)
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

// CreateKeyset writes a new keyset to path, readable by its owner only. It
// reports false and leaves the file alone when there is one already.
func CreateKeyset(path string) (created bool, err error) {
	return Create(context.Background(), Source{Path: path})
}

// Create makes the keyset of a source that is a file, where there is none.
func Create(ctx context.Context, s Source) (created bool, err error) {
	if !s.lives() {
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
	tmp, err := writeAside(s.Path, raw)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp) }()
	// Linked into place, so that two starts at once agree on one.
	if err := os.Link(tmp, s.Path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// writeAside writes a file beside path, which a crash leaves no half of. The
// caller puts it into place, or removes it.
func writeAside(path string, raw []byte) (name string, err error) {
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
