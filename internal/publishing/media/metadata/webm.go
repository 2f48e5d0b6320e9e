package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Ids of EBML elements. RFC 8794 (EBML), 11.3; RFC 9559 (Matroska), 5.1
const (
	idHeader        = 0x1A45DFA3
	idSegment       = 0x18538067
	idSeekHead      = 0x114D9B74
	idSeek          = 0x4DBB
	idInfo          = 0x1549A966
	idTracks        = 0x1654AE6B
	idTrackEntry    = 0xAE
	idTrackNumber   = 0xD7
	idTrackType     = 0x83
	idTrackName     = 0x536E
	idCodecID       = 0x86
	idCodecPrivate  = 0x63A2
	idCodecName     = 0x258688
	idEncodings     = 0x6D80
	idCluster       = 0x1F43B675
	idSimpleBlock   = 0xA3
	idBlockGroup    = 0xA0
	idBlock         = 0xA1
	idCues          = 0x1C53BB6B
	idCuePoint      = 0xBB
	idCuePositions  = 0xB7
	idCueTrack      = 0xF7
	idChapters      = 0x1043A770
	idAttachments   = 0x1941A469
	idAttachedFile  = 0x61A7
	idFileData      = 0x465C
	idTags          = 0x1254C367
	idTag           = 0x7373
	idSimpleTag     = 0x67C8
	idTagName       = 0x45A3
	idVoid          = 0xEC
	idCRC           = 0xBF
	idTitle         = 0x7BA9
	idMuxingApp     = 0x4D80
	idWritingApp    = 0x5741
	idDateUTC       = 0x4461
	typeVideo       = 1
	typeSound       = 2
	typeSubtitle    = 0x11
	typeTimedData   = 0x21
	maxWebMElements = 16 * maxParts // a block every few milliseconds, for hours
)

// preservedElements lists what a player needs inside of an element; zero is the file.
// Elements that are not listed as parents are kept unchanged, see visit.
func preservedElements(parent uint64) []uint64 {
	switch parent {
	case 0:
		return []uint64{idHeader, idSegment}
	case idSegment:
		return []uint64{idSeekHead, idInfo, idTracks, idCluster, idCues, idChapters}
	case idSeekHead:
		return []uint64{idSeek}
	case idInfo: // TimestampScale, Duration
		return []uint64{0x2AD7B1, 0x4489, idMuxingApp, idWritingApp}
	case idTracks:
		return []uint64{idTrackEntry}
	case idTrackEntry: // 5.1.4.1
		return []uint64{
			idTrackNumber, 0x73C5, idTrackType, 0xB9, 0x88, 0x55AA, 0x55AB, 0x55AC, 0x55AD, 0x55AE, 0x55AF,
			0x9C,
			0x6DE7, 0x6DF8, 0x23E383, 0x234E7A, 0x23314F, 0x55EE, 0x41E4, 0x22B59C, 0x22B59D, idCodecID, idCodecPrivate,
			0x56AA, 0x56BB, 0xE0, 0xE1, 0xE2, idEncodings,
		}
	case idCluster: // Timestamp, Position, PrevSize
		return []uint64{0xE7, 0xA7, 0xAB, idSimpleBlock, idBlockGroup}
	case idCues:
		return []uint64{idCuePoint}
	}
	return nil
}

// webmClues are names of tags. https://www.matroska.org/technical/tagging.html
func webmClues() []clue {
	return []clue{
		{Camera, []string{"make", "model", "camera"}},
		{Author, []string{"artist", "director", "author", "copyright", "producer", "publisher"}},
		{Description, []string{"title", "comment", "description", "keywords", "synopsis"}},
		{Date, []string{"date_", "creation_time"}},
		{Software, []string{"encoder", "encoded_by", "writing_app", "software", "duration"}},
	}
}

// webm voids in place what a player does not need: elements of the same length, so that
// the index stays valid. Only headers of elements and text are read.
func (s *scanner) webm() error {
	w := &webmScanner{scanner: s, tracks: map[uint64]*webmTrack{}}
	if _, err := w.walk(0, 0, s.size); err != nil {
		return err
	}
	w.dropTexts()
	return nil
}

type webmScanner struct {
	*scanner
	parts  int
	tracks map[uint64]*webmTrack
	cues   []element // cue points
	sums   []element // checksums of clusters and cues
}

// webmTrack is a track that is dropped, or whose text decides.
type webmTrack struct {
	entry   element
	isText  bool
	dropped bool
	blocks  []element
	text    []byte
}

