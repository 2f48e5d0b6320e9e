package api_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
)

func picture(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// form writes multipart parts from pairs of name and content; the one named file is
// sent as a file.
func form(t testing.TB, parts ...string) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for i := 0; i < len(parts); i += 2 {
		var part io.Writer
		var err error
		if parts[i] == "file" {
			part, err = w.CreateFormFile("file", "photo.png")
		} else {
			part, err = w.CreateFormField(parts[i])
		}
		if err == nil {
			_, err = io.WriteString(part, parts[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

func (s *server) upload0(name string, content []byte, headers ...string) answer {
	s.t.Helper()
	body, contentType := form(s.t, "file", string(content))
	raw := strings.Replace(body.String(), "photo.png", name, 1)
	return s.send("POST", "/api/v1/media", raw, append([]string{"Content-Type", contentType}, headers...)...)
}

func (s *server) upload(name, altText string) (m spec.Media) {
	s.t.Helper()
	body, contentType := form(s.t, "alt_text", altText, "file", string(picture(s.t)))
	s.decode(s.send("POST", "/api/v1/media", strings.Replace(body.String(), "photo.png", name, 1), "Content-Type",
		contentType), 201, &m)
	return m
}

func TestUploadMedia_DetectsProperties(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.upload("bãi biển.txt", "Bãi biển lúc bình minh")
	require.Equal(t, "image/png", made.MimeType)
	require.Equal(t, 30, *made.Width)
	require.Equal(t, 20, *made.Height)
	require.Equal(t, "Bãi biển lúc bình minh", made.AltText)
	require.Equal(t, "bãi biển.txt", made.FileName)
	require.Equal(t, int64(len(picture(t))), made.Bytes)
	var read spec.Media
	s.decode(s.send("GET", "/api/v1/media/"+made.Id.String(), nil), 200, &read)
	if read.Id != made.Id || read.AltText != made.AltText {
		t.Errorf("read %+v", read)
	}
}

func TestUploadMedia_AcceptsTheDescriptionAfterTheFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	body, contentType := form(t, "file", string(picture(t)), "alt_text", "Bãi biển lúc bình minh")
	var made spec.Media
	s.decode(s.send("POST", "/api/v1/media", body, "Content-Type", contentType), 201, &made)
	if want := "Bãi biển lúc bình minh"; made.AltText != want {
		t.Errorf("got the description %q, want %q", made.AltText, want)
	}
}

func TestUploadMedia_ExplainsErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	photo := string(picture(t))
	whole, contentType := form(t, "file", photo)
	for name, c := range map[string]struct {
		parts       []string
		body        any
		contentType string
		status      int
		code, field string
	}{
		"no file": {
			parts: []string{"alt_text", "x"}, status: 422, code: "invalid_request", field: "file",
		},
		"unknown field": {
			parts: []string{"colour", "red", "file", photo}, status: 422, code: "invalid_request", field: "colour",
		},
		"no image": {
			parts: []string{"file", "hello"}, status: 422, code: "invalid_request", field: "file",
		},
		"damaged image": {
			parts: []string{"file", photo[:20]}, status: 422, code: "invalid_request",
			field: "file",
		},
		"empty file": {
			parts: []string{"file", ""}, status: 422, code: "invalid_request", field: "file",
		},
		"long description": {
			parts:  []string{"alt_text", strings.Repeat("x", 11_000), "file", photo},
			status: 422, code: "invalid_request", field: "alt_text",
		},
		"long description after the file": {
			parts:  []string{"file", photo, "alt_text", strings.Repeat("x", 11_000)},
			status: 422, code: "invalid_request", field: "alt_text",
		},
		"unknown field after the file": {
			parts: []string{"file", photo, "colour", "red"}, status: 422, code: "invalid_request", field: "colour",
		},
		"two files": {
			parts: []string{"file", photo, "file", photo}, status: 422, code: "invalid_request",
			field: "file",
		},
		"NUL description": {
			parts: []string{"alt_text", "a\x00b", "file", photo}, status: 422, code: "invalid_request",
			field: "alt_text",
		},
		"too large": {
			parts: []string{"file", photo + strings.Repeat("x", 1<<20)}, status: 413, code: "too_large",
			field: "file",
		},
		"far too large": {
			parts: []string{"file", photo + strings.Repeat("x", 3<<20)}, status: 413, code: "too_large",
			field: "body",
		},
		"cut form": {
			body: whole.String()[:100], contentType: contentType, status: 422, code: "invalid_request",
			field: "file",
		},
		"cut file": {
			body: whole.String()[:250], contentType: contentType, status: 422, code: "upload_broken",
			field: "file",
		},
		"no boundary": {
			body: photo, contentType: "multipart/form-data", status: 400, code: "invalid_request",
			field: "body",
		},
		"bare file": {
			body: photo, contentType: "image/png", status: 415, code: "unsupported_media_type",
			field: "Content-Type",
		},
		"empty body": {body: "", contentType: contentType, status: 422, code: "invalid_request", field: "body"},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			body, kind := c.body, c.contentType
			if c.parts != nil {
				made, madeType := form(t, c.parts...)
				body, kind = made.String(), madeType
			}
			s.refused(s.send("POST", "/api/v1/media", body, "Content-Type", kind), c.status, c.code, c.field)
		})
	}
	if rows := s.Count("select count(*) from media"); rows != 0 {
		t.Errorf("%d files are stored", rows)
	}
}

func TestUploadMedia_LimitsUnknownLength(t *testing.T) {
	t.Parallel()
	s := start(t)
	body, contentType := form(t, "file", string(picture(t))+strings.Repeat("x", 1<<20))
	s.refused(s.send("POST", "/api/v1/media", io.MultiReader(body), "Content-Type", contentType), 413, "too_large",
		"file")
}

func TestUploadMedia_IsIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t)
	send := func(altText, key string) answer {
		body, contentType := form(t, "alt_text", altText, "file", string(picture(t)))
		return s.send("POST", "/api/v1/media", body, "Content-Type", contentType, "Idempotency-Key", key)
	}
	var first, second spec.Media
	a := send("One", "k1")
	s.decode(a, 201, &first)
	if a.Header.Get("Idempotent-Replayed") != "" || a.Header.Get("Location") != "/api/v1/media/"+first.Id.String() {
		t.Errorf("headers %v", a.Header)
	}
	a = send("One", "k1")
	s.decode(a, 201, &second)
	if second.Id != first.Id || a.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("uploaded twice: got ids %s and %s, want one", first.Id, second.Id)
	}
	s.refused(send("Two", "k1"), 422, "idempotency_key_reused", "Idempotency-Key")
	if rows := s.Count("select count(*) from media"); rows != 1 {
		t.Errorf("%d files are stored", rows)
	}
}

