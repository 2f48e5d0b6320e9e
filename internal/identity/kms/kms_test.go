package kms_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dateline/internal/identity/kms"
	"dateline/internal/identity/secret"
)

const kmsKey = "arn:aws:kms:ap-southeast-1:111122223333:key/0192f1a0-7c00-7000-8000-000000000001"

// service implements the part of AWS KMS' protocol that Tink needs (TrentService, AWS JSON
// 1.1), with a key of its own.
type service struct {
	box   cipher.AEAD
	down  atomic.Bool
	calls atomic.Int32
}

func (k *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.calls.Add(1)
	var in struct {
		KeyId          string
		Plaintext      []byte
		CiphertextBlob []byte
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	refuse := func(kind string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": "refused"})
	}
	if k.down.Load() || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=test/") ||
		!strings.Contains(r.Header.Get("Authorization"), "/ap-southeast-1/kms/") {
		refuse("AccessDeniedException")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.KeyId != kmsKey {
		refuse("NotFoundException")
		return
	}
	switch r.Header.Get("X-Amz-Target") {
	case "TrentService.Encrypt":
		nonce := make([]byte, k.box.NonceSize())
		_, _ = rand.Read(nonce)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"KeyId": in.KeyId, "CiphertextBlob": k.box.Seal(nonce, nonce, in.Plaintext, nil),
		})
	case "TrentService.Decrypt":
		if len(in.CiphertextBlob) < k.box.NonceSize() {
			refuse("InvalidCiphertextException")
			return
		}
		plain, err := k.box.Open(nil, in.CiphertextBlob[:k.box.NonceSize()], in.CiphertextBlob[k.box.NonceSize():], nil)
		if err != nil {
			refuse("InvalidCiphertextException")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": in.KeyId, "Plaintext": plain})
	default:
		refuse("UnsupportedOperationException")
	}
}

func TestKeyset_OpenedByAKMS(t *testing.T) {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	fake := &service{box: box}
	server := httptest.NewServer(fake)
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_KMS": server.URL, "AWS_ACCESS_KEY_ID": "test",
		"AWS_SECRET_ACCESS_KEY":     "test",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	source := secret.Source{Path: filepath.Join(t.TempDir(), "keyset.json"), KMS: kms.Cipher("aws-kms://" + kmsKey)}
	if created, err := secret.Create(t.Context(), source); err != nil || !created {
		t.Fatal(created, err)
	}
	raw, err := os.ReadFile(source.Path)
	if err != nil || !strings.Contains(string(raw), "encryptedKeyset") {
		t.Fatalf("the file is not encrypted: %v", err)
	}
	if _, err := secret.OpenKeyset(source.Path); err == nil {
		t.Error("opened without the service")
	}
	s, err := secret.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	old := seal(t, s, "before")
	if _, err := secret.Rotate(t.Context(), source, ""); err != nil {
		t.Fatal(err)
	}
	fresh := seal(t, s, "after")
	if string(fresh[:5]) == string(old[:5]) || !opens(s, old, "before") || !opens(s, fresh, "after") {
		t.Error("the rotation was not detected")
	}
	calls := fake.calls.Load()
	seal(t, s, "more")
	if fake.calls.Load() != calls {
		t.Error("the service is called for every secret")
	}
	given := source
	if raw, err = os.ReadFile(source.Path); err != nil {
		t.Fatal(err)
	}
	given.Path, given.JSON = "", secret.NewText(string(raw))
	if s, err := secret.Open(t.Context(), given); err != nil || !opens(s, fresh, "after") {
		t.Errorf("encrypted, and given as text: %v", err)
	}
	fake.down.Store(true)
	if !opens(s, fresh, "after") {
		t.Error("an unavailable service stops running processes")
	}
	if _, err := secret.Open(t.Context(), source); err == nil || !strings.Contains(err.Error(), "DATELINE_KEYSET_KMS") {
		t.Errorf("opened without the service: %v", err)
	}
	if _, err := secret.Open(t.Context(),
		secret.Source{Path: source.Path, KMS: kms.Cipher("gcp-kms://x")}); err == nil {
		t.Error("accepted an unknown service")
	}
}

func seal(t *testing.T, s *secret.Sealer, text string) []byte {
	t.Helper()
	sealed, err := s.Seal(secret.NewText(text), "row")
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func opens(s *secret.Sealer, sealed []byte, want string) bool {
	got, err := s.Open(sealed, "row")
	return err == nil && got.Reveal() == want
}
