package blob

import (
	"context"
	"errors"
	"io"
)

// RangeReader reads byte ranges of objects.
type RangeReader interface {
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
}

// readAhead is how many bytes ReadAt fetches per request.
const readAhead = 256 << 10

// Reader reads an object on demand through io.ReaderAt, io.Reader and
// io.Seeker. It buffers one range of the object in memory. It is not safe for
// concurrent use.
type Reader struct {
	ctx    context.Context //nolint:containedctx // the io interfaces take no context
	source RangeReader
	key    string
	size   int64

	buffer       []byte // the range that ReadAt fetched last
	bufferOffset int64

	offset int64 // of the next Read
	body   io.ReadCloser
}

// NewReader returns a reader of an object of a known size.
func NewReader(ctx context.Context, source RangeReader, key string, size int64) *Reader {
	return &Reader{ctx: ctx, source: source, key: key, size: size}
}

// Size returns the size of the object in bytes.
func (r *Reader) Size() int64 { return r.size }

// ReadAt implements io.ReaderAt. It reads ahead for the next call.
func (r *Reader) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		if at >= r.size {
			return n, io.EOF
		}
		if at < r.bufferOffset || at >= r.bufferOffset+int64(len(r.buffer)) {
			if err := r.fill(at); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], r.buffer[at-r.bufferOffset:])
	}
	return n, nil
}

// fill fetches the range that starts at offset into the buffer.
func (r *Reader) fill(offset int64) error {
	length := min(readAhead, r.size-offset)
	body, err := r.source.GetRange(r.ctx, r.key, offset, length)
	if err != nil {
		return err
	}
	if int64(cap(r.buffer)) < length {
		r.buffer = make([]byte, length)
	}
	r.buffer, r.bufferOffset = r.buffer[:length], offset
	_, err = io.ReadFull(body, r.buffer)
	if err = errors.Join(err, body.Close()); err != nil {
		r.buffer = r.buffer[:0]
	}
	return err
}

// Read implements io.Reader. Consecutive reads share one request until the next
// Seek.
func (r *Reader) Read(p []byte) (int, error) {
	if r.offset >= r.size {
		return 0, io.EOF
	}
	if r.body == nil {
		body, err := r.source.GetRange(r.ctx, r.key, r.offset, r.size-r.offset)
		if err != nil {
			return 0, err
		}
		r.body = body
	}
	n, err := r.body.Read(p)
	r.offset += int64(n)
	if errors.Is(err, io.EOF) && r.offset < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.offset, errors.New("negative offset")
	}
	if offset != r.offset {
		_ = r.Close() // the open request is no longer needed
		r.offset = offset
	}
	return r.offset, nil
}

// Close ends the open request of Read, if any.
func (r *Reader) Close() error {
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return body.Close()
}
