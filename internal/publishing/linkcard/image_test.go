package linkcard_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"testing"

	"dateline/internal/publishing/linkcard"
)

func TestImage_IsSmallAndCached(t *testing.T) {
	t.Parallel()
	var avatar bytes.Buffer
	if err := png.Encode(&avatar, image.NewNRGBA(image.Rect(0, 0, 400, 400))); err != nil {
		t.Fatal(err)
	}
	address, asked := web(t, map[string]func(w http.ResponseWriter){
		"/a.png": page("image/png", avatar.String()), "/page": page("text/html", "<p>"),
	})
	f := &linkcard.Fetcher{Web: http.DefaultClient}
	for range 2 {
		got, err := f.Image(t.Context(), address+"/a.png", 96)
		if err != nil {
			t.Fatal(err)
		}
		if size, err := jpeg.DecodeConfig(bytes.NewReader(got)); err != nil || size.Width != 96 || size.Height != 96 {
			t.Errorf("got %d × %d, %v, want a JPEG of 96 × 96", size.Width, size.Height, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("got %d requests, want one", asked.Load())
	}
	for _, bad := range []string{address + "/page", address + "/missing", "file:///etc/passwd", "http://%zz"} {
		if got, err := f.Image(t.Context(), bad, 96); err == nil {
			t.Errorf("%s: got %d bytes, want an error", bad, len(got))
		}
	}
}
