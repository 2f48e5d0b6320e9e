package s3server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
)

// backend implements gofakes3.Backend in a directory:
//
//	objects/<bucket>/<2 digits>/<hash of the key>   an object, see file.go
//	uploads/<id>/…                                  a multipart upload, see parts.go
//	incoming/…                                      files that are being written
//
// Reads and writes hold no lock: a file is complete when its name appears, and open
// files stay readable after they are replaced. Only writers of the same key are
// serialized.
type backend struct {
	dir      string
	keyLocks [1024]sync.Mutex // by the hash of the key
	buckets  sync.Map         // names of existing buckets
	shards   sync.Map         // paths of existing directories of buckets
	buffers  sync.Pool        // *[]byte, see writer

	uploads *os.Root
	mu      sync.Mutex // guards uploads
}

// shardCount is the number of directories of a bucket.
const shardCount = 256

func newBackend(dir string) (*backend, error) {
	for _, sub := range []string{"objects", "uploads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "uploads"))
	return &backend{dir: dir, uploads: root}, err
}

func (b *backend) bucket(name string) string { return filepath.Join(b.dir, "objects", name) }

// ListBuckets implements gofakes3.Backend.
func (b *backend) ListBuckets() ([]gofakes3.BucketInfo, error) {
	entries, err := os.ReadDir(filepath.Join(b.dir, "objects"))
	var all []gofakes3.BucketInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		all = append(all, gofakes3.BucketInfo{
			Name: entry.Name(), CreationDate: gofakes3.NewContentTime(info.ModTime()),
		})
	}
	return all, err
}

// BucketExists implements gofakes3.Backend.
func (b *backend) BucketExists(name string) (bool, error) {
	if _, known := b.buckets.Load(name); known {
		return true, nil
	}
	if gofakes3.ValidateBucketName(name) != nil {
		return false, nil //nolint:nilerr // an invalid name cannot exist
	}
	_, err := os.Stat(b.bucket(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		b.buckets.Store(name, true)
	}
	return err == nil, err
}

func shard(n int) string { return fmt.Sprintf("%02x", n) }

// makeShard creates the directory of an object's file, unless this process has already done
// so. It syncs also a directory that exists: a process that was killed may have created it.
func (b *backend) makeShard(dir string) error {
	if _, made := b.shards.Load(dir); made {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	b.shards.Store(dir, true)
	return nil
}

// CreateBucket implements gofakes3.Backend.
func (b *backend) CreateBucket(name string) error {
	if exists, err := b.BucketExists(name); err != nil || exists {
		return errors.Join(err, gofakes3.ResourceError(gofakes3.ErrBucketAlreadyExists, name))
	}
	if err := os.MkdirAll(b.bucket(name), 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Join(b.dir, "objects"))
}

// DeleteBucket implements gofakes3.Backend.
func (b *backend) DeleteBucket(name string) error {
	all, err := b.records(name)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		return gofakes3.ResourceError(gofakes3.ErrBucketNotEmpty, name)
	}
	return b.ForceDeleteBucket(name)
}

// ForceDeleteBucket implements gofakes3.Backend.
func (b *backend) ForceDeleteBucket(name string) error {
	if exists, err := b.BucketExists(name); err != nil || !exists {
		return errors.Join(err, gofakes3.BucketNotFound(name))
	}
	b.buckets.Delete(name)
	for i := range shardCount {
		b.shards.Delete(filepath.Join(b.bucket(name), shard(i)))
	}
	return os.RemoveAll(b.bucket(name))
}

// records returns the records of all objects of a bucket, ordered by key.
func (b *backend) records(bucket string) (all []record, err error) {
	if exists, err := b.BucketExists(bucket); err != nil || !exists {
		return nil, errors.Join(err, gofakes3.BucketNotFound(bucket))
	}
	for i := range shardCount {
		dir := filepath.Join(b.bucket(bucket), shard(i))
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			o, err := openFile(filepath.Join(dir, entry.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted concurrently
			}
			if err != nil {
				return nil, err
			}
			all = append(all, o.record)
			if err := o.Close(); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// ListBucket implements gofakes3.Backend. It reads the records of all objects of the
// bucket.
func (b *backend) ListBucket(
	bucket string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage,
) (*gofakes3.ObjectList, error) {
	all, err := b.records(bucket)
	if err != nil {
		return nil, err
	}
	if prefix == nil {
		prefix = &gofakes3.Prefix{}
	}
	list := gofakes3.NewObjectList()
	count, last, lastKey := int64(0), "", ""
	for _, r := range all {
		var match gofakes3.PrefixMatch
		if page.HasMarker && r.Key <= page.Marker || !prefix.Match(r.Key, &match) {
			continue
		}
		if match.CommonPrefix && match.MatchedPart == last {
			lastKey = r.Key // the next page starts after the whole prefix
			continue
		}
		if page.MaxKeys > 0 && count == page.MaxKeys {
			list.IsTruncated, list.NextMarker = true, lastKey
			return list, nil
		}
		count, lastKey = count+1, r.Key
		if match.CommonPrefix {
			last = match.MatchedPart
			list.AddPrefix(match.MatchedPart)
			continue
		}
		list.Add(&gofakes3.Content{
			Key: r.Key, LastModified: gofakes3.NewContentTime(r.At), ETag: gofakes3.FormatETag(r.MD5), Size: r.Size,
		})
	}
	return list, nil
}
