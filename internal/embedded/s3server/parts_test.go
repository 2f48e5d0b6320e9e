package s3server_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// A multipart upload survives a restart, accepts its parts in any order and repeatedly,
// and is not held in memory.
func TestUploadsInPartsLieOnDisk(t *testing.T) {
	dir := t.TempDir()
	e, stop := serve(t, dir)
	c, bucket, key := clientOf(e), aws.String("dateline"), aws.String("uploads/một phim.mp4")
	begun, err := c.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{
		Bucket: bucket, Key: key, ContentType: aws.String("video/mp4"),
	})
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, 40<<20)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	piece := func(n int) []byte { return content[(n-1)*(10<<20) : n*(10<<20)] }
	put := func(n int, body []byte) types.CompletedPart {
		t.Helper()
		out, err := c.UploadPart(t.Context(), &s3.UploadPartInput{
			Bucket: bucket, Key: key, UploadId: begun.UploadId, PartNumber: aws.Int32(int32(n)),
			Body: bytes.NewReader(body),
		})
		if err != nil {
			t.Fatal(err)
		}
		return types.CompletedPart{ETag: out.ETag, PartNumber: aws.Int32(int32(n))}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done := []types.CompletedPart{put(3, piece(3)), put(1, piece(2)), put(1, piece(1)), put(4, piece(4))}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+16<<20 {
		t.Errorf("the parts use %d MB of memory", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
	stop()
	e, _ = serve(t, dir)
	c = clientOf(e)
	done = append(done[2:], done[0], put(2, piece(2)))
	slices.SortFunc(done, func(a, b types.CompletedPart) int { return int(*a.PartNumber - *b.PartNumber) })
	pages := s3.NewListPartsPaginator(c, &s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: begun.UploadId},
		func(o *s3.ListPartsPaginatorOptions) { o.Limit = 3 })
	var listed []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Parts {
			if *p.Size != 10<<20 {
				t.Errorf("part %d has %d bytes", *p.PartNumber, *p.Size)
			}
			listed = append(listed, *p.ETag)
		}
	}
	if len(listed) != 4 || listed[0] != *done[0].ETag {
		t.Errorf("listed %q, want %d", listed, len(done))
	}
	if open, err := c.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: bucket}); err != nil ||
		len(open.Uploads) != 1 || *open.Uploads[0].Key != *key {
		t.Errorf("open uploads: %+v %v", open, err)
	}
	complete := func(parts []types.CompletedPart) error {
		_, err := c.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
			Bucket: bucket, Key: key,
			UploadId:        begun.UploadId,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		return err
	}
	wrong := slices.Clone(done)
	wrong[1].ETag = wrong[0].ETag
	for name, c := range map[string]struct {
		parts []types.CompletedPart
		code  string
	}{
		"another part": {wrong, "InvalidPart"},
		"no part":      {nil, "MalformedXML"},
		"a missing part": {
			append(slices.Clone(done), types.CompletedPart{ETag: done[0].ETag, PartNumber: aws.Int32(9)}),
			"InvalidPart",
		},
		"another order": {[]types.CompletedPart{done[1], done[0]}, "InvalidPartOrder"},
	} {
		var refused smithy.APIError
		if err := complete(c.parts); !errors.As(err, &refused) || refused.ErrorCode() != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := complete(done); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, c, *key), content) {
		t.Error("the object differs from its parts")
	}
	var apiErr smithy.APIError
	if err := complete(done); !errors.As(err, &apiErr) || apiErr.ErrorCode() != "NoSuchUpload" {
		t.Errorf("completed twice: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "uploads", "*")); err != nil || len(left) != 0 {
		t.Errorf("leftovers: %q %v", left, err)
	}
	head, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key})
	if err != nil || *head.ContentType != "video/mp4" {
		t.Errorf("%+v %v", head, err)
	}
}

func TestAbandonedUploadsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	e, _ := serve(t, dir)
	c, bucket, key := clientOf(e), aws.String("dateline"), aws.String("a")
	begun, err := c.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.UploadPart(t.Context(), &s3.UploadPartInput{
		Bucket: bucket, Key: key, UploadId: begun.UploadId,
		PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
	}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../incoming", "..", ".", "nothing"} {
		if _, err := c.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{
			Bucket: bucket, Key: key,
			UploadId: &id,
		}); err == nil {
			t.Errorf("%s is abandoned", id)
		}
	}
	if _, err := c.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{
		Bucket: bucket, Key: aws.String("b"),
		UploadId: begun.UploadId,
	}); err == nil {
		t.Error("abandoned under another key")
	}
	if _, err := c.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{
		Bucket: bucket, Key: key,
		UploadId: begun.UploadId,
	}); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "uploads", "*")); err != nil || len(left) != 0 {
		t.Errorf("leftovers: %q %v", left, err)
	}
}

// A page of another origin may use a URL that was signed for it, and gets nothing
// without one.
func TestPagesMayUseSignedAddresses(t *testing.T) {
	e, _ := serve(t, t.TempDir())
	ask := func(method string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, e.url+"/dateline/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "https://dateline.example")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	preflight := ask("OPTIONS", "Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers",
		"content-type")
	if preflight.StatusCode != http.StatusNoContent || preflight.Header.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(preflight.Header.Get("Access-Control-Allow-Methods"), "PUT") {
		t.Errorf("preflight: %s %v", preflight.Status, preflight.Header)
	}
	if refused := ask("GET"); refused.StatusCode != http.StatusForbidden ||
		refused.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("unsigned: %s %v", refused.Status, refused.Header)
	}
	if refused := ask("OPTIONS"); refused.StatusCode != http.StatusForbidden {
		t.Errorf("no preflight: %s", refused.Status)
	}
}
