package extract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

const (
	minLiveEntries      = 3
	minLiveEntryChars   = 30  // on average
	minTimedShare       = .75 // of the entries
	maxLinkedShare      = .5  // of their text
	minLiveShare        = .3  // of the prose of a page that does not declare that it is a live blog
	maxLiveEntryBytes   = 20_000
	maxLiveUpdates      = 2 * article.MaxLiveEntries // of JSON-LD
	maxLiveEntryBlocks  = 200
	maxLiveEntryDepth   = 40 // elements around an entry
	maxTimeLine         = 40 // characters of a line with the time of an entry
	maxLiveHeadingChars = 200
)

// liveUpdate is an entry as JSON-LD states it (https://schema.org/liveBlogUpdate).
type liveUpdate struct{ title, text, time, id string }

// liveUpdates reads the entries of a LiveBlogPosting. It replaces fewer ones.
func (l *jsonLD) liveUpdates(v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []liveUpdate
	for _, e := range list[:min(len(list), maxLiveUpdates)] {
		o, ok := e.(map[string]any)
		if !ok {
			continue
		}
		property := func(names ...string) string {
			for _, n := range names {
				for _, s := range texts(o[n]) {
					if s = clean(withoutTags(s)); s != "" {
						return s
					}
				}
			}
			return ""
		}
		u := liveUpdate{
			title: property("headline", "name", "alternativeHeadline"),
			text:  property("articleBody", "description", "text"),
			time:  property("datePublished", "dateCreated", "dateModified"), id: property("@id", "url"),
		}
		_, u.id, _ = strings.Cut(u.id, "#")
		if u.title != "" || u.text != "" {
			out = append(out, u)
		}
	}
	if len(out) > len(l.updates) {
		l.updates = out
	}
}

// withoutTags replaces the elements in a text that contains HTML with spaces.
func withoutTags(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	nodes, err := html.ParseFragment(strings.NewReader(s), &html.Node{
		Type: html.ElementNode, Data: "div", DataAtom: atom.Div,
	})
	if err != nil {
		return s
	}
	var b []byte
	for _, n := range nodes {
		b = appendCollapsed(appendTextOf(b, n, maxLiveEntryBytes, 0), " ")
	}
	return string(b)
}

// liveEntry is an element with an entry of a live blog.
type liveEntry struct {
	span int
	mark string // the attribute or line with its time
	line int    // the block of that line; -1: none
}

// live is the live blog of a page.
type live struct {
	outline *outline
	entries []liveEntry
	nodes   map[*html.Node]bool // elements of the entries

	hasNoSummary bool // the entries are all of the text
}

// hasLiveName reports whether the address or a title of a page says that it is a live
// blog. Most declare it in JSON-LD; some only say so to readers.
func (d *Document) hasLiveName(title string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(d.URL.Path+" "+title+" "+d.Meta.title),
		func(r rune) bool {
			return r == '/' || r == '-' || r == '_' || r == ' ' || r == ':' || r == '.' || r == ','
		}) {
		switch w {
		case "live", "liveblog", "livestream", "liveticker", "ticker", "livebericht", "minuto", "direct", "directo",
			"diretta", "live-blog":
			return true
		}
	}
	low := Plain(title + " " + d.Meta.title)
	return strings.Contains(low, "tructiep") || strings.Contains(Plain(d.URL.Path), "tructiep") ||
		strings.Contains(low, "tuongthuat")
}

// loadLive finds the entries of a live blog: elements of the same kind, each with a time,
// in the order of these times.
func (d *Document) loadLive(title string) *live {
	if d.live != nil {
		return d.live
	}
	d.live = &live{}
	ld := d.loadJSONLD()
	isDeclared := ld.hasType("LiveBlogPosting") || len(ld.updates) >= minLiveEntries || d.Meta.isLiveBlog
	if !isDeclared && !d.hasLiveName(title) {
		return d.live
	}
	o := d.loadOutline()
	if o.isDiscussion && !isDeclared {
		return d.live
	}
	prose := 0
	for i := range o.blocks {
		if b := &o.blocks[i]; b.isProse() && b.hints&(hintComment|hintHidden) == 0 {
			prose += b.chars
		}
	}
	best := 0
	for _, group := range o.sameElements() {
		entries, chars := o.liveEntriesOf(group, isDeclared)
		if chars <= best || !isDeclared && float64(chars) < minLiveShare*float64(prose) {
			continue
		}
		best = chars
		d.live.entries = entries
	}
	if len(d.live.entries) == 0 {
		return d.live
	}
	d.live.outline, d.live.nodes = o, make(map[*html.Node]bool, len(d.live.entries))
	for _, e := range d.live.entries {
		d.live.nodes[o.spans[e.span].node] = true
	}
	return d.live
}

