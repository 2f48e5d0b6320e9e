// Package blob defines what the domains and the object store share: errors, the
// parts of a multipart upload, presigned requests, and a seekable reader.
// internal/storage/objects implements it with S3.
package blob

import "errors"

var (
	// ErrNotFound means that the object or the multipart upload does not exist.
	ErrNotFound = errors.New("object not found")

	// ErrFull means that the object store has no space left.
	ErrFull = errors.New("object store is full")
)

// Part is an uploaded part of a multipart upload.
type Part struct {
	Number int
	Bytes  int64
	ETag   string
}

// SignedRequest is a presigned request: anyone who has it can send it until it
// expires.
type SignedRequest struct {
	Method string
	URL    string
	Header map[string]string // required headers, without Host and Content-Length
}
