package api_test

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dateline/internal/portable"
)

// emptyArchive is an export of nothing.
func emptyArchive(x *things) string {
	x.s.t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	x.s.Must(err)
	w := tar.NewWriter(z)
	manifest := `{"format":1}`
	x.s.Must(w.WriteHeader(&tar.Header{Name: "manifest.json", Mode: 0o600, Size: int64(len(manifest))}))
	_, err = io.WriteString(w, manifest)
	x.s.Must(err)
	x.s.Must(w.Close())
	x.s.Must(z.Close())
	return out.String()
}

func TestAWorkspaceGoesOutAndComesInOverTheAPI(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	s.Schedule()
	answer := s.send("GET", "/api/v1/workspace/export", nil)
	raw := answer.body
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/zstd" {
		t.Fatalf("%d %s", answer.StatusCode, raw)
	}
	w, owner, token := s.Found("Elsewhere")
	_ = owner
	var done struct {
		Added   map[string]int64 `json:"added"`
		LeftOut []string         `json:"left_out"`
	}
	s.decode(s.send("POST", "/api/v1/workspace/import", bytes.NewReader(raw), "Authorization", "Bearer "+token, "Content-Type", "application/zstd"), http.StatusOK, &done)
	if done.Added[string(portable.Posts)] != 1 || done.Added[string(portable.Accounts)] != 1 || len(done.LeftOut) != 0 {
		t.Errorf("%+v", done)
	}
	if n := s.Count("select count(*) from scheduled_posts where workspace_id = $1 and status = 'draft'", w.ID); n != 1 {
		t.Errorf("%d drafts came in", n)
	}
	s.refused(s.send("POST", "/api/v1/workspace/import", "no archive", "Authorization", "Bearer "+token, "Content-Type", "application/zstd"), 422, "invalid_request", "body")
}
