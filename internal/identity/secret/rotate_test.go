package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/identity/secret"
)

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

// A running process watches the file, so a rotation needs no restart.
func TestRotate_IsNoticedByRunningProcesses(t *testing.T) {
	first, path := keyset(t)
	second, err := secret.OpenKeyset(path)
	if err != nil {
		t.Fatal(err)
	}
	old := seal(t, first, "before")
	source := secret.Source{Path: path}
	if _, err := secret.Rotate(t.Context(), source, ""); err != nil {
		t.Fatal(err)
	}
	fresh := seal(t, first, "after")
	if string(fresh[:5]) == string(old[:5]) || string(fresh[:5]) != string(first.Primary()) {
		t.Error("the old key still seals")
	}
	for _, s := range []*secret.Sealer{first, second} {
		if !opens(s, old, "before") || !opens(s, fresh, "after") {
			t.Error("a process has an outdated keyset")
		}
	}
	all, err := secret.Keys(t.Context(), source)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.False(t, all[0].Primary)
	require.True(t, all[1].Primary)
	require.Len(t, secret.Older(all), 1)
	if err := secret.Disable(t.Context(), source, "", secret.Older(all)); err != nil {
		t.Fatal(err)
	}
	third, err := secret.OpenKeyset(path)
	if err != nil || opens(third, old, "before") || !opens(third, fresh, "after") {
		t.Errorf("after the old key was retired: %v", err)
	}
	if err := secret.Enable(t.Context(), source, "", []uint32{all[0].ID}); err != nil || !opens(third, old, "before") {
		t.Errorf("after enabling it again: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// For keysets in several places: add the key, and promote it once all processes have
// it.
func TestRotate_AddedKeySealsAfterPromotion(t *testing.T) {
	s, path := keyset(t)
	source := secret.Source{Path: path}
	before := s.Primary()
	id, err := secret.Add(t.Context(), source, "")
	if err != nil || string(s.Primary()) != string(before) {
		t.Fatalf("the new key seals immediately: %v", err)
	}
	if err := secret.Promote(t.Context(), source, "", id); err != nil || string(s.Primary()) == string(before) {
		t.Errorf("the new key does not seal: %v", err)
	}
}

func TestRotate_ConcurrentRotationsTakeEffect(t *testing.T) {
	s, path := keyset(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := secret.Rotate(t.Context(), secret.Source{Path: path}, ""); err != nil {
				t.Error(err)
			}
			if sealed := seal(t, s, "x"); !opens(s, sealed, "x") {
				t.Error("a sealed value does not open")
			}
		})
	}
	all.Wait()
	if keys, err := secret.Keys(t.Context(), secret.Source{Path: path}); err != nil || len(keys) != 9 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

func TestKeyset_AsText(t *testing.T) {
	s, path := keyset(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source := secret.Source{Path: "/nowhere", JSON: secret.NewText(string(raw))}
	given, err := secret.Open(t.Context(), source)
	if err != nil || !opens(given, seal(t, s, "x"), "x") {
		t.Fatalf("opened with %v", err)
	}
	if created, err := secret.Create(t.Context(), source); created || err != nil {
		t.Errorf("created another one: %v", err)
	}
	if _, err := secret.Rotate(t.Context(), source, ""); err == nil ||
		!strings.Contains(err.Error(), "DATELINE_KEYSET_JSON") {
		t.Errorf("rotated without a file: %v", err)
	}
	out := filepath.Join(t.TempDir(), "new.json")
	if _, err := secret.Rotate(t.Context(), source, out); err != nil {
		t.Fatal(err)
	}
	if rotated, err := secret.OpenKeyset(out); err != nil || !opens(rotated, seal(t, s, "x"), "x") ||
		string(rotated.Primary()) == string(s.Primary()) {
		t.Errorf("the new one: %v", err)
	}
	if _, err := secret.Rotate(t.Context(), source, out); err == nil {
		t.Error("a file was overwritten")
	}
	if _, err := secret.Open(t.Context(),
		secret.Source{JSON: secret.NewText(`{"primaryKeyId": "s3cret"}`)}); err == nil ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("nonsense: %v", err)
	}
}
