package weburl

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

func cleanPath(path string) string {
	if i := strings.IndexByte(path, ';'); i >= 0 {
		path = pathSession.ReplaceAllString(path, "")
	}
	if strings.Contains(path, "/(") {
		path = aspNetSession.ReplaceAllString(path, "/")
	}
	return path
}

// Session IDs in paths: servlets write ;jsessionid=…, ASP.NET writes
// /(S(lit3py55t21z5v55vlm25s55))/ (learn.microsoft.com, "ASP.NET Cookieless
// Support").
var (
	pathSession   = regexp.MustCompile(`(?i);(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]*`)
	aspNetSession = regexp.MustCompile(`(?i)/\((?:[asf]\([a-z0-9]{20,}\))+\)/`)
)

// normalizeEscapes normalizes percent-encoding (RFC 3986 §6.2.2): upper case
// hexadecimal digits, and no unnecessary encodings. Reserved characters stay as
// they are: %2F is not a slash.
func normalizeEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			b.WriteByte(s[i])
			continue
		}
		c := unhex(s[i+1])<<4 | unhex(s[i+2])
		if unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteString(strings.ToUpper(s[i+1 : i+3]))
		}
		i += 2
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// cleanQuery drops parameters that do not change the page and sorts the others
// by name: their order rarely matters, and traps permute it.
func (r Rules) cleanQuery(query string) string {
	if query == "" {
		return ""
	}
	pieces := strings.Split(query, "&")
	params := pieces[:0]
	for _, piece := range pieces {
		if piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, "=")
		if !r.shouldDrop(parameterName(name), value) {
			params = append(params, normalizeEscapes(piece))
		}
	}
	slices.SortStableFunc(params, func(a, b string) int {
		left, _, _ := strings.Cut(a, "=")
		right, _, _ := strings.Cut(b, "=")
		return strings.Compare(left, right)
	})
	return strings.Join(params, "&")
}

// parameterName returns a parameter name in the notation of Rules: decoded, in
// lower case.
func parameterName(raw string) string {
	if name, err := url.QueryUnescape(raw); err == nil {
		raw = name
	}
	return strings.ToLower(raw)
}
