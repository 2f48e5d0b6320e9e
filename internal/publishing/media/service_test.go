package media_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func encoded(t *testing.T, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out, image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Gray{}})); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pngOf(t *testing.T) []byte { return encoded(t, png.Encode) }

func TestUpload_DetectsTheType(t *testing.T) {
	n := newsroomtest.Open(t)
	mp4 := mediatest.Movie{Brand: "mp42", Width: 30, Height: 20, Seconds: 1}.Bytes()
	webp := append([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f"), 0x1d, 0xc0, 0x04, 0x00, 0, 0, 0, 0, 0, 0,
		0, 0, 0)
	for name, c := range map[string]struct {
		bytes []byte
		mime  string
		sized bool
	}{
		"photo.txt": {pngOf(t), "image/png", true},
		"photo.png": {
			encoded(t, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }),
			"image/jpeg", true,
		},
		"photo": {
			encoded(t, func(w io.Writer, i image.Image) error { return gif.Encode(w, i, nil) }), "image/gif",
			true,
		},
		"photo.jpeg": {webp, "image/webp", true},
		"film.exe":   {mp4, "video/mp4", true},
		"film.mp4": {
			mediatest.Movie{Brand: "qt  ", Width: 30, Height: 20, Seconds: 1}.Bytes(), "video/quicktime",
			true,
		},
		"film.avi": {webm("webm", 30, 20, 1000), "video/webm", true},
	} {
		item, err := n.Media.Upload(t.Context(), n.Owner, name, "", bytes.NewReader(c.bytes))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if item.MIMEType != c.mime || item.Bytes != int64(len(c.bytes)) || item.FileName != name {
			t.Errorf("%s is stored as %+v", name, item)
		}
		if c.sized && (item.Width != 30 || item.Height != 20) {
			t.Errorf("%s has %d × %d pixels", name, item.Width, item.Height)
		}
	}
}

func TestUpload_RejectsUnsupportedFiles(t *testing.T) {
	n := newsroomtest.Open(t)
	whole := pngOf(t)
	for name, c := range map[string]struct {
		body []byte
		code string
	}{
		"empty":       {nil, "empty"},
		"text":        {[]byte("hello"), "unsupported_type"},
		"page":        {[]byte("<html><script>alert(1)</script>"), "unsupported_type"},
		"drawing":     {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "unsupported_type"},
		"program":     {append([]byte("MZ"), make([]byte, 600)...), "unsupported_type"},
		"cut image":   {whole[:20], "damaged"},
		"noise image": {append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{7}, 100)...), "damaged"},
		"too large":   {append(whole, make([]byte, n.Media.MaxBytes)...), "too_large"},
	} {
		_, err := n.Media.Upload(t.Context(), n.Owner, name+".png", "", bytes.NewReader(c.body))
		var e *apperr.Error
		if !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Field != "file" || e.Fields[0].Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if (c.code == "too_large") != (e != nil && e.Kind == apperr.KindTooLarge) {
			t.Errorf("%s: kind %v", name, e.Kind)
		}
	}
	if rows := n.Count("select count(*) from media"); rows != 0 {
		t.Errorf("%d files are stored", rows)
	}
}

func TestUpload_AcceptsExactlyTheLimit(t *testing.T) {
	n := newsroomtest.Open(t)
	body := pngOf(t)
	n.Media.MaxBytes = int64(len(body))
	if _, err := n.Media.Upload(t.Context(), n.Owner, "a.png", "", bytes.NewReader(body)); err != nil {
		t.Error(err)
	}
}

