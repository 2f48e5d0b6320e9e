package s3server

import (
	"crypto/md5" //nolint:gosec // the ETag of S3
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// A multipart upload is a directory named by its ID. It contains the record of the
// upload and one file per part, named by number and MD5.
const (
	uploadFile = "upload.json"
	partName   = "part-%05d-%s"
)

type uploadRecord struct {
	Bucket, Object string
	Meta           map[string]string
	Initiated      time.Time
}

type storedPart struct {
	number int
	md5    string
	name   string
	size   int64
	at     time.Time
}

// CreateMultipartUpload implements gofakes3.MultipartBackend.
func (b *backend) CreateMultipartUpload(bucket, object string, meta map[string]string) (gofakes3.UploadID, error) {
	raw, err := json.Marshal(uploadRecord{bucket, object, meta, time.Now()})
	if err != nil {
		return "", err
	}
	id := strings.ToLower(rand.Text())
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.uploads.Mkdir(id, 0o700); err != nil {
		return "", diskError(err)
	}
	return gofakes3.UploadID(id), diskError(b.uploads.WriteFile(path.Join(id, uploadFile), raw, 0o600))
}

// record reads the record of an upload.
func (b *backend) record(bucket, object string, id gofakes3.UploadID) (uploadRecord, error) {
	var r uploadRecord
	if strings.ContainsAny(string(id), `/\.`) {
		return r, gofakes3.ErrNoSuchUpload
	}
	raw, err := b.uploads.ReadFile(path.Join(string(id), uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, gofakes3.ErrNoSuchUpload
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil && (r.Bucket != bucket || r.Object != object) {
		err = gofakes3.ErrNoSuchUpload
	}
	return r, err
}

// UploadPart stores a part. A part with the same number is replaced when the new one is
// complete.
func (b *backend) UploadPart(
	bucket, object string, id gofakes3.UploadID, number int, length int64, input io.Reader,
) (string, error) {
	if _, err := b.record(bucket, object, id); err != nil {
		return "", err
	}
	incoming := path.Join(string(id), "incoming-"+rand.Text())
	f, err := b.uploads.OpenFile(incoming, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", diskError(err)
	}
	defer func() { _ = b.uploads.Remove(incoming) }() // already renamed on success
	sum := md5.New()                                  //nolint:gosec // see above
	n, err := io.Copy(io.MultiWriter(f, sum), input)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", diskError(err)
	}
	if n != length {
		return "", gofakes3.ErrIncompleteBody
	}
	etag := hex.EncodeToString(sum.Sum(nil))

	b.mu.Lock()
	defer b.mu.Unlock()
	existing, err := b.parts(id)
	if err != nil {
		return "", err
	}
	name := path.Join(string(id), fmt.Sprintf(partName, number, etag))
	if err := b.uploads.Rename(incoming, name); err != nil {
		return "", err
	}
	for _, p := range existing {
		if p.number == number && p.name != name {
			if err := b.uploads.Remove(p.name); err != nil {
				return "", err
			}
		}
	}
	return `"` + etag + `"`, nil
}

// parts returns the stored parts of an upload, by number.
func (b *backend) parts(id gofakes3.UploadID) ([]storedPart, error) {
	entries, err := fs.ReadDir(b.uploads.FS(), string(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gofakes3.ErrNoSuchUpload
	}
	if err != nil {
		return nil, err
	}
	var parts []storedPart
	for _, entry := range entries {
		p := storedPart{name: path.Join(string(id), entry.Name())}
		if n, _ := fmt.Sscanf(entry.Name(), partName, &p.number, &p.md5); n != 2 {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		p.size, p.at = info.Size(), info.ModTime()
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b storedPart) int { return a.number - b.number })
	return parts, nil
}

// ListParts returns the parts after the marker.
func (b *backend) ListParts(
	bucket, object string, id gofakes3.UploadID, marker int, limit int64,
) (*gofakes3.ListMultipartUploadPartsResult, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.record(bucket, object, id); err != nil {
		return nil, err
	}
	parts, err := b.parts(id)
	if err != nil {
		return nil, err
	}
	result := &gofakes3.ListMultipartUploadPartsResult{
		Bucket: bucket, Key: object, UploadID: id, MaxParts: limit,
		PartNumberMarker: marker,
		StorageClass:     gofakes3.StorageStandard,
	}
	for _, p := range parts {
		if p.number <= marker {
			continue
		}
		if int64(len(result.Parts)) >= limit {
			result.IsTruncated = true
			break
		}
		result.NextPartNumberMarker = p.number
		result.Parts = append(result.Parts, gofakes3.ListMultipartUploadPartItem{
			PartNumber: p.number,
			ETag:       `"` + p.md5 + `"`, Size: p.size,
			LastModified: gofakes3.NewContentTime(p.at),
		})
	}
	return result, nil
}

// ListMultipartUploads returns all unfinished uploads in one page.
func (b *backend) ListMultipartUploads(
	bucket string, _ *gofakes3.UploadListMarker, prefix gofakes3.Prefix, limit int64,
) (*gofakes3.ListMultipartUploadsResult, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	result := &gofakes3.ListMultipartUploadsResult{
		Bucket: bucket, Prefix: prefix.Prefix, Delimiter: prefix.Delimiter, MaxUploads: limit,
	}
	entries, err := fs.ReadDir(b.uploads.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		var r uploadRecord
		raw, err := b.uploads.ReadFile(path.Join(entry.Name(), uploadFile))
		if err != nil || json.Unmarshal(raw, &r) != nil || r.Bucket != bucket || !prefix.Match(r.Object, nil) {
			continue
		}
		result.Uploads = append(result.Uploads,
			gofakes3.ListMultipartUploadItem{
				Key: r.Object, UploadID: gofakes3.UploadID(entry.Name()),
				StorageClass: gofakes3.StorageStandard, Initiated: gofakes3.NewContentTime(r.Initiated),
			})
	}
	return result, nil
}

// AbortMultipartUpload deletes an upload with its parts.
func (b *backend) AbortMultipartUpload(bucket, object string, id gofakes3.UploadID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.record(bucket, object, id); err != nil {
		return err
	}
	return b.uploads.RemoveAll(string(id))
}

// CompleteMultipartUpload concatenates the named parts to the object. Of two concurrent
// calls, both write the same object and one fails to find the upload afterwards.
func (b *backend) CompleteMultipartUpload(
	bucket, object string, id gofakes3.UploadID, input *gofakes3.CompleteMultipartUploadRequest,
) (gofakes3.VersionID, string, error) {
	b.mu.Lock()
	record, err := b.record(bucket, object, id)
	var stored []storedPart
	if err == nil {
		stored, err = b.parts(id)
	}
	b.mu.Unlock()
	if err != nil {
		return "", "", err
	}
	all := &fileSequence{root: b.uploads}
	defer all.close()
	sum := md5.New() //nolint:gosec // see above
	var size int64
	for i, want := range input.Parts {
		if i > 0 && want.PartNumber <= input.Parts[i-1].PartNumber {
			return "", "", gofakes3.ErrInvalidPartOrder
		}
		at := slices.IndexFunc(stored, func(p storedPart) bool {
			return p.number == want.PartNumber && p.md5 == strings.Trim(want.ETag, `"`)
		})
		if at < 0 {
			return "", "", gofakes3.ErrInvalidPart
		}
		raw, err := hex.DecodeString(stored[at].md5)
		if err != nil {
			return "", "", err
		}
		sum.Write(raw)
		size += stored[at].size
		all.names = append(all.names, stored[at].name)
	}
	if len(all.names) == 0 {
		return "", "", gofakes3.ErrMalformedXML
	}
	result, err := b.PutObject(bucket, object, record.Meta, all, size, nil)
	if err != nil {
		return "", "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	etag := fmt.Sprintf(`"%x-%d"`, sum.Sum(nil), len(all.names))
	return result.VersionID, etag, b.uploads.RemoveAll(string(id))
}

// fileSequence reads files one after the other and has at most one open.
type fileSequence struct {
	root  *os.Root
	names []string
	next  int
	open  *os.File
}

func (c *fileSequence) Read(p []byte) (int, error) {
	for {
		if c.open == nil {
			if c.next == len(c.names) {
				return 0, io.EOF
			}
			f, err := c.root.Open(c.names[c.next])
			if err != nil {
				return 0, err
			}
			c.open, c.next = f, c.next+1
		}
		n, err := c.open.Read(p)
		if errors.Is(err, io.EOF) {
			c.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (c *fileSequence) close() {
	if c.open != nil {
		_ = c.open.Close()
		c.open = nil
	}
}
