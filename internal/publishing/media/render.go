package media

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"dateline/internal/infra/blob"
)

// Rendition is an image rendered from another one for a network.
type Rendition struct {
	ObjectKey string
	SHA256    []byte
	MIMEType  string
	Bytes     int64
	Width     int
	Height    int
}

// RenditionStore stores which renditions exist of which object.
type RenditionStore interface {
	Rendition(ctx context.Context, source, spec string) (Rendition, bool, error)
	SaveRendition(ctx context.Context, source, spec string, r Rendition) error
}

// ErrCannotRender means that an image cannot be rendered as specified, because it is
// damaged or does not compress enough.
var ErrCannotRender = errors.New("the image cannot be converted")

// Render renders an image, or returns the existing rendition. The same image and
// specification produce the same bytes.
func (s *Service) Render(ctx context.Context, item Item, spec Spec) (Item, error) {
	r, found, err := s.Store.Rendition(ctx, item.ObjectKey, spec.key())
	if err != nil {
		return Item{}, err
	}
	if !found {
		if r, err = s.render(ctx, item, spec); err != nil {
			return Item{}, err
		}
	}
	made := item
	made.ObjectKey, made.SHA256, made.Bytes = r.ObjectKey, r.SHA256, r.Bytes
	made.Facts = Facts{MIMEType: r.MIMEType, Kind: Image, Width: r.Width, Height: r.Height, Frames: 1, Orientation: 1}
	made.FileName = withExtension(item.FileName, r.MIMEType)
	return made, nil
}

// withExtension replaces the extension of a file name by the one of the type.
func withExtension(name, mimeType string) string {
	endings := []string{".jpg", ".jpeg"}
	if mimeType == typePNG {
		endings = []string{".png"}
	}
	ending := filepath.Ext(name)
	if name == "" || slices.Contains(endings, strings.ToLower(ending)) {
		return name
	}
	return strings.TrimSuffix(name, ending) + endings[0]
}

func (s *Service) render(ctx context.Context, item Item, spec Spec) (Rendition, error) {
	s.rendering.Lock() // one large image at a time bounds memory
	defer s.rendering.Unlock()
	if err := ctx.Err(); err != nil {
		return Rendition{}, err
	}
	source := blob.NewReader(ctx, s.Objects, item.ObjectKey, item.Bytes)
	defer func() { _ = source.Close() }()
	content, r, err := convert(source, item, spec)
	if err != nil {
		return Rendition{}, err
	}
	sum := sha256.Sum256(content)
	r.SHA256, r.ObjectKey, r.Bytes = sum[:], objectKey(sum[:]), int64(len(content))
	for range 3 {
		if err = s.Store.ClaimObject(ctx, r.ObjectKey, claimTTL); err != nil {
			return r, err
		}
		if err = s.Objects.Put(ctx, r.ObjectKey, r.MIMEType, r.Bytes, bytes.NewReader(content)); err != nil {
			return r, fmt.Errorf("storing the converted image: %w", err)
		}
		if err = s.Store.SaveRendition(ctx, item.ObjectKey, spec.key(), r); !errors.Is(err, ErrUnclaimed) {
			break
		}
	}
	return r, err
}

// source is an image that is read twice: for its profile and for its pixels.
type source interface {
	io.Reader
	io.ReaderAt
}

// convert renders the bytes of an image. It keeps the color profile, or makes one of what
// defines the colors, and no other metadata.
func convert(src source, item Item, spec Spec) ([]byte, Rendition, error) {
	watched := &errorReaderAt{ReaderAt: src}
	profile := iccProfile(watched, item.Bytes, item.MIMEType)
	if watched.err != nil {
		return nil, Rendition{}, fmt.Errorf("reading the image: %w", watched.err)
	}
	img, err := decode(src, item.MIMEType)
	if err != nil {
		return nil, Rendition{}, err
	}
	if b := img.Bounds(); int64(b.Dx())*int64(b.Dy()) > maxRenderPixels {
		return nil, Rendition{}, fmt.Errorf("%w: it has %d × %d pixels", ErrCannotRender, b.Dx(), b.Dy())
	}
	width, height := spec.Width, spec.Height
	for range 8 {
		scaled := resize(img, width, height, item.Orientation)
		for _, mimeType := range []string{spec.MIMEType, typeJPEG} {
			if mimeType != spec.MIMEType && !spec.OrJPEG {
				continue
			}
			if content, ok, err := encode(scaled, mimeType, profile, spec.MaxBytes); err != nil || ok {
				return content, Rendition{MIMEType: mimeType, Width: width, Height: height}, err
			}
		}
		width, height = max(1, width*4/5), max(1, height*4/5)
	}
	return nil, Rendition{}, fmt.Errorf("%w: it does not get smaller than %d bytes", ErrCannotRender, spec.MaxBytes)
}

// decode distinguishes a damaged image from a failing source.
func decode(r io.Reader, mimeType string) (image.Image, error) {
	watched := &errorReader{Reader: bufio.NewReaderSize(r, 64<<10)}
	var img image.Image
	var err error
	switch mimeType {
	case typeJPEG:
		img, err = jpeg.Decode(watched)
	case typePNG:
		img, err = png.Decode(watched)
	case typeGIF:
		img, err = gif.Decode(watched)
	default:
		img, err = webp.Decode(watched)
	}
	if watched.err != nil {
		return nil, fmt.Errorf("reading the image: %w", watched.err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCannotRender, err)
	}
	return img, nil
}

type errorReader struct {
	io.Reader
	err error
}

func (w *errorReader) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// encode uses the best quality that fits into the limit; ok is false if none does.
func encode(img image.Image, mimeType string, profile []byte, limit int64) (content []byte, ok bool, err error) {
	if mimeType == typePNG {
		content, ok, err = encodeWithin(limit, func(w io.Writer) error {
			return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, img)
		})
		if ok {
			content, err = pngWithProfile(content, profile)
		}
		return content, ok && (limit == 0 || int64(len(content)) <= limit), err
	}
	img = opaque(img)
	room := limit
	if limit > 0 {
		room = max(1, limit-int64(len(profile))-64)
	}
	for _, quality := range []int{92, 88, 84, 80, 75, 70, 60, 50, 40} {
		content, ok, err = encodeWithin(room, func(w io.Writer) error {
			return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
		})
		if ok || err != nil {
			return jpegWithProfile(content, profile), ok, err
		}
	}
	return nil, false, nil
}

var errLimitReached = errors.New("the limit is reached")

// encodeWithin stops an encoder when it has written more than the limit.
func encodeWithin(limit int64, encode func(io.Writer) error) (content []byte, ok bool, err error) {
	w := &limitedBuffer{limit: limit}
	err = encode(w)
	if errors.Is(err, errLimitReached) {
		return nil, false, nil
	}
	return w.Bytes(), err == nil, err
}

type limitedBuffer struct {
	bytes.Buffer
	limit int64
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.limit > 0 && int64(l.Len()+len(p)) > l.limit {
		return 0, errLimitReached
	}
	return l.Buffer.Write(p)
}

// opaque draws an image with transparency on a white background.
func opaque(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}
