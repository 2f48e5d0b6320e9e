package platformtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"dateline/internal/testing/mediatest"
	"dateline/platforms/network"
)

// NewImage returns an image for an adapter's own tests.
func NewImage(t *testing.T, mimeType string) network.Media {
	t.Helper()
	return newImage(t, Subject{ImageType: mimeType}, "")
}

// NewDocument returns a document of three pages.
func NewDocument(fileName string) network.Media {
	content := mediatest.PDF(3, true)
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "application/pdf", Bytes: int64(len(content)), Pages: 3},
		FileName:  fileName,
		Open:      func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

// imageSide is a width and height in pixels that every network accepts.
const imageSide = 640

// newImage returns a small image of the type that the network accepts. It is
// served on loopback for networks that fetch attachments.
func newImage(t *testing.T, s Subject, altText string) network.Media {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, imageSide, imageSide))
	for i := range imageSide {
		img.Set(i, i, color.NRGBA{R: 200, G: 80, B: 40, A: 255})
	}
	// Every image is different, because networks detect repeated bytes.
	for i, b := range []byte(rand.Text()) {
		img.Set(16*i, 8, color.NRGBA{R: b, G: 255 - b, B: 8 * b, A: 255})
	}
	var buf bytes.Buffer
	mimeType, name := "image/png", "ảnh \"1\".png"
	encode := png.Encode
	if s.ImageType == "image/jpeg" {
		mimeType, name = s.ImageType, "ảnh 1.jpg"
		encode = func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
	}
	if err := encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mimeType)
		_, _ = w.Write(buf.Bytes())
	}))
	t.Cleanup(served.Close)
	return network.Media{
		MediaInfo: network.MediaInfo{
			MIMEType: mimeType, Bytes: int64(buf.Len()), Width: imageSide, Height: imageSide,
			AltText: altText,
		},
		FileName: name,
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
		},
		URL: func(context.Context, time.Duration) (string, error) { return served.URL + "/picture", nil },
	}
}

// pollInterval is the longest pause before the state of an upload is read again.
// Fakes process within milliseconds.
func pollInterval(s Subject) time.Duration {
	if s.Fake != nil {
		return 20 * time.Millisecond
	}
	return 2 * time.Second
}

// stage uploads an attachment and waits until it is ready.
func stage(t *testing.T, s Subject, media network.Media) network.Staged {
	t.Helper()
	staged, err := s.Network.Stage(t.Context(), s.Account, media)
	if err != nil {
		t.Fatalf("Stage: %v", err)
	}
	if !s.MediaWithPost {
		wantRates(t, s, network.CallUpload, staged.Rates, 1)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if staged.Ready {
			return staged
		}
		if staged.CheckAfter <= 0 {
			t.Fatal("Stage is not ready and does not say when to ask again")
		}
		time.Sleep(min(staged.CheckAfter, pollInterval(s)))
		if staged, err = s.Network.StageStatus(t.Context(), s.Account, staged); err != nil {
			t.Fatalf("StageStatus: %v", err)
		}
	}
	t.Fatal("the network never finished processing")
	return staged
}
