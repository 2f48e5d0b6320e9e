// Package storage replaces the client of Google Cloud Storage, see ../README.md.
package storage

import (
	"context"
	"errors"

	"google.golang.org/api/option"
)

// ScopeFullControl is a scope of OAuth.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

var errExcluded = errors.New("temporald is built without Google Cloud Storage")

// The types that the server uses. None can be created, because NewClient fails.
type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	Writer         struct{}
	Reader         struct{}
	ObjectIterator struct{}
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
	Query          struct{ Prefix string }
)

// NewClient returns an error.
func NewClient(context.Context, ...option.ClientOption) (*Client, error) { return nil, errExcluded }

func (*Client) Bucket(string) *BucketHandle                           { return &BucketHandle{} }
func (*BucketHandle) Object(string) *ObjectHandle                     { return &ObjectHandle{} }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return &ObjectIterator{} }
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, errExcluded }
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error)     { return nil, errExcluded }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)      { return nil, errExcluded }
func (*ObjectHandle) NewWriter(context.Context) *Writer               { return &Writer{} }
func (*ObjectIterator) Next() (*ObjectAttrs, error)                   { return nil, errExcluded }
func (*Writer) Write([]byte) (int, error)                             { return 0, errExcluded }
func (*Writer) Close() error                                          { return errExcluded }
func (*Writer) CloseWithError(error) error                            { return errExcluded }
func (*Reader) Read([]byte) (int, error)                              { return 0, errExcluded }
func (*Reader) Close() error                                          { return errExcluded }
