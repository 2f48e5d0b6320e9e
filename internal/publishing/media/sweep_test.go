package media_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/blob"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

// later ages all media.
func later(n *newsroomtest.Newsroom, interval string) {
	for _, sql := range []string{
		"update media set created_at = created_at - $1::interval, deleted_at = deleted_at - $1::interval",
		"update media_objects set claimed_until = claimed_until - $1::interval",
		"update media_uploads set created_at = created_at - $1::interval, taken_until = taken_until - $1::interval",
		"update media_renditions set used_at = used_at - $1::interval",
	} {
		n.Exec(sql, interval)
	}
}

func sweep(t *testing.T, n *newsroomtest.Newsroom) media.SweepResult {
	t.Helper()
	swept, err := n.Media.Sweep(t.Context(), func(media.SweepResult) {})
	if err != nil {
		t.Fatal(err)
	}
	return swept
}

func there(t *testing.T, n *newsroomtest.Newsroom, key string) bool {
	t.Helper()
	_, err := n.Objects.Size(t.Context(), key)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func upload(t *testing.T, n *newsroomtest.Newsroom, shade int) media.Item {
	t.Helper()
	item, err := n.Media.Upload(t.Context(), n.Owner, fmt.Sprintf("%d.jpg", shade), "",
		bytes.NewReader(photo(t, 40+shade, 30, 1)))
	n.Must(err)
	return item
}

func with(items ...media.Item) func(*scheduling.Draft) {
	return func(d *scheduling.Draft) {
		for _, item := range items {
			d.Attachments = append(d.Attachments, item.ID.String())
		}
	}
}

func TestSweep_KeepsFilesOfPendingPosts(t *testing.T) {
	n := newsroomtest.Open(t)
	account := n.Connect("desk").ID.String()
	files := make([]media.Item, 8)
	for i := range files {
		files[i] = upload(t, n, i)
	}
	texts := func(i int) *[]string { return &[]string{files[i].ID.String()} }
	n.Schedule(with(files[0]))
	n.Schedule(func(d *scheduling.Draft) { d.SaveAsDraft = true; d.Attachments = *texts(1) })
	n.Schedule(func(d *scheduling.Draft) { d.Thread = []scheduling.Segment{{Content: "more", Attachments: *texts(2)}} })
	n.Schedule(func(d *scheduling.Draft) {
		d.Overrides = map[string]scheduling.Override{account: {Attachments: texts(3)}}
	})
	n.Schedule(func(d *scheduling.Draft) {
		d.Overrides = map[string]scheduling.Override{
			account: {Thread: &[]scheduling.Segment{{Content: "more", Attachments: *texts(4)}}},
		}
	})
	n.Dead(n.Schedule(with(files[5])), post.TargetFailed)
	series, _, _, err := n.Scheduler.CreateSeries(t.Context(), n.Owner,
		scheduling.SeriesDraft{
			Rule: "FREQ=MONTHLY", Starts: time.Now().AddDate(0, 6, 0).Format("2006-01-02T15:04:05"),
			Template: scheduling.Draft{Content: "Again", Attachments: []string{"{" + files[6].ID.String() + "}"}},
		},
		idempotency.Key{})
	n.Must(err)
	for i, f := range files {
		err := n.Media.Delete(t.Context(), n.Owner, f.ID)
		if (i < 7) != (codeOf(err) == "media_in_use") || i == 7 && err != nil {
			t.Errorf("file %d: %v", i, err)
		}
	}
	if _, err := n.Media.Get(t.Context(), n.Owner, files[7].ID); codeOf(err) != "media_not_found" {
		t.Errorf("the deleted file is still there: %v", err)
	}
	if err := n.Media.Delete(t.Context(), n.Owner, files[7].ID); codeOf(err) != "media_not_found" {
		t.Errorf("deleted twice: %v", err)
	}
	if _, _, err := n.Scheduler.Schedule(t.Context(), n.Owner,
		scheduling.Draft{
			Content: "x", ScheduledTime: time.Now().Add(time.Hour).Format(time.RFC3339),
			Attachments: *texts(7),
		}, idempotency.Key{}); problemOf(err).Code != "unknown_file" {
		t.Errorf("a post may use a deleted file: %v", err)
	}
	// Files that a post uses are kept, whatever their age.
	later(n, "1000 days")
	n.Media.Retention = time.Hour
	later(n, "2 hours")
	if swept := sweep(t, n); swept.Deleted != 0 || swept.Released != 1 || swept.Objects != 1 {
		t.Errorf("swept %+v", swept)
	}
	for i, f := range files {
		if there(t, n, f.ObjectKey) != (i < 7) {
			t.Errorf("the object of file %d", i)
		}
	}
	// A discarded post no longer needs its files; files of published posts stay in the
	// library.
	n.Exec("update series set status = 'ended'")
	n.Exec("update scheduled_posts set status = 'canceled'")
	n.Exec("update post_targets set status = 'canceled'")
	if err := n.Media.Delete(t.Context(), n.Owner, files[6].ID); err != nil {
		t.Errorf("series %s has ended: %v", series.ID, err)
	}
	if swept := sweep(t, n); swept.Deleted != 0 {
		t.Errorf("swept %+v", swept)
	}
}

func TestSweep_DeletesUnusedFiles(t *testing.T) {
	n := newsroomtest.Open(t)
	old, twin := upload(t, n, 1), upload(t, n, 1)
	made, err := n.Media.Render(t.Context(), old, media.Spec{MIMEType: "image/jpeg", Width: 20, Height: 15})
	n.Must(err)
	later(n, "91 days")
	young := upload(t, n, 2)
	if swept := sweep(t, n); swept.Deleted != 0 || swept.Renditions != 1 {
		t.Errorf("without retention: %+v", swept)
	}
	n.Media.Retention = 90 * 24 * time.Hour
	if swept := sweep(t, n); swept.Deleted != 2 || swept.Objects != 0 || !there(t, n, old.ObjectKey) {
		t.Errorf("at first: %+v", swept)
	}
	if there(t, n, made.ObjectKey) {
		t.Error("the rendition is still there")
	}
	later(n, "61 minutes")
	if swept := sweep(t, n); swept.Released != 2 || swept.Objects != 1 {
		t.Errorf("an hour later: %+v", swept)
	}
	if there(t, n, old.ObjectKey) || !there(t, n, young.ObjectKey) || twin.ObjectKey != old.ObjectKey {
		t.Error("the wrong object is gone")
	}
	// Deleted files can be uploaded again.
	if again := upload(t, n, 1); again.ObjectKey != old.ObjectKey || !there(t, n, again.ObjectKey) {
		t.Error("it was not restored")
	}
}

// Duplicates share an object until the last one is deleted.
func TestSweep_KeepsReferencedObjects(t *testing.T) {
	n := newsroomtest.Open(t)
	one, two := upload(t, n, 1), upload(t, n, 1)
	for i, item := range []media.Item{one, two} {
		n.Must(n.Media.Delete(t.Context(), n.Owner, item.ID))
		later(n, "2 hours")
		if swept := sweep(t, n); swept.Objects != i || there(t, n, one.ObjectKey) != (i == 0) {
			t.Errorf("after %d of 2: %+v", i+1, swept)
		}
	}
}

// A post created while its file is deleted is published with the file.
func TestSweep_ConcurrentPostKeepsItsFile(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	item := upload(t, n, 1)
	p := n.Schedule(with(item))
	// As if the post had been created after the deletion
	n.Exec("update media set deleted_at = now() - interval '2 hours'")
	later(n, "2 hours")
	if swept := sweep(t, n); swept.Released != 0 || !there(t, n, item.ObjectKey) {
		t.Errorf("swept %+v", swept)
	}
	if known, err := n.Store.Publishing.Media.MediaByID(t.Context(), n.Workspace.ID, p.AttachmentIDs); err != nil ||
		known[item.ID].ObjectKey != item.ObjectKey {
		t.Errorf("the publisher does not find it: %+v %v", known, err)
	}
	edited, err := n.Scheduler.Edit(t.Context(),
		post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, Actor: n.Owner.Actor()}, scheduling.Edit{
			Content: &[]string{"New text"}[0],
		})
	if err != nil || len(edited.AttachmentIDs) != 1 {
		t.Errorf("the post cannot be edited: %+v %v", edited, err)
	}
}

