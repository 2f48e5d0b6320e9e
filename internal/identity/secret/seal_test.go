package secret_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dateline/internal/identity/secret"
)

func keyset(t *testing.T) (*secret.Sealer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secrets", "keyset.json")
	if created, err := secret.CreateKeyset(path); err != nil || !created {
		t.Fatal(created, err)
	}
	s, err := secret.OpenKeyset(path)
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

func TestSeal_BindsToTheName(t *testing.T) {
	s, _ := keyset(t)
	sealed, err := s.Seal(secret.NewText(plain), "account/1")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte(plain)) {
		t.Error("the sealed bytes contain the secret")
	}
	if got, err := s.Open(sealed, "account/1"); err != nil || got.Reveal() != plain {
		t.Errorf("opened as %q, %v", got.Reveal(), err)
	}
	for name, try := range map[string]func() (secret.Text, error){
		"another row": func() (secret.Text, error) { return s.Open(sealed, "account/2") },
		"a changed byte": func() (secret.Text, error) {
			changed := bytes.Clone(sealed)
			changed[len(changed)-1] ^= 1
			return s.Open(changed, "account/1")
		},
		"nothing": func() (secret.Text, error) { return s.Open(nil, "account/1") },
		"another keyset": func() (secret.Text, error) {
			other, _ := keyset(t)
			return other.Open(sealed, "account/1")
		},
	} {
		if got, err := try(); err == nil || !got.Empty() {
			t.Errorf("%s opened (%v)", name, err)
		} else if strings.Contains(err.Error(), plain) {
			t.Errorf("%s: the error contains the secret", name)
		}
	}
}

func TestSeal_IsRandomized(t *testing.T) {
	s, _ := keyset(t)
	first, err := s.Seal(secret.NewText(plain), "a")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := s.Seal(secret.NewText(plain), "a"); err != nil || bytes.Equal(first, second) {
		t.Errorf("sealed the same (%v)", err)
	}
}

func TestKeyset_ConcurrentStartsAgree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	var mu sync.Mutex
	made := 0
	var sealed [][]byte
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			created, err := secret.CreateKeyset(path)
			if err != nil {
				t.Error(err)
				return
			}
			s, err := secret.OpenKeyset(path)
			if err != nil {
				t.Error(err)
				return
			}
			one, err := s.Seal(secret.NewText(plain), "row")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			sealed = append(sealed, one)
			if created {
				made++
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("created %d times", made)
	}
	s, err := secret.OpenKeyset(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range sealed {
		if _, err := s.Open(one, "row"); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".keyset-*")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestKeyset_FileMode(t *testing.T) {
	_, path := keyset(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the mode is %o", mode)
	}
}

func TestOpenKeyset_ReportsInvalidFile(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"key": `), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"): "DATELINE_KEYSET",
		broken:                          "not a cleartext Tink keyset",
	} {
		if _, err := secret.OpenKeyset(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
