package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"dateline/internal/ops/backup"
	"dateline/internal/testing/enginetest"
)

// The totals are those of the snapshot, and they are reached.
func TestWrite_ReportsProgress(t *testing.T) {
	r := open(t)
	r.Must(r.Objects.Put(t.Context(), "media/a", "image/png", 5, strings.NewReader("image")))
	r.Exec("insert into media_objects (object_key, claimed_until) values ('media/a', now()), ('media/lost', now())")
	last, reports := map[backup.Part][2]int64{}, 0
	_, end, err := backup.Write(t.Context(), io.Discard, backup.Source{
		Database: r.DatabaseURL, Objects: backup.MediaObjects, Bucket: r.Objects,
		OnProgress: func(part backup.Part, done, total int64) {
			if done < last[part][0] || done > total {
				t.Errorf("%s: got %d of %d after %d", part, done, total, last[part][0])
			}
			last[part], reports = [2]int64{done, total}, reports+1
		},
	})
	r.Must(err)
	var rows int64
	for _, c := range end.Tables {
		rows += c.Rows
	}
	if got, want := last[backup.RowsPart], [2]int64{rows, rows}; got != want || int64(reports) < rows {
		t.Errorf("rows: got %v in %d reports, want %v", got, reports, want)
	}
	if got, want := last[backup.ObjectsPart], [2]int64{2, 2}; got != want {
		t.Errorf("objects: got %v, want %v", got, want)
	}
}

func TestWrite_CanBeCanceled(t *testing.T) {
	r := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := backup.Write(ctx, io.Discard, backup.Source{
		Database: r.DatabaseURL, OnProgress: func(_ backup.Part, done, _ int64) {
			if done == 3 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// cancelingReader cancels in the middle of an archive.
type cancelingReader struct {
	io.Reader
	left   int
	cancel context.CancelFunc
}

func (c *cancelingReader) Read(to []byte) (int, error) {
	n, err := c.Reader.Read(to[:min(len(to), 64)])
	if c.left -= n; c.left <= 0 {
		c.cancel()
	}
	return n, err
}

func TestRestore_CanceledRestoresNothingAndCanBeRepeated(t *testing.T) {
	r := open(t)
	raw := r.backup()
	ctx, cancel := context.WithCancel(t.Context())
	a, err := backup.Open(&cancelingReader{bytes.NewReader(raw), len(raw) - 100, cancel})
	r.Must(err)
	defer a.Close()
	url := enginetest.Postgres(t)
	target := backup.Target{Database: url, Log: slog.New(slog.DiscardHandler)}
	if _, err := a.Restore(ctx, target); err == nil {
		t.Fatal("got no error, want that of the cancellation")
	}
	c, err := pgx.Connect(t.Context(), url)
	r.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	var hasTables bool
	r.Must(c.QueryRow(t.Context(), "select to_regclass('users') is not null").Scan(&hasTables))
	if hasTables {
		if users := r.one(url, "select count(*)::text from users"); users != "0" {
			t.Errorf("got %s users, want none", users)
		}
	}
	_, done := r.restore(raw, "", func(t *backup.Target) { t.Database = url })
	if done.Rows == 0 {
		t.Error("the repeated restore restored nothing")
	}
}
