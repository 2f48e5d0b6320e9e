package s3server_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3/backend/s3afero"
	"github.com/spf13/afero"
)

// oldServer writes objects as earlier versions of this server did: through the
// same backend, in the same directory.
func oldServer(t *testing.T, dir string, buckets ...string) *s3afero.MultiBucketBackend {
	t.Helper()
	old, err := s3afero.MultiBucket(afero.NewBasePathFs(afero.NewOsFs(), dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, bucket := range buckets {
		if err := old.CreateBucket(bucket); err != nil {
			t.Fatal(err)
		}
	}
	return old
}

func putOld(t *testing.T, old *s3afero.MultiBucketBackend, bucket, key string, meta map[string]string, content []byte) {
	t.Helper()
	if _, err := old.PutObject(bucket, key, meta, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, c *s3.Client, bucket string) (keys []string) {
	t.Helper()
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Contents {
			keys = append(keys, *object.Key)
		}
	}
	return keys
}

// What an earlier version stored is there after the update, with its headers,
// and its files are gone.
func TestObjectsOfAnEarlierVersionAreKept(t *testing.T) {
	dir := t.TempDir()
	old := oldServer(t, dir, "dateline", "other-bucket")
	want := map[string][]byte{
		"plain":                         []byte("content of plain"),
		"media/2026/ảnh đẹp + 100%.jpg": bytes.Repeat([]byte("ảnh"), 1<<16),
		"a\\b/c":                        []byte("a backslash"),
		"empty":                         {},
		"without/record":                []byte("its record is lost"),
		"damaged/record":                []byte("its record is damaged"),
	}
	for i := range 300 {
		want[fmt.Sprintf("pages/news.example/%03d/%03d.zst", i%7, i)] = fmt.Appendf(nil, "page %d", i)
	}
	for key, content := range want {
		putOld(t, old, "dateline", key, map[string]string{"Content-Type": "image/jpeg", "X-Amz-Meta-Workspace": "7"}, content)
	}
	putOld(t, old, "other-bucket", "plain", nil, []byte("of another bucket"))
	records, err := filepath.Glob(filepath.Join(dir, "metadata", "dateline", "*_record-*"))
	if err != nil || len(records) != 2 {
		t.Fatalf("%v %v", records, err)
	}
	for _, file := range records {
		if strings.Contains(file, "without") {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, []byte(`{"Meta":`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, start := range []string{"the first start", "the second start"} {
		e, stop := serve(t, dir)
		c := clientOf(e)
		for key, content := range want {
			if got := read(t, c, key); !bytes.Equal(got, content) {
				t.Errorf("%s: %s has %d bytes, want %d", start, key, len(got), len(content))
			}
		}
		keys := list(t, c, "dateline")
		if len(keys) != len(want) || !slices.IsSorted(keys) {
			t.Errorf("%s: %d objects are listed, want %d", start, len(keys), len(want))
		}
		if got := list(t, c, "other-bucket"); !slices.Equal(got, []string{"plain"}) {
			t.Errorf("%s: the other bucket has %q", start, got)
		}
		head, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("dateline"), Key: aws.String("plain")})
		if err != nil || aws.ToString(head.ContentType) != "image/jpeg" || head.Metadata["workspace"] != "7" {
			t.Errorf("%s: %+v %v", start, head, err)
		}
		stop()
	}
	for _, gone := range []string{"buckets", "metadata"} {
		if _, err := os.Stat(filepath.Join(dir, gone)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", gone, err)
		}
	}
}

// A start that was cut off is gone on with by the next one; what was written or
// deleted meanwhile stays so.
func TestObjectsOfAnEarlierVersionAreMovedOnce(t *testing.T) {
	dir := t.TempDir()
	old := oldServer(t, dir, "dateline")
	putOld(t, old, "dateline", "kept", nil, []byte("the old one"))
	e, stop := serve(t, dir)
	c := clientOf(e)
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("dateline"), Key: aws.String("kept"), Body: strings.NewReader("the new one")}); err != nil {
		t.Fatal(err)
	}
	stop()
	// As if the first start had been killed before it removed the old files.
	old = oldServer(t, dir, "dateline")
	putOld(t, old, "dateline", "kept", nil, []byte("the old one"))
	putOld(t, old, "dateline", "left", nil, []byte("not moved yet"))
	if err := os.WriteFile(filepath.Join(dir, "incoming", "object-1"), []byte("not mo"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, stop = serve(t, dir)
	defer stop()
	c = clientOf(e)
	if got := read(t, c, "kept"); string(got) != "the new one" {
		t.Errorf("an old object came back: %q", got)
	}
	if got := read(t, c, "left"); string(got) != "not moved yet" {
		t.Errorf("%q", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "incoming", "*")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}
