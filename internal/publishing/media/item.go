// Package media takes files from people, finds out what they are, keeps them in
// S3 under the hash of their content, and makes of them what a network takes.
package media

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/media/metadata"
)

// Kind is what a file is to people.
type Kind string

// The kinds of files.
const (
	Image     Kind = "image"     // a still
	Animation Kind = "animation" // a GIF, WebP or PNG that moves
	Video     Kind = "video"
)

// Facts are what the bytes of a file say, whatever its uploader claimed.
type Facts struct {
	MIMEType string
	Kind     Kind
	Width    int // pixels as shown, after EXIF orientation or rotation; 0 when unknown
	Height   int

	Frames      int // of an animation; 1 for a still, 0 for a video
	Orientation int // EXIF, 1 to 8; 1 is upright

	Duration   time.Duration // 0 for stills, and when unknown
	FrameRate  float64       // frames per second; 0 when unknown
	BitRate    int64         // bits per second, of everything together
	VideoCodec string        // as ffprobe names it: h264, hevc, vp9, …
	AudioCodec string        // empty: no sound
	Rotation   int           // degrees clockwise that players turn the video by
}

// Item is an uploaded file.
type Item struct {
	Facts
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	ObjectKey   string
	SHA256      []byte
	Bytes       int64
	FileName    string
	AltText     string
	CreatedAt   time.Time
	Deleted     bool // no new post may use it

	// MetadataRemoved says what the file told when it arrived, and does not any
	// more.
	MetadataRemoved []metadata.Category
}

// LocationRemoved says whether the file told where it was made.
func (i Item) LocationRemoved() bool { return slices.Contains(i.MetadataRemoved, metadata.Location) }
