// Package media is the media library: it accepts uploads, detects their type, removes
// their metadata, stores them in S3 under the hash of their content, and renders
// images that meet the limits of a network.
package media

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/media/metadata"
)

// Kind is the kind of a file as users see it.
type Kind string

// The kinds of files.
const (
	Image     Kind = "image"     // a still image
	Animation Kind = "animation" // an animated GIF, WebP or PNG
	Video     Kind = "video"
	Document  Kind = "document" // a PDF
)

// Facts are properties read from the bytes of a file, whatever the uploader declared.
type Facts struct {
	MIMEType string
	Kind     Kind
	Width    int // displayed pixels, after EXIF orientation or rotation; 0: unknown
	Height   int

	Frames      int // of an animation; 1 for a still image, otherwise 0
	Pages       int // of a document
	Orientation int // EXIF, 1 to 8; 1 is upright

	Duration   time.Duration // 0 for still images, or unknown
	FrameRate  float64       // frames per second; 0: unknown
	BitRate    int64         // bits per second of all streams
	VideoCodec string        // as ffprobe names it: h264, hevc, vp9, …
	AudioCodec string        // empty: no sound
	AudioRate  int           // samples per second; 0: unknown
	// PixelFormat is the sampling and depth of colors as ffprobe names it, such as yuv420p;
	// empty: unknown.
	PixelFormat string
	Rotation    int // degrees clockwise by which players rotate the video
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

	// MetadataRemoved lists the kinds of metadata that were removed on upload.
	MetadataRemoved []metadata.Category
}

// LocationRemoved reports whether the uploaded file contained a location.
func (i Item) LocationRemoved() bool { return slices.Contains(i.MetadataRemoved, metadata.Location) }
