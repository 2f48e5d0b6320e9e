package backup_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dateline/internal/identity/secret"
	"dateline/internal/ops/backup"
	"dateline/internal/testing/enginetest"
)

func TestBackup_SealsTheKeysetWithAPassphrase(t *testing.T) {
	r := open(t)
	raw, ids, err := secret.Export(t.Context(), r.Keyset)
	r.Must(err)
	archive := r.backup(func(s *backup.Source) {
		s.Keyset, s.KeyIDs, s.Passphrase = raw, ids, secret.NewText("correct horse battery")
	})
	if bytes.Contains(unpacked(t, archive), []byte(raw.Reveal()[:40])) {
		t.Error("the keyset is in plain text")
	}
	a, err := backup.Open(bytes.NewReader(archive))
	r.Must(err)
	defer a.Close()
	if _, err := a.OpenKeyset(secret.NewText("wrong horse battery")); err == nil {
		t.Error("another passphrase decrypts it")
	}
	if got, err := a.OpenKeyset(secret.NewText("correct horse battery")); err != nil || got.Reveal() != raw.Reveal() {
		t.Errorf("%v", err)
	}
	var out bytes.Buffer
	if _, _, err := backup.Write(t.Context(), &out,
		backup.Source{Database: r.DatabaseURL, Keyset: raw, Passphrase: secret.NewText("short")}); err == nil {
		t.Error("accepted a short passphrase")
	}
}

func TestRestore_RejectsADamagedBackup(t *testing.T) {
	r := open(t)
	r.Schedule()
	whole := r.backup()
	for name, raw := range map[string][]byte{
		"cut off in the middle": whole[:len(whole)/2],
		"cut off before its end": repacked(t, whole, func(h *tar.Header, body []byte) []byte {
			return unless(h.Name == "end.json", body)
		}),
		"without a table": repacked(t, whole, func(h *tar.Header, body []byte) []byte {
			return unless(strings.HasPrefix(h.Name, "tables/post_events/"), body)
		}),
		"with a changed row": repacked(t, whole, func(_ *tar.Header, body []byte) []byte {
			return bytes.ReplaceAll(body, []byte("Hello"), []byte("Jello"))
		}),
		"with a statement": repacked(t, whole, func(_ *tar.Header, body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"FOR VALUES WITH (modulus 32, remainder 1)"`),
				[]byte(`"DEFAULT; drop table users"`))
		}),
	} {
		url := enginetest.Postgres(t)
		a, err := backup.Open(bytes.NewReader(raw))
		if err == nil {
			_, err = a.Restore(t.Context(), backup.Target{Database: url, Log: slog.New(slog.DiscardHandler)})
			a.Close()
		}
		if !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if tables := r.one(url, "select count(*)::text from pg_tables where tablename = "+
			"'scheduled_posts'"); tables == "1" {
			if rows := r.one(url, "select count(*)::text from scheduled_posts"); rows != "0" {
				t.Errorf("%s: %s posts were restored", name, rows)
			}
		}
	}
	if _, err := backup.Open(strings.NewReader("not a backup")); err == nil {
		t.Error("accepted an arbitrary file as a backup")
	}
}

// A backup of a later version is refused.
func TestRestore_RejectsALaterVersion(t *testing.T) {
	r := open(t)
	raw := repacked(t, r.backup(), func(h *tar.Header, body []byte) []byte {
		if h.Name != "manifest.json" {
			return body
		}
		return bytes.Replace(body, []byte(`"schema": `), []byte(`"schema": 9`), 1)
	})
	a, err := backup.Open(bytes.NewReader(raw))
	r.Must(err)
	defer a.Close()
	if _, err := a.Restore(t.Context(),
		backup.Target{Database: enginetest.Postgres(t), Log: slog.New(slog.DiscardHandler)}); err == nil ||
		!strings.Contains(err.Error(), "later version") {
		t.Errorf("%v", err)
	}
}

func unpacked(t testing.TB, raw []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// repacked changes the entries of an archive; nil removes one.
func repacked(t testing.TB, raw []byte, change func(h *tar.Header, body []byte) []byte) []byte {
	t.Helper()
	in := tar.NewReader(bytes.NewReader(unpacked(t, raw)))
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if body = change(h, body); body == nil {
			continue
		}
		h.Size = int64(len(body))
		if err := errors.Join(w.WriteHeader(h), func() error { _, err := w.Write(body); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unless(removed bool, body []byte) []byte {
	if removed {
		return nil
	}
	return body
}

// FuzzOpen opens arbitrary input.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add([]byte(`{"format":1,"keyset":true,"tables":[{"name":"users","columns":["id"]}]}`))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: "manifest.json", Size: int64(len(manifest))})
		_, _ = w.Write(manifest)
		_, _ = w.Close(), z.Close()
		a, err := backup.Open(bytes.NewReader(out.Bytes()))
		if err != nil {
			return
		}
		defer a.Close()
		_, _ = a.Verify()
		_, _ = a.OpenKeyset(secret.NewText("correct horse battery"))
	})
}
