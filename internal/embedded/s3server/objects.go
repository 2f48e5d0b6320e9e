package s3server

import (
	"crypto/md5" //nolint:gosec // the ETag of S3
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// locate returns the path of the file of a key and the lock for writing it. The name is
// a hash, because keys can be long, contain any characters and be prefixes of others.
func (b *backend) locate(bucket, key string) (path string, lock *sync.Mutex) {
	sum := sha256.Sum256([]byte(key))
	lock = &b.keyLocks[(int(sum[30])<<8|int(sum[31]))%len(b.keyLocks)]
	return filepath.Join(b.bucket(bucket), hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[:20])), lock
}

// open opens an object for reading.
func (b *backend) open(bucket, key string) (*object, error) {
	if exists, err := b.BucketExists(bucket); err != nil || !exists {
		return nil, errors.Join(err, gofakes3.BucketNotFound(bucket))
	}
	path, _ := b.locate(bucket, key)
	o, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gofakes3.KeyNotFound(key)
	}
	return o, err
}

// HeadObject implements gofakes3.Backend.
func (b *backend) HeadObject(bucket, key string) (*gofakes3.Object, error) {
	o, err := b.open(bucket, key)
	if err != nil {
		return nil, err
	}
	return o.toS3(http.NoBody, nil), o.Close()
}

func (o *object) toS3(contents io.ReadCloser, within *gofakes3.ObjectRange) *gofakes3.Object {
	return &gofakes3.Object{Name: o.Key, Metadata: o.Meta, Size: o.Size, Hash: o.MD5, Range: within, Contents: contents}
}

// GetObject implements gofakes3.Backend.
func (b *backend) GetObject(bucket, key string, requested *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	o, err := b.open(bucket, key)
	if err != nil {
		return nil, err
	}
	within, err := requested.Range(o.Size)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	part := io.NewSectionReader(o, 0, o.Size)
	if within != nil {
		part = io.NewSectionReader(o, within.Start, within.Length)
	}
	return o.toS3(struct {
		io.Reader
		io.Closer
	}{part, o}, within), nil
}

// PutObject implements gofakes3.Backend.
func (b *backend) PutObject(
	bucket, key string, meta map[string]string, input io.Reader, _ int64, conditions *gofakes3.PutConditions,
) (out gofakes3.PutObjectResult, err error) {
	if exists, err := b.BucketExists(bucket); err != nil || !exists {
		return out, errors.Join(err, gofakes3.BucketNotFound(bucket))
	}
	// gofakes3 computes the hash while reading, except for copies and parts.
	hashed, isHashed := input.(interface{ Sum(into []byte) []byte })
	var sum hash.Hash
	if !isHashed {
		sum = md5.New() //nolint:gosec // the ETag of S3
	}
	w, err := b.writer(sum)
	if err != nil {
		return out, diskError(err)
	}
	defer w.discard()
	if _, err := w.ReadFrom(input); err != nil {
		return out, diskError(err)
	}
	r := record{Key: key, Meta: maps.Clone(meta), At: time.Now().UTC()}
	if isHashed {
		r.MD5 = hashed.Sum(nil)
	}
	path, lock := b.locate(bucket, key)
	lock.Lock()
	defer lock.Unlock()
	if err := check(conditions, path); err != nil {
		return out, err
	}
	if err := b.makeShard(filepath.Dir(path)); err != nil {
		return out, diskError(err)
	}
	return out, diskError(w.commit(r, path))
}

// writer creates the temporary file of a new object.
func (b *backend) writer(sum hash.Hash) (*writer, error) {
	return newWriter(filepath.Join(b.dir, "incoming"), sum, &b.buffers)
}

// check verifies the conditions of a write against the existing object.
func check(conditions *gofakes3.PutConditions, path string) error {
	if conditions == nil {
		return nil
	}
	existing := &gofakes3.ConditionalObjectInfo{}
	o, err := openFile(path)
	switch {
	case err == nil:
		existing.Exists, existing.Hash = true, o.MD5
		if err := o.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return gofakes3.CheckPutConditions(conditions, existing)
}

// CopyObject implements gofakes3.Backend.
func (b *backend) CopyObject(
	fromBucket, from, toBucket, to string, meta map[string]string,
) (gofakes3.CopyObjectResult, error) {
	return gofakes3.CopyObject(b, fromBucket, from, toBucket, to, meta)
}

// DeleteObject implements gofakes3.Backend.
func (b *backend) DeleteObject(bucket, key string) (out gofakes3.ObjectDeleteResult, err error) {
	if exists, err := b.BucketExists(bucket); err != nil || !exists {
		return out, errors.Join(err, gofakes3.BucketNotFound(bucket))
	}
	path, lock := b.locate(bucket, key)
	lock.Lock()
	defer lock.Unlock()
	if err := os.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return out, nil // like S3
	} else if err != nil {
		return out, err
	}
	return out, syncDir(filepath.Dir(path))
}

// DeleteMulti implements gofakes3.Backend.
func (b *backend) DeleteMulti(bucket string, keys ...string) (out gofakes3.MultiDeleteResult, err error) {
	for _, key := range keys {
		if _, err := b.DeleteObject(bucket, key); err != nil {
			out.Error = append(out.Error, gofakes3.ErrorResult{
				Code: gofakes3.ErrInternal, Message: gofakes3.ErrInternal.Message(), Key: key,
			})
			continue
		}
		out.Deleted = append(out.Deleted, gofakes3.ObjectID{Key: key})
	}
	return out, nil
}
