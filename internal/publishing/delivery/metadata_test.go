package delivery_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/mediatest"
	"dateline/platforms/fake"
)

func TestPublish_SendsNoMetadata(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"images": {"a.jpg": mediatest.JPEG(64, 48, 6), "b.png": mediatest.PNG(64, 48, 1), "c.webp": mediatest.WebP(1)},
		"video":  {"d.mp4": mediatest.TaggedMovie(false)},
	} {
		t.Run(name, func(t *testing.T) { sendsNoMetadata(t, files) })
	}
}

func sendsNoMetadata(t *testing.T, files map[string][]byte) {
	t.Helper()
	b := newBench(t, fake.Options{})
	library := &media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 64 << 20}
	var items []media.Item
	for name, content := range files {
		item, err := library.Upload(t.Context(), b.who, name, "The harbour", bytes.NewReader(content))
		b.must(err)
		items = append(items, item)
	}
	publisher := b.publisher()
	publisher.Media = library
	p := b.schedule(b.withMedia(items...))
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1})
	sent := 0
	for _, p := range b.published() {
		for _, m := range p.Media {
			sent++
			content := b.received(m.ID)
			for _, secret := range append(mediatest.Secrets(), mediatest.Credits()...) {
				if bytes.Contains(content, secret) {
					t.Errorf("the network got %q in a file of the type %s", secret, m.MIMEType)
				}
			}
		}
	}
	if sent != len(files) {
		t.Errorf("the network got %d files, want %d", sent, len(files))
	}
}

// received is a file that the network got.
func (b *bench) received(id string) []byte {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.fake.URL()+"/media/"+id, nil)
	b.must(err)
	response, err := http.DefaultClient.Do(r)
	b.must(err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	b.must(err)
	if response.StatusCode != http.StatusOK || len(content) == 0 {
		b.t.Fatalf("the network returned %s with %d bytes, want the file", response.Status, len(content))
	}
	return content
}
