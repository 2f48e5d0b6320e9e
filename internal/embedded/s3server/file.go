package s3server

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// An object is one file: content, record (JSON), length of the record, magic bytes. A
// single fsync stores both content and record.
const (
	magic      = "\x00s3object1\n"
	footerSize = 4 + len(magic)
)

// record contains the metadata of an object.
type record struct {
	Key  string
	Meta map[string]string
	MD5  []byte
	Size int64
	At   time.Time
}

// object is an object file that is open for reading.
type object struct {
	*os.File
	record
}

// errDamaged is returned for files that are not valid object files.
var errDamaged = errors.New("not a valid object file")

func openFile(path string) (o *object, err error) {
	f, err := os.Open(path) //nolint:gosec // the name is a hash
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// The record is nearly always within the last 2 KB.
	tail := make([]byte, min(info.Size(), 2048))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(tail, []byte(magic))
	if !ok || len(body) < 4 {
		return nil, errDamaged
	}
	length := int64(binary.BigEndian.Uint32(body[len(body)-4:]))
	size := info.Size() - int64(footerSize) - length
	if size < 0 {
		return nil, errDamaged
	}
	raw := make([]byte, length)
	if _, err := f.ReadAt(raw, size); err != nil {
		return nil, err
	}
	o = &object{File: f}
	if err := json.Unmarshal(raw, &o.record); err != nil || o.Size != size {
		return nil, errDamaged
	}
	return o, nil
}

// writer writes an object to a temporary file. Small objects need a single write.
type writer struct {
	file *os.File
	buf  *[]byte   // unwritten bytes; from buffers
	sum  hash.Hash // nil if the hash is computed elsewhere
	size int64

	buffers *sync.Pool
}

const bufferSize = 64 << 10

func newWriter(dir string, sum hash.Hash, buffers *sync.Pool) (*writer, error) {
	f, err := os.CreateTemp(dir, "object-")
	if err != nil {
		return nil, err
	}
	buf, ok := buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
		*buf = make([]byte, 0, bufferSize)
	}
	return &writer{file: f, buf: buf, sum: sum, buffers: buffers}, nil
}

// ReadFrom writes the content of the object.
func (w *writer) ReadFrom(r io.Reader) (n int64, err error) {
	for {
		if len(*w.buf) == cap(*w.buf) {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
		free := (*w.buf)[len(*w.buf):cap(*w.buf)]
		got, err := r.Read(free)
		if w.sum != nil {
			w.sum.Write(free[:got])
		}
		*w.buf = (*w.buf)[:len(*w.buf)+got]
		w.size += int64(got)
		n += int64(got)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (w *writer) flush() error {
	_, err := w.file.Write(*w.buf)
	*w.buf = (*w.buf)[:0]
	return err
}

// commit syncs the file to disk, renames it to path, and syncs the directory, so that
// the object survives a power failure.
func (w *writer) commit(r record, path string) error {
	if r.Size = w.size; w.sum != nil {
		r.MD5 = w.sum.Sum(nil)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	footer := binary.BigEndian.AppendUint32(raw, uint32(len(raw))) //nolint:gosec // S3 allows 2 KB of metadata and 1 KB of key
	*w.buf = append(*w.buf, append(footer, magic...)...)
	if err := errors.Join(w.flush(), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// discard removes the temporary file, unless it was committed.
func (w *writer) discard() {
	*w.buf = (*w.buf)[:0]
	w.buffers.Put(w.buf)
	if err := w.file.Close(); err == nil {
		_ = os.Remove(w.file.Name())
	}
}

// syncDir syncs the entries of a directory to disk.
func syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // within the directory of the server
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
