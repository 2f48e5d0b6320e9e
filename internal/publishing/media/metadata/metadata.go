// Package metadata finds information in a media file about where, when, how and by whom
// it was created, and plans how to remove it without re-encoding the file.
//
// It works from lists of what a player needs. Everything else is removed, so that
// unknown kinds of metadata are removed too. Pictures and sound are not changed, but user
// data between the pictures of H.264 and H.265 are overwritten.
package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Category is the kind of removed information.
type Category string

// The categories.
const (
	Location    Category = "location"    // coordinates, places
	Camera      Category = "camera"      // make, model, lens, serial numbers, exposure, maker notes
	Author      Category = "author"      // creator, credit, copyright
	Description Category = "description" // captions, titles, keywords, comments
	Date        Category = "date"        // when it was taken or changed
	Software    Category = "software"    // software that created or edited it
	Thumbnail   Category = "thumbnail"   // smaller or further pictures, which may show cropped parts
	Other       Category = "other"       // anything else
)

// Categories lists all categories in the order in which they are reported.
func Categories() []Category {
	return []Category{Location, Camera, Author, Description, Date, Software, Thumbnail, Other}
}

// Options choose what stays.
type Options struct {
	// KeepCredit writes creator, credit line and copyright notice of an image back, and
	// no other metadata.
	KeepCredit bool
	// KeepOrientation writes the EXIF orientation back, and nothing else: for images
	// whose pixels cannot be rotated.
	KeepOrientation bool
}

// ErrMalformed means that a file's structure cannot be parsed, so that its metadata
// cannot be removed with certainty.
var ErrMalformed = errors.New("the structure of the file cannot be followed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const (
	// maxParts bounds how many segments, chunks, boxes or elements are walked.
	maxParts = 1 << 20
	// maxBlock limits how much of one piece of metadata is read to classify it. It is
	// removed completely, whatever its length.
	maxBlock = 1 << 20
)

// Scan plans the removal of a file's metadata. It reads the file in small parts and
// does not hold it in memory. An error that is not ErrMalformed is r's own.
func Scan(r io.ReaderAt, size int64, mimeType string, o Options) (*Plan, error) {
	s := &scanner{r: r, size: size, options: o, found: map[Category]bool{}, plan: &Plan{size: size, Orientation: 1}}
	var err error
	switch mimeType {
	case "image/jpeg":
		err = s.jpeg()
	case "image/png":
		err = s.png()
	case "image/webp":
		err = s.webp()
	case "image/gif":
		err = s.gif()
	case "video/mp4", "video/quicktime":
		err = s.mp4()
	case "video/webm":
		err = s.webm()
	case "application/pdf":
		err = s.pdf()
	default:
		err = malformed("files of the type %s are not known", mimeType)
	}
	if err != nil {
		return nil, err
	}
	if o.KeepCredit && !s.credit.empty() {
		s.found[Author] = false // it stays
	}
	for _, c := range Categories() {
		if s.found[c] {
			s.plan.Removed = append(s.plan.Removed, c)
		}
	}
	s.plan.settle()
	return s.plan, nil
}

// scanner collects the findings in a file and the planned edits.
type scanner struct {
	r       io.ReaderAt
	size    int64
	options Options
	found   map[Category]bool
	credit  Credit
	plan    *Plan
}

func (s *scanner) saw(categories ...Category) {
	for _, c := range categories {
		s.found[c] = true
	}
}

// read reads a stretch of the file, at most maxBlock; it is shorter where the
// file ends.
func (s *scanner) read(at, length int64) ([]byte, error) {
	length = min(length, maxBlock, s.size-at)
	if length <= 0 {
		return nil, nil
	}
	p := make([]byte, length)
	n, err := s.r.ReadAt(p, at)
	if int64(n) == length || errors.Is(err, io.EOF) {
		err = nil
	}
	return p[:n], err
}

// oriented records an orientation. The first one counts, as in viewers.
func (s *scanner) oriented(value int) {
	if s.plan.Orientation == 1 && value > 1 && value <= 8 {
		s.plan.Orientation = value
	}
}

// clue is a word that identifies the content of a piece of metadata.
type clue struct {
	category Category
	words    []string
}

// classify reports the categories whose clues occur in any case, else Other. Empty
// metadata has none.
func (s *scanner) classify(block []byte, clues []clue) {
	if isZero(block) {
		return
	}
	lower := lowerASCII(block)
	known := false
	for _, c := range clues {
		if slices.ContainsFunc(c.words,
			func(word string) bool { return bytes.Contains(lower, lowerASCII([]byte(word))) }) {
			s.saw(c.category)
			known = true
		}
	}
	if !known {
		s.saw(Other)
	}
}

func isZero(block []byte) bool {
	return !slices.ContainsFunc(block, func(b byte) bool { return b != 0 })
}

// lowerASCII changes only ASCII letters: the block may have any encoding, or none.
func lowerASCII(block []byte) []byte {
	out := slices.Clone(block)
	for i, b := range out {
		if b >= 'A' && b <= 'Z' {
			out[i] = b + 'a' - 'A'
		}
	}
	return out
}
