package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer encrypts secrets for the database with Tink's AEAD. What is sealed
// for one row cannot be opened as another's, because the row's name is
// authenticated along with it.
type Sealer struct{ aead tink.AEAD }

// CreateKeyset writes a new keyset to path, readable by its owner only. It
// reports false and leaves the file alone when there is one already.
func CreateKeyset(path string) (created bool, err error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return false, err
	}
	var buf bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&buf)); err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	// Written aside and linked into place, so that a crash leaves no half
	// keyset and two starts at once agree on one.
	tmp, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // 0600, see os.CreateTemp
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err := tmp.Write(buf.Bytes()); err != nil {
		return false, err
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return false, err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// OpenKeyset reads the keyset at path.
func OpenKeyset(path string) (*Sealer, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("the keyset that opens account tokens cannot be read (DATELINE_KEYSET): %w", err)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("%s is no Tink keyset: %w", path, err)
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("%s holds no AEAD key: %w", path, err)
	}
	return &Sealer{primitive}, nil
}

// Seal encrypts t for the row that name identifies.
func (s *Sealer) Seal(t Text, name string) ([]byte, error) {
	return s.aead.Encrypt([]byte(t.Reveal()), []byte(name))
}

// Open decrypts what Seal made for the same name.
func (s *Sealer) Open(sealed []byte, name string) (Text, error) {
	plain, err := s.aead.Decrypt(sealed, []byte(name))
	if err != nil {
		return Text{}, fmt.Errorf("the secret of %s cannot be opened with this keyset; is DATELINE_KEYSET the one that sealed it?", name)
	}
	return NewText(string(plain)), nil
}
