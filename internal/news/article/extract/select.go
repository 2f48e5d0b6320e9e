package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"dateline/internal/news/article/dates"
)

// selectBlocks selects the blocks of the body element that belong to the article.
func (o *outline) selectBlocks(at int, title string, authors []string) []int {
	s := o.spans[at]
	selected := make([]int, 0, s.end-s.first)
	seen := make(map[string]int, s.end-s.first)
	unit, isJunkUnit := noUnit, false
	for i := s.first; i < s.end; i++ {
		b := &o.blocks[i]
		if b.unit != noUnit {
			if b.unit != unit {
				unit, isJunkUnit = b.unit, o.isJunkUnit(b.unit, title)
			}
			if !isJunkUnit && !o.isExcluded(i) {
				selected = append(selected, i)
			}
			continue
		}
		if o.isJunk(i, title) {
			continue
		}
		if b.chars > 60 {
			// The same text elsewhere on the page is a teaser or a pull quote; in the
			// same element the author repeats it on purpose.
			if at, ok := seen[b.text]; ok && at != o.spans[b.span].parent {
				continue
			}
			seen[b.text] = o.spans[b.span].parent
		}
		selected = append(selected, i)
	}
	return o.trimEnds(selected, authors)
}

// isJunk reports whether the rules drop a block.
func (o *outline) isJunk(i int, title string) bool { return o.junkReason(i, title) != "" }

// junkReason returns why the rules drop a block; empty: they do not.
func (o *outline) junkReason(i int, title string) DropReason {
	b := &o.blocks[i]
	links := b.linkShare()
	switch {
	case b.hints&hintsNotText != 0:
		return DropNavigation
	case b.hints&hintCaption != 0:
		return DropCaption
	case b.tag == atom.H1 && (title == "" || similarTitles(b.text, title) || o.blocks[i].span == o.firstH1()):
		return DropTitle
	case isHeading(b.tag) && similarTitles(b.text, title):
		return DropTitle
	case b.inTable:
		if o.isLinkTable(b) {
			return DropLinks
		}
	case links > 0.8 && isHeading(b.tag):
		if !o.hasProseAfter(i) {
			return DropLinks
		}
		return ""
	case links > 0.8 && (b.inList || b.tag != atom.P || countWords(b.text) > 5 || isAllCaps(b.text)):
		return DropLinks
	case b.inList && links > 0.7:
		return DropLinks
	case b.hints&hintSuspect != 0 && (links > 0.3 || b.chars < 60 && b.punctuation == 0):
		return DropNavigation
	case b.hints&(hintByline|hintDate) != 0 && b.chars < 80, b.chars < 120 && b.digits > 0 && isDateLine(b.text):
		return DropByline
	case strings.HasPrefix(b.text, "http") && !strings.Contains(b.text, " "):
		return DropLinks
	case b.text[0] == '[' && b.text[len(b.text)-1] == ']' && strings.Contains(b.text, "="), // an unexpanded shortcode
		!hasLetters(b.text), b.isBoilerplate():
		return DropPhrase
	}
	return ""
}

// hasProseAfter reports whether the next block is prose.
func (o *outline) hasProseAfter(i int) bool {
	if i+1 >= len(o.blocks) {
		return false
	}
	b := &o.blocks[i+1]
	return b.hints&(hintBody|hintsNotText|hintSuspect) == hintBody && b.chars > 80 && b.linkShare() < 0.4 &&
		b.punctuation > 0
}

// isLinkTable reports whether the table around a block consists of links.
func (o *outline) isLinkTable(b *block) bool {
	at := b.span
	for at >= 0 && o.spans[at].node.DataAtom != atom.Table {
		at = o.spans[at].parent
	}
	if at < 0 {
		return b.linkShare() > 0.7
	}
	if is, known := o.tables[at]; known {
		return is
	}
	chars, links := 0, 0
	for i := o.spans[at].first; i < o.spans[at].end; i++ {
		chars += o.blocks[i].chars
		links += o.blocks[i].linkChars
	}
	if o.tables == nil {
		o.tables = map[int]bool{}
	}
	o.tables[at] = 2*links > chars
	return o.tables[at]
}

// trimEnds drops headings at the end, and bylines and dates before the first sentence.
func (o *outline) trimEnds(selected []int, authors []string) []int {
	for len(selected) > 0 && isHeading(o.blocks[selected[len(selected)-1]].tag) {
		selected = selected[:len(selected)-1]
	}
	for len(selected) > 0 {
		b := &o.blocks[selected[0]]
		if b.unit != noUnit || b.chars > 90 || isHeading(b.tag) || countWords(b.text) > 14 {
			break
		}
		_, dated := dates.Parse(b.text, dates.Options{})
		if !dated && nameAfterBy(b.text) == "" &&
			!slices.ContainsFunc(authors, func(name string) bool { return fold(name) == fold(b.text) }) {
			break
		}
		selected = selected[1:]
	}
	return selected
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func hasLetters(s string) bool {
	for _, r := range s {
		if r > 127 && r != '•' && r != '·' && r != '–' && r != '—' && r != '|' && r != '»' && r != '«' && r != '×' &&
			r != '…' ||
			r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return true
		}
	}
	return false
}

// similarTitles reports whether two headlines are equal except for punctuation, case,
// and an extension of one of them.
func similarTitles(a, b string) bool {
	a, b = fold(a), fold(b)
	if a == "" || b == "" {
		return false
	}
	return a == b || len(a) > 20 && strings.HasPrefix(b, a) || len(b) > 20 && strings.HasPrefix(a, b)
}

