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

// Sealer encrypts secrets for the database with Tink's AEAD. What is sealed
// for one row cannot be opened as another's, because the row's name is
// authenticated along with it.
//
// A keyset in a file may change while it is in use: a sealer looks at the file
// before it seals, and when it meets a key that it does not know. It is safe for
// concurrent use.
type Sealer struct {
	source Source

	mu   sync.RWMutex
	keys keys
}

// keys are a keyset as it was read.
type keys struct {
	aead    tink.AEAD
	primary []byte          // what is sealed begins with this; nil: with nothing
	known   map[uint32]bool // keys that open
	stamp   stamp
}

// stamp tells one state of a file from the next.
type stamp struct {
	modified time.Time
	size     int64
	file     os.FileInfo
}

func (s stamp) same(o stamp) bool {
	return s.modified.Equal(o.modified) && s.size == o.size && (s.file == nil || o.file == nil || os.SameFile(s.file, o.file))
}

// OpenKeyset reads the keyset at path.
func OpenKeyset(path string) (*Sealer, error) {
	return Open(context.Background(), Source{Path: path})
}

// Open reads the keyset of a source.
func Open(ctx context.Context, source Source) (*Sealer, error) {
	s := &Sealer{source: source}
	return s, s.reload(ctx)
}

// Seal encrypts t for the row that name identifies.
func (s *Sealer) Seal(t Text, name string) ([]byte, error) {
	return s.current().aead.Encrypt([]byte(t.Reveal()), []byte(name))
}

// Open decrypts what Seal made for the same name.
func (s *Sealer) Open(sealed []byte, name string) (Text, error) {
	k := s.held()
	if id, ok := keyID(sealed); ok && !k.known[id] {
		k = s.current() // a key that was added since
	}
	plain, err := k.aead.Decrypt(sealed, []byte(name))
	if err != nil {
		return Text{}, fmt.Errorf("the secret of %s cannot be opened with this keyset; is DATELINE_KEYSET the one that sealed it?", name)
	}
	return NewText(string(plain)), nil
}

// Primary is what everything begins with that is sealed now; other beginnings
// are of older keys. nil: the key that seals leaves no mark.
func (s *Sealer) Primary() []byte { return bytes.Clone(s.current().primary) }

func (s *Sealer) held() keys {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys
}

// current is held after a look at the file. One that cannot be read right now
// leaves what is held: it was good a moment ago.
func (s *Sealer) current() keys {
	k := s.held()
	if !s.source.lives() {
		return k
	}
	if now, err := stampOf(s.source.Path); err != nil || now.same(k.stamp) {
		return k
	}
	_ = s.reload(context.Background())
	return s.held()
}

func (s *Sealer) reload(ctx context.Context) error {
	var at stamp
	if s.source.lives() {
		at, _ = stampOf(s.source.Path) // before it is read: a change in between is seen later
	}
	handle, err := s.source.read(ctx)
	if err != nil {
		return err
	}
	k, err := newKeys(handle, s.source.name())
	if err != nil {
		return err
	}
	k.stamp = at
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = k
	return nil
}

func newKeys(handle *keyset.Handle, name string) (keys, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return keys{}, fmt.Errorf("%s holds no AEAD key: %w", name, err)
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

// The first byte of what Tink seals (Tink's wire format, "Output prefix"):
// 1 for its own keys, 0 for those of older formats, then the key's id.
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

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{modified: info.ModTime(), size: info.Size(), file: info}, nil
}
