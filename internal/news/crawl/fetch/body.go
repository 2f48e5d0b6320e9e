package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Reasons why a body is not read to its end.
var (
	errWireSize = errors.New("the response exceeds the size limit")
	errBodySize = errors.New("the decompressed response exceeds the size limit")
	errRatio    = errors.New("the compression ratio is too high")
	errSlow     = errors.New("the transfer is too slow")
	errIdle     = errors.New("the transfer stalled")
	errEncoding = errors.New("the response cannot be decompressed")
)

// minRatioBytes is the decompressed size from which the ratio counts: small
// pages of one repeated letter are no bombs.
const minRatioBytes = 1 << 20

// initialBufferSize is the initial size of the body buffer; it fits most pages.
const initialBufferSize = 32 << 10

// maxLayers is how many content encodings may be stacked.
const maxLayers = 2

// zstdWindow is the largest window that a decoder must support (RFC 9659 §3).
const zstdWindow = 8 << 20

type body struct {
	body     []byte
	wire     int64
	encoding string
}

// readBody reads a body within the limits. stop cancels the request, which ends
// reading even while the server sends nothing.
func (a *attempt) readBody(res *http.Response, stop context.CancelFunc) (body, error) {
	limits := a.f.limits
	limit := limits.bytes(a.request)
	truncate := a.request.Kind == KindRobots // the beginning is enough
	if res.ContentLength > limit && !truncate {
		return body{}, errWireSize
	}
	wire := &wireReader{from: res.Body, limit: limit, minRate: limits.MinRate, grace: limits.Grace, start: time.Now()}
	if truncate {
		wire.limit = 4 * limit
	}
	idleTimer := time.AfterFunc(limits.IdleTimeout, func() { wire.idle.Store(true); stop() })
	defer idleTimer.Stop()
	wire.touch = func() { idleTimer.Reset(limits.IdleTimeout) }

	result := body{encoding: strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))}
	decoded, closers, err := a.f.decoder(wire, result.encoding)
	defer closers.close()
	if err == nil {
		result.body, err = readCapped(decoded, wire, limit, limits.MaxRatio, truncate)
	}
	// Sitemaps are often gzip files themselves.
	for range maxLayers {
		if err != nil || !a.request.Kind.mayBeZipped() || !bytes.HasPrefix(result.body, []byte{0x1f, 0x8b}) {
			break
		}
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(result.body)); err == nil {
			result.body, err = readCapped(z, wire, limit, limits.MaxRatio, false)
		}
	}
	result.wire = wire.read
	return result, wire.cause(err)
}

// readCapped reads a whole body of at most limit bytes.
func readCapped(from io.Reader, wire *wireReader, limit, ratio int64, truncate bool) ([]byte, error) {
	b := make([]byte, 0, min(initialBufferSize, limit+1))
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b)) // doubles it
		}
		n, err := from.Read(b[len(b):min(int64(cap(b)), limit+1)])
		b = b[:len(b)+n]
		size := int64(len(b))
		switch {
		case size > limit && truncate:
			return b[:limit], nil
		case size > limit:
			return nil, errBodySize
		case size > minRatioBytes && wire.read > 0 && size/wire.read > ratio:
			return nil, errRatio
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// wireReader counts the bytes on the wire and measures their rate.
type wireReader struct {
	from    io.Reader
	limit   int64
	minRate int64
	grace   time.Duration
	start   time.Time
	touch   func()

	read int64
	err  error // of the connection, not of the decoder
	idle atomic.Bool
}

func (w *wireReader) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.from.Read(p)
	w.read += int64(n)
	w.touch()
	elapsed := time.Since(w.start)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		w.err = err
	case w.read > w.limit:
		w.err = errWireSize
	case err == nil && elapsed > w.grace && float64(w.read)/elapsed.Seconds() < float64(w.minRate):
		w.err = errSlow
	}
	if w.err != nil {
		return n, w.err
	}
	return n, err
}

// cause returns the cause of a decoder's error.
func (w *wireReader) cause(err error) error {
	switch {
	case err == nil, errors.Is(err, errBodySize), errors.Is(err, errRatio), errors.Is(err, errEncoding):
		return err
	case w.idle.Load():
		return errIdle
	case w.err != nil:
		return w.err
	default:
		return fmt.Errorf("%w: %w", errEncoding, err)
	}
}

type closers []func()

func (c closers) close() {
	for _, one := range c {
		one()
	}
}

// decoder removes content encodings, the last one first (RFC 9110 §8.4).
func (f *Fetcher) decoder(from io.Reader, encodings string) (io.Reader, closers, error) {
	var open closers
	layers := strings.Split(encodings, ",")
	if len(layers) > maxLayers {
		return nil, nil, fmt.Errorf("%w: too many encodings", errEncoding)
	}
	for i := len(layers) - 1; i >= 0; i-- {
		switch name := strings.TrimSpace(layers[i]); name {
		case "", "identity", "utf-8", "none":
		case "gzip", "x-gzip":
			z := f.acquireGunzipper(from)
			open = append(open, func() { f.releaseGunzipper(z) })
			// Some servers declare gzip but send plain text.
			if magic, _ := z.buffered.Peek(2); len(magic) == 2 && (magic[0] != 0x1f || magic[1] != 0x8b) ||
				len(magic) == 0 {
				from = z.buffered
				continue
			}
			if err := z.Reset(z.buffered); err != nil {
				return nil, open, err
			}
			from = z
		case "br":
			from = brotli.NewReader(from)
		case "zstd":
			z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(zstdWindow))
			if err != nil {
				return nil, open, err
			}
			open = append(open, z.Close)
			from = z
		case "deflate":
			inflated, err := inflate(from)
			if err != nil {
				return nil, open, err
			}
			from = inflated
		default:
			return nil, open, fmt.Errorf("%w: unknown encoding", errEncoding)
		}
	}
	return from, open, nil
}

// gunzipper is a pooled gzip reader: creating one costs as much as reading a
// page.
type gunzipper struct {
	gzip.Reader
	buffered *bufio.Reader
}

func (f *Fetcher) acquireGunzipper(from io.Reader) *gunzipper {
	z, ok := f.gunzippers.Get().(*gunzipper)
	if !ok {
		z = &gunzipper{buffered: bufio.NewReaderSize(nil, 16<<10)}
	}
	z.buffered.Reset(from)
	return z
}

func (f *Fetcher) releaseGunzipper(z *gunzipper) {
	z.buffered.Reset(nil) // so that the pool does not hold the response
	f.gunzippers.Put(z)
}

// inflate decodes deflate in the zlib format, as specified, and as raw deflate,
// as some servers send it (RFC 9110 §8.4.1.2, note).
func inflate(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(from)
	head, err := buffered.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	if len(head) < 2 && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return flate.NewReader(buffered), nil
}
