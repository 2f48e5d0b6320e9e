package metadata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Ids of EBML elements. RFC 8794 (EBML), 11.3; RFC 9559 (Matroska), 5.1
const (
	idSegment     = 0x18538067
	idSeekHead    = 0x114D9B74
	idSeek        = 0x4DBB
	idInfo        = 0x1549A966
	idTracks      = 0x1654AE6B
	idTrackEntry  = 0xAE
	idTrackName   = 0x536E
	idCluster     = 0x1F43B675
	idAttachments = 0x1941A469
	idTags        = 0x1254C367
	idVoid        = 0xEC
	idCRC         = 0xBF
	idTitle       = 0x7BA9
	idMuxingApp   = 0x4D80
	idWritingApp  = 0x5741
	idDateUTC     = 0x4461
	idFileName    = 0x7384
	idPrevName    = 0x3C83AB
	idNextName    = 0x3E83BB
)

// webmClues are names of tags. https://www.matroska.org/technical/tagging.html
func webmClues() []clue {
	return []clue{
		{Location, []string{"location", "latitude", "longitude", "country", "gps"}},
		{Camera, []string{"make", "model", "camera"}},
		{Author, []string{"artist", "director", "author", "copyright", "producer", "publisher"}},
		{Description, []string{"title", "comment", "description", "keywords", "synopsis"}},
		{Date, []string{"date_", "creation_time"}},
		{Software, []string{"encoder", "encoded_by", "writing_app", "software", "duration"}},
	}
}

// webm voids tags, attachments, and names in place: elements of the same length, so
// that the index stays valid.
func (s *scanner) webm() error {
	w := &webmScanner{scanner: s, in: bufio.NewReaderSize(io.NewSectionReader(s.r, 0, s.size), 64<<10)}
	err := w.walk(0, s.size)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // recorded live, and cut short
		return nil
	}
	return err
}

type webmScanner struct {
	*scanner
	in    *bufio.Reader
	at    int64
	parts int
}

func (w *webmScanner) vint(keepMarker bool) (value uint64, unknown bool, err error) {
	first, err := w.in.ReadByte()
	if err != nil {
		return 0, false, err
	}
	length := 1
	for mask := byte(0x80); mask > 0 && first&mask == 0; mask >>= 1 {
		length++
	}
	if length > 8 {
		return 0, false, malformed("a number is too long")
	}
	value = uint64(first)
	if !keepMarker {
		value &= 1<<(8-length) - 1
	}
	for range length - 1 {
		b, err := w.in.ReadByte()
		if err != nil {
			return 0, false, err
		}
		value = value<<8 | uint64(b)
	}
	w.at += int64(length)
	return value, !keepMarker && value == 1<<(7*length)-1, nil
}

// walk visits elements one after the other. Segments, and clusters of an unknown
// length, are entered by continuing after their headers, which also finds their ends
// (RFC 8794, 6.2).
func (w *webmScanner) walk(at, end int64) error {
	for w.at = at; w.at < end; {
		if w.parts++; w.parts > 16*maxParts { // a block every few milliseconds, for hours
			return malformed("it has too many elements")
		}
		from := w.at
		id, _, err := w.vint(true)
		if err != nil {
			return err
		}
		length, unknown, err := w.vint(false)
		if err != nil {
			return err
		}
		start := w.at
		if id == idSegment || unknown && id == idCluster {
			continue
		}
		if unknown {
			return malformed("an element has no length")
		}
		stop := end
		if length < uint64(end-start) { //nolint:gosec // start is before the end
			stop = start + int64(length) //nolint:gosec // likewise
		}
		if err := w.element(id, from, start, stop); err != nil {
			return err
		}
		if err := skip(w.in, stop-w.at); err != nil {
			return err
		}
		w.at = stop
	}
	return nil
}

// element is one of the first or second level.
func (w *webmScanner) element(id uint64, from, start, end int64) error {
	switch id {
	case idTags, idAttachments:
		body, err := w.read(start, end-start)
		if err != nil {
			return err
		}
		w.classify(body, webmClues())
		w.void(from, end)
	case idInfo, idTracks, idSeekHead:
		body, err := w.read(start, end-start)
		if err != nil {
			return err
		}
		if int64(len(body)) < end-start {
			return malformed("its headers are too long")
		}
		changed := len(w.plan.edits)
		w.header(body, start, 0)
		if len(w.plan.edits) > changed && len(body) >= 6 && body[0] == idCRC { // which is not true any more
			w.void(start, start+6)
		}
	case idVoid:
		body, err := w.read(start, end-start)
		if err != nil {
			return err
		}
		if !isZero(body) || end-start > maxBlock {
			w.plan.zero(start, end)
		}
	}
	return nil
}

// header walks what segment information, tracks and the list of places hold.
func (w *webmScanner) header(body []byte, offset int64, depth int) {
	inner := &webmScanner{scanner: w.scanner}
	for at := int64(0); at < int64(len(body)); {
		inner.in, inner.at = bufio.NewReaderSize(bytes.NewReader(body[at:]), 16), 0
		id, _, err := inner.vint(true)
		if err != nil {
			return
		}
		length, unknown, err := inner.vint(false)
		if err != nil || unknown || length > uint64(int64(len(body))-at-inner.at) { //nolint:gosec // not negative
			return
		}
		start := at + inner.at
		end := start + int64(length) //nolint:gosec // within body
		content := body[start:end]
		switch id {
		case idTrackEntry:
			if depth == 0 {
				w.header(content, offset+start, 1)
			}
		case idTrackName, idTitle, idFileName, idPrevName, idNextName:
			w.clearText(content, offset+start, Description)
		case idMuxingApp, idWritingApp:
			w.clearText(content, offset+start, Software)
		case idDateUTC:
			w.saw(Date)
			w.void(offset+at, offset+end)
		case idSeek: // to tags or attachments
			if containsAny(content, "\x12\x54\xC3\x67", "\x19\x41\xA4\x69") {
				w.void(offset+at, offset+end)
			}
		}
		at = end
	}
}

// clearText empties a text: one that ends with zeros ends before them (RFC 8794,
// 13). Some of these elements are required.
func (w *webmScanner) clearText(content []byte, at int64, c Category) {
	if !isZero(content) {
		w.saw(c)
		w.plan.zero(at, at+int64(len(content)))
	}
}

// void turns an element into one that readers skip (RFC 8794, 11.3.2). The minimum
// length is two bytes.
func (w *webmScanner) void(from, end int64) {
	length := end - from
	head := []byte{idVoid, 0x80 | byte(length-2)} //nolint:gosec // at most 128
	if length-2 > 126 {
		rest := length - 9
		head = []byte{idVoid, 0x01}
		for shift := 48; shift >= 0; shift -= 8 {
			head = append(head, byte(rest>>shift)) //nolint:gosec // a digit
		}
	}
	w.plan.overwrite(from, head)
	w.plan.zero(from+int64(len(head)), end)
}
