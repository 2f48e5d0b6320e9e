package extract

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// maxLines limits the text nodes in which a date is looked for.
const maxLines = 3000

// dateInLines finds the first line of the page that is little more than a date, outside
// copyright notices and navigation; or, if there is none, inside navigation.
func (r dateReader) dateInLines() (found dates.Date, ok bool) {
	for n := range r.lines(6, 100) {
		if !dates.HasDigit(n.Data) || countWords(strings.TrimSpace(n.Data)) > 9 {
			continue
		}
		d, is := r.dateOfLine(n)
		if !is || r.isOtherDate(n) {
			continue
		}
		if !r.isForeign(n.Parent, hintJunk) {
			return d, true
		}
		if !ok {
			found, ok = d, true
		}
	}
	return found, ok
}

// lines returns the text nodes within limits of their bytes, outside scripts.
func (r *builder) lines(minBytes, maxBytes int) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		left := maxLines
		for _, n := range r.doc.texts {
			if len(n.Data) < minBytes || len(n.Data) > maxBytes ||
				n.Parent.DataAtom == atom.Script || n.Parent.DataAtom == atom.Style {
				continue
			}
			if left--; left < 0 || !yield(n) {
				return
			}
		}
	}
}

// dateAnywhere finds the first date in a sentence of the page.
func (r dateReader) dateAnywhere() (found dates.Date, ok bool) {
	for n := range r.lines(8, 1<<20) {
		if !dates.HasDigit(n.Data) || isNumber(strings.TrimSpace(n.Data)) {
			continue
		}
		t := clean(n.Data)
		if d, is := r.parseDate(t[:min(len(t), 200)]); is && !d.IsRelative && !r.isOtherDate(n) {
			return d, true
		}
	}
	return dates.Date{}, false
}

// updateInLines finds the first line that begins with the label of an update, such as
// "Last modified on 6 November 2026", or the label in an element of its own before the
// date.
func (r dateReader) updateInLines() (found dates.Date, ok bool) {
	hasStem := sync.OnceValue(r.hasUpdateStem)
	for n := range r.lines(6, 120) {
		if len(n.Data) > 2*maxUpdateLabel && !dates.HasDigit(n.Data) {
			continue
		}
		line := clean(n.Data)
		if len(line) < 6 || !mayStartUpdate(line) || len(line) > maxUpdateLabel && !dates.HasDigit(line) ||
			!isUpdateLine(line) || findUpdateLabel(strings.ToLower(line)) > lastUpdateLabel || !hasStem() ||
			r.isForeign(n.Parent, hintJunk) || r.isOtherDate(n) || r.isSentence(n) {
			continue
		}
		if !dates.HasDigit(line) {
			next := nextText(n)
			if next == nil || len(next.Data) > 60 {
				continue
			}
			line = clean(next.Data)
		}
		_, updated := splitUpdate(line)
		if d, is := r.parseDate(firstOf(updated, line)); is {
			return d, true
		}
	}
	return dates.Date{}, false
}

// Limits of the label of an update in a line.
const (
	maxUpdateLabel  = 30 // bytes
	lastUpdateLabel = 12 // the last position at which it starts
)

// mayStartUpdate reports whether a line may begin with the label of an update: it does not begin with a digit, and one
// of its first words begins like a label. Nearly all lines do not.
func mayStartUpdate(line string) bool {
	if line[0] >= '0' && line[0] <= '9' {
		return false
	}
	isInWord := false
	for i := range min(len(line)-1, lastUpdateLabel+1) {
		first, second := line[i]|0x20, line[i+1]|0x20
		switch {
		case first >= utf8.RuneSelf:
			return true
		case first < 'a' || first > 'z':
			isInWord = false
		case !isInWord:
			isInWord = true
			switch string([]byte{first, second}) {
			case "up", "la", "ch", "mo", "ed", "re", "zu", "ak", "ge", "mi", "ac", "at", "ag", "bi":
				return true
			}
			if second >= utf8.RuneSelf && (first == 'c' || first == 's') { // cập nhật, sửa đổi
				return true
			}
		}
	}
	return false
}

// hasUpdateStem reports whether the page contains a part of a label of an update in both cases.
func (r dateReader) hasUpdateStem() bool {
	return slices.ContainsFunc([]string{
		"pdate", "odifi", "dited", "evis", "ập nhật", "ửa", "eändert", "ktualisiert", "à jour",
		"ctualizado", "tualizado", "ggiornato", "ijgewerkt", "бновлено", "更新", "수정", "업데이트",
	}, func(s string) bool { return bytes.Contains(r.src.HTML, []byte(s)) })
}

