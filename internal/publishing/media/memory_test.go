package media_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"runtime"
	"testing"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

// watcher records the peak memory in use while bytes pass.
type watcher struct {
	io.Reader
	passed, next int64
	base, peak   uint64
}

func watch(r io.Reader) *watcher {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return &watcher{Reader: r, base: m.HeapAlloc}
}

func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if w.passed += int64(n); w.passed >= w.next || err != nil {
		w.next = w.passed + 4<<20
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.peak = max(w.peak, m.HeapAlloc-min(m.HeapAlloc, w.base))
	}
	return n, err
}

func (w *watcher) check(t *testing.T, what string) {
	t.Helper()
	const allowed = 48 << 20 // includes garbage
	if w.peak > allowed {
		t.Errorf("%s uses %d MB of memory", what, w.peak>>20)
	}
	t.Logf("%s: %d MB passed, at most %d MB of memory", what, w.passed>>20, w.peak>>20)
}

const longVideo = 200 << 20

func TestUpload_LargeVideoNeedsLittleMemory(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Media.MaxBytes = 1 << 30
	body, size := mediatest.Long(longVideo)
	sum := sha256.New()
	up := watch(io.TeeReader(body, sum))
	item, err := n.Media.Upload(t.Context(), n.Owner, "film.mp4", "", up)
	n.Must(err)
	up.check(t, "uploading")
	if item.Bytes != size || item.Width != 1920 {
		t.Fatalf("%+v", item)
	}
	readWhole(t, n, item, sum, "reading")

	// The same in parts, directly to the object store.
	ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
		FileName: "film.mp4", Bytes: size, SHA256: fmt.Sprintf("%x", sum.Sum(nil)),
	})
	n.Must(err)
	body, _ = mediatest.Long(longVideo)
	parts := watch(body)
	for _, p := range ticket.Parts {
		r, err := http.NewRequestWithContext(t.Context(), p.Method, p.URL, struct{ io.Reader }{
			io.LimitReader(parts, p.Bytes),
		})
		n.Must(err)
		r.ContentLength = p.Bytes
		answer, err := http.DefaultClient.Do(r)
		n.Must(err)
		n.Must(answer.Body.Close())
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("part %d: got status %s", p.Number, answer.Status)
		}
	}
	parts.check(t, "sending parts")
	n.Media.Objects = &watchedObjects{Objects: n.Objects, seen: func(w *watcher) { w.check(t, "completing") }}
	again, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	if len(ticket.Parts) < 2 || again.ObjectKey != item.ObjectKey {
		t.Errorf("%d parts became %+v", len(ticket.Parts), again)
	}
}

func readWhole(t *testing.T, n *newsroomtest.Newsroom, item media.Item, want hash.Hash, what string) {
	t.Helper()
	body, err := media.Reader(n.Objects, item)(t.Context())
	n.Must(err)
	got := sha256.New()
	down := watch(body)
	_, err = io.Copy(got, down)
	n.Must(errors.Join(err, body.Close()))
	down.check(t, what)
	if fmt.Sprintf("%x", got.Sum(nil)) != fmt.Sprintf("%x", want.Sum(nil)) {
		t.Error("the stored bytes differ")
	}
}

// watchedObjects watches reads of large ranges.
type watchedObjects struct {
	media.Objects
	seen func(*watcher)
}

func (w *watchedObjects) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	body, err := w.Objects.GetRange(ctx, key, offset, length)
	if err != nil || length < 1<<20 {
		return body, err
	}
	watched := watch(body)
	return &closing{watched, func() error { w.seen(watched); return body.Close() }}, nil
}

type closing struct {
	io.Reader
	close func() error
}

func (c *closing) Close() error { return c.close() }
