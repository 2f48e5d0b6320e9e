package discover

import (
	"slices"
	"strings"
)

const maxOutlines = 10_000

// ParseOPML parses a list of feeds (opml.org/spec2.opml), in UTF-8. Feeds are
// unique. Their addresses are not validated.
func ParseOPML(doc []byte) ([]Outline, error) {
	xml := newXMLReader(doc)
	var all []Outline
	var open []string // titles of the open outlines; "" for feeds
	isOPML := false
	seen := map[string]bool{}
	for {
		t := xml.next()
		switch {
		case t.done && !isOPML:
			return nil, ErrNotOPML
		case t.done || len(all) >= maxOutlines:
			return all, nil
		case t.end == "outline":
			open = open[:max(len(open)-1, 0)]
		case t.start == nil:
		case t.start.name == "opml":
			isOPML = true
		case isOPML && t.start.name == "outline":
			attr := t.start.attr
			title := cleanText(attr["title"])
			if title == "" {
				title = cleanText(attr["text"])
			}
			feed := strings.TrimSpace(attr["xmlurl"])
			if feed != "" && !seen[feed] {
				seen[feed] = true
				folder := slices.DeleteFunc(slices.Clone(open), func(s string) bool { return s == "" })
				all = append(all, Outline{
					Title: title, Feed: feed, Home: strings.TrimSpace(attr["htmlurl"]), Folder: folder,
				})
			}
			if !t.start.empty && len(open) < 64 {
				if feed != "" {
					title = ""
				}
				open = append(open, title)
			}
		}
	}
}