// sameElements returns the elements of a page that occur several times at the same depth,
// with the same class and in elements of the same class: lists of anything.
func (o *outline) sameElements() [][]int {
	type place struct {
		kind   [2]kindName
		depth  int
		inside string // the class of the element around its parent
	}
	at := map[place]int{}
	var groups [][]int
	nameOf := func(i int) kindName {
		if i < 0 {
			return kindName{}
		}
		return kindName{o.spans[i].node.Data, o.spans[i].firstClass()}
	}
	for i := range o.spans {
		s := &o.spans[i]
		switch s.node.DataAtom {
		case atom.P, atom.Tr, atom.Td, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			continue
		}
		if s.first == s.end || s.end-s.first > maxLiveEntryBlocks || s.depth > maxLiveEntryDepth {
			continue
		}
		p := place{kind: [2]kindName{nameOf(i), nameOf(s.parent)}, depth: s.depth}
		if s.parent >= 0 && o.spans[s.parent].parent >= 0 {
			p.inside = o.spans[o.spans[s.parent].parent].firstClass()
		}
		k, ok := at[p]
		if !ok {
			k = len(groups)
			at[p] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < minLiveEntries })
}

// liveEntriesOf returns the entries if the elements of a group are such, and the
// characters of their text.
func (o *outline) liveEntriesOf(group []int, isDeclared bool) (out []liveEntry, chars int) {
	links := 0
	var order []string
	for _, i := range group {
		s := &o.spans[i]
		own := 0
		for k := s.first; k < s.end; k++ {
			b := &o.blocks[k]
			if b.hints&(hintComment|hintHidden) != 0 || b.hints&hintJunk != 0 && !isDeclared {
				continue
			}
			own += b.chars
			links += b.linkChars
		}
		chars += own
		mark, line := o.timeMark(i)
		if mark != "" && own > 0 {
			out = append(out, liveEntry{i, mark, line})
			order = append(order, mark)
		}
	}
	slices.Sort(order)
	different := len(slices.Compact(order))
	switch {
	case len(out) < minLiveEntries, float64(len(out)) < minTimedShare*float64(len(group)),
		float64(different) < minTimedShare*float64(len(out)), chars < minLiveEntryChars*len(group),
		float64(links) > maxLinkedShare*float64(chars):
		return nil, 0
	}
	return out, chars
}

// timeMark returns the time of an entry as its element states it: an attribute, or one of
// its first lines.
func (o *outline) timeMark(at int) (mark string, line int) {
	s := &o.spans[at]
	for _, key := range []string{"data-timestamp", "data-time", "data-datetime", "data-published", "datetime"} {
		if v := attr(s.node, key); v != "" {
			if _, ok := dates.Parse(v, dates.Options{}); ok {
				mark = v
				break
			}
		}
	}
	for n := range s.node.Descendants() {
		if mark != "" {
			break
		}
		if n.DataAtom == atom.Time || n.Data == "relative-time" {
			if v := attr(n, "datetime"); clockIn.MatchString(v) || len(v) >= len("20060102T15") {
				if _, ok := dates.Parse(v, dates.Options{}); ok {
					mark = v
				}
			}
		}
	}
	for k := s.first; k < min(s.end, s.first+4); k++ {
		b := &o.blocks[k]
		if b.chars <= maxTimeLine && b.digits > 1 && clockIn.MatchString(b.text) {
			return cmp.Or(mark, b.text), k
		}
	}
	return mark, -1
}

// clockIn finds a time of day, such as "14:05", "14h05", "2.05 pm". A name may follow it immediately.
var clockIn = regexp.MustCompile(`(?i)\b([01]?\d|2[0-3])\s?[:h.]\s?([0-5]\d)(?:\s*([ap])\.?m\b|\D|$)`)

// contains reports whether a block is part of an entry.
func (l *live) contains(o *outline, i int) bool {
	if len(l.nodes) == 0 {
		return false
	}
	for at := o.blocks[i].span; at >= 0; at = o.spans[at].parent {
		if l.nodes[o.spans[at].node] {
			return true
		}
	}
	return false
}

// withoutEntries returns the selected blocks that are not part of an entry of the live
// blog: its summary. Without one, all remain.
func (d *Document) withoutEntries(o *outline, selected []int, title string) []int {
	l := d.loadLive(title)
	if len(l.nodes) == 0 {
		return selected
	}
	rest, chars := make([]int, 0, len(selected)), 0
	for _, i := range selected {
		if !l.contains(o, i) {
			rest = append(rest, i)
			chars += o.blocks[i].chars
		}
	}
	if l.hasNoSummary = chars < minArticleChars; l.hasNoSummary {
		return selected
	}
	return rest
}
