package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"

	"dateline/internal/infra/blob"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

// send uploads like a browser: without credentials or other headers than those given.
func send(t *testing.T, s blob.SignedRequest, content []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), s.Method, s.URL, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range s.Header {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

func codeOf(err error) string {
	var e *apperr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func read(t *testing.T, n *newsroomtest.Newsroom, item media.Item) []byte {
	t.Helper()
	body, err := media.Reader(n.Objects, item)(t.Context())
	n.Must(err)
	content, err := io.ReadAll(body)
	n.Must(errors.Join(err, body.Close()))
	return content
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestDirectUpload_SingleRequest(t *testing.T) {
	n := newsroomtest.Open(t)
	content := mediatest.PlainJPEG(300, 400)
	ticket, err := n.Media.StartUpload(t.Context(), n.Owner,
		media.UploadRequest{
			FileName: "../bãi biển.jpg", AltText: "The beach",
			Bytes: int64(len(content)), MIMEType: "image/jpeg", SHA256: strings.ToUpper(hexSum(content)),
		})
	n.Must(err)
	if ticket.Single == nil || ticket.Single.Method != http.MethodPut || len(ticket.Parts) != 0 {
		t.Fatalf("%+v", ticket)
	}
	if _, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID); codeOf(err) != "upload_incomplete" {
		t.Errorf("completed too early: %v", err)
	}
	if status := send(t, *ticket.Single, content[:len(content)-1]); status < 400 {
		t.Errorf("another length: got status %d", status)
	}
	if status := send(t, *ticket.Single, content); status != 200 {
		t.Fatalf("the upload: got status %d", status)
	}
	_, rival, _ := n.Found("Rivals")
	if _, err := n.Media.CompleteUpload(t.Context(), rival, ticket.ID); codeOf(err) != "upload_not_found" {
		t.Errorf("another workspace completes it: %v", err)
	}
	item, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	require.Equal(t, "bãi biển.jpg", item.FileName)
	require.Equal(t, "The beach", item.AltText)
	require.Equal(t, 300, item.Width)
	require.Equal(t, 400, item.Height)
	require.Equal(t, hexSum(content), hex.EncodeToString(item.SHA256))
	require.Equal(t, "media/"+hexSum(content)[:2]+"/"+hexSum(content), item.ObjectKey)
	if !bytes.Equal(read(t, n, item), content) {
		t.Error("the stored bytes differ")
	}
	again, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	if err != nil || again.ID != item.ID || n.Count("select count(*) from media") != 1 {
		t.Errorf("completed twice: %v %v", again.ID, err)
	}
	for _, key := range []string{"uploads/" + ticket.ID.String(), "uploads/" + ticket.ID.String() + ".sealed"} {
		if _, err := n.Objects.Size(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s was not deleted: %v", key, err)
		}
	}
	// The URL is still valid, but does not change the file.
	if status := send(t, *ticket.Single, bytes.Repeat([]byte("x"), len(content))); status != 200 {
		t.Errorf("answered %d", status)
	}
	if !bytes.Equal(read(t, n, item), content) {
		t.Error("the file was replaced")
	}
}

func TestDirectUpload_MultipartIsResumed(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Media.MaxBytes, n.Media.MultipartThreshold, n.Media.PartBytes = 64<<20, 1<<20, 5<<20
	content := mediatest.Movie{Width: 640, Height: 360, Seconds: 60, Frames: 12 << 20}.Bytes()
	ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
		FileName: "film.mp4", Bytes: int64(len(content)), SHA256: hexSum(content),
	})
	n.Must(err)
	if ticket.Single != nil || len(ticket.Parts) != 3 || ticket.PartBytes != 5<<20 {
		t.Fatalf("%+v", ticket)
	}
	part := func(p media.UploadPart) []byte {
		at := int64(p.Number-1) * ticket.PartBytes
		return content[at : at+p.Bytes]
	}
	if status := send(t, ticket.Parts[0].SignedRequest, part(ticket.Parts[0])); status != 200 {
		t.Fatalf("part 1: got status %d", status)
	}
	if status := send(t, ticket.Parts[2].SignedRequest, part(ticket.Parts[2])); status != 200 {
		t.Fatalf("part 3: got status %d", status)
	}
	if _, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID); codeOf(err) != "upload_incomplete" ||
		!strings.Contains(err.Error(), "missing: 2.") {
		t.Errorf("completed with a part missing: %v", err)
	}
	rest, err := n.Media.ReadUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	if len(rest.Parts) != 1 || rest.Parts[0].Number != 2 {
		t.Fatalf("still to be sent: %+v", rest.Parts)
	}
	// A part that is sent twice, first with wrong bytes: the last one counts.
	for _, content := range [][]byte{make([]byte, len(part(rest.Parts[0]))), part(rest.Parts[0])} {
		if status := send(t, rest.Parts[0].SignedRequest, content); status != 200 {
			t.Fatalf("part 2: got status %d", status)
		}
	}
	item, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	if item.Kind != media.Video || item.VideoCodec != "h264" || item.Width != 640 ||
		!bytes.Equal(read(t, n, item), content) {
		t.Errorf("%+v", item)
	}
	done, err := n.Media.ReadUpload(t.Context(), n.Owner, ticket.ID)
	if err != nil || done.MediaID == nil || *done.MediaID != item.ID || len(done.Parts) != 0 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestDirectUpload_VerifiesContent(t *testing.T) {
	n := newsroomtest.Open(t)
	real := pngOf(t)
	for name, c := range map[string]struct {
		content []byte
		sha256  string
		code    string
	}{
		"wrong hash": {real, hexSum([]byte("another")), "upload_mismatch"},
		"no image":   {bytes.Repeat([]byte("x"), 200), "", "invalid_request"},
		"bomb":       {bomb(t, 30_000, 30_000), "", "invalid_request"},
	} {
		ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
			FileName: "a.png", Bytes: int64(len(c.content)), SHA256: c.sha256,
		})
		n.Must(err)
		send(t, *ticket.Single, c.content)
		if _, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID); codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rows := n.Count("select count(*) from media"); rows != 0 {
		t.Errorf("%d files are stored", rows)
	}
	for name, r := range map[string]media.UploadRequest{
		"bytes":     {FileName: "a.png"},
		"mime_type": {FileName: "a.svg", Bytes: 10, MIMEType: "image/svg+xml"},
		"sha256":    {FileName: "a.png", Bytes: 10, SHA256: "abc"},
		"alt_text":  {FileName: "a.png", Bytes: 10, AltText: "a\x00"},
	} {
		if _, err := n.Media.StartUpload(t.Context(), n.Owner, r); problemOf(err).Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := n.Media.StartUpload(t.Context(), n.Owner,
		media.UploadRequest{Bytes: n.Media.MaxBytes + 1}); problemOf(err).Code != "too_large" {
		t.Errorf("too large: %v", err)
	}
}

