package api_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/system/archive"
)

// emptyArchive is an export without content.
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

// export requests an export.
func (s *server) export(path string) (e spec.WorkspaceExport) {
	s.t.Helper()
	status, method := http.StatusOK, "GET"
	if path == "" {
		status, method = http.StatusAccepted, "POST"
	}
	s.decode(s.send(method, "/api/v1/workspace/exports"+path, nil), status, &e)
	return e
}

func TestWorkspaceArchive_ExportAndImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	s.Schedule()
	e := s.export("")
	at := "/" + e.Id.String()
	if again := s.export(""); again.Id != e.Id || e.Status != "pending" || e.Url != nil {
		t.Errorf("a second request started another export: %+v, %+v", e, again)
	}
	s.refused(s.send("GET", "/api/v1/workspace/exports"+at+"/archive", nil), 409, "export_pending")
	_, err := s.archives().Write(t.Context(), e.Id)
	s.Must(err)
	answer := s.send("GET", "/api/v1/workspace/exports"+at+"/archive", nil)
	raw := answer.body
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/zstd" {
		t.Fatalf("%d %s", answer.StatusCode, raw)
	}
	e = s.export(at)
	require.Equal(t, spec.WorkspaceExportStatus("done"), e.Status)
	require.NotNil(t, e.Url)
	require.NotNil(t, e.Bytes)
	require.Equal(t, int64(len(raw)), *e.Bytes)
	require.Equal(t, int64(1), e.Rows["posts"])
	require.NotNil(t, e.ExpiresAt)
	linked, err := http.Get(*e.Url)
	s.Must(err)
	body, err := io.ReadAll(linked.Body)
	s.Must(errors.Join(err, linked.Body.Close()))
	if !bytes.Equal(body, raw) {
		t.Errorf("the URL has %d bytes, the API %d", len(body), len(raw))
	}
	w, owner, token := s.Found("Elsewhere")
	_ = owner
	var done struct {
		Added   map[string]int64 `json:"added"`
		Skipped []string         `json:"skipped"`
	}
	s.decode(s.send("POST", "/api/v1/workspace/import", bytes.NewReader(raw), "Authorization", "Bearer "+token,
		"Content-Type", "application/zstd"), http.StatusOK, &done)
	if done.Added[string(archive.Posts)] != 1 || done.Added[string(archive.Accounts)] != 1 || len(done.Skipped) != 0 {
		t.Errorf("%+v", done)
	}
	if n := s.Count("select count(*) from scheduled_posts where workspace_id = $1 and status = 'draft'", w.ID); n != 1 {
		t.Errorf("%d drafts were imported", n)
	}
	var log struct {
		Entries []struct{ Action string }
	}
	s.decode(s.send("GET", "/api/v1/audit", nil, "Authorization", "Bearer "+token), http.StatusOK, &log)
	if len(log.Entries) < 2 || log.Entries[0].Action != "workspace.imported" ||
		log.Entries[1].Action != "workspace.import_started" {
		t.Errorf("the import's audit entry: %+v", log.Entries)
	}
	s.decode(s.send("GET", "/api/v1/audit?action=workspace.exported", nil), http.StatusOK, &log)
	if len(log.Entries) != 1 {
		t.Errorf("the export's audit entry: %+v", log.Entries)
	}
	s.refused(s.send("POST", "/api/v1/workspace/import", "no archive", "Authorization", "Bearer "+token, "Content-Type",
		"application/zstd"), 422, "invalid_request", "body")
}

// An expired archive is deleted, and its export has the status expired. An export that
// cannot start fails; the next one starts normally.
func TestWorkspaceArchive_FailureAbortsTheConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.temporal.fail(errors.New("away"))
	s.refused(s.send("POST", "/api/v1/workspace/exports", nil), 503, "unavailable")
	s.temporal.fail(nil)
	e := s.export("")
	at := "/" + e.Id.String()
	_, err := s.archives().Write(t.Context(), e.Id)
	s.Must(err)
	s.Must(s.archives().Expire(t.Context(), e.Id))
	if got := s.export(at); got.Status != "expired" || got.Url != nil {
		t.Errorf("%+v", got)
	}
	s.refused(s.send("GET", "/api/v1/workspace/exports"+at+"/archive", nil), 409, "export_expired")
	var all struct{ Exports []spec.WorkspaceExport }
	s.decode(s.send("GET", "/api/v1/workspace/exports", nil), http.StatusOK, &all)
	if len(all.Exports) != 2 || all.Exports[0].Id != e.Id || all.Exports[1].Status != "failed" ||
		all.Exports[1].Error == nil {
		t.Errorf("%+v", all.Exports)
	}
	// An export whose archive is missing, for example after a restore, has no download
	// either.
	e = s.export("")
	job, err := s.archives().Write(t.Context(), e.Id)
	s.Must(err)
	s.Must(s.Objects.Delete(t.Context(), "exports/workspaces/"+job.WorkspaceID.String()+"/"+job.ID.String()+".tar.zst"))
	if got := s.export("/" + e.Id.String()); got.Status != "expired" {
		t.Errorf("%+v", got)
	}
}

func TestWorkspaceExport_CanBeCanceled(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.export("")
	at := "/api/v1/workspace/exports/" + e.Id.String()
	var canceled spec.WorkspaceExport
	s.decode(s.send("DELETE", at, nil), 200, &canceled)
	if canceled.Status != spec.WorkspaceExportStatusCanceled || canceled.FinishedAt == nil {
		t.Errorf("got %+v, want canceled", canceled)
	}
	s.refused(s.send("GET", at+"/archive", nil), 409, "export_canceled")
	next := s.export("")
	if next.Id == e.Id || next.Status != spec.WorkspaceExportStatusPending {
		t.Errorf("got %+v, want another export", next)
	}
	_, err := s.archives().Write(t.Context(), next.Id)
	s.Must(err)
	at = "/api/v1/workspace/exports/" + next.Id.String()
	s.decode(s.send("DELETE", at, nil), 200, &next)
	if next.Status != spec.WorkspaceExportStatusDone || next.RowsTotal == nil || *next.RowsTotal < 1 {
		t.Errorf("canceled after its end: got %+v, want done with the number of rows", next)
	}
	_, _, other := s.Found("Elsewhere")
	s.refused(s.send("DELETE", at, nil, "Authorization", "Bearer "+other), 404, "export_not_found")
}
