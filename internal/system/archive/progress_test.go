package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/system/archive"
)

func TestExport_ReportsProgress(t *testing.T) {
	r := open(t)
	r.Connect("desk")
	item, err := r.Media.Upload(t.Context(), r.Owner, "chart.png", "", picture(t))
	r.Must(err)
	r.Schedule(func(d *scheduling.Draft) { d.Attachments = []string{item.ID.String()} })
	var last archive.Progress
	counts, err := archive.Export(t.Context(), io.Discard, archive.ExportOptions{
		Source: r.Store.Installation.Archive, Objects: r.Objects, Workspace: r.Workspace.ID,
		OnProgress: func(p archive.Progress) error {
			if rows(p.Rows) > p.RowsTotal || p.Files > p.FilesTotal {
				t.Errorf("got more than the total: %+v", p)
			}
			last = p
			return nil
		},
	})
	r.Must(err)
	if n := rows(counts); n == 0 || last.RowsTotal != n || last.Files != 1 || last.FilesTotal != 1 {
		t.Errorf("got %+v, want %d rows and one file", last, n)
	}
}

func rows(counts archive.Exported) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// An import that is canceled in the middle continues when it is repeated.
func TestImport_CanceledContinuesWhenRepeated(t *testing.T) {
	r := open(t)
	r.Connect("desk")
	first := r.Schedule()
	for range 4 {
		r.Schedule(func(d *scheduling.Draft) { d.ThreadParentID = first.ID.String() })
	}
	raw := r.export()
	_, who, _ := r.Found("Elsewhere")
	into := r.into(who)
	ctx, cancel := context.WithCancel(t.Context())
	into.OnProgress = func(rows, _ int) {
		if rows == 4 {
			cancel()
		}
	}
	done, err := archive.Import(ctx, bytes.NewReader(raw), into)
	if !errors.Is(err, context.Canceled) || done.Added[archive.Posts] == 0 || done.Added[archive.Posts] == 5 {
		t.Errorf("got %v and %v, want some of the posts and context.Canceled", done.Added, err)
	}
	var last [2]int
	into.OnProgress = func(rows, total int) { last = [2]int{rows, total} }
	if _, err = archive.Import(t.Context(), bytes.NewReader(raw), into); err != nil {
		t.Fatal(err)
	}
	if n := r.Count("select count(*) from scheduled_posts where workspace_id = $1", who.WorkspaceID); n != 5 {
		t.Errorf("got %d posts, want 5", n)
	}
	if last[0] != last[1] || last[0] < 6 {
		t.Errorf("got %d of %d rows, want all", last[0], last[1])
	}
}

// A canceled export stores no archive, whether the cancellation is noticed while it is
// written or after that.
func TestArchives_CanceledExportStoresNothing(t *testing.T) {
	for name, interval := range map[string]time.Duration{"while it is written": 1, "at the end": time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			r.Connect("desk")
			r.Schedule()
			store := &cancelingStore{ArchiveStore: r.Store.Installation.Archive}
			archives := &archive.Archives{
				Store: store, Objects: r.Objects, Workflows: &fakeWorkflows{}, ProgressInterval: interval,
			}
			job, err := archives.Start(t.Context(), r.Owner)
			r.Must(err)
			store.cancel = func() {
				if got, err := archives.Cancel(t.Context(), r.Owner, job.ID); err != nil ||
					got.Status != archive.JobCanceled || got.FinishedAt == nil {
					t.Errorf("got %+v and %v, want canceled", got, err)
				}
			}
			for range 2 { // the second time as a retry
				if got, err := archives.Write(t.Context(), job.ID); err != nil || got.Status != archive.JobCanceled {
					t.Errorf("got %s and %v, want canceled", got.Status, err)
				}
			}
			key := "exports/workspaces/" + r.Workspace.ID.String() + "/" + job.ID.String() + ".tar.zst"
			if size, err := r.Objects.Size(t.Context(), key); err == nil {
				t.Errorf("an archive of %d bytes is stored", size)
			}
			if again, err := archives.Start(t.Context(), r.Owner); err != nil || again.ID == job.ID {
				t.Errorf("got %s and %v, want another export", again.ID, err)
			}
		})
	}
}

// cancelingStore cancels an export while its rows are read.
type cancelingStore struct {
	*installation.ArchiveStore
	cancel func()
}

func (s *cancelingStore) ExportWorkspace(ctx context.Context, workspace uuid.UUID, begin func(total int),
	emit func(archive.Section, json.RawMessage) error,
) error {
	return s.ArchiveStore.ExportWorkspace(ctx, workspace, func(total int) {
		begin(total)
		s.cancel()
	}, emit)
}
