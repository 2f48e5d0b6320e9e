package metadata

import (
	"bytes"
	"encoding/binary"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Forms in which programs write positions as text. They are recognized by their numbers:
// words alone, such as "latitude" in a sentence, are no position.
const (
	degrees   = `[-+]?\d{1,3}(?:\.\d{4,}|,\d{5,})` // to about ten meters; commas may group thousands
	anyNumber = `[-+]?\d{1,3}(?:[.,]\d+|\d{4,7})`  // labeled, thus less strict: also 210285000, in units of 1e-7
	hemiNum   = `\d{1,5}[.,]\d{2,}`                // degrees, or degrees and minutes as 2101.71
	angle     = `\d{1,3}\s?(?:°|º|deg|độ)\s?\d{1,2}(?:[.,]\d+)?\s?(?:['′’]|phút)?\s?(?:\d{1,2}(?:[.,]\d+)?\s?(?:["″”]|''|giây)?)?\s?`
	between   = `[\s,;/|]{0,5}`
	latLabel  = `(?:latitude|lat|vĩ[ _]?độ)`
	lonLabel  = `(?:longitude|longtitude|long|lng|lon|kinh[ _]?độ)`
	assigned  = `[a-z_]{0,10}["'\])>]{0,3}[:=>(\s"'\[+-]{1,6}`
)

var (
	// NMEA 0183: a latitude as ddmm.mm with its hemisphere, then a longitude.
	nmeaForm = regexp.MustCompile(`(?:^|[^\d.])\d{4}(?:\.\d+)?,[NS],\d{5}(?:\.\d+)?,[EW]`)
	// ISO 6709, annex H: ±dd.dd±ddd.dd/, minutes and seconds without separators.
	isoForm = regexp.MustCompile(`[-+](\d{2,6})(\.\d+)?[-+](\d{3,7})(\.\d+)?(?:[-+]\d+(?:\.\d+)?)?(?:CRS[\w:]+)?(/?)`)
	// Two numbers in a row, in either order.
	pairForm = regexp.MustCompile(`(?:^|[^\d.])(` + degrees + `)°?[\s\p{Z},;|]{0,6}(` + degrees + `)`)
	callForm = regexp.MustCompile(`(?i)(?:\w\(|(?:gps|coordinates?|position|tọa độ|toạ độ|vị trí)[^\d+-]{0,8})\s{0,2}` +
		`([-+]?\d{1,3}\.\d{3,})\s{0,2}[,;]\s{0,2}([-+]?\d{1,3}\.\d{3,})`)
	// With hemispheres: of English, French and Vietnamese.
	hemisphereForm = regexp.MustCompile(
		`\b[NS]\s?:?\s?` + hemiNum + `°?` + between + `[EWO]\s?:?\s?` + hemiNum +
			`|\b[EWO]\s?:?\s?` + hemiNum + `°?` + between + `[NS]\s?:?\s?` + hemiNum +
			`|` + hemiNum + `\s?°?\s?[NSB]` + between + hemiNum + `\s?°?\s?[EWOĐT]` +
			`|` + hemiNum + `\s?°?\s?[EWOĐT]` + between + hemiNum + `\s?°?\s?[NSB]`)
	angleForm = regexp.MustCompile(angle + `[NSB]` + between + angle + `[EWOĐT]|` + angle + `[EWOĐT]` + between +
		angle + `[NSB]|` +
		`[NS]\s?` + angle + between + `[EWO]\s?` + angle)
	// With labels: both, or one and a precise number, for programs that write the other one elsewhere.
	labeledForm = regexp.MustCompile(`(?i)` + latLabel + assigned + anyNumber + `[^\d]{0,30}` + lonLabel + assigned +
		anyNumber +
		`|` + lonLabel + assigned + anyNumber + `[^\d]{0,30}` + latLabel + assigned + anyNumber +
		`|` + latLabel + assigned + `[-+]?\d{1,3}[.,]\d{4,}|(?:longitude|longtitude|lng|lon|kinh[ _]?độ)` + assigned +
		`[-+]?\d{1,3}[.,]\d{4,}`)
	markup = regexp.MustCompile(`<[^<>]{0,200}>`)
)

// hasPosition reports whether a text contains a position. The text may be UTF-16, and
// have other bytes around it.
func hasPosition(text []byte) bool {
	if !bytes.ContainsAny(text, "0123456789") {
		return false
	}
	if textHasPosition(text) {
		return true
	}
	narrow := bytes.ReplaceAll(text, []byte{0}, nil)
	if len(narrow) < len(text) && textHasPosition(narrow) {
		return true
	}
	plain := markup.ReplaceAll(narrow, []byte(" "))
	return len(plain) < len(narrow) && textHasPosition(plain)
}

func textHasPosition(text []byte) bool {
	return nmeaForm.Match(text) || angleForm.Match(text) || labeledForm.Match(text) || hemisphereForm.Match(text) ||
		hasISO6709(text) || hasPair(text, pairForm) || hasPair(text, callForm)
}

// hasPair looks for two decimals of which one is a latitude and the other a longitude.
func hasPair(text []byte, form *regexp.Regexp) bool {
	for {
		at := form.FindSubmatchIndex(text)
		if at == nil {
			return false
		}
		a, b := decimal(text[at[2]:at[3]]), decimal(text[at[4]:at[5]])
		isApart := at[4] > at[3] || text[at[4]] == '+' || text[at[4]] == '-'
		if isApart && min(a, b) <= 90 && max(a, b) <= 180 {
			return true
		}
		text = text[at[4]-1:] // the second number may begin a pair
	}
}

// decimal returns the absolute value of a number with a decimal point or comma.
func decimal(digits []byte) float64 {
	n, err := strconv.ParseFloat(strings.Replace(strings.TrimLeft(string(digits), "+-"), ",", ".", 1), 64)
	if err != nil {
		return 1000
	}
	return n
}

func hasISO6709(text []byte) bool {
	for _, m := range isoForm.FindAllSubmatch(text, -1) {
		lat, lon := m[1], m[3]
		// Whole degrees without the closing slash may be a phone number.
		if len(lat)%2 != 0 || len(lon) != len(lat)+1 || (len(m[2]) < 3 || len(m[4]) < 3) && len(m[5]) == 0 {
			continue
		}
		if decimal(lat[:2]) <= 90 && decimal(lon[:3]) <= 180 && isSexagesimal(lat[2:]) && isSexagesimal(lon[3:]) {
			return true
		}
	}
	return false
}

// isSexagesimal reports whether all pairs of digits are below 60.
func isSexagesimal(digits []byte) bool {
	for ; len(digits) >= 2; digits = digits[2:] {
		if digits[0] > '5' {
			return false
		}
	}
	return true
}

// seePlaces reports whether metadata contains a position: as text, in a box that is only
// for that (3GPP's loci, the index of positions that dashcams write), or in EXIF of a
// picture.
func (s *scanner) seePlaces(content []byte) {
	isPlace := hasPosition(content) || containsAny(content, "\xA9xyz", "freeGPS ", "LIGOGPS")
	for _, kind := range []string{"loci", "gps "} {
		for at := range indexes(content, kind) {
			fits := at >= 4 && int64(binary.BigEndian.Uint32(content[at-4:])) <= int64(len(content)-at+4)
			isPlace = isPlace || at == 0 || fits
		}
	}
	if isPlace {
		s.saw(Location)
	}
	for _, order := range []string{"II*\x00\x08\x00\x00\x00", "MM\x00*\x00\x00\x00\x08"} {
		for at := range indexes(content, order) {
			s.exif(content[at:])
		}
	}
}

// indexes yields where a word occurs.
func indexes(content []byte, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at++ {
			found := bytes.Index(content[at:], []byte(word))
			if at += found; found < 0 || !yield(at) {
				return
			}
		}
	}
}
