package x

import (
	"html"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// compareText compares a listed post with the text of a submission in normal
// form.
func compareText(l listed, wanted *matching.Comparer, account network.Account) matching.Verdict {
	text, unfolding := l.Text, l.Entities
	if l.Note != nil {
		text, unfolding = l.Note.Text, l.Note.Entities
		unfolding.URLs = append(unfolding.URLs, l.Entities.URLs...) // of attachments
	}
	got := normalize(unfold(text, unfolding))
	if verdict := wanted.Compare(got); verdict == matching.Same {
		return verdict
	}
	// X can prefix a reply with the handle that it replies to, which in a thread
	// is the account itself.
	name, rest, _ := strings.Cut(got, " ")
	if l.replyTo() != "" && strings.EqualFold(name, account.Handle) {
		got = rest
	}
	return wanted.Compare(got)
}

// unfold converts a listed text back to what was written: X escapes three
// characters, shortens links to t.co, and appends a link for attachments.
func unfold(text string, short entities) string {
	for _, l := range short.URLs {
		switch {
		case l.URL == "":
		case l.MediaKey != "" || attachment(l.Expanded):
			text = strings.TrimSuffix(strings.TrimRight(text, " \n"), l.URL)
		case l.Expanded != "":
			text = strings.ReplaceAll(text, l.URL, html.EscapeString(l.Expanded))
		}
	}
	return html.UnescapeString(text)
}

// attachment reports whether a link is the page of the post's own images or
// video.
func attachment(expanded string) bool {
	u, err := url.Parse(expanded)
	if err != nil {
		return false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	return (u.Host == "x.com" || u.Host == "twitter.com") && len(parts) == 5 && parts[1] == "status" &&
		(parts[3] == "photo" || parts[3] == "video")
}

// normalize converts sent and listed text to a common form: NFC, single spaces,
// and links without scheme, with the host in lowercase ASCII and without a
// trailing slash, because X completes links.
func normalize(text string) string {
	runes := []rune(norm.NFC.String(text))
	var out strings.Builder
	at := 0
	for _, l := range links(runes) {
		if l.start < at {
			continue
		}
		out.WriteString(string(runes[at:l.start]))
		out.WriteString(plainAddress(string(runes[l.start:min(l.end, len(runes))])))
		at = min(l.end, len(runes))
	}
	out.WriteString(string(runes[at:]))
	// Links that only X detects have a scheme too.
	bare := strings.NewReplacer("https://", "", "http://", "").Replace(out.String())
	return strings.Join(strings.Fields(bare), " ")
}

// withoutLinks replaces links by spaces.
func withoutLinks(text string) string {
	runes := []rune(norm.NFC.String(text))
	for _, l := range links(runes) {
		for i := l.start; i < min(l.end, len(runes)); i++ {
			runes[i] = ' '
		}
	}
	return string(runes)
}

func plainAddress(address string) string {
	for _, scheme := range []string{"https://", "http://"} {
		if len(address) > len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			address = address[len(scheme):]
			break
		}
	}
	host, rest := address, ""
	if i := strings.IndexAny(address, "/?#:"); i >= 0 {
		host, rest = address[:i], address[i:]
	}
	if ascii, err := idna.Punycode.ToASCII(strings.ToLower(host)); err == nil {
		host = ascii
	}
	if unescaped, err := url.PathUnescape(rest); err == nil {
		rest = unescaped // X may escape non-ASCII characters
	}
	return host + strings.TrimSuffix(rest, "/")
}
