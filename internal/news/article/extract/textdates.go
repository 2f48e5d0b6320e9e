package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// maxLines limits the text nodes in which a date is looked for.
const maxLines = 3000

// dateInLines finds the first line of the page that is little more than a date, outside
// copyright notices and, unless anywhere, navigation.
func (r *builder) dateInLines(anywhere bool) (found dates.Date, ok bool) {
	left := maxLines
	for n := range r.doc.Root.Descendants() {
		if n.Type != html.TextNode || len(n.Data) < 6 || len(n.Data) > 100 {
			continue
		}
		if left--; left < 0 {
			break
		}
		if !hasDigit(n.Data) || strings.Contains(n.Data, "©") {
			continue
		}
		d, is := r.dateOfLine(n)
		if !is || countWords(strings.TrimSpace(n.Data)) > 9 || !anywhere && r.isInJunk(n.Parent) {
			continue
		}
		return d, true
	}
	return dates.Date{}, false
}

// dateAnywhere finds the first date in a sentence of the page.
func (r *builder) dateAnywhere() (found dates.Date, ok bool) {
	left := maxLines
	for n := range r.doc.Root.Descendants() {
		if n.Type != html.TextNode || len(n.Data) < 8 || !hasDigit(n.Data) || strings.Contains(n.Data, "©") {
			continue
		}
		if left--; left < 0 {
			break
		}
		if n.Parent.DataAtom == atom.Script || n.Parent.DataAtom == atom.Style {
			continue
		}
		t := clean(n.Data)
		if d, is := dates.Parse(t[:min(len(t), 200)], r.dateOptions()); is && r.isPlausible(d.Time) {
			return d, true
		}
	}
	return dates.Date{}, false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// hiddenDates returns the dates that a page without others states in scripts, in its
// description or in its URL.
func (r *builder) hiddenDates() []dateCandidate {
	var out []dateCandidate
	if d, ok := r.dateInScripts(); ok {
		out = append(out, dateCandidate{d, article.FromText, 0.35})
	}
	if d, ok := dateInURL(r.doc.URL.Path); ok {
		out = append(out, dateCandidate{dates.Date{Time: d}, article.FromURL, 0.35})
	}
	if v := r.meta.first("description", "og:description"); len(v) <= 200 && hasDigit(v) {
		if d, ok := dates.Parse(v, r.dateOptions()); ok && r.isPlausible(d.Time) {
			out = append(out, dateCandidate{d, article.FromMeta, 0.3})
		}
	}
	return out
}

// dateInScripts finds the first property of a script that is named as the publication.
func (r *builder) dateInScripts() (dates.Date, bool) {
	page := r.src.HTML
	for tries := 0; tries < 200; tries++ {
		i := bytes.Index(page, []byte("ublish"))
		k := bytes.Index(page, []byte("ublicationDate"))
		if i < 0 || k >= 0 && k < i {
			i = k
		}
		if i < 0 {
			return dates.Date{}, false
		}
		page = page[i+6:]
		line := page[:min(len(page), 80)]
		if m := scriptDate(string(line)); m != "" {
			if d, ok := dates.Parse(m, r.dateOptions()); ok && r.isPlausible(d.Time) {
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