type element struct {
	id         uint64
	at         int64 // of the header
	start, end int64 // of the content
	unknown    bool  // its length is; end is that of its parent
}

// element reads a header; ok is false where the file is cut short.
func (w *webmScanner) element(at, limit int64) (e element, ok bool, err error) {
	if w.parts++; w.parts > maxWebMElements {
		return e, false, malformed("it has too many elements")
	}
	head, err := w.read(at, min(16, limit-at))
	if err != nil {
		return e, false, err
	}
	return parseElement(head, at, limit)
}

// parseElement reads a header that begins at an offset of the file.
func parseElement(head []byte, at, limit int64) (e element, ok bool, err error) {
	id, n, err := vint(head, true)
	if err != nil || n == 0 {
		return e, false, err
	}
	length, m, err := vint(head[n:], false)
	if err != nil || m == 0 {
		return e, false, err
	}
	e = element{id: id, at: at, start: at + int64(n+m), end: limit}
	e.unknown = length == 1<<(7*m)-1
	if !e.unknown && length < uint64(max(limit-e.start, 0)) { //nolint:gosec // not negative
		e.end = e.start + int64(length) //nolint:gosec // below the limit
	}
	return e, e.start <= limit, nil
}

// vint reads a variable-size integer (RFC 8794, 4); ids keep their length marker. The
// length is zero if it is not there as a whole.
func vint(p []byte, keepMarker bool) (value uint64, length int, err error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	length = 1
	for mask := byte(0x80); mask > 0 && p[0]&mask == 0; mask >>= 1 {
		length++
	}
	if length > 8 {
		return 0, 0, malformed("a number is too long")
	}
	if len(p) < length {
		return 0, 0, nil
	}
	value = uint64(p[0])
	if !keepMarker {
		value &= 1<<(8-length) - 1
	}
	for _, b := range p[1:length] {
		value = value<<8 | uint64(b)
	}
	return value, length, nil
}

// walk visits the children of an element, and returns where they end: clusters and
// segments of unknown length end where a sibling begins (RFC 8794, 6.2).
func (w *webmScanner) walk(parent uint64, at, end int64) (int64, error) {
	var sum element
	edits := len(w.plan.edits)
	for at < end {
		e, ok, err := w.element(at, end)
		if err != nil || !ok {
			return end, err
		}
		isSibling := slices.Contains(append(preservedElements(idSegment), idTags, idAttachments), e.id)
		if e.id == idSegment && parent != 0 || parent == idCluster && isSibling {
			return at, nil
		}
		switch {
		case e.id == idSegment || e.id == idCluster:
			if e.end, err = w.walk(e.id, e.start, e.end); err != nil {
				return end, err
			}
		case e.unknown:
			return end, malformed("an element has no length")
		case e.id == idCRC:
			sum = e
			if parent == idCluster || parent == idCues {
				w.sums = append(w.sums, e)
			}
		default:
			if err := w.visit(parent, e); err != nil {
				return end, err
			}
		}
		at = e.end
	}
	if sum.id != 0 && len(w.plan.edits) > edits { // it is not true any more
		w.void(sum)
	}
	return at, nil
}

func (w *webmScanner) visit(parent uint64, e element) error {
	if e.id == idVoid {
		body, err := w.read(e.start, e.end-e.start)
		if err != nil {
			return err
		}
		if !isZero(body) || e.end-e.start > maxBlock {
			w.seePlaces(body)
			w.plan.zero(e.start, e.end)
		}
		return nil
	}
	if !slices.Contains(preservedElements(parent), e.id) {
		return w.remove(e)
	}
	switch e.id {
	case idMuxingApp, idWritingApp:
		return w.clearText(e, Software)
	case idSeek: // to tags or attachments
		body, err := w.read(e.start, e.end-e.start)
		if err == nil && containsAny(body, "\x12\x54\xC3\x67", "\x19\x41\xA4\x69") {
			w.void(e)
		}
		return err
	case idTrackEntry:
		return w.track(e)
	case idChapters:
		body, err := w.read(e.start, e.end-e.start)
		if err != nil {
			return err
		}
		if hasPosition(body) || e.end-e.start > maxBlock {
			w.saw(Location)
			w.void(e)
		}
		return nil
	case idSimpleBlock, idBlockGroup:
		return w.block(e)
	case idCuePoint:
		w.cues = append(w.cues, e)
		return nil
	}
	if preservedElements(e.id) != nil {
		_, err := w.walk(e.id, e.start, e.end)
		return err
	}
	return nil
}

