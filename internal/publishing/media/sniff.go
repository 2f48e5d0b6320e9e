package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media/pdf"
)

// The MIME types that at least one network accepts.
const (
	typeJPEG = "image/jpeg"
	typePNG  = "image/png"
	typeGIF  = "image/gif"
	typeWebP = "image/webp"
	typeMP4  = "video/mp4"
	typeMOV  = "video/quicktime"
	typeWebM = "video/webm"
	typePDF  = "application/pdf"
)

// Accepted lists the accepted MIME types.
func Accepted() []string {
	return []string{typeJPEG, typePNG, typeGIF, typeWebP, typeMP4, typeMOV, typeWebM, typePDF}
}

const (
	maxImageBytes = 100 << 20 // no network accepts larger images
	// A file of a few kilobytes may decode to gigabytes. No network accepts this many
	// pixels.
	maxImageSide   = 30_000
	maxImagePixels = 200_000_000
)

// Inspect detects the type and properties of a file. It reads few short ranges, because
// r may be a remote object; only GIFs are read completely. Errors of r are returned
// unchanged, all others are *apperr.Error.
func Inspect(r io.ReaderAt, size int64) (Facts, error) {
	watched := &errorReaderAt{ReaderAt: r}
	facts, err := inspect(watched, size)
	if watched.err != nil {
		return Facts{}, fmt.Errorf("reading the file: %w", watched.err)
	}
	return facts, err
}

// errorReaderAt distinguishes a failing reader from a damaged file.
type errorReaderAt struct {
	io.ReaderAt
	err error
}

func (w *errorReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func inspect(r io.ReaderAt, size int64) (facts Facts, err error) {
	head := make([]byte, min(512, size))
	if n, err := r.ReadAt(head, 0); err != nil && n < len(head) {
		return Facts{}, err
	}
	facts.MIMEType, err = sniff(head)
	if err != nil {
		return Facts{}, err
	}
	if strings.HasPrefix(facts.MIMEType, "image/") {
		return inspectImage(r, size, facts.MIMEType)
	}
	if facts.MIMEType == typePDF {
		return inspectPDF(r, size)
	}
	var found Facts
	if facts.MIMEType == typeWebM {
		found, err = inspectWebM(r, size)
	} else {
		found, err = inspectMP4(r, size)
	}
	if err != nil {
		return Facts{}, damaged("The video cannot be read: %s.", err)
	}
	if found.VideoCodec == "" {
		return Facts{}, unsupported("The file contains only audio.")
	}
	found.MIMEType, found.Kind, found.Orientation = facts.MIMEType, Video, 1
	if found.Rotation%180 != 0 {
		found.Width, found.Height = found.Height, found.Width
	}
	if found.Duration > 0 {
		found.BitRate = int64(float64(size) * 8 / found.Duration.Seconds())
	}
	return found, nil
}

// sniff detects the type from the first bytes. It refines the WHATWG algorithm of
// net/http where that returns one type for several formats.
func sniff(head []byte) (string, error) {
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		return sniffBrands(head)
	}
	// QuickTime before 2001 begins without ftyp.
	// https://developer.apple.com/documentation/quicktime-file-format/movie_atom
	if len(head) >= 8 && slices.Contains([]string{"moov", "mdat", "wide", "free", "skip"}, string(head[4:8])) {
		return typeMOV, nil
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if kind == typeWebM && !bytes.Contains(head, []byte("webm")) {
		return "", unsupported("The file is a Matroska video; only WebM is accepted.")
	}
	if !slices.Contains(Accepted(), kind) {
		return "", unsupported("The file is not a JPEG, PNG, GIF, WebP, MP4, MOV, WebM or PDF.")
	}
	return kind, nil
}

// sniffBrands distinguishes the formats of the ISO base media family by their brands
// (ISO/IEC 14496-12, 4.3; registered at https://mp4ra.org/registered-types/brands).
func sniffBrands(head []byte) (string, error) {
	end := min(int(min(binary.BigEndian.Uint32(head), 1<<16)), len(head))
	brands := []string{string(head[8:12])}
	for at := 16; at+4 <= end; at += 4 {
		brands = append(brands, string(head[at:at+4]))
	}
	switch major := brands[0]; {
	case major == "qt  ":
		return typeMOV, nil
	case slices.Contains([]string{"M4A ", "M4B ", "M4P "}, major):
		return "", unsupported("The file contains only audio.")
	case slices.Contains([]string{"heic", "heix", "hevc", "hevx", "mif1", "msf1", "avif", "avis"}, major):
		return "", unsupported("The networks do not accept HEIC and AVIF images. Export the image as JPEG.")
	}
	for _, brand := range brands {
		for _, known := range []string{
			"iso", "mp4", "avc1", "hvc1", "av01", "M4V", "MSNV", "dash", "cmf", "3gp", "3g2",
			"qt  ",
		} {
			if strings.HasPrefix(brand, known) {
				return typeMP4, nil
			}
		}
	}
	return "", unsupported("The file is not a JPEG, PNG, GIF, WebP, MP4, MOV, WebM or PDF.")
}

// inspectPDF counts the pages of a document.
func inspectPDF(r io.ReaderAt, size int64) (Facts, error) {
	file, err := pdf.Open(r, size)
	pages := 0
	if err == nil {
		pages, err = file.Pages()
	}
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return Facts{}, unsupported("The document is encrypted. Save it without a password, then upload it.")
	case err != nil:
		return Facts{}, damaged("The document cannot be read: %s. Export it again, then upload it.", err)
	}
	return Facts{MIMEType: typePDF, Kind: Document, Orientation: 1, Pages: pages}, nil
}

func unsupported(message string) *apperr.Error {
	return apperr.InvalidFields(apperr.FieldError{Field: "file", Code: "unsupported_type", Message: message})
}

func damaged(format string, args ...any) *apperr.Error {
	return apperr.InvalidFields(apperr.FieldError{
		Field: "file", Code: "damaged", Message: fmt.Sprintf(format, args...),
	})
}
