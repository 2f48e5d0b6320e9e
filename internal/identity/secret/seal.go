package secret

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer encrypts secrets for the database with Tink AEAD. The name of the row is the
// associated data, so that a ciphertext cannot be used in another row.
//
// A keyset file can change while it is in use: a sealer checks the file before it
// encrypts, and when it encounters an unknown key. It is safe for concurrent use.
type Sealer struct {
	source Source

	mu   sync.RWMutex
	keys keys
}

// keys is a loaded keyset.
type keys struct {
	aead    tink.AEAD
	primary []byte          // prefix of new ciphertexts; nil if there is none
	known   map[uint32]bool // enabled keys by ID
	version fileVersion
}

// fileVersion identifies a version of a file.
type fileVersion struct {
	modified time.Time
	size     int64
	file     os.FileInfo
}

func (v fileVersion) equal(o fileVersion) bool {
	return v.modified.Equal(o.modified) && v.size == o.size &&
		(v.file == nil || o.file == nil || os.SameFile(v.file, o.file))
}

// OpenKeyset returns a sealer for the keyset file at path.
func OpenKeyset(path string) (*Sealer, error) {
	return Open(context.Background(), Source{Path: path})
}

// Open returns a sealer for the keyset of a source.
func Open(ctx context.Context, source Source) (*Sealer, error) {
	s := &Sealer{source: source}
	return s, s.reload(ctx)
}

// Seal encrypts a secret for the row with a name.
func (s *Sealer) Seal(t Text, name string) ([]byte, error) {
	return s.current().aead.Encrypt([]byte(t.Reveal()), []byte(name))
}

// Open decrypts a ciphertext of Seal with the same name.
func (s *Sealer) Open(sealed []byte, name string) (Text, error) {
	k := s.loaded()
	if id, ok := keyID(sealed); ok && !k.known[id] {
		k = s.current() // the key may have been added since
	}
	plain, err := k.aead.Decrypt(sealed, []byte(name))
	if err != nil {
		return Text{}, fmt.Errorf("the secret %s cannot be decrypted with this keyset; check DATELINE_KEYSET", name)
	}
	return NewText(string(plain)), nil
}

// Primary returns the prefix of ciphertexts of the primary key, or nil if it has none.
func (s *Sealer) Primary() []byte { return bytes.Clone(s.current().primary) }

func (s *Sealer) loaded() keys {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys
}

// current returns the keyset, reloaded if its file has changed. If the file cannot be
// read, the loaded keyset stays in use.
func (s *Sealer) current() keys {
	k := s.loaded()
	if !s.source.isFile() {
		return k
	}
	if version, err := versionOf(s.source.Path); err != nil || version.equal(k.version) {
		return k
	}
	_ = s.reload(context.Background())
	return s.loaded()
}

func (s *Sealer) reload(ctx context.Context) error {
	var version fileVersion
	if s.source.isFile() {
		version, _ = versionOf(s.source.Path) // before reading, so that a concurrent change is detected
	}
	handle, err := s.source.read(ctx)
	if err != nil {
		return err
	}
	k, err := newKeys(handle, s.source.name())
	if err != nil {
		return err
	}
	k.version = version
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = k
	return nil
}

func newKeys(handle *keyset.Handle, name string) (keys, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return keys{}, fmt.Errorf("%s has no AEAD key: %w", name, err)
	}
	info := handle.KeysetInfo()
	k := keys{aead: primitive, known: map[uint32]bool{}}
	for _, one := range info.GetKeyInfo() {
		if one.GetStatus() != tinkpb.KeyStatusType_ENABLED {
			continue
		}
		k.known[one.GetKeyId()] = true
		if one.GetKeyId() == info.GetPrimaryKeyId() {
			k.primary = mark(one)
		}
	}
	return k, nil
}

// The prefix of ciphertexts (Tink wire format, "Output prefix"): 1 for the Tink format, 0
// for legacy formats, then the key ID.
const (
	markTink   = 1
	markLegacy = 0
	markLength = 5
)

func mark(key *tinkpb.KeysetInfo_KeyInfo) []byte {
	var first byte
	switch key.GetOutputPrefixType() {
	case tinkpb.OutputPrefixType_TINK:
		first = markTink
	case tinkpb.OutputPrefixType_LEGACY, tinkpb.OutputPrefixType_CRUNCHY:
		first = markLegacy
	default:
		return nil
	}
	return binary.BigEndian.AppendUint32([]byte{first}, key.GetKeyId())
}

func keyID(sealed []byte) (uint32, bool) {
	if len(sealed) < markLength || sealed[0] > markTink {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:markLength]), true
}

func versionOf(path string) (fileVersion, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{}, err
	}
	return fileVersion{modified: info.ModTime(), size: info.Size(), file: info}, nil
}
