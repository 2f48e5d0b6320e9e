package objects

import (
	"context"
	"errors"
	"io"
)

// Ranges is what a Reader reads from.
type Ranges interface {
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
}

// readAhead is how much a Reader asks for at once when it jumps about.
const readAhead = 256 << 10

// Reader reads parts of an object as they are asked for, with io.ReaderAt,
// io.Reader and io.Seeker. It holds one stretch of the object in memory. It is
// not safe for concurrent use.
type Reader struct {
	ctx  context.Context //nolint:containedctx // the interfaces of io take none
	from Ranges
	key  string
	size int64

	held   []byte // what was read last by ReadAt
	heldAt int64

	at   int64 // of Read
	body io.ReadCloser
}

// NewReader reads an object of a known size.
func NewReader(ctx context.Context, from Ranges, key string, size int64) *Reader {
	return &Reader{ctx: ctx, from: from, key: key, size: size}
}

// Size is how many bytes the object has.
func (r *Reader) Size() int64 { return r.size }

// ReadAt reads p, and some more for the next call.
func (r *Reader) ReadAt(p []byte, offset int64) (read int, err error) {
	for read < len(p) {
		at := offset + int64(read)
		if at >= r.size {
			return read, io.EOF
		}
		if at < r.heldAt || at >= r.heldAt+int64(len(r.held)) {
			if err := r.hold(at); err != nil {
				return read, err
			}
		}
		read += copy(p[read:], r.held[at-r.heldAt:])
	}
	return read, nil
}

func (r *Reader) hold(at int64) error {
	length := min(readAhead, r.size-at)
	body, err := r.from.GetRange(r.ctx, r.key, at, length)
	if err != nil {
		return err
	}
	if int64(cap(r.held)) < length {
		r.held = make([]byte, length)
	}
	r.held, r.heldAt = r.held[:length], at
	_, err = io.ReadFull(body, r.held)
	if err = errors.Join(err, body.Close()); err != nil {
		r.held = r.held[:0]
	}
	return err
}

// Read goes on where the last Read or Seek ended, in one request until the next
// Seek.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.body == nil {
		body, err := r.from.GetRange(r.ctx, r.key, r.at, r.size-r.at)
		if err != nil {
			return 0, err
		}
		r.body = body
	}
	n, err := r.body.Read(p)
	r.at += int64(n)
	if errors.Is(err, io.EOF) && r.at < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek sets where the next Read begins.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, errors.New("there is nothing before the beginning")
	}
	if offset != r.at {
		_ = r.Close() // of a request that is not needed any more
		r.at = offset
	}
	return r.at, nil
}

// Close ends the request that Read has open, if any.
func (r *Reader) Close() error {
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return body.Close()
}