// A verified hash stays valid: the sender cannot replace the content while it is
// inspected.
func TestDirectUpload_StoresTheVerifiedBytes(t *testing.T) {
	n := newsroomtest.Open(t)
	shown, hidden := photo(t, 40, 30, 1), photo(t, 40, 30, 3)
	if len(shown) != len(hidden) {
		t.Fatal("the photos must be of one size")
	}
	ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
		FileName: "a.jpg", Bytes: int64(len(shown)),
	})
	n.Must(err)
	send(t, *ticket.Single, shown)
	n.Media.Objects = &swapping{Objects: n.Objects, swap: func() { send(t, *ticket.Single, hidden) }}
	item, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	if content := read(t, n, item); hexSum(content) != hex.EncodeToString(item.SHA256) {
		t.Error("the content does not match its hash")
	}
}

// swapping calls a function before every copy and every read.
type swapping struct {
	media.Objects
	swap func()
}

func (s *swapping) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s.swap()
	return s.Objects.GetRange(ctx, key, offset, length)
}

func (s *swapping) Copy(ctx context.Context, from, to, contentType string) error {
	s.swap()
	return s.Objects.Copy(ctx, from, to, contentType)
}

func TestDirectUpload_CompletesOnce(t *testing.T) {
	n := newsroomtest.Open(t)
	content := photo(t, 100, 100, 1)
	ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
		FileName: "a.jpg", Bytes: int64(len(content)),
	})
	n.Must(err)
	send(t, *ticket.Single, content)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if item, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID); err == nil &&
				item.ID != ticket.ID || err != nil && codeOf(err) != "upload_busy" {
				t.Errorf("%v %v", item.ID, err)
			}
		})
	}
	all.Wait()
	if rows := n.Count("select count(*) from media"); rows != 1 {
		t.Errorf("%d files are stored", rows)
	}
	// A completion that was interrupted before it was recorded is resumed.
	n.Exec("update media_uploads set media_id = null")
	if item, err := n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID); err != nil || item.ID != ticket.ID {
		t.Errorf("%v %v", item.ID, err)
	}
}