func TestSweep_DeletesExpiredUploads(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Media.MultipartThreshold, n.Media.PartBytes = 100_000, 90_000
	small, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{FileName: "a.jpg", Bytes: 1000})
	n.Must(err)
	send(t, *small.Single, make([]byte, 1000))
	large, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{FileName: "a.mp4", Bytes: 200_000})
	n.Must(err)
	send(t, large.Parts[0].SignedRequest, make([]byte, 90_000))
	later(n, "23 hours")
	if swept := sweep(t, n); swept.Uploads != 0 || !there(t, n, small.ObjectKey) {
		t.Errorf("too early: %+v", swept)
	}
	later(n, "2 hours")
	if _, err := n.Media.CompleteUpload(t.Context(), n.Owner, small.ID); codeOf(err) == "" {
		t.Errorf("completed too late: %v", err)
	}
	if swept := sweep(t, n); swept.Uploads != 2 || there(t, n, small.ObjectKey) {
		t.Errorf("swept %+v", swept)
	}
	if _, err := n.Objects.ListParts(t.Context(), large.ObjectKey, large.MultipartID); !errors.Is(err,
		blob.ErrNotFound) {
		t.Errorf("the parts are still there: %v", err)
	}
	if status := send(t, large.Parts[1].SignedRequest, make([]byte, 90_000)); status != 404 {
		t.Errorf("a late part: got status %d", status)
	}
}

