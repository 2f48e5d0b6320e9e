package post

import (
	"crypto/sha256"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/linkcode"
)

// Link is a short link of a post on one account.
type Link struct {
	Code  string
	URL   string // where it leads
	Short string // the URL in the text
}

// urlPattern matches what networks turn into links. Addresses without a scheme are
// ignored: not every network turns them into links.
var urlPattern = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"'` + "`" + `]+`)

// Segments returns the segments for one target, in order, with short links instead of
// URLs if the post's links are tracked.
func (p Post) Segments(t Target) []Segment {
	segments := p.originalSegments(t)
	if p.LinkBase == "" {
		return segments
	}
	for i := range segments {
		if segments[i].IsComment { // the database has no links of it
			continue
		}
		segments[i].Content = replaceURLs(segments[i].Content, func(address string) string {
			if link, ok := p.link(t.AccountID, address); ok {
				return link.Short
			}
			return address
		})
	}
	return segments
}

// Links lists the short links of a post on one account, each once.
func (p Post) Links(t Target) (links []Link) {
	if p.LinkBase == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, s := range p.originalSegments(t) {
		if s.IsComment {
			continue
		}
		replaceURLs(s.Content, func(address string) string {
			if link, ok := p.link(t.AccountID, address); ok && !seen[link.Code] {
				seen[link.Code] = true
				links = append(links, link)
			}
			return address
		})
	}
	return links
}

// link returns the short link for a URL. Its code is derived from the ids of post and
// account, which are not both known outside of the workspace, so every attempt on every
// host creates the same one.
func (p Post) link(account uuid.UUID, address string) (Link, bool) {
	if strings.HasPrefix(address, p.LinkBase) || !linkcode.IsValidTarget(address) {
		return Link{}, false
	}
	h := sha256.New()
	h.Write(p.ID[:])
	h.Write(account[:])
	h.Write([]byte(address))
	code := linkcode.Encode([16]byte(h.Sum(nil)))
	return Link{Code: code, URL: address, Short: p.LinkBase + code}, true
}

// replaceURLs replaces each URL with the result of with.
func replaceURLs(text string, with func(address string) string) string {
	var b strings.Builder
	rest := 0
	for _, at := range urlPattern.FindAllStringIndex(text, -1) {
		end := at[0] + len(trimPunctuation(text[at[0]:at[1]]))
		b.WriteString(text[rest:at[0]])
		b.WriteString(with(text[at[0]:end]))
		rest = end
	}
	b.WriteString(text[rest:])
	return b.String()
}

// trimPunctuation removes trailing punctuation, and brackets that were opened before
// the URL. It reads each byte at most twice: texts may be crafted to be slow.
func trimPunctuation(address string) string {
	var open [3]int // how many more of each bracket are opened than closed
	for i := range len(address) {
		if at := strings.IndexByte("([{", address[i]); at >= 0 {
			open[at]++
		} else if at := strings.IndexByte(")]}", address[i]); at >= 0 {
			open[at]--
		}
	}
	for {
		trimmed := strings.TrimRight(address, ".,;:!?*_~…’”»")
		if n := len(trimmed) - 1; n >= 0 {
			if at := strings.IndexByte(")]}", trimmed[n]); at >= 0 && open[at] < 0 {
				open[at]++
				trimmed = trimmed[:n]
			}
		}
		if trimmed == address {
			return address
		}
		address = trimmed
	}
}