func TestMediaUpload_IsIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Media.MaxBytes, s.Media.MultipartThreshold, s.Media.PartBytes = 64<<20, 1<<20, 5<<20
	for name, bytes := range map[string]int64{"whole": 900, "in parts": 12 << 20} {
		begin := func(bytes int64) answer {
			return s.send("POST", "/api/v1/media/uploads", object{"file_name": "a.mp4", "bytes": bytes},
				"Idempotency-Key", name)
		}
		var first, again spec.MediaUpload
		s.decode(begin(bytes), 201, &first)
		a := begin(bytes)
		s.decode(a, 201, &again)
		if again.Id != first.Id || a.Header.Get("Idempotent-Replayed") != "true" ||
			(again.Parts == nil) != (bytes < 1<<20) {
			t.Errorf("%s: started as %s, then as %s %v", name, first.Id, again.Id, a.Header)
		}
		s.refused(begin(bytes+1), 422, "idempotency_key_reused")
	}
	if n := s.Count("select count(*) from media_uploads"); n != 2 {
		t.Errorf("%d uploads were started", n)
	}
}

func TestListMedia_FiltersAndSearches(t *testing.T) {
	t.Parallel()
	s := start(t)
	beach := s.upload("bãi biển.png", "Bình minh ở Đà Nẵng")
	cat := s.upload("CAT_100%.png", "")
	s.Exec("update media set kind = 'video' where id = $1", cat.Id)
	list := func(query string) (ids []string, next *string) {
		var page spec.MediaPage
		s.decode(s.send("GET", "/api/v1/media?"+query, nil), 200, &page)
		for _, m := range page.Media {
			ids = append(ids, m.Id.String())
		}
		return ids, page.NextCursor
	}
	b, c := beach.Id.String(), cat.Id.String()
	for query, want := range map[string][]string{
		"": {c, b}, "q=bai+bien": {b}, "q=B%C3%83I": {b}, "q=da+nang+minh": {b}, "q=cat": {c}, "q=100%25": {c},
		"q=_": {c}, "q=%25": {c}, "q=dog": nil,
		"kind=video": {c}, "kind=image": {b}, "kind=image&q=cat": nil, "q=b%C3%A3i+bie%CC%82%CC%89n": {b},
	} {
		if got, _ := list(query); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	first, next := list("limit=1")
	if next == nil || !slices.Equal(first, []string{c}) {
		t.Fatalf("the first page is %q", first)
	}
	if second, next := list("limit=1&cursor=" + *next); next != nil || !slices.Equal(second, []string{b}) {
		t.Errorf("the second page is %q", second)
	}
	_, _, rivalToken := s.Found("Rivals")
	var page spec.MediaPage
	s.decode(s.send("GET", "/api/v1/media", nil, "Authorization", "Bearer "+rivalToken), 200, &page)
	if len(page.Media) != 0 {
		t.Error("another workspace can list the files")
	}
}

func TestMedia_EditAndDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	made := s.upload("a.png", "Before")
	one := "/api/v1/media/" + made.Id.String()
	var edited spec.Media
	s.decode(s.send("PATCH", one, object{"alt_text": "After", "file_name": "../new.png"}), 200, &edited)
	if edited.AltText != "After" || edited.FileName != "new.png" {
		t.Errorf("edited %+v", edited)
	}
	var page spec.MediaPage
	s.decode(s.send("GET", "/api/v1/media?q=after", nil), 200, &page)
	if len(page.Media) != 1 {
		t.Error("the new description is not found")
	}
	_, _, rival := s.Found("Rivals")
	for _, method := range []string{"GET", "DELETE"} {
		s.refused(s.send(method, one, nil, "Authorization", "Bearer "+rival), 404, "media_not_found")
	}
	s.refused(s.send("PATCH", one, object{"alt_text": "Ours"}, "Authorization", "Bearer "+rival), 404,
		"media_not_found")
	p := s.post(s.send("POST", "/api/v1/posts", hello(object{"attachments": []string{made.Id.String()}})), 201)
	s.refused(s.send("DELETE", one, nil), 409, "media_in_use")
	s.post(s.send("DELETE", "/api/v1/posts/"+p.Id.String(), nil), 200)
	if a := s.send("DELETE", one, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s: %s", a.Status, a.body)
	}
	s.refused(s.send("GET", one, nil), 404, "media_not_found")
	s.refused(s.send("GET", one+"/content", nil), 404, "media_not_found")
	s.refused(s.send("GET", one+"/fitness", nil), 404, "media_not_found")
	s.refused(s.send("PATCH", one, object{"alt_text": "Again"}), 404, "media_not_found")
}

func TestUploadMedia_ReportsAnUnavailableObjectStore(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.StopObjects()
	s.refused(s.upload0("a.png", picture(t)), 503, "unavailable")
}
