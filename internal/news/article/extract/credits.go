package extract

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// role is what a label of a byline says about the names after it.
type role int

const (
	roleWriter role = iota
	roleSource      // an agency or another paper
	roleCredit      // pictures, design, editing: no authors
)

// writersOf returns the parts of a byline that name its writers: all without the names
// after labels of credits, such as "Ảnh:", "photographs by" and "Design:". The source
// ("Nguồn: TTXVN") counts where no writer is named.
func writersOf(byline string) []string {
	var parts [3][]string
	labeled := 0 // the writers before the first label of a writer
	for line := range strings.SplitSeq(byline, "\n") {
		line = clean(line)
		now, from := roleWriter, 0
		words := wordsOf(line)
		add := func(end int) {
			if part := trimConnectors(line[from:end]); part != "" {
				parts[now] = append(parts[now], part)
			}
		}
		for i := 0; i < len(words); i++ {
			if r, label, ok := labelAt(line, words, i); ok {
				add(words[i].start)
				if r == roleWriter && labeled == 0 {
					labeled = len(parts[roleWriter])
				}
				now, from, i = r, words[label].end, label
			}
		}
		add(len(line))
	}
	writers := parts[roleWriter]
	if labeled > 0 && len(writers) > labeled && !isPersonLike(writers[0]) {
		writers = writers[labeled:] // "This post was written by …"
	}
	if len(writers) == 0 {
		return parts[roleSource]
	}
	return writers
}

// isSource reports whether all lines of a signature name sources.
func isSource(lines string) bool {
	for line := range strings.SplitSeq(lines, "\n") {
		if r, _, ok := labelAt(line, wordsOf(line), 0); !ok || r != roleSource {
			return false
		}
	}
	return true
}

// isCreditLine reports whether a line begins with the label of a role and a colon.
func isCreditLine(line string) bool {
	words := wordsOf(line)
	_, last, ok := labelAt(line, words, 0)
	return ok && words[last].colon && startsUpper(strings.TrimLeft(line[words[last].end:], ": \u00a0"))
}

// isCredited reports whether a text in parentheses says that the name before it is that of
// a credit: "Tom Kaplan (photos)".
func isCredited(inner string) bool {
	words := wordsOf(inner)
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	r, ok := creditWord(words, 0)
	return ok && r == roleCredit
}

// word is a word of a line in lower case.
type word struct {
	text       string
	start, end int
	colon      bool // followed by a colon
}

func wordsOf(line string) []word {
	var out []word
	start := -1
	flush := func(end int) {
		if start >= 0 {
			rest := strings.TrimLeft(line[end:], " \u00a0")
			out = append(out, word{strings.ToLower(line[start:end]), start, end, strings.HasPrefix(rest, ":")})
			start = -1
		}
	}
	for i, c := range line {
		switch {
		case unicode.IsLetter(c) || unicode.IsMark(c) || c == '\'' || c == '’':
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
	}
	flush(len(line))
	return out
}

// labelAt parses the label of a role that begins at a word and ends with a colon or with
// "by": "Ảnh:", "Bài và ảnh:", "words and pictures by". A label that names writing at all
// is that of the writer. It returns its last word.
func labelAt(line string, words []word, i int) (r role, last int, ok bool) {
	r = roleCredit
	named := false
	for k := i; k < len(words) && k < i+6; k++ {
		if k > i && strings.ContainsAny(line[words[k-1].end:words[k].start], ":;|") {
			return 0, 0, false
		}
		n, is := creditWord(words, k)
		switch w := words[k].text; {
		case is && n >= 0:
			named = true
			r = min(r, n)
		case named && (w == "by" || w == "bởi" || w == "von" || w == "par" || w == "por"):
			return r, k, true
		case named && isConnector(w):
		default:
			return 0, 0, false
		}
		if words[k].colon {
			return r, k, named
		}
	}
	return 0, 0, false
}

func isConnector(w string) bool {
	switch w {
	case "and", "và", "with", "und", "et", "y", "e":
		return true
	}
	return false
}

// creditWord returns the role that a word of a label has. Vietnamese words have several
// syllables, of which this is the first or the second.
func creditWord(words []word, i int) (role, bool) {
	if i+1 < len(words) && !words[i].colon {
		if r, ok := pairRole(words[i].text, words[i+1].text); ok {
			return r, true
		}
	}
	if i > 0 {
		if r, ok := pairRole(words[i-1].text, words[i].text); ok {
			return r, true
		}
	}
	switch words[i].text {
	case "ảnh", "photo", "photos", "photograph", "photographs", "photographed", "photography", "photographer",
		"picture", "pictures", "image", "images", "design", "designs", "designed", "designer", "graphic", "graphics",
		"grafik", "infographic", "infographics", "illustration", "illustrations",
		"illustrated", "illustrator", "art", "artwork", "video", "videos", "clip", "clips", "camera", "film", "filmed",
		"audio", "layout", "edited", "editing", "editor", "produced", "production", "producer", "translated",
		"translation", "translator", "dịch", "foto", "fotos", "bild", "bilder", "fotografía", "photographie",
		"fotografie",
		"research", "data", "cover":
		return roleCredit, true
	case "bài", "pv", "ctv", "text", "texts", "words", "story", "report", "reported", "reporting", "written", "writing",
		"writer", "author", "texto", "texte", "autor", "auteur", "article":
		return roleWriter, true
	case "nguồn", "source", "quelle", "fuente":
		return roleSource, true
	}
	return 0, false
}

func pairRole(a, b string) (role, bool) {
	switch a + " " + b {
	case "hình ảnh", "thiết kế", "đồ họa", "đồ hoạ", "trình bày", "minh họa", "minh hoạ", "kỹ thuật", "biên tập",
		"quay phim", "dựng phim", "đạo diễn", "âm thanh", "dữ liệu", "người dịch", "biên dịch", "additional reporting":
		return roleCredit, true
	case "bài viết", "tác giả", "thực hiện", "nội dung", "biên soạn", "người viết", "phóng viên", "tin ảnh":
		return roleWriter, true
	}
	return 0, false
}

// trimConnectors drops what separates a name from the labels around it.
func trimConnectors(s string) string {
	for {
		s = strings.TrimLeft(strings.TrimRight(s, " -–—|/•·,;:+&("), " -–—|/•·,;:+&)")
		last := strings.LastIndexByte(s, ' ')
		if last < 0 || !isConnector(strings.ToLower(s[last+1:])) {
			return s
		}
		s = s[:last]
	}
}

// bylineText returns the text of a byline, with line breaks at the breaks of the page and
// between links that nothing else separates.
func bylineText(n *html.Node, limit int) string {
	var b []byte
	afterLink := false
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		link := n.DataAtom == atom.A || strings.EqualFold(attr(n, "class"), "fn")
		switch {
		case len(b) > limit || depth > maxDepth || n.DataAtom == atom.Script || n.DataAtom == atom.Style ||
			n.DataAtom == atom.Svg || n.DataAtom == atom.Noscript:
			return
		case n.Type == html.TextNode:
			afterLink = afterLink && isBlank(n.Data)
			b = appendCollapsed(b, n.Data)
		case n.DataAtom == atom.Br || n.Type == html.ElementNode && depth > 0 && !isInline(n.DataAtom) ||
			link && afterLink:
			b = append(b, '\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
		if link && depth > 0 {
			afterLink = true
		} else if n.Type == html.ElementNode && depth > 0 && !isInline(n.DataAtom) {
			b = append(b, '\n')
		}
	}
	walk(n, 0)
	if len(b) > limit {
		return ""
	}
	return string(bytes.TrimSpace(b))
}
