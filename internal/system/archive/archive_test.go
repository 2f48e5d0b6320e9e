package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"dateline/internal/system/archive"
)

// A forged archive cannot affect other workspaces.
func TestAnArchiveReachesNothingElse(t *testing.T) {
	r := open(t)
	account := r.Connect("theirs")
	theirs := r.Schedule()
	_, mine, _ := r.Found("Mine")
	entry := func(name, body string) []byte {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out)
		r.Must(err)
		w := tar.NewWriter(z)
		for _, e := range [][2]string{{"manifest.json", `{"format":1}`}, {name, body}} {
			r.Must(w.WriteHeader(&tar.Header{Name: e[0], Mode: 0o600, Size: int64(len(e[1]))}))
			_, err := io.WriteString(w, e[1])
			r.Must(err)
		}
		r.Must(errors.Join(w.Close(), z.Close()))
		return out.Bytes()
	}
	id := uuid.NewString()
	for name, body := range map[string]string{
		"another's account": `{"post_id":"` + id +
			`","content":"x","status":"draft","time_zone":"UTC","targets":[{"id":"` + id + `","account_id":"` +
			account.ID.String() + `","status":"scheduled"}]}`,
		"a post that is due": `{"post_id":"` + uuid.NewString() +
			`","content":"y","status":"scheduled","time_zone":"UTC","scheduled_time":"2020-01-01T00:00:00Z","workspace_id":"` + r.Workspace.ID.String() + `"}`,
	} {
		_, err := archive.Import(t.Context(), bytes.NewReader(entry("posts/000000.jsonl", body)), r.into(mine))
		if strings.Contains(name, "account") != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := r.Count("select count(*) from post_targets where account_id = $1", account.ID); n != 1 {
		t.Errorf("their account has %d posts", n)
	}
	if n := r.Count("select count(*) from scheduled_posts where workspace_id = $1 and post_id <> $2", r.Workspace.ID,
		theirs.ID); n != 0 {
		t.Errorf("%d posts were imported into another workspace", n)
	}
	if n := r.Count("select count(*) from scheduled_posts where content = 'y' and status = 'draft'"); n != 1 {
		t.Error("it would be published automatically")
	}
	for _, name := range []string{"../../etc/passwd", "files/../x", "posts/x.sh"} {
		if _, err := archive.Import(t.Context(), bytes.NewReader(entry(name, "{}")), r.into(mine)); err == nil {
			t.Errorf("took %s", name)
		}
	}
}

func unpacked(t testing.TB, raw []byte) string {
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
	return string(out)
}

// shape returns the rows of an archive by section.
func shape(t testing.TB, raw []byte) map[archive.Section][]string {
	t.Helper()
	in := tar.NewReader(strings.NewReader(unpacked(t, raw)))
	out := map[archive.Section][]string{}
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		section, _, _ := strings.Cut(h.Name, "/")
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if section != "files" {
			out[archive.Section(section)] = append(out[archive.Section(section)],
				strings.Split(strings.TrimSpace(string(body)), "\n")...)
		}
	}
}

// FuzzImport imports arbitrary input, as far as it needs no database.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"format":1}`), "posts/000000.jsonl", []byte(`{"post_id":1}`))
	f.Fuzz(func(t *testing.T, manifest []byte, name string, body []byte) {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: "manifest.json", Size: int64(len(manifest))})
		_, _ = w.Write(manifest)
		_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(body))})
		_, _ = w.Write(body)
		_, _ = w.Close(), z.Close()
		_, _ = archive.Import(t.Context(), bytes.NewReader(out.Bytes()), archive.Target{
			Store: nothing{}, Audit: nothing{}.AuditArchive,
		})
	})
}
