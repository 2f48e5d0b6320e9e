// Package pagestore keeps raw pages in the object store: compressed with zstd (RFC
// 8878), named by their content, and private.
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

// ContentType is how stored pages are labelled.
const ContentType = "application/zstd"

// ObjectStore is the object store.
type ObjectStore interface {
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// Store stores and reads raw pages. It is safe for concurrent use.
type Store struct {
	objects ObjectStore
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// maxPageBytes is the largest page that is read back: the fetcher's own cap is below.
const maxPageBytes = 256 << 20

// New makes pages over an object store.
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

// Hash names content.
func Hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Put stores a page and says how many bytes that takes.
func (p *Store) Put(ctx context.Context, key string, raw []byte) (stored int, err error) {
	packed := p.encoder.EncodeAll(raw, make([]byte, 0, len(raw)/4+64))
	if err := p.objects.Put(ctx, key, ContentType, int64(len(packed)), bytes.NewReader(packed)); err != nil {
		return 0, fmt.Errorf("storing %s: %w", key, err)
	}
	return len(packed), nil
}

// Get reads a page back and checks that it is what its hash says.
func (p *Store) Get(ctx context.Context, key, hash string) ([]byte, error) {
	r, err := p.objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	packed, err := io.ReadAll(io.LimitReader(r, maxPageBytes))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	raw, err := p.decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", key, err)
	}
	if hash != "" && Hash(raw) != hash {
		return nil, fmt.Errorf("%s is not what its name says", key)
	}
	return raw, nil
}
