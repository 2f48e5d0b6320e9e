package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // dimensions of GIF
	_ "image/jpeg" // dimensions of JPEG
	_ "image/png"  // dimensions of PNG
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	_ "golang.org/x/image/webp" // dimensions of WebP

	"dateline/internal/people"
	"dateline/internal/post"
)

// Objects is the S3 bucket.
type Objects interface {
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	URL(key string) string
}

// Store keeps what is known of the files.
type Store interface {
	SaveMedia(ctx context.Context, m Item) (Item, error)
}

// Service takes uploads.
type Service struct {
	Objects  Objects
	Store    Store
	MaxBytes int64
}

// accepted says whether some network takes a type.
func accepted(mimeType string) bool {
	switch mimeType {
	case "image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/webm":
		return true
	}
	return false
}

const maxAltText = 10_000 // bytes; every network allows less

// Upload stores a file. It is written to disk first, hashed and sniffed on the
// way, so that memory stays bounded and the object's key is its content's.
func (s *Service) Upload(ctx context.Context, who people.Principal, fileName, altText string, body io.Reader) (Item, error) {
	if len(altText) > maxAltText {
		return Item{}, post.InvalidFields(post.Problem{Field: "alt_text", Code: "too_long", Message: "The description is longer than 10,000 bytes."})
	}
	if !utf8.ValidString(altText) || strings.ContainsRune(altText, 0) {
		return Item{}, post.InvalidFields(post.Problem{Field: "alt_text", Code: "invalid", Message: "The description holds bytes that are no characters."})
	}
	tmp, err := os.CreateTemp("", "dateline-upload-*")
	if err != nil {
		return Item{}, err
	}
	defer func() { _ = tmp.Close(); _ = os.Remove(tmp.Name()) }()

	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(tmp, sum), io.LimitReader(body, s.MaxBytes+1))
	if err != nil {
		return Item{}, &post.Error{Kind: post.Invalid, Code: "upload_broken", Message: "The upload ended before its end. Send the file again.",
			Problems: []post.Problem{{Field: "file", Code: "incomplete", Message: "The file did not arrive whole."}}}
	}
	if n > s.MaxBytes {
		return Item{}, &post.Error{Kind: post.TooLarge, Code: "too_large", Message: fmt.Sprintf("The file is larger than %d bytes.", s.MaxBytes),
			Problems: []post.Problem{{Field: "file", Code: "too_large", Message: fmt.Sprintf("At most %d bytes.", s.MaxBytes)}}}
	}
	if n == 0 {
		return Item{}, post.InvalidFields(post.Problem{Field: "file", Code: "empty", Message: "The file is empty."})
	}
	item := Item{ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, UserID: who.UserID, SHA256: sum.Sum(nil), Bytes: n,
		FileName: cleanName(fileName), AltText: altText}
	if err := sniff(tmp, &item); err != nil {
		return Item{}, err
	}
	item.ObjectKey = objectKey(item.SHA256)
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return Item{}, err
	}
	if err := s.Objects.Put(ctx, item.ObjectKey, item.MIMEType, n, tmp); err != nil {
		return Item{}, fmt.Errorf("storing the file: %w", err)
	}
	return s.Store.SaveMedia(ctx, item)
}

// sniff finds type and dimensions from the bytes (the WHATWG algorithm of
// net/http), never from what the uploader says.
func sniff(f *os.File, item *Item) error {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	item.MIMEType, _, _ = strings.Cut(http.DetectContentType(head[:n]), ";")
	if !accepted(item.MIMEType) {
		return post.InvalidFields(post.Problem{Field: "file", Code: "unsupported_type",
			Message: "The file is no JPEG, PNG, GIF, WebP, MP4 or WebM."})
	}
	if !strings.HasPrefix(item.MIMEType, "image/") {
		return nil
	}
	cfg, _, err := image.DecodeConfig(io.NewSectionReader(f, 0, item.Bytes))
	if err != nil {
		return post.InvalidFields(post.Problem{Field: "file", Code: "damaged", Message: "The image cannot be read."})
	}
	item.Width, item.Height = cfg.Width, cfg.Height
	return nil
}

func objectKey(sum []byte) string {
	h := hex.EncodeToString(sum)
	return "media/" + h[:2] + "/" + h
}

// cleanName keeps the last path element, without control characters, for the
// networks that show it.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, filepath.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "\\", "/")))
	if len(name) > 200 {
		name = name[len(name)-200:]
	}
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return strings.ToValidUTF8(name, "") // the cut may have split a character
}

// Reader opens a stored file; the bytes are read as they are asked for.
func Reader(objects Objects, item Item) func(ctx context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return objects.Get(ctx, item.ObjectKey) }
}
