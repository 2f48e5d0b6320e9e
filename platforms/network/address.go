package network

import "strings"

// FetchURL escapes the percent signs of a link that begin no escape, as in
// https://news.example/tang-5%-hom-nay: browsers and the networks accept them, url.Parse
// does not (WHATWG URL, "percent-encode sets"; servers see the same path).
func FetchURL(link string) string {
	var out strings.Builder
	for i := range len(link) {
		if out.WriteByte(link[i]); link[i] == '%' && (i+2 >= len(link) || !isHex(link[i+1]) || !isHex(link[i+2])) {
			out.WriteString("25")
		}
	}
	return out.String()
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}
