package s3server

import (
	"crypto/md5" //nolint:gosec // an ETag, as S3 makes it
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"golang.org/x/sync/errgroup"
)

// Versions before this one kept objects by gofakes3's backend s3afero:
//
//	buckets/<bucket>/<key>                                       the content
//	metadata/<bucket>/<key, _ for / and \>-<FNV-128a of the key>   what is known of it
const (
	oldObjects = "buckets"
	oldRecords = "metadata"
)

// adopting is how many objects are taken over at once: they wait for the disk.
const adopting = 16

// adopt takes over what earlier versions stored. Each object is copied, and on
// the disk, before its old file goes, so that this may be cut off anywhere and
// goes on with the next start.
func (b *backend) adopt(log *slog.Logger) (moved int, err error) {
	old := filepath.Join(b.dir, oldObjects)
	buckets, err := os.ReadDir(old)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	log.Info("objects that an earlier version stored are being moved; with very many this takes minutes", "directory", old)
	for _, bucket := range buckets {
		if !bucket.IsDir() || gofakes3.ValidateBucketName(bucket.Name()) != nil {
			continue
		}
		n, err := b.adoptBucket(bucket.Name())
		moved += n
		if err != nil {
			return moved, fmt.Errorf("take over the objects of %s: %w", bucket.Name(), err)
		}
	}
	if err := removeEmpty(old); err != nil {
		return moved, err
	}
	if err := os.RemoveAll(filepath.Join(b.dir, oldRecords)); err != nil {
		return moved, err
	}
	return moved, syncDir(b.dir)
}

func (b *backend) adoptBucket(bucket string) (moved int, err error) {
	exists, err := b.BucketExists(bucket)
	if err == nil && !exists {
		err = b.CreateBucket(bucket)
	}
	if err != nil {
		return 0, err
	}
	var all errgroup.Group
	all.SetLimit(adopting)
	root := filepath.Join(b.dir, oldObjects, bucket)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		key, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		moved++
		all.Go(func() error { return b.adoptObject(bucket, filepath.ToSlash(key), path) })
		return nil
	})
	return moved, errors.Join(err, all.Wait())
}

// adoptObject takes over one object, unless it has been written anew since.
func (b *backend) adoptObject(bucket, key, from string) error {
	path, turn := b.place(bucket, key)
	turn.Lock()
	defer turn.Unlock()
	if _, err := os.Stat(path); err == nil {
		return os.Remove(from)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	meta, err := b.oldMeta(bucket, key)
	if err != nil {
		return err
	}
	in, err := os.Open(from) //nolint:gosec // within this server's directory
	if err != nil {
		return err
	}
	if err := errors.Join(b.copyOf(in, record{Key: key, Meta: meta}, path), in.Close()); err != nil {
		return err
	}
	return os.Remove(from)
}

func (b *backend) copyOf(in *os.File, r record, path string) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	r.At = info.ModTime().UTC()
	w, err := b.writer(md5.New()) //nolint:gosec // an ETag, as S3 makes it
	if err != nil {
		return err
	}
	defer w.drop()
	if _, err := w.ReadFrom(in); err != nil {
		return err
	}
	return w.keep(r, path)
}

// oldMeta reads the headers of an object. One whose record is missing or damaged
// keeps its content, as it did for the old backend.
func (b *backend) oldMeta(bucket, key string) (map[string]string, error) {
	sum := fnv.New128a()
	_, _ = io.WriteString(sum, key) // a hash takes everything
	name := strings.NewReplacer("/", "_", "\\", "_").Replace(key) + "-" + hex.EncodeToString(sum.Sum(nil))
	raw, err := os.ReadFile(filepath.Join(b.dir, oldRecords, bucket, name)) //nolint:gosec // within this server's directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var old struct{ Meta map[string]string }
	if json.Unmarshal(raw, &old) != nil {
		return nil, nil //nolint:nilerr // see above
	}
	return old.Meta, nil
}

// removeEmpty removes a directory with all that are in it. What is no directory
// stays, with those that it is in.
func removeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, entry := range entries {
		sub := filepath.Join(dir, entry.Name())
		if !entry.IsDir() {
			left++
			continue
		}
		if err := removeEmpty(sub); err != nil {
			return err
		}
		if _, err := os.Stat(sub); err == nil {
			left++
		}
	}
	if left > 0 {
		return nil
	}
	return os.Remove(dir)
}
