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

// sealedKeyset is a keyset encrypted with a passphrase.
type sealedKeyset struct {
	KDF    string `json:"kdf"`
	Time   uint32 `json:"time"`
	Memory uint32 `json:"memory_kib"`
	Lanes  uint8  `json:"lanes"`
	Salt   []byte `json:"salt"`
	Nonce  []byte `json:"nonce"`
	Sealed []byte `json:"sealed"`
}

// The second recommended option of RFC 9106, section 4, which needs less memory.
const (
	kdfTime   = 3
	kdfMemory = 64 << 10 // KiB
	kdfLanes  = 4
	kdfName   = "argon2id"
)

// minPassphraseLength is the minimum length of a passphrase.
const minPassphraseLength = 12

// sealKeyset encrypts a keyset with AES-256-GCM and a key derived from the passphrase.
func sealKeyset(raw, passphrase secret.Text) ([]byte, error) {
	if len(passphrase.Reveal()) < minPassphraseLength {
		return nil, fmt.Errorf("the passphrase must have at least %d characters", minPassphraseLength)
	}
	s := sealedKeyset{KDF: kdfName, Time: kdfTime, Memory: kdfMemory, Lanes: kdfLanes, Salt: make([]byte, 16)}
	if _, err := rand.Read(s.Salt); err != nil {
		return nil, err
	}
	aead, err := s.aead(passphrase)
	if err != nil {
		return nil, err
	}
	s.Nonce = make([]byte, aead.NonceSize())
	if _, err := rand.Read(s.Nonce); err != nil {
		return nil, err
	}
	s.Sealed = aead.Seal(nil, s.Nonce, []byte(raw.Reveal()), []byte(keysetName))
	return json.Marshal(s)
}

// OpenKeyset decrypts the keyset of an archive.
func (a *Archive) OpenKeyset(passphrase secret.Text) (secret.Text, error) {
	if a.Sealed == nil {
		return secret.Text{}, errors.New("the backup does not contain a keyset")
	}
	var s sealedKeyset
	if err := json.Unmarshal(a.Sealed, &s); err != nil || s.KDF != kdfName {
		return secret.Text{}, damaged("the keyset")
	}
	if s.Time == 0 || s.Time > 100 || s.Lanes == 0 || s.Memory > 4<<20 {
		return secret.Text{}, damaged("the keyset")
	}
	aead, err := s.aead(passphrase)
	if err != nil {
		return secret.Text{}, err
	}
	if len(s.Nonce) != aead.NonceSize() {
		return secret.Text{}, damaged("the keyset")
	}
	raw, err := aead.Open(nil, s.Nonce, s.Sealed, []byte(keysetName))
	if err != nil {
		return secret.Text{}, errors.New("the passphrase does not decrypt the keyset of the backup")
	}
	return secret.NewText(string(raw)), nil
}

func (s sealedKeyset) aead(passphrase secret.Text) (cipher.AEAD, error) {
	block, err := aes.NewCipher(argon2.IDKey([]byte(passphrase.Reveal()), s.Salt, s.Time, s.Memory, s.Lanes, 32))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
