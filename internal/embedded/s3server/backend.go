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

// backend is gofakes3's view of the directory:
//
//	objects/<bucket>/<2 digits>/<hash of the key>   an object, see file.go
//	uploads/<id>/…                                  an upload in parts, see parts.go
//	incoming/…                                      what is being written
//
// No lock is held while something is read or written: a file is complete when
// its name appears, and who has it open keeps what it had. Only writers of the
// same key wait for one another.
type backend struct {
	dir     string
	turns   [1024]sync.Mutex // by the hash of the key
	buckets sync.Map         // names that are known to exist
	buffers sync.Pool        // *[]byte, see writer

	uploads *os.Root
	mu      sync.Mutex // what there is of uploads
}

// shards is how many directories a bucket's files are spread over.
const shards = 256

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
		all = append(all, gofakes3.BucketInfo{Name: entry.Name(), CreationDate: gofakes3.NewContentTime(info.ModTime())})
	}
	return all, err
}

// BucketExists implements gofakes3.Backend.
func (b *backend) BucketExists(name string) (bool, error) {
	if _, known := b.buckets.Load(name); known {
		return true, nil
	}
	if gofakes3.ValidateBucketName(name) != nil {
		return false, nil //nolint:nilerr // it has no bucket of a name that none can have
	}
	// The last directory that is made says that the others are there.
	_, err := os.Stat(filepath.Join(b.bucket(name), shard(shards-1)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		b.buckets.Store(name, true)
	}
	return err == nil, err
}

func shard(n int) string { return fmt.Sprintf("%02x", n) }

// CreateBucket implements gofakes3.Backend.
func (b *backend) CreateBucket(name string) error {
	if exists, err := b.BucketExists(name); err != nil || exists {
		return errors.Join(err, gofakes3.ResourceError(gofakes3.ErrBucketAlreadyExists, name))
	}
	for i := range shards {
		if err := os.MkdirAll(filepath.Join(b.bucket(name), shard(i)), 0o700); err != nil {
			return err
		}
	}
	if err := syncDir(b.bucket(name)); err != nil {
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
	return os.RemoveAll(b.bucket(name))
}

// records reads what is known of all objects of a bucket, in the order of their
// keys.
func (b *backend) records(bucket string) (all []record, err error) {
	if exists, err := b.BucketExists(bucket); err != nil || !exists {
		return nil, errors.Join(err, gofakes3.BucketNotFound(bucket))
	}
	for i := range shards {
		dir := filepath.Join(b.bucket(bucket), shard(i))
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			o, err := openFile(filepath.Join(dir, entry.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted meanwhile
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

// ListBucket implements gofakes3.Backend. It reads what is known of every object
// of the bucket, whatever is asked for.
func (b *backend) ListBucket(bucket string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
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
			lastKey = r.Key // the next page begins behind all of them
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
		list.Add(&gofakes3.Content{Key: r.Key, LastModified: gofakes3.NewContentTime(r.At), ETag: gofakes3.FormatETag(r.MD5), Size: r.Size})
	}
	return list, nil
}
