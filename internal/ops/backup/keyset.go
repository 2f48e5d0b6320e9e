package backup

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"

	"dateline/internal/identity/secret"
)

// sealedKeyset is a keyset under a passphrase.
type sealedKeyset struct {
	KDF    string `json:"kdf"`
	Time   uint32 `json:"time"`
	Memory uint32 `json:"memory_kib"`
	Lanes  uint8  `json:"lanes"`
	Salt   []byte `json:"salt"`
	Nonce  []byte `json:"nonce"`
	Sealed []byte `json:"sealed"`
}

// The second choice of RFC 9106, section 4, for where 2 GiB are too much to ask.
const (
	kdfTime   = 3
	kdfMemory = 64 << 10 // KiB
	kdfLanes  = 4
	kdfName   = "argon2id"
)

// leastPassphrase is how short a passphrase may be.
const leastPassphrase = 12

// sealKeyset encrypts a keyset with AES-256-GCM, under a key that follows from
// the passphrase.
func sealKeyset(raw, passphrase secret.Text) ([]byte, error) {
	if len(passphrase.Reveal()) < leastPassphrase {
		return nil, fmt.Errorf("the passphrase needs at least %d characters", leastPassphrase)
	}
	s := sealedKeyset{KDF: kdfName, Time: kdfTime, Memory: kdfMemory, Lanes: kdfLanes, Salt: make([]byte, 16)}
	if _, err := rand.Read(s.Salt); err != nil {
		return nil, err
	}
	box, err := s.box(passphrase)
	if err != nil {
		return nil, err
	}
	s.Nonce = make([]byte, box.NonceSize())
	if _, err := rand.Read(s.Nonce); err != nil {
		return nil, err
	}
	s.Sealed = box.Seal(nil, s.Nonce, []byte(raw.Reveal()), []byte(keysetName))
	return json.Marshal(s)
}

// OpenKeyset decrypts the keyset of an archive.
func (a *Archive) OpenKeyset(passphrase secret.Text) (secret.Text, error) {
	if a.Sealed == nil {
		return secret.Text{}, errors.New("the backup holds no keyset")
	}
	var s sealedKeyset
	if err := json.Unmarshal(a.Sealed, &s); err != nil || s.KDF != kdfName || s.Time == 0 || s.Time > 100 || s.Lanes == 0 || s.Memory > 4<<20 {
		return secret.Text{}, damaged("the keyset")
	}
	box, err := s.box(passphrase)
	if err != nil {
		return secret.Text{}, err
	}
	if len(s.Nonce) != box.NonceSize() {
		return secret.Text{}, damaged("the keyset")
	}
	raw, err := box.Open(nil, s.Nonce, s.Sealed, []byte(keysetName))
	if err != nil {
		return secret.Text{}, errors.New("the passphrase does not open the keyset of this backup")
	}
	return secret.NewText(string(raw)), nil
}

func (s sealedKeyset) box(passphrase secret.Text) (cipher.AEAD, error) {
	block, err := aes.NewCipher(argon2.IDKey([]byte(passphrase.Reveal()), s.Salt, s.Time, s.Memory, s.Lanes, 32))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
