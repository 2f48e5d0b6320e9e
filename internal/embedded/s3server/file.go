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

// An object is one file: its content, then its record as JSON, then the record's
// length and a mark. So content and record come and go together, and one
// flush to disk keeps both.
const (
	mark       = "\x00s3object1\n"
	footerSize = 4 + len(mark)
)

// record is what is known of an object besides its content.
type record struct {
	Key  string
	Meta map[string]string
	MD5  []byte
	Size int64
	At   time.Time
}

// object is a file that is open for reading.
type object struct {
	*os.File
	record
}

// errDamaged says that a file is not what this server writes.
var errDamaged = errors.New("not an object of this server")

func openFile(path string) (o *object, err error) {
	f, err := os.Open(path) //nolint:gosec // its name is made of digits
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
	// Nearly always the record is within the last block.
	tail := make([]byte, min(info.Size(), 2048))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(tail, []byte(mark))
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

// writer writes an object aside. Small ones are written in one go.
type writer struct {
	file *os.File
	buf  *[]byte   // what is not written yet; one of buffers
	sum  hash.Hash // nil: somebody else makes it
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

// ReadFrom takes all of an object's content.
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

// keep gives the object its name once it is on the disk, and returns once that
// is so of the name as well: what was answered survives a power cut. Many may do
// so at the same time; the file system writes their changes to its journal
// together.
func (w *writer) keep(r record, path string) error {
	if r.Size = w.size; w.sum != nil {
		r.MD5 = w.sum.Sum(nil)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	footer := binary.BigEndian.AppendUint32(raw, uint32(len(raw))) //nolint:gosec // S3 allows 2 KB of metadata and 1 KB of key
	*w.buf = append(*w.buf, append(footer, mark...)...)
	if err := errors.Join(w.flush(), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// drop forgets what was written, unless it was kept.
func (w *writer) drop() {
	*w.buf = (*w.buf)[:0]
	w.buffers.Put(w.buf)
	if err := w.file.Close(); err == nil {
		_ = os.Remove(w.file.Name())
	}
}

// syncDir has the names of a directory written to disk.
func syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // this server's own
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
