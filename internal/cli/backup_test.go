package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dateline/internal/embedded/s3server"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

// externalEngines is an installation with external engines, without Temporal, which none of
// these commands needs.
type externalEngines struct {
	*newsroomtest.Newsroom
	t       *testing.T
	dir     string
	environ []string
	redis   string
}

func openExternalEngines(t *testing.T) *externalEngines {
	t.Helper()
	n := newsroomtest.Open(t)
	n.Connect("desk")
	handler, err := s3server.New(s3server.Options{
		Dir: t.TempDir(), Bucket: "dateline", AccessKey: "test", SecretKey: "test",
	})
	n.Must(err)
	s3 := httptest.NewServer(handler)
	t.Cleanup(s3.Close)
	r := &externalEngines{Newsroom: n, t: t, dir: t.TempDir(), redis: enginetest.RedisPort(t)}
	r.environ = []string{
		"DATABASE_URL=" + n.DatabaseURL, "REDIS_URL=" + r.redis, "S3_ENDPOINT=" + s3.URL,
		"S3_BUCKET=dateline", "S3_ACCESS_KEY=test",
		"S3_SECRET_KEY=test", "DATELINE_KEYSET=" + n.Keyset.Path, "DATELINE_DATA_DIR=" + r.dir,
		"TEMPORAL_ADDRESS=127.0.0.1:1",
	}
	return r
}

// run runs a command; later settings override earlier ones.
func (r *externalEngines) run(status int, environ []string, args ...string) string {
	r.t.Helper()
	var said bytes.Buffer
	p := Program{
		Version: "test", Stdout: &said, Stderr: &said, Environ: append(append([]string{}, r.environ...), environ...),
	}
	if got := p.Run(r.t.Context(), args); got != status {
		r.t.Fatalf("%s: got status %d, want %d: %s", strings.Join(args, " "), got, status, said.String())
	}
	return said.String()
}

func (r *externalEngines) wantOutput(output string, want ...string) {
	r.t.Helper()
	for _, w := range want {
		if !strings.Contains(output, w) {
			r.t.Errorf("output lacks %q:\n%s", w, output)
		}
	}
}

func TestBackupAndRestoreFromTheCommandLine(t *testing.T) {
	r := openExternalEngines(t)
	due := r.Schedule()
	r.Exec("update scheduled_posts set scheduled_time = now() - interval '1 minute' where post_id = $1", due.ID)
	file, passphrase := filepath.Join(r.dir, "a.backup"), filepath.Join(r.dir, "passphrase")
	r.Must(os.WriteFile(passphrase, []byte("correct horse battery\nsecond line\n"), 0o600))
	r.wantOutput(r.run(0, nil, "backup", "-o", file), "rows of", "It does NOT contain the keyset", r.Keyset.Path)
	r.wantOutput(r.run(1, nil, "backup", "-o", file), "already exists")
	sealed := filepath.Join(r.dir, "b.backup")
	r.wantOutput(r.run(0, nil, "backup", "-o", sealed, "--passphrase-file", passphrase, "--objects", "media"),
		"It contains 0 objects", "encrypted with the passphrase")
	r.wantOutput(r.run(1, nil, "backup", "--objects", "some"), "none, media or all")
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	var said bytes.Buffer
	p := Program{Version: "test", Stdout: &said, Stderr: &said, Environ: r.environ}
	status := p.Run(interrupted, []string{"backup", "-o", filepath.Join(r.dir, "c.backup")})
	r.wantOutput(said.String(), "dateline backup: canceled: no file was written", "run the command again")
	if left, err := filepath.Glob(filepath.Join(r.dir, "*c.backup*")); status != 1 || err != nil || len(left) > 0 {
		t.Errorf("got status %d, %v and the files %v, want status 1 and none", status, err, left)
	}
	r.wantOutput(r.run(1, nil, "restore"), "--from FILE")
	r.wantOutput(r.run(1, nil, "restore", "--from", file), "is not empty", "--replace")

	empty := []string{
		"DATABASE_URL=" + enginetest.Postgres(t), "DATELINE_KEYSET=" + filepath.Join(r.dir, "other", "keyset.json"),
	}
	store := enginetest.RedisClient(t, r.redis)
	r.Must(store.Set(t.Context(), "a count", "of before", 0).Err())
	r.wantOutput(r.run(1, empty, "restore", "--from", file), "1 keys", "--flush-redis")
	r.wantOutput(r.run(0, empty, "restore", "--from", file, "--flush-redis"), "as of", "1 posts are held",
		"The keyset cannot be read")
	if keys := store.DBSize(t.Context()).Val(); keys != 0 {
		t.Error("Redis still counts from before")
	}
	// Restored with its keyset into another installation.
	empty[0] = "DATABASE_URL=" + enginetest.Postgres(t)
	wrong := filepath.Join(r.dir, "wrong")
	r.Must(os.WriteFile(wrong, []byte("incorrect horse battery"), 0o600))
	r.wantOutput(r.run(1, empty, "restore", "--from", sealed, "--passphrase-file", wrong),
		"does not decrypt the keyset")
	r.wantOutput(r.run(0, empty, "restore", "--from", sealed, "--passphrase-file", passphrase, "--hold", "reconcile"),
		"Keyset written to", "searches for each at its network")
	before, err := os.ReadFile(r.Keyset.Path)
	r.Must(err)
	after, err := os.ReadFile(strings.TrimPrefix(empty[1], "DATELINE_KEYSET="))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the keyset is another one (%v)", err)
	}
	// A different keyset at the same path is not overwritten.
	empty[0] = "DATABASE_URL=" + enginetest.Postgres(t)
	r.run(0, nil, "keyset", "new", filepath.Join(r.dir, "third.json"))
	third := append(empty, "DATELINE_KEYSET="+filepath.Join(r.dir, "third.json"))
	r.wantOutput(r.run(1, third, "restore", "--from", sealed, "--passphrase-file", passphrase), "another keyset")
	r.wantOutput(r.run(0, third, "restore", "--from", file), "cannot be decrypted with this keyset")
}

func TestTheDoctorHasAStatus(t *testing.T) {
	r := openExternalEngines(t)
	r.wantOutput(r.run(1, nil, "doctor"), "database schema", "temporal", "does not respond", "some checks failed")
	var out struct {
		OK       bool `json:"ok"`
		Findings []struct{ Check, Level, Advice string }
	}
	said := r.run(1, nil, "doctor", "--json")
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&out); err != nil || out.OK || len(out.Findings) < 10 {
		t.Errorf("%v: %s", err, said)
	}
}

func TestAWorkspaceIsMovedFromTheCommandLine(t *testing.T) {
	r := openExternalEngines(t)
	r.Schedule()
	file := filepath.Join(r.dir, "workspace.tar.zst")
	r.wantOutput(r.run(0, nil, "export", "-o", file), "posts      1", "accounts   1")
	r.wantOutput(r.run(1, nil, "export", "-o", file), "exists")
	other, _, _ := r.Found("Elsewhere")
	r.wantOutput(r.run(1, nil, "import", "--from", file), "several workspaces")
	r.wantOutput(r.run(0, nil, "import", "--from", file, "--workspace", other.ID.String()), "posts      1",
		"No posts are published automatically")
	if n := r.Count("select count(*) from scheduled_posts where workspace_id = $1 and status = 'draft'",
		other.ID); n != 1 {
		t.Errorf("%d drafts were imported", n)
	}
	r.wantOutput(r.run(1, nil, "export", "--workspace", "x"), "must be a UUID")
}