// remove voids an element, and reports what it contained.
func (w *webmScanner) remove(e element) error {
	body, err := w.read(e.start, e.end-e.start)
	if err != nil {
		return err
	}
	switch e.id {
	case idDateUTC:
		w.saw(Date)
	case idTrackName, idTitle:
		w.saw(Description)
		w.seePlaces(body)
	case idTags:
		w.classify(body, webmClues())
		w.seePlaces(body)
		w.tags(body)
	case idAttachments:
		w.saw(Other)
		w.seePlaces(body)
		eachElement(body, idAttachedFile, func(file []byte) {
			eachElement(file, idFileData, func(data []byte) {
				if plan, err := Scan(bytes.NewReader(data), int64(len(data)), "image/jpeg", Options{}); err == nil {
					w.saw(append(plan.Removed, Thumbnail)...)
				}
			})
		})
	default:
		if !isZero(body) {
			w.saw(Other)
			w.seePlaces(body)
		}
	}
	w.void(e)
	return nil
}

// tags reports names of tags that hold a place.
func (w *webmScanner) tags(body []byte) {
	eachElement(body, idTag, func(tag []byte) {
		eachElement(tag, idSimpleTag, func(simple []byte) {
			eachElement(simple, idTagName, func(name []byte) {
				name = bytes.ToUpper(name)
				if containsAny(name, "LOCATION", "GPS", "LATITUDE", "LONGITUDE", "ISO6709") {
					w.saw(Location)
				}
			})
		})
	})
}

// eachElement yields the contents of the children with an id.
func eachElement(body []byte, id uint64, yield func(content []byte)) {
	for at := int64(0); at < int64(len(body)); {
		e, ok, err := parseElement(body[at:], at, int64(len(body)))
		if err != nil || !ok {
			return
		}
		if e.id == id {
			yield(body[e.start:e.end])
		}
		at = e.end
	}
}

// track drops tracks that are neither picture nor sound nor text, and pictures that are
// files of their own. Texts are chosen when they are known.
func (w *webmScanner) track(e element) error {
	body, err := w.read(e.start, e.end-e.start)
	if err != nil {
		return err
	}
	if int64(len(body)) < e.end-e.start {
		return malformed("its headers are too long")
	}
	number, kind, codec, isEncoded := uint64(0), uint64(0), "", false
	eachElement(body, idTrackNumber, func(p []byte) { number = unsigned(p) })
	eachElement(body, idTrackType, func(p []byte) { kind = unsigned(p) })
	eachElement(body, idCodecID, func(p []byte) { codec = string(bytes.TrimRight(p, "\x00")) })
	eachElement(body, idEncodings, func([]byte) { isEncoded = true })
	t := &webmTrack{entry: e}
	switch {
	case kind == typeVideo && codec != "V_MJPEG" || kind == typeSound:
		if codec == "A_VORBIS" {
			at := int64(0)
			eachElement(body, idCodecPrivate, func(p []byte) {
				at = e.start + int64(cap(body)-cap(p))
				w.vorbisComments(p, at)
			})
		}
		_, err := w.walk(idTrackEntry, e.start, e.end)
		return err
	case kind == typeSubtitle && !isEncoded && !strings.HasSuffix(codec, "/METADATA"):
		t.isText = true
	case kind == typeVideo:
		w.saw(Thumbnail)
		t.dropped = true
	case kind == typeTimedData || strings.HasPrefix(codec, "D_WEBVTT"):
		w.saw(Camera)
		t.dropped = true
	default:
		w.saw(Other)
		t.dropped = true
	}
	t.text = slices.Clone(body)
	if w.tracks[number] != nil {
		return malformed("two tracks have the same number")
	}
	w.tracks[number] = t
	if t.dropped {
		return nil
	}
	_, err = w.walk(idTrackEntry, e.start, e.end)
	return err
}

func unsigned(p []byte) (value uint64) {
	for _, b := range p[:min(len(p), 8)] {
		value = value<<8 | uint64(b)
	}
	return value
}