// hiddenDates returns the dates that a page without others states in scripts, in its
// description or in its URL.
func (r dateReader) hiddenDates() []dateCandidate {
	var out []dateCandidate
	if d, ok := r.dateInScripts(); ok {
		out = append(out, dateCandidate{Date: d, source: article.FromText, traits: inScript})
	}
	if t, ok := dateInURL(r.doc.URL.Path); ok {
		if d, ok := r.believe(dates.Date{Time: t}); ok {
			out = append(out, dateCandidate{Date: d, source: article.FromURL, traits: inURLDigits})
		}
	}
	if v := r.meta.first("description", "og:description"); len(v) <= 200 && dates.HasDigit(v) {
		if d, ok := r.parseDate(v); ok {
			out = append(out, dateCandidate{Date: d, source: article.FromMeta, traits: inDescription})
		}
	}
	return out
}

// dateInScripts finds the first property of a script that is named as the publication.
func (r dateReader) dateInScripts() (dates.Date, bool) {
	page := r.src.HTML
	for tries := 0; tries < 200; {
		i := bytes.Index(page, []byte("ubli"))
		if i < 0 {
			return dates.Date{}, false
		}
		page = page[i+4:]
		if !bytes.HasPrefix(page, []byte("sh")) && !bytes.HasPrefix(page, []byte("cationDate")) {
			continue
		}
		tries++
		page = page[2:]
		line := page[:min(len(page), 80)]
		if m := scriptDate(string(line)); m != "" {
			if d, ok := r.parseDate(m); ok {
				return d, true
			}
		}
	}
	return dates.Date{}, false
}

// scriptDate returns the value of a property, given the text from the middle of its
// name: ed_at":"2019-03-02".
func scriptDate(s string) string {
	name, rest, ok := strings.Cut(s, ":")
	if !ok || len(name) > 14 || strings.ContainsAny(name, " <>{}(),;") {
		return ""
	}
	rest = strings.TrimLeft(rest, " \\")
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	end := strings.IndexAny(rest[1:], "\"'\\")
	if end < 8 {
		return ""
	}
	return rest[1 : end+1]
}

// nearHeadline finds a date in the short lines after the headline, or just before it. It also returns the traits of its
// place.
func (r dateReader) nearHeadline(h *html.Node) (found dates.Date, where trait, ok bool) {
	left := 40 // text nodes to examine
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if ok || left <= 0 || depth > maxDepth || n.DataAtom == atom.Script || n.DataAtom == atom.Style ||
			n.DataAtom == atom.Head {
			return
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			left--
			if d, is := r.dateOfLine(n); is && !r.isOtherDate(n) && !r.isSentence(n) {
				found, ok = d, true
				if r.isAfterText(n) && r.isForeign(n.Parent, hintJunk) || r.isInOtherArticle(n) {
					where = isAside
				}
			}
		}
		if n.Type == html.ElementNode && r.doc.hasHint(n, hintComment|hintHidden) {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	for at, up := h, 0; at != nil && up < 6 && !ok; at, up = at.Parent, up+1 {
		for s := at.NextSibling; s != nil; s = s.NextSibling {
			walk(s, 0)
		}
		if up < 2 && !ok {
			for s := at.PrevSibling; s != nil; s = s.PrevSibling {
				walk(s, 0)
			}
		}
	}
	return found, where, ok
}

// isNumber reports whether a text is empty or one number other than a day (20260307): that of a telephone, not a Unix
// time.
func isNumber(s string) bool { return len(s) != len("20060102") && strings.Trim(s, "0123456789") == "" }

// dateOfLine returns the date of publication of a short text node, with the time of day of the time element around it.
func (r dateReader) dateOfLine(n *html.Node) (dates.Date, bool) {
	if len(n.Data) > 160 || !dates.HasDigit(n.Data) {
		return dates.Date{}, false
	}
	published, _ := splitUpdate(clean(n.Data))
	if isNumber(published) || isUpdateLine(labelBefore(n)) {
		return dates.Date{}, false
	}
	d, ok := r.parseDate(published)
	if n.Parent.DataAtom == atom.Time && ok && !d.HasTime {
		if exact, is := r.parseDate(attr(n.Parent, "datetime")); is && isExact(exact) &&
			sameDay(exact.Time, d.Time, r.zone) {
			return exact, true
		}
	}
	return d, ok
}
