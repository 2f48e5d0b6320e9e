package delivery_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

// bloated is a photo larger than the network accepts, most of which is not image data.
func bloated(t *testing.T) []byte {
	t.Helper()
	var raw bytes.Buffer
	if err := jpeg.Encode(&raw, image.NewGray(image.Rect(0, 0, 640, 480)), nil); err != nil {
		t.Fatal(err)
	}
	content := append([]byte{}, raw.Bytes()[:2]...)
	for range 300 { // of a color profile, the only part that stays besides the picture
		content = append(content, 0xFF, 0xE2, 0xFF, 0xFF)
		content = append(content, "ICC_PROFILE\x00\x01\x01"...)
		content = append(content, make([]byte, 0xFFFF-2-14)...)
	}
	return append(content, raw.Bytes()[2:]...)
}

// A photo that is too large for the network can be scheduled and is published in a
// smaller size.
func TestPublish_ConvertsImages(t *testing.T) {
	b := newBench(t, fake.Options{})
	library := &media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 64 << 20}
	photo, err := library.Upload(t.Context(), b.who, "harbour.jpeg", "The harbour", bytes.NewReader(bloated(t)))
	b.must(err)
	if _, _, err := b.scheduler.Schedule(t.Context(), b.who,
		scheduling.Draft{
			Content: "Hello", ScheduledTime: "2099-01-01T10:00:00Z",
			Attachments: []string{photo.ID.String()},
		}, idempotency.Key{}); err == nil {
		t.Error("2099 is too far away")
	} else if e := (*apperr.Error)(nil); !errors.As(err, &e) || len(e.Fields) != 1 {
		t.Errorf("scheduling refuses the photo: %v", err)
	}
	p := b.schedule(b.withMedia(photo, b.upload(1)))
	publisher := b.publisher()
	publisher.Media = library
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
	sent := b.published()[0].Media
	require.Len(t, sent, 2)
	require.LessOrEqual(t, sent[0].Bytes, int64(16<<20))
	require.Equal(t, "image/jpeg", sent[0].MIMEType)
	require.Equal(t, "The harbour", sent[0].Description)
	require.Equal(t, "image/png", sent[1].MIMEType)
}

// A photo that cannot be converted fails before anything is sent.
func TestPublish_RejectsUnconvertibleImage(t *testing.T) {
	b := newBench(t, fake.Options{})
	content := bloated(t)
	content = content[:len(content)-300]
	library := &media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 64 << 20}
	photo, err := library.Upload(t.Context(), b.who, "harbour.jpeg", "", bytes.NewReader(content))
	b.must(err)
	p := b.schedule(b.withMedia(photo))
	publisher := b.publisher()
	publisher.Media = library
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetFailed, posts: 0, attempts: 1, class: "rejected"})
	if target := b.read(p.ID).Targets[0]; target.ErrorCode != "attachment_unfit" {
		t.Errorf("got %s: %s", target.ErrorCode, target.ErrorMessage)
	}
}

// A new description is sent, also when the file was uploaded before.
func TestPublish_TakesTheNewestDescription(t *testing.T) {
	b := newBench(t, fake.Options{})
	file := b.upload(1)
	p := b.schedule(b.withMedia(file))
	b.must(b.prepare(input(p)))
	after := "The harbour at high tide"
	_, _, err := (&media.Service{Objects: b.objects, Store: b.store.Publishing.Media}).Edit(t.Context(), b.who, file.ID,
		media.Edit{AltText: &after})
	b.must(err)
	b.publish(b.publisher(), input(b.read(p.ID))) // the description is content: the post gets a new revision
	if posted := b.published(); len(posted) != 1 || len(posted[0].Media) != 1 ||
		posted[0].Media[0].Description != after {
		t.Errorf("published %+v", posted)
	}
}
