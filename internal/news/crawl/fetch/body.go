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

// Why a body is not read to its end.
var (
	errWireSize = errors.New("it sends more than allowed")
	errBodySize = errors.New("it is bigger than allowed")
	errRatio    = errors.New("it decompresses to far more than pages do")
	errSlow     = errors.New("it comes too slowly")
	errIdle     = errors.New("it stopped coming")
	errEncoding = errors.New("it cannot be decompressed")
)

// minRatioBytes is how much is decompressed before its ratio counts: small pages of
// one repeated letter are no bombs.
const minRatioBytes = 1 << 20

// initialBufferSize is what is made ready for a body: most pages fit.
const initialBufferSize = 32 << 10

// maxLayers is how many content encodings may be on top of each other.
const maxLayers = 2

// zstdWindow is the largest that a decoder must support (RFC 9659 §3).
const zstdWindow = 8 << 20

type body struct {
	body     []byte
	wire     int64
	encoding string
}

// readBody reads a body within the limits. stop ends the request: reading returns
// then, however long the server says nothing.
func (a *attempt) readBody(res *http.Response, stop context.CancelFunc) (body, error) {
	limits := a.f.limits
	limit := limits.bytes(a.request)
	cut := a.request.Kind == KindRobots // its first part counts, RFC 9309 §2.5
	if res.ContentLength > limit && !cut {
		return body{}, errWireSize
	}
	wire := &wireReader{from: res.Body, limit: limit, minRate: limits.MinRate, grace: limits.Grace, start: time.Now()}
	if cut {
		wire.limit = 4 * limit
	}
	watch := time.AfterFunc(limits.IdleTimeout, func() { wire.idle.Store(true); stop() })
	defer watch.Stop()
	wire.touch = func() { watch.Reset(limits.IdleTimeout) }

	result := body{encoding: strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))}
	decoded, closers, err := a.f.decoder(wire, result.encoding)
	defer closers.close()
	if err == nil {
		result.body, err = readCapped(decoded, wire, limit, limits.MaxRatio, cut)
	}
	// Sitemaps are often files that are compressed themselves.
	for range maxLayers {
		if err != nil || a.request.Kind != KindSitemap && a.request.Kind != KindFeed || !bytes.HasPrefix(result.body, []byte{0x1f, 0x8b}) {
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

// readCapped reads all of a body that is as big as pages may be.
func readCapped(from io.Reader, wire *wireReader, limit, ratio int64, cut bool) ([]byte, error) {
	b := make([]byte, 0, min(initialBufferSize, limit+1))
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b)) // twice as much
		}
		n, err := from.Read(b[len(b):min(int64(cap(b)), limit+1)])
		b = b[:len(b)+n]
		size := int64(len(b))
		switch {
		case size > limit && cut:
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

// wireReader counts what comes over the wire, and how fast.
type wireReader struct {
	from    io.Reader
	limit   int64
	minRate int64
	grace   time.Duration
	start   time.Time
	touch   func()

	read int64
	err  error // of the connection, not of what decodes
	idle atomic.Bool
}

func (w *wireReader) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.from.Read(p)
	w.read += int64(n)
	w.touch()
	took := time.Since(w.start)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		w.err = err
	case w.read > w.limit:
		w.err = errWireSize
	case err == nil && took > w.grace && float64(w.read)/took.Seconds() < float64(w.minRate):
		w.err = errSlow
	}
	if w.err != nil {
		return n, w.err
	}
	return n, err
}

// cause finds the cause behind what a decoder complains about.
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

// decoder takes content encodings off, the last one first (RFC 9110 §8.4).
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
			// Some servers say gzip and send none.
			if magic, _ := z.buffered.Peek(2); len(magic) == 2 && (magic[0] != 0x1f || magic[1] != 0x8b) || len(magic) == 0 {
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
			z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
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
			return nil, open, fmt.Errorf("%w: an unknown encoding", errEncoding)
		}
	}
	return from, open, nil
}

// gunzipper is used again and again: making one costs as much as a page does.
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
	z.buffered.Reset(nil) // the answer is not held on to
	f.gunzippers.Put(z)
}

// inflate reads deflate as it should be, in zlib's format, and as some servers
// send it, without (RFC 9110 §8.4.1.2, note).
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