// pausing waits before it stores an object, and after it.
type pausing struct {
	media.Objects
	before, after func()
}

func (p *pausing) Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error {
	p.before()
	err := p.Objects.Put(ctx, key, contentType, size, body)
	p.after()
	return err
}

// A sweep at any moment of an upload of the same bytes leaves the file intact, even if
// the upload takes longer than its claim.
func TestSweep_KeepsUploadsInProgress(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for _, moment := range []string{"before", "after"} {
			n := newsroomtest.Open(t)
			n.Must(n.Media.Delete(t.Context(), n.Owner, upload(t, n, 1).ID))
			later(n, "2 hours")
			done := false
			strike := func(at string) func() {
				return func() {
					if at != moment || done {
						return
					}
					done = true
					if slow {
						later(n, "2 hours")
					}
					sweep(t, n)
				}
			}
			uploader := &media.Service{
				Objects: &pausing{n.Objects, strike("before"), strike("after")}, Store: n.Store.Publishing.Media,
				MaxBytes: 1 << 20,
			}
			item, err := uploader.Upload(t.Context(), n.Owner, "a.jpg", "", bytes.NewReader(photo(t, 41, 30, 1)))
			if err != nil || !there(t, n, item.ObjectKey) {
				t.Errorf("slow %v, %s: %v, there is an object: %v", slow, moment, err, err == nil &&
					there(t, n, item.ObjectKey))
			}
		}
	}
}

// Concurrent uploads, deletions and sweeps of the same bytes: every file in the library
// can be read.
func TestSweep_ConcurrentUploadsOfTheSameBytes(t *testing.T) {
	n := newsroomtest.Open(t)
	content := mediatest.PlainJPEG(40, 30)
	var all sync.WaitGroup
	run := func(f func() error) {
		all.Go(func() {
			for range 40 {
				if err := f(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 3 {
		run(func() error {
			item, err := n.Media.Upload(t.Context(), n.Owner, "a.jpg", "", bytes.NewReader(content))
			if err != nil {
				return err
			}
			if _, err := n.Objects.Size(t.Context(), item.ObjectKey); err != nil {
				return fmt.Errorf("%s was just stored: %w", item.ID, err)
			}
			return n.Media.Delete(t.Context(), n.Owner, item.ID)
		})
	}
	run(func() error {
		later(n, "2 hours")
		_, err := n.Media.Sweep(t.Context(), func(media.SweepResult) {})
		return err
	})
	all.Wait()
	item, err := n.Media.Upload(t.Context(), n.Owner, "a.jpg", "", bytes.NewReader(content))
	n.Must(err)
	sweep(t, n)
	if item.ID == uuid.Nil || !bytes.Equal(read(t, n, item), content) {
		t.Error("the last upload is incomplete")
	}
}
