package archive_test

import (
	"context"
	"io"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/system/archive"
)

// fakeWorkflows records the exports that it starts.
type fakeWorkflows struct{ ids []uuid.UUID }

func (w *fakeWorkflows) StartWorkspaceExport(_ context.Context, id uuid.UUID) error {
	w.ids = append(w.ids, id)
	return nil
}

// An export workflow reports its progress, survives an unavailable object store,
// and writes the same archive as the command.
func TestArchives_ExportByWorkflow(t *testing.T) {
	from, to := open(t), open(t)
	from.Connect("desk")
	for range 3 {
		from.Schedule()
	}
	_, err := from.Media.Upload(t.Context(), from.Owner, "chart.png", "Biểu đồ", picture(t))
	from.Must(err)
	temporal := &fakeWorkflows{}
	archives := &archive.Archives{Store: from.Store.Installation.Archive, Objects: from.Objects, Workflows: temporal, Version: "test"}
	job, err := archives.Start(t.Context(), from.Owner)
	from.Must(err)
	again, err := archives.Start(t.Context(), from.Owner)
	from.Must(err)
	// Started twice: the first request may have been lost.
	if again.ID != job.ID || len(temporal.ids) != 2 || temporal.ids[1] != job.ID {
		t.Errorf("%s, %s, Temporal started %v", job.ID, again.ID, temporal.ids)
	}

	away := &archive.Archives{Store: from.Store.Installation.Archive, Objects: to.Objects} // a store that lacks the file is not down
	to.StopObjects()
	if _, err := away.Write(t.Context(), job.ID); err == nil {
		t.Error("it was written although the store is down")
	}
	if job, err = archives.Get(t.Context(), from.Owner, job.ID); err != nil || job.Status != archive.JobRunning {
		t.Fatalf("%+v %v", job, err)
	}
	job, err = archives.Write(t.Context(), job.ID)
	from.Must(err)
	if job.Status != archive.JobDone || job.Progress.Rows[archive.Posts] != 3 || job.Progress.Files != 1 ||
		job.Progress.FilesTotal != 1 {
		t.Errorf("%+v", job)
	}
	if _, err := archives.Get(t.Context(), to.Owner, job.ID); err == nil {
		t.Error("another workspace can read it")
	}
	_, body, err := archives.Open(t.Context(), from.Owner, job.ID)
	from.Must(err)
	raw, err := io.ReadAll(body)
	from.Must(err)
	from.Must(body.Close())
	if lines := shape(t, raw); len(lines[archive.Posts]) != 3 || len(lines[archive.Media]) != 1 ||
		int64(len(raw)) != job.Bytes {
		t.Errorf("%d bytes of %d: %v", len(raw), job.Bytes, lines)
	}
	// A completed export is not written again.
	if got, err := archives.Write(t.Context(), job.ID); err != nil || got.Status != archive.JobDone {
		t.Errorf("%+v %v", got, err)
	}
	from.Must(archives.Expire(t.Context(), job.ID))
	if _, err := from.Objects.Size(t.Context(), "exports/workspaces/"+from.Workspace.ID.String()+"/"+job.ID.String()+
		".tar.zst"); err == nil {
		t.Error("the archive is still there")
	}
}
