package s3server_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"dateline/internal/embedded/s3server"
)

// endpoint is the address of a server and its credentials.
type endpoint struct{ url, accessKey, secretKey string }

func clientOf(e endpoint) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(e.url), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(e.accessKey, e.secretKey, ""),
	})
}

// serve starts a server on a directory.
func serve(t *testing.T, dir string) (endpoint, func()) {
	t.Helper()
	handler, err := s3server.New(s3server.Options{Dir: dir, Bucket: "dateline", AccessKey: "key", SecretKey: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return endpoint{server.URL, "key", "secret"}, server.Close
}

func read(t *testing.T, c *s3.Client, key string) []byte {
	t.Helper()
	object, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("dateline"), Key: &key})
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	defer object.Body.Close()
	content, err := io.ReadAll(object.Body)
	if err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	return content
}

func TestS3(t *testing.T) {
	dir := t.TempDir()
	e, stop := serve(t, dir)
	defer stop()
	c := clientOf(e)
	ctx := t.Context()
	bucket := aws.String("dateline")

	keys := []string{"media/2026/ảnh đẹp + 100%.jpg", "plain", "raw/ab/cd.html.gz"}
	for _, key := range keys {
		put := &s3.PutObjectInput{
			Bucket: bucket, Key: &key, Body: strings.NewReader("content of " + key),
			ContentType: aws.String("image/jpeg"), Metadata: map[string]string{"workspace": "7"},
		}
		if _, err := c.PutObject(ctx, put); err != nil {
			t.Fatalf("put %s: %v", key, err)
		}
		if got := read(t, c, key); string(got) != "content of "+key {
			t.Errorf("get %s: %q", key, got)
		}
	}
	head, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: &keys[0]})
	if err != nil || *head.ContentType != "image/jpeg" || head.Metadata["workspace"] != "7" ||
		*head.ContentLength != int64(len("content of "+keys[0])) {
		t.Errorf("head: %+v %v", head, err)
	}
	part, err := c.GetObject(ctx, &s3.GetObjectInput{
		Bucket: bucket, Key: aws.String("plain"), Range: aws.String("bytes=8-9"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer part.Body.Close()
	if got, err := io.ReadAll(part.Body); err != nil || string(got) != "of" {
		t.Errorf("range: %q %v", got, err)
	}
	var listed []string
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Contents {
			listed = append(listed, *object.Key)
		}
	}
	if !slices.Equal(listed, keys) {
		t.Errorf("list: %q", listed)
	}

	big := make([]byte, 20<<20)
	if _, err := rand.Read(big); err != nil {
		t.Fatal(err)
	}
	uploader := transfermanager.New(c, func(o *transfermanager.Options) {
		o.PartSizeBytes = 8 << 20
		o.MultipartUploadThreshold = 8 << 20
	})
	if _, err := uploader.UploadObject(ctx, &transfermanager.UploadObjectInput{
		Bucket: bucket, Key: aws.String("video"),
		Body: bytes.NewReader(big),
	}); err != nil {
		t.Fatalf("upload in parts: %v", err)
	}
	if !bytes.Equal(read(t, c, "video"), big) {
		t.Error("the object differs from the uploaded parts")
	}
	if _, err := c.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: bucket, Key: aws.String("copy"),
		CopySource: aws.String("dateline/plain"),
	}); err != nil {
		t.Errorf("copy: %v", err)
	}

	stop()
	e, stop2 := serve(t, dir)
	defer stop2()
	c = clientOf(e)
	if !bytes.Equal(read(t, c, "video"), big) || string(read(t, c, "copy")) != "content of plain" {
		t.Error("data is lost after a restart")
	}
	if _, err := c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &keys[0]}); err != nil {
		t.Error(err)
	}
	var missing *types.NoSuchKey
	if _, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &keys[0]}); !errors.As(err, &missing) {
		t.Errorf("get after delete: %v", err)
	}
	if leftovers, err := filepath.Glob(filepath.Join(dir, "incoming", "*")); err != nil || len(leftovers) != 0 {
		t.Errorf("left over: %v %v", leftovers, err)
	}
}

func TestS3Credentials(t *testing.T) {
	e, stop := serve(t, t.TempDir())
	defer stop()
	c := clientOf(e)
	bucket, key := aws.String("dateline"), aws.String("một/hai ba.txt")
	if _, err := c.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("secret")}); err != nil {
		t.Fatal(err)
	}
	wrong := e
	wrong.secretKey += "x"
	var refused smithy.APIError
	if _, err := clientOf(wrong).GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key}); !errors.As(err,
		&refused) || refused.ErrorCode() != "SignatureDoesNotMatch" {
		t.Errorf("wrong secret: %v", err)
	}
	if status, _ := get(t, e.url+"/dateline/plain"); status != http.StatusForbidden {
		t.Errorf("unsigned: %d", status)
	}
	presign := func(lifetime time.Duration) string {
		request, err := s3.NewPresignClient(c).PresignGetObject(t.Context(),
			&s3.GetObjectInput{Bucket: bucket, Key: key}, s3.WithPresignExpires(lifetime))
		if err != nil {
			t.Fatal(err)
		}
		return request.URL
	}
	link := presign(time.Minute)
	if status, body := get(t, link); status != http.StatusOK || body != "secret" {
		t.Errorf("presigned: %d %s", status, body)
	}
	if status, _ := get(t, strings.Replace(link, "hai", "HAI", 1)); status != http.StatusForbidden {
		t.Errorf("presigned for another object: %d", status)
	}
	short := presign(time.Second)
	time.Sleep(1100 * time.Millisecond)
	if status, _ := get(t, short); status != http.StatusForbidden {
		t.Errorf("expired: %d", status)
	}
	put, err := s3.NewPresignClient(c).PresignPutObject(t.Context(), &s3.PutObjectInput{
		Bucket: bucket, Key: aws.String("put"),
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, put.URL, strings.NewReader("by link"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || string(read(t, c, "put")) != "by link" {
		t.Errorf("presigned put: %d", response.StatusCode)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// An interrupted upload, or one whose body does not match its signature, leaves the old
// object unchanged.
func TestS3BrokenUpload(t *testing.T) {
	e, stop := serve(t, t.TempDir())
	defer stop()
	c := clientOf(e)
	bucket, key := aws.String("dateline"), aws.String("kept")
	if _, err := c.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("the old one")}); err != nil {
		t.Fatal(err)
	}
	var signed *http.Request
	capture := s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &e.url, UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(e.accessKey, e.secretKey, ""),
		HTTPClient: doFunc(func(r *http.Request) (*http.Response, error) {
			signed = r.Clone(t.Context())
			return nil, errors.New("captured")
		}),
	})
	if _, err := capture.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("the new one")}); err == nil {
		t.Fatal("want the capture's error")
	}
	for name, body := range map[string]io.Reader{
		"another body": strings.NewReader("a forgery!!"),
		"broken off":   io.MultiReader(strings.NewReader("the"), errorReader{}),
	} {
		request := signed.Clone(t.Context())
		request.Body = io.NopCloser(body)
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %d", name, response.StatusCode)
			}
		}
		if got := read(t, c, "kept"); string(got) != "the old one" {
			t.Errorf("%s: the object is now %q", name, got)
		}
	}
}

type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the connection was lost") }
