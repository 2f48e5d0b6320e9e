package extract

import "bytes"

// removeScripts cuts out what no article is made of before the page is parsed: scripts (but not
// JSON-LD), styles and drawings. They are about half of a news page's bytes, and the parser
// is most of the cost of reading it. Where an end tag is missing, the page is left as it is,
// for the parser to make sense of.
func removeScripts(page []byte) []byte {
	out := make([]byte, 0, len(page))
	for {
		at, name := nextRemovable(page)
		if at < 0 {
			return append(out, page...)
		}
		end := elementEnd(page[at:], name)
		if end < 0 {
			return append(out, page...)
		}
		if name == "script" && isJSONLD(page[at:at+end]) {
			out = append(out, page[:at+end]...)
		} else {
			out = append(out, page[:at]...)
			out = append(out, ' ')
		}
		page = page[at+end:]
	}
}

// nextRemovable finds the next element that may be cut. Comments are stepped over, because what
// they hold is no element.
func nextRemovable(page []byte) (int, string) {
	for from := 0; ; {
		i := bytes.IndexByte(page[from:], '<')
		if i < 0 {
			return -1, ""
		}
		at := from + i
		rest := page[at+1:]
		if bytes.HasPrefix(rest, []byte("!--")) {
			end := bytes.Index(rest[3:], []byte("-->"))
			if end < 0 {
				return -1, ""
			}
			from = at + 4 + end + 3
			continue
		}
		if len(rest) > 1 && rest[0]|0x20 == 's' {
			for _, name := range []string{"script", "style", "svg"} {
				if isTag(rest, name) {
					return at, name
				}
			}
		}
		from = at + 1
		if len(rest) > 1 && rest[0]|0x20 == 't' {
			for _, name := range []string{"title", "textarea"} { // whatever they hold is text
				if isTag(rest, name) {
					end := endTag(page[at:], name)
					if end < 0 {
						return -1, ""
					}
					from = at + end
				}
			}
		}
	}
}

// isTag says whether s begins with the name of a tag, in any case, and the name ends there.
func isTag(s []byte, name string) bool {
	if len(s) <= len(name) || !bytes.EqualFold(s[:len(name)], []byte(name)) {
		return false
	}
	switch s[len(name)] {
	case ' ', '\t', '\n', '\r', '\f', '>', '/':
		return true
	}
	return false
}

// elementEnd finds where an element that may be cut ends.
func elementEnd(s []byte, name string) int {
	if name == "svg" {
		if head := bytes.IndexByte(s, '>'); head > 0 && s[head-1] == '/' {
			return head + 1
		}
	}
	end := endTag(s, name)
	if name != "script" || end < 0 {
		return end
	}
	// "<script><!-- … <script></script> … --></script>" is one script: HTML, section 4.12.1.3.
	open := bytes.LastIndex(s[:end], []byte("<!--"))
	if open < 0 || bytes.Contains(s[open:end], []byte("-->")) || !bytes.Contains(s[open:end], []byte("<script")) {
		return end
	}
	shut := bytes.Index(s[open:], []byte("-->"))
	if shut < 0 {
		return end
	}
	if more := endTag(s[open+shut:], name); more > 0 {
		return open + shut + more
	}
	return end
}

// endTag finds where the element that s begins with ends: after its end tag.
func endTag(s []byte, name string) int {
	for from := 0; ; {
		i := bytes.Index(s[from:], []byte("</"))
		if i < 0 {
			return -1
		}
		at := from + i
		if isTag(s[at+2:], name) {
			end := bytes.IndexByte(s[at:], '>')
			if end < 0 {
				return -1
			}
			return at + end + 1
		}
		from = at + 2
	}
}

// isJSONLD says whether a script is data that metadata is read from.
func isJSONLD(script []byte) bool {
	end := bytes.IndexByte(script, '>')
	if end < 0 {
		return false
	}
	return bytes.Contains(bytes.ToLower(script[:end]), []byte("ld+json"))
}