// block collects a block of a text, or of a dropped track.
func (w *webmScanner) block(e element) error {
	if len(w.tracks) == 0 {
		return nil
	}
	var head []byte
	at, limit := e.start, e.end
	for e.id == idBlockGroup && at < limit {
		inner, ok, err := w.element(at, e.end)
		if err != nil || !ok {
			return err
		}
		if at = inner.end; inner.id == idBlock {
			at, limit = inner.start, inner.start
		}
	}
	head, err := w.read(at, min(8, e.end-at))
	if err != nil {
		return err
	}
	number, _, err := vint(head, false)
	if err != nil {
		return err
	}
	t := w.tracks[number]
	if t == nil {
		return nil
	}
	t.blocks = append(t.blocks, e)
	if len(t.blocks) > maxParts {
		return malformed("its texts are in too many pieces")
	}
	if len(t.text) > maxText {
		return nil
	}
	body, err := w.read(e.start, e.end-e.start) // with the settings and notes of cues
	t.text = append(append(t.text, '\n'), body...)
	return err
}

// dropTexts drops texts with positions, and everything that refers to dropped tracks.
func (w *webmScanner) dropTexts() {
	isDropped := false
	for _, t := range w.tracks {
		if hasPosition(t.text) {
			w.saw(Location)
			t.dropped = true
		}
		if t.dropped = t.dropped || len(t.text) > maxText; !t.dropped {
			continue
		}
		isDropped = true
		if !t.isText {
			if plan, err := Scan(bytes.NewReader(t.text), int64(len(t.text)), "image/jpeg", Options{}); err == nil {
				w.saw(plan.Removed...)
			}
			w.seePlaces(t.text)
		}
		w.void(t.entry)
		for _, e := range t.blocks {
			w.void(e)
		}
	}
	if !isDropped {
		return
	}
	for _, e := range w.cues {
		w.dropCue(e)
	}
	for _, e := range w.sums {
		w.void(e)
	}
}

// dropCue removes a place in the index that leads to dropped tracks only.
func (w *webmScanner) dropCue(cue element) {
	body, err := w.read(cue.start, cue.end-cue.start)
	if err != nil {
		return
	}
	isNeeded := false
	eachElement(body, idCuePositions, func(positions []byte) {
		eachElement(positions, idCueTrack, func(number []byte) {
			t := w.tracks[unsigned(number)]
			isNeeded = isNeeded || t == nil || !t.dropped
		})
	})
	if !isNeeded {
		w.void(cue)
	}
}

// vorbisComments empties the comments in the headers of a Vorbis stream. Vorbis I, 4.2
// and 5; RFC 9559, 6.1 (lacing of CodecPrivate)
func (w *webmScanner) vorbisComments(p []byte, at int64) {
	if len(p) < 3 || p[0] != 2 {
		return
	}
	start, sizes := 1, [2]int{}
	for i := range sizes {
		for start < len(p) {
			sizes[i] += int(p[start])
			if start++; p[start-1] != 255 {
				break
			}
		}
	}
	start += sizes[0]
	end := start + sizes[1]
	const vendor = 7 // after "\x03vorbis"
	if end > len(p) || sizes[1] < vendor+9 {
		return
	}
	count := start + vendor + 4 + int(min(binary.LittleEndian.Uint32(p[start+vendor:]), uint32(len(p)))) //nolint:gosec // small
	if count+5 > end || binary.LittleEndian.Uint32(p[count:]) == 0 {
		return
	}
	w.saw(Other)
	w.seePlaces(p[count:end])
	w.plan.overwrite(at+int64(count), []byte{0, 0, 0, 0, 1})
	w.plan.zero(at+int64(count)+5, at+int64(end))
}

// clearText empties a text: one that ends with zeros ends before them (RFC 8794,
// 13). Some of these elements are required.
func (w *webmScanner) clearText(e element, c Category) error {
	content, err := w.read(e.start, e.end-e.start)
	if err == nil && !isZero(content) {
		w.saw(c)
		w.plan.zero(e.start, e.end)
	}
	return err
}

// void turns an element into one that readers skip (RFC 8794, 11.3.2). The minimum
// length is two bytes.
func (w *webmScanner) void(e element) {
	length := e.end - e.at
	head := []byte{idVoid, 0x80 | byte(length-2)} //nolint:gosec // at most 128
	if length-2 > 126 {
		rest := length - 9
		head = []byte{idVoid, 0x01}
		for shift := 48; shift >= 0; shift -= 8 {
			head = append(head, byte(rest>>shift)) //nolint:gosec // a digit
		}
	}
	w.plan.overwrite(e.at, head)
	w.plan.zero(e.at+int64(len(head)), e.end)
}
