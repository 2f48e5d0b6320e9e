package extract

import "bytes"

// removeScripts returns the parts of a page without scripts (except JSON-LD), styles and
// SVG, with a space for each of them. They are about half of the bytes of a news page, and
// parsing is most of the cost of extraction. If an end tag is missing, the rest of the page
// is left unchanged.
func removeScripts(page []byte) [][]byte {
	parts := make([][]byte, 0, 64)
	space := []byte{' '}
	for {
		at, name := nextRemovable(page)
		if at < 0 {
			return append(parts, page)
		}
		end := elementEnd(page[at:], name)
		if end < 0 {
			return append(parts, page)
		}
		if name == "script" && isJSONLD(page[at:at+end]) {
			parts = append(parts, page[:at+end])
		} else {
			parts = append(parts, page[:at], space)
		}
		page = page[at+end:]
	}
}

// nextRemovable finds the next removable element. Comments are skipped.
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
			for _, name := range []string{"title", "textarea"} { // their content is text
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

// isTag reports whether s starts with a complete tag name, ignoring case.
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

// elementEnd returns the end of a removable element.
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
	if !bytes.Contains(s[:end], []byte("<!--")) { // far faster than to search from the end
		return end
	}
	open := bytes.LastIndex(s[:end], []byte("<!--"))
	if bytes.Contains(s[open:end], []byte("-->")) || !bytes.Contains(s[open:end], []byte("<script")) {
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

// isJSONLD reports whether a script contains JSON-LD.
func isJSONLD(script []byte) bool {
	end := bytes.IndexByte(script, '>')
	if end < 0 {
		return false
	}
	return bytes.Contains(bytes.ToLower(script[:end]), []byte("ld+json"))
}
