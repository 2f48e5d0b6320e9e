package fake

import (
	"html"
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// htmlRenderer renders a status's text: a simplified form of the real rules,
// independent of the adapter's, so that each tests the other.
type htmlRenderer struct {
	entity, prefix, paragraph, link, mention *regexp.Regexp
}

func newHTMLRenderer() htmlRenderer {
	return htmlRenderer{
		entity: regexp.MustCompile(
			`(?i)https?://[^\s<>]*[^\s<>.,;:!?"')]|(^|[^\w/=])@([a-z0-9_]+)(@[\w.-]+\w)|(^|[^\w/&])#(\w+)`),
		prefix:    regexp.MustCompile(`(?i)^https?://(www\.)?`),
		paragraph: regexp.MustCompile(`\n\n+`),
		link:      regexp.MustCompile(`(?i)https?://[^\s<>]+`),
		mention:   regexp.MustCompile(`(?i)(^|[^\w/=])@([a-z0-9_]+)@[\w.-]+\w`),
	}
}

func (x htmlRenderer) count(text string) int {
	text = x.link.ReplaceAllString(text, strings.Repeat("x", 23))
	return uniseg.GraphemeClusterCount(x.mention.ReplaceAllString(text, "$1@$2"))
}

// render converts a text to HTML like Mastodon (app/lib/text_formatter.rb): links
// are shortened with hidden spans, mentions lose their domain.
func (x htmlRenderer) render(text string) string {
	if text == "" {
		return ""
	}
	var out strings.Builder
	at := 0
	for _, m := range x.entity.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(html.EscapeString(text[at:m[0]]))
		switch {
		case m[4] >= 0:
			user, domain := text[m[4]:m[5]], text[m[6]+1:m[7]]
			out.WriteString(html.EscapeString(text[m[2]:m[3]]))
			out.WriteString(`<span class="h-card" translate="no"><a href="https://` +
				html.EscapeString(domain+"/@"+user) +
				`" class="u-url mention">@<span>` + html.EscapeString(user) + `</span></a></span>`)
		case m[10] >= 0:
			tag := html.EscapeString(text[m[10]:m[11]])
			out.WriteString(html.EscapeString(text[m[8]:m[9]]))
			out.WriteString(`<a href="/tags/` + tag + `" class="mention hashtag" rel="tag">#<span>` + tag +
				`</span></a>`)
		default:
			out.WriteString(x.anchor(text[m[0]:m[1]]))
		}
		at = m[1]
	}
	out.WriteString(html.EscapeString(text[at:]))
	body := strings.ReplaceAll(out.String(), "\r\n", "\n")
	paragraphs := x.paragraph.Split(body, -1)
	for i, p := range paragraphs {
		paragraphs[i] = "<p>" + strings.ReplaceAll(p, "\n", "<br />") + "</p>"
	}
	return strings.Join(paragraphs, "")
}

func (x htmlRenderer) anchor(address string) string {
	prefix := x.prefix.FindString(address)
	rest := []rune(address[len(prefix):])
	shown, hidden, class := rest, []rune(nil), ""
	if len(rest) > 30 {
		shown, hidden, class = rest[:30], rest[30:], "ellipsis"
	}
	return `<a href="` + html.EscapeString(address) + `" target="_blank" rel="nofollow noopener" translate="no">` +
		`<span class="invisible">` + html.EscapeString(prefix) + `</span><span class="` + class + `">` +
		html.EscapeString(string(shown)) +
		`</span><span class="invisible">` + html.EscapeString(string(hidden)) + `</span></a>`
}
