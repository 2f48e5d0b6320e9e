package media

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/webp"

	"dateline/internal/infra/apperr"
)

// decodeConfig reads the size of an image without decoding its pixels.
func decodeConfig(r io.Reader, mimeType string) (image.Config, error) {
	switch mimeType {
	case typeJPEG:
		return jpeg.DecodeConfig(r)
	case typePNG:
		return png.DecodeConfig(r)
	case typeGIF:
		return gif.DecodeConfig(r)
	default:
		return webp.DecodeConfig(r)
	}
}

func inspectImage(r io.ReaderAt, size int64, mimeType string) (Facts, error) {
	if size > maxImageBytes {
		return Facts{}, &apperr.Error{
			Kind: apperr.KindTooLarge, Code: "too_large",
			Message: fmt.Sprintf("The image is larger than %d bytes.", maxImageBytes),
			Fields: []apperr.FieldError{
				{
					Field: "file", Code: "too_large",
					Message: fmt.Sprintf("Images have at most %d bytes.", maxImageBytes),
				},
			},
		}
	}
	cfg, err := decodeConfig(io.NewSectionReader(r, 0, size), mimeType)
	if err != nil || cfg.Width <= 0 || cfg.Height <= 0 {
		return Facts{}, damaged("The image cannot be read.")
	}
	if cfg.Width > maxImageSide || cfg.Height > maxImageSide || int64(cfg.Width)*int64(cfg.Height) > maxImagePixels {
		return Facts{}, apperr.InvalidFields(apperr.FieldError{
			Field: "file", Code: "too_many_pixels",
			Message: fmt.Sprintf("The image has %d × %d pixels; at most %d on a side and %d in total are allowed.",
				cfg.Width, cfg.Height, maxImageSide, maxImagePixels),
		})
	}
	f := Facts{MIMEType: mimeType, Kind: Image, Width: cfg.Width, Height: cfg.Height, Frames: 1, Orientation: 1}
	switch mimeType {
	case typeJPEG:
		f.Orientation = orientation(jpegExif(r, size))
		if f.Orientation >= 5 { // rotated by 90 degrees
			f.Width, f.Height = f.Height, f.Width
		}
	case typeGIF:
		f.Frames, f.Duration, err = gifFrames(io.NewSectionReader(r, 0, size))
	case typeWebP:
		f.Frames, f.Duration, err = webpFrames(r, size)
	case typePNG:
		f.Frames, err = pngFrames(r, size)
	}
	if err != nil || f.Frames < 1 {
		return Facts{}, damaged("The image cannot be read to its end.")
	}
	if f.Frames > 1 {
		f.Kind = Animation
	} else {
		f.Duration = 0
	}
	return f, nil
}

var errTruncated = errors.New("it ends too early")

// webpFrames counts the ANMF chunks of a WebP, which is a RIFF file.
// https://developers.google.com/speed/webp/docs/riff_container
func webpFrames(r io.ReaderAt, size int64) (frames int, whole time.Duration, err error) {
	var head [24]byte // of a chunk, and of a frame up to its duration
	for at := int64(12); at+8 <= size; {
		if _, err := r.ReadAt(head[:8], at); err != nil {
			return 0, 0, err
		}
		length := int64(binary.LittleEndian.Uint32(head[4:8]))
		switch string(head[:4]) {
		case "VP8 ", "VP8L":
			return 1, 0, nil
		case "ANMF":
			if _, err := r.ReadAt(head[:], at); err != nil {
				return 0, 0, err
			}
			frames++
			whole += time.Duration(uint32(head[20])|uint32(head[21])<<8|uint32(head[22])<<16) * time.Millisecond
		}
		at += 8 + length + length&1
	}
	return frames, whole, nil
}

// pngFrames reads the animation control chunk, which precedes the image data.
// https://www.w3.org/TR/png-3/#acTL-chunk
func pngFrames(r io.ReaderAt, size int64) (int, error) {
	var head [12]byte
	for at := int64(8); at+12 <= size; {
		if _, err := r.ReadAt(head[:], at); err != nil {
			return 0, err
		}
		switch string(head[4:8]) {
		case "acTL":
			return max(1, int(min(binary.BigEndian.Uint32(head[8:]), 1<<20))), nil
		case "IDAT":
			return 1, nil
		}
		at += 12 + int64(binary.BigEndian.Uint32(head[:4]))
	}
	return 0, errTruncated
}