func TestUpload_InterruptedStoresNothing(t *testing.T) {
	n := newsroomtest.Open(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	_, err := n.Media.Upload(t.Context(), n.Owner, "a.png", "",
		io.MultiReader(bytes.NewReader(pngOf(t)), iotest.ErrReader(io.ErrUnexpectedEOF)))
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != "upload_broken" {
		t.Errorf("got %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(tmp, "*")); err != nil || len(files) != 0 {
		t.Errorf("left over: %v %v", files, err)
	}
	if _, err := os.Stat(tmp); err != nil {
		t.Error(err)
	}
}

func TestUpload_SameBytesHaveTheSameKey(t *testing.T) {
	n := newsroomtest.Open(t)
	body := pngOf(t)
	first, err := n.Media.Upload(t.Context(), n.Owner, "a.png", "One", bytes.NewReader(body))
	n.Must(err)
	second, err := n.Media.Upload(t.Context(), n.Owner, "b.png", "Two", bytes.NewReader(body))
	n.Must(err)
	sum := hex.EncodeToString(first.SHA256)
	if first.ID == second.ID || first.ObjectKey != second.ObjectKey || first.ObjectKey != "media/"+sum[:2]+"/"+sum {
		t.Errorf("keys %s and %s", first.ObjectKey, second.ObjectKey)
	}
	for range 2 { // adapters may read twice
		r, err := media.Reader(n.Objects, first)(t.Context())
		n.Must(err)
		got, err := io.ReadAll(r)
		n.Must(errors.Join(err, r.Close()))
		if !bytes.Equal(got, body) {
			t.Error("the stored bytes differ")
		}
	}
	stored, err := n.Store.Publishing.Media.MediaItem(t.Context(), n.Workspace.ID, second.ID)
	if err != nil || stored.AltText != "Two" || stored.FileName != "b.png" {
		t.Errorf("%+v %v", stored, err)
	}
	rivals, _, _ := n.Found("Rivals")
	if _, err := n.Store.Publishing.Media.MediaItem(t.Context(), rivals.ID, first.ID); err == nil {
		t.Error("another workspace reads the file")
	}
}

func TestUpload_CleansFileNames(t *testing.T) {
	n := newsroomtest.Open(t)
	body := pngOf(t)
	for name, want := range map[string]string{
		"photo.png": "photo.png", "../../etc/passwd": "passwd", `C:\Users\Ann\ảnh đẹp.png`: "ảnh đẹp.png",
		"a\x00b\nc\x7f.png": "abc.png",
		"":                  "", ".": "", "..": "", "/": "", "bad\xffutf.png": "badutf.png",
	} {
		item, err := n.Media.Upload(t.Context(), n.Owner, name, "", bytes.NewReader(body))
		if err != nil || item.FileName != want {
			t.Errorf("%q became %q, want %q (%v)", name, item.FileName, want, err)
		}
	}
	item, err := n.Media.Upload(t.Context(), n.Owner, strings.Repeat("ả", 300)+".png", "", bytes.NewReader(body))
	if err != nil || len(item.FileName) > 200 || !strings.HasSuffix(item.FileName, "ả.png") {
		t.Errorf("a long name became %q (%v)", item.FileName, err)
	}
}

func TestUpload_ChecksAltText(t *testing.T) {
	n := newsroomtest.Open(t)
	for text, code := range map[string]string{
		strings.Repeat("x", 10_001): "too_long", "a\x00b": "invalid",
		"a\xffb": "invalid",
	} {
		_, err := n.Media.Upload(t.Context(), n.Owner, "a.png", text, bytes.NewReader(pngOf(t)))
		var e *apperr.Error
		if !errors.As(err, &e) || e.Fields[0].Field != "alt_text" || e.Fields[0].Code != code {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

func TestUpload_ReportsAnUnavailableObjectStore(t *testing.T) {
	n := newsroomtest.Open(t)
	n.StopObjects()
	_, err := n.Media.Upload(t.Context(), n.Owner, "a.png", "", bytes.NewReader(pngOf(t)))
	var e *apperr.Error
	if err == nil || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	if rows := n.Count("select count(*) from media"); rows != 0 {
		t.Errorf("%d files are stored", rows)
	}
}