// fold returns the letters and digits of a text in lower case.
func fold(s string) string {
	var buf [128]byte
	out := buf[:0]
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			out = append(out, c)
		case c >= 'A' && c <= 'Z':
			out = append(out, c|0x20)
		case c >= utf8.RuneSelf:
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); unicode.IsLetter(r) || unicode.IsDigit(r) {
				out = utf8.AppendRune(out, unicode.ToLower(r))
			}
		}
		i += n
	}
	return string(out)
}

// firstH1 returns the span of the first h1 with text.
func (o *outline) firstH1() int {
	for i := range o.blocks {
		if o.blocks[i].tag == atom.H1 {
			return o.blocks[i].span
		}
	}
	return -1
}

// isBoilerplate recognizes short lines that publishers insert between paragraphs.
func (b *block) isBoilerplate() bool {
	if b.chars > 200 {
		return false
	}
	t := b.lower()
	if c := t[0]; c < 'a' || c > 'z' {
		t = strings.TrimLeft(t, "([{•·-–—>» ")
	}
	switch {
	case t == "":
		return false
	case b.chars < 120 && strings.Contains(t, "©"):
		return true
	case strings.HasPrefix(t, "follow") && (strings.Contains(t, "twitter") || strings.Contains(t, "facebook") ||
		strings.Contains(t, "instagram")):
		return true
	}
	for p := range strings.SplitSeq(boilerplate(t[0]), "|") {
		if strings.HasPrefix(t, p) {
			return b.chars < 40 || b.linkShare() > 0.2 || strings.HasSuffix(p, ":")
		}
	}
	return false
}

// boilerplate returns how lines begin that publishers insert, by the first byte.
// They are separated by bars.
func boilerplate(first byte) string {
	switch first {
	case 'a':
		return "advert|also read:|article continues|all rights reserved"
	case 'c':
		return "close|comments|click here to|continue reading|copyright|chia sẻ"
	case 'd':
		return "don't miss"
	case 'f':
		return "first published|follow us on"
	case 'g':
		return "getty images"
	case 'i':
		return "if you enjoyed this article|image:"
	case 'l':
		return "listen to |loading"
	case 'm':
		return "more:|more from|mời quý độc giả|mời bạn đọc"
	case 'p':
		return "photo:"
	case 'r':
		return "related news|read more:|read also:|related:|read next:|read more|recommended:"
	case 's':
		return "sponsored links|see also:|sign up for|subscribe to|share this|scroll down|story continues"
	case 't':
		return "this slideshow requires|tell us what you think|tin liên quan"
	case 'u':
		return "up next"
	case 'v':
		return "video:"
	case 'w':
		return "watch:"
	case 'x':
		return "xem thêm|xem tiếp"
	}
	return "đọc thêm|đọc tiếp|bài liên quan|©"
}

func countWords(s string) int { return strings.Count(s, " ") + 1 }

// isAllCaps reports whether a text has no lowercase letters.
func isAllCaps(s string) bool { return strings.ToUpper(s) == s && strings.ToLower(s) != s }

// isDateLine reports whether a line contains little more than a date.
func isDateLine(s string) bool {
	if !dates.HasDigit(s) {
		return false
	}
	dates, other, digits := 0, 0, false
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		switch {
		case w[0] >= '0' && w[0] <= '9':
			dates++
			digits = true
		case isDateWord(w):
			dates++
		default:
			other++
		}
	}
	return digits && dates >= 3 && other*4 <= dates
}

func isDateWord(w string) bool {
	switch w {
	case "aktualisiert", "veröffentlicht", "stand", "vom", "den", "publié", "le", "mis", "à", "jour", "publicado",
		"publicada", "actualizado", "el", "atualizado", "em", "pubblicato", "il", "opublikowano", "montag", "dienstag",
		"mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag", "lundi", "mardi", "mercredi", "jeudi",
		"vendredi", "samedi", "dimanche", "lunes", "martes", "miércoles", "jueves", "viernes", "domenica", "lunedì",
		"martedì", "mercoledì", "giovedì", "venerdì", "janvier", "février", "mars", "avril", "juin", "juillet", "août",
		"septembre", "octobre", "novembre", "décembre", "updated", "published", "posted", "modified", "last", "first",
		"on", "at", "am", "pm", "a", "p", "m", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "et", "pt", "ct",
		"gmt", "utc", "bst", "ist", "jst", "cet", "cest", "date", "time", "ago", "hours", "minutes", "days", "hour",
		"day", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon", "tue", "tues",
		"wed", "thu", "thur", "thurs", "fri", "sat", "sun", "january", "february", "march", "april", "may", "june",
		"july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul",
		"aug", "sep", "sept", "oct", "nov", "dec", "thứ", "hai", "ba", "tư", "năm", "sáu", "bảy", "chủ", "nhật", "ngày",
		"tháng", "lúc", "cập", "giờ", "phút", "trước", "đăng", "de", "às", "as", "feira", "segunda", "terça", "quarta",
		"quinta", "sexta", "sábado", "domingo", "janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho",
		"agosto", "setembro", "outubro", "novembro", "dezembro", "enero", "febrero", "marzo", "mayo", "junio", "julio",
		"septiembre", "octubre", "noviembre", "diciembre",
		"januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember", "uhr", "von", "um":
		return true
	}
	return false
}
