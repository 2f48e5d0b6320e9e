// Package media takes files from people and keeps them in S3.
package media

import (
	"time"

	"github.com/google/uuid"
)

// Item is an uploaded file. MIMEType and the dimensions are what its bytes
// say, not what the uploader claimed.
type Item struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	ObjectKey   string
	SHA256      []byte
	MIMEType    string
	Bytes       int64
	Width       int // pixels; 0 for what is no still image
	Height      int
	FileName    string
	AltText     string
	CreatedAt   time.Time
}
