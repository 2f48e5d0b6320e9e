package robots

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// maxLine is how much of a line is read; no path is longer.
const maxLine = 16 << 10

// Parse parses a robots.txt. It never fails: lines that it does not understand
// are skipped (RFC 9309 §2.2).
func Parse(data []byte) *File {
	data = data[:min(len(data), MaxSize)]
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) // §2.3: UTF-8; editors add a BOM
	f := &File{}
	var current *record
	agentsEnded := true // the next user-agent line starts a new group
	for line := range lines(data) {
		key, value, ok := parseLine(line)
		if !ok {
			continue
		}
		switch key {
		case "user-agent":
			if agentsEnded {
				f.records = append(f.records, record{delay: -1})
				current, agentsEnded = &f.records[len(f.records)-1], false
			}
			current.agents = append(current.agents, productToken(value))
		case "allow", "disallow":
			agentsEnded = true
			// Rules before any user-agent line apply to nobody (§2.1,
			// "startgroupline"). An empty pattern matches nothing (§2.2.2, and
			// the example of §5.1).
			if current == nil || value == "" {
				continue
			}
			current.rules = append(current.rules, rule{
				allow: key == "allow", pattern: normalize(normalizePattern(value)), line: formatRule(key, value),
			})
		case "crawl-delay":
			// Other records must not interfere with the groups (§2.2.4): they
			// do not end a list of agents.
			if current != nil {
				if delay, ok := seconds(value); ok {
					current.delay = delay
				}
			}
		case "sitemap":
			// Sitemaps belong to no group and do not end one (§2.2.4).
			if value != "" && len(f.Sitemaps) < maxSitemaps {
				f.Sitemaps = append(f.Sitemaps, value)
			}
		}
	}
	return f
}

const maxSitemaps = 1000

// lines splits at CR, LF or CRLF (§2.2).
func lines(data []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(data) > 0 {
			end := bytes.IndexAny(data, "\r\n")
			line := data
			if end < 0 {
				data = nil
			} else {
				line, data = data[:end], data[end+1:]
			}
			if len(line) > maxLine {
				line = line[:maxLine]
			}
			if !yield(string(line)) {
				return
			}
		}
	}
}

// parseLine returns the key and value of a line, without its comment.
func parseLine(line string) (key, value string, ok bool) {
	const blank = " \t\x00\v\f\u00a0"
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, blank)
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		// Accept "Disallow /path", without a colon.
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return "", "", false
		}
		key, value = fields[0], fields[1]
	}
	return fixTypo(strings.ToLower(strings.Trim(key, blank))), strings.Trim(value, blank), true
}

// fixTypo corrects common typos, the same ones as Google's parser
// (github.com/google/robotstxt, kAllowFrequentTypos).
func fixTypo(key string) string {
	switch key {
	case "useragent", "user agent":
		return "user-agent"
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return "disallow"
	case "site-map":
		return "sitemap"
	case "crawldelay", "crawl delay":
		return "crawl-delay"
	}
	return key
}

// normalizePattern adds a missing leading slash: as written, the pattern would
// match nothing.
func normalizePattern(value string) string {
	if value[0] != '/' && value[0] != '*' {
		value = "/" + value
	}
	// "$" is special only at the end (§2.2.3).
	body, end := strings.CutSuffix(value, "$")
	body = strings.ReplaceAll(body, "$", "%24")
	if end {
		body += "$"
	}
	return body
}

func formatRule(key, value string) string {
	if len(value) > 200 {
		value = strings.ToValidUTF8(value[:200], "") + "…"
	}
	return strings.ToUpper(key[:1]) + key[1:] + ": " + value
}

// productToken returns the product token of a user-agent line: letters, "_" and
// "-" (§2.2.1). Anything after it, such as a version, does not count.
func productToken(value string) string {
	if strings.HasPrefix(value, "*") {
		// "*" followed by other text still means all crawlers, as in Google's
		// parser.
		if len(value) == 1 || value[1] == ' ' || value[1] == '\t' {
			return "*"
		}
	}
	end := 0
	for end < len(value) {
		c := value[end]
		if c != '_' && c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		end++
	}
	return strings.ToLower(value[:end])
}

func seconds(value string) (time.Duration, bool) {
	number, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
	if err != nil || !(number >= 0) {
		return 0, false
	}
	const maxDelay = 365 * 24 * time.Hour
	if number > maxDelay.Seconds() {
		return maxDelay, true
	}
	return time.Duration(number * float64(time.Second)), true
}

// normalize brings a path or pattern into one form (RFC 9309 §2.2.2). Octets that no URL
// contains, such as "{", "<" and those outside ASCII, are percent-encoded, as clients do
// before they request a URL; encoded characters that need no encoding are decoded. Reserved
// characters with a meaning (RFC 3986 §2.2) stay as they are: "%2F" is not "/", and "%2A" is
// not the wildcard. In a query, "/" and "?" are equal to their encoded forms (RFC 3986 §3.4;
// the second example of RFC 9309 §2.2.2).
func normalize(path string) string {
	plain := true
	for i := range len(path) {
		if !unreserved(path[i]) && !reserved(path[i]) {
			plain = false
			break
		}
	}
	if plain {
		return path
	}
	var b strings.Builder
	query := false
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2]):
			decoded := unhex(path[i+1])<<4 | unhex(path[i+2])
			if unreserved(decoded) || isData(decoded) || query && (decoded == '/' || decoded == '?') {
				b.WriteByte(decoded)
			} else {
				encode(&b, decoded)
			}
			i += 2
		case unreserved(c) || reserved(c):
			query = query || c == '?'
			b.WriteByte(c)
		default:
			encode(&b, c)
		}
	}
	return b.String()
}

func encode(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20 - 'a') + 10
}

// reserved reports whether a character is one of RFC 3986 §2.2.
func reserved(c byte) bool { return strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 }

// isData reports whether a reserved character separates nothing in paths and queries, so
// that some clients encode it and others do not: browsers encode "'" in queries (URL
// Standard, "special-query percent-encode set"), encodeURIComponent ":", "@", "," and ";".
func isData(c byte) bool { return strings.IndexByte(":[]@!'(),;", c) >= 0 }

func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
