// Package pagestore stores raw pages in the object store, compressed with zstd
// (RFC 8878) and named by their content. The objects are private.
package pagestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ContentType is the content type of stored pages.
const ContentType = "application/zstd"

// ObjectStore stores objects.
type ObjectStore interface {
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// Store stores raw pages. It is safe for concurrent use.
type Store struct {
	objects ObjectStore
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// maxPageBytes limits reads; the fetcher's own limit is lower.
const maxPageBytes = 256 << 20

// New creates a store on top of an object store.
func New(objects ObjectStore) (*Store, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	opener, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPageBytes))
	if err != nil {
		return nil, err
	}
	return &Store{objects: objects, encoder: packer, decoder: opener}, nil
}

// Hash is the SHA-256 of a page in hexadecimal.
func Hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Put stores a page and returns its compressed size.
func (p *Store) Put(ctx context.Context, key string, raw []byte) (stored int, err error) {
	compressed := p.encoder.EncodeAll(raw, make([]byte, 0, len(raw)/4+64))
	if err := p.objects.Put(ctx, key, ContentType, int64(len(compressed)), bytes.NewReader(compressed)); err != nil {
		return 0, fmt.Errorf("store %s: %w", key, err)
	}
	return len(compressed), nil
}

// Get reads a page and verifies its hash, unless that is empty.
func (p *Store) Get(ctx context.Context, key, hash string) ([]byte, error) {
	r, err := p.objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	compressed, err := io.ReadAll(io.LimitReader(r, maxPageBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	raw, err := p.decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w", key, err)
	}
	if hash != "" && Hash(raw) != hash {
		return nil, fmt.Errorf("the content of %s does not match its hash", key)
	}
	return raw, nil
}
