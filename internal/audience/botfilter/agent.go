package botfilter

import (
	"slices"
	"strings"
)

// A User-Agent is a list of products and comments (RFC 9110, 10.1.5). Programs name
// themselves in the names of products and in comments. A token says nothing in the
// other places: in the value of a product, such as a version, a carrier or an id, and
// in the model of a device, which its maker chose.

// isNamed reports whether the token that ends at end is a word of a program's name.
func (t token) isNamed(agent string, end int) bool {
	from, word := end-len(t.text), isWordByte(t.text[0])
	if word && !t.anyStart && from > 0 && isWordByte(agent[from-1]) {
		return false
	}
	if isWordByte(t.text[len(t.text)-1]) && !t.anyEnd && end < len(agent) && isWordByte(agent[end]) {
		return false
	}
	if word && isValue(agent, from) {
		return false
	}
	return t.text[0] == '+' || !isModel(agent, from) || isEntry(agent, from, end)
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// isValue reports whether a position is in the value of a product, after its slash; not
// in the path of an address. In the brackets of Facebook's apps, values contain spaces.
func isValue(agent string, at int) bool {
	ends := " +;,()[]"
	if open := strings.LastIndexByte(agent[:at], '['); open >= 0 && !strings.Contains(agent[open:at], "]") {
		ends = ";[]"
	}
	name, value, ok := strings.Cut(agent[strings.LastIndexAny(agent[:at], ends)+1:at], "/")
	return ok && name != "" && !strings.HasSuffix(name, ":") && !isSite(name) && !strings.Contains(value, "/")
}

// isModel reports whether a position is in the part of a comment that describes a
// device: after the version of Android.
func isModel(agent string, at int) bool {
	from := max(strings.LastIndex(agent[:at], "Android"), strings.LastIndex(agent[:at], "android"),
		strings.LastIndex(agent[:at], "; Adr "))
	if from < 0 {
		return false
	}
	description := agent[from+len("Android") : max(at, from+len("Android"))]
	outer := 0 // the depth at which the description ends
	switch {
	case strings.HasPrefix(description, " ("):
		outer = 1
	case !strings.HasPrefix(description, " ") && !strings.HasPrefix(description, ";"):
		return false // Zalo android/481
	}
	depth := 0
	for i := range len(description) {
		switch description[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < outer {
				return false
			}
		case 'A', 'a':
			if hasPrefixFold(description[i:], "AppleWebKit/") {
				return false
			}
		}
	}
	return true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isEntry reports whether the token is a whole entry of a comment, or in the name of a
// product with a version there.
func isEntry(agent string, from, end int) bool {
	start := strings.LastIndexAny(agent[:from], ";(") + 1
	stop := len(agent)
	if i := strings.IndexAny(agent[end:], ";)"); i >= 0 {
		stop = end + i
	}
	entry, token := strings.Trim(agent[start:stop], " "), strings.Trim(agent[from:end], " ;(")
	if entry == token {
		return true
	}
	_, version, ok := strings.Cut(entry, "/")
	return ok && version != "" && version[0] >= '0' && version[0] <= '9' && !strings.Contains(entry, " ")
}

// hasContact reports whether an agent contains an address where its operator can be
// reached: of a page after "+", of mail, or of a site after the system.
func hasContact(agent string) bool {
	for i := range len(agent) {
		if b := agent[i]; (b == '+' || b == '@' && i > 0 && agent[i-1] != ' ') && isDomain(agent[i+1:]) {
			return true
		}
	}
	_, tail, _ := strings.Cut(agent, ")")
	for tail != "" {
		var word string
		word, tail, _ = cutAny(tail, " ;,()[]+")
		if _, address, ok := strings.Cut(word, "://"); ok {
			word = address
		}
		if isSite(word) {
			return true
		}
	}
	return false
}

// cutAny cuts a text at the first of some bytes.
func cutAny(s, bytes string) (before, after string, found bool) {
	if i := strings.IndexAny(s, bytes); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// isSite reports whether a word is the name of a site, maybe with a path. Names of apps
// such as com.zing.zalo are reversed.
func isSite(word string) bool {
	host, path, _ := strings.Cut(word, "/")
	if path != "" && path[0] >= '0' && path[0] <= '9' {
		return false // a product and its version
	}
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || !isDomain(host) {
		return false
	}
	return slices.Contains([]string{
		"com", "net", "org", "io", "fr", "de", "ru",
		"ai",
	}, strings.ToLower(host[dot+1:]))
}

// isDomain reports whether a text begins with a domain name: labels of which the first
// begins and the last one consists of letters.
func isDomain(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool {
		return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end >= 0 {
		if s[end] == '_' || s[end] == '=' {
			return false
		}
		s = s[:end]
	}
	s = strings.TrimRight(s, ".")
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 || len(s)-dot < 3 || !isWordByte(s[0]) {
		return false
	}
	return !strings.ContainsAny(s[dot:], "-0123456789")
}

// isCompatible reports whether a program names itself where browsers say what they are
// compatible with: "(KHTML, like Gecko; X)".
func isCompatible(agent string) bool {
	_, rest, ok := strings.Cut(agent, "(KHTML, like Gecko")
	return ok && rest != "" && rest[0] != ')' && rest[0] != ','
}

// isBrowser reports whether a user agent has the form of a browser's: since 1995 all
// name Mozilla, the system and an engine. Apps may name themselves before, and some
// proxies remove the brackets.
func isBrowser(lower string) bool {
	_, rest, ok := strings.Cut(lower, "mozilla")
	return ok && containsAny(rest, "applewebkit", "gecko/", "trident/", "presto/", "khtml", "goanna/", "msie ") &&
		containsAny(rest, "windows", "linux", "x11", "bsd", "unix", "sunos", "cros", "fuchsia", "crkey", "playbook",
			"webos", "web0s", "playstation", "ps3", "nintendo", "xbox", "openharmony", "cygwin", "os/2")
}

// isDevice reports whether a user agent names a system or a kind of device that people
// hold: apps and old phones do not name Mozilla.
func isDevice(lower string) bool {
	if strings.HasPrefix(lower, "mozilla/5.0 (") && strings.IndexByte(lower, ')') == len(lower)-1 &&
		!strings.Contains(lower, ";") {
		return false // only "Mozilla/5.0 (Windows NT 10.0)"
	}
	return strings.ContainsAny(lower, "0123456789") && containsAny(lower,
		// Phones, tablets, watches.
		"android", "iphone", "ipad", "ipod", "ios", "watchos", "watch os", "cfnetwork/", "darwin/", "mobile",
		"symb", "series60", "series40", "s60", "midp", "cldc", "j2me",
		"blackberry", "kaios", "tizen", "openharmony", "palm", "brew", "opera", "ucweb", "up.browser", "wap",
		"netfront", "nokia", "samsung", "sonyericsson", "docomo", "fbav/",
		// Computers.
		"windows", "win9", "win10", "win7", "win64", "macintosh", "mac os", "macos", "mac_p", "x11", "cros ",
		"amiga", "beos", "haiku", "risc os", "syllable",
		// Televisions, consoles, players.
		"smart-tv", "smarttv", "hbbtv", "tvos", "apple tv", "roku", "playstation", "nintendo", "xbox", "sonos/",
		"kindle", "libvlc/", "alexa", "echo/", "maple",
		// Programs that people read with.
		"browser/", "textmode", "links (", "lynx/", "w3m/", "dillo/", "mosaic/", "quicktime", "osx/",
		"microsoft office", "the bat")
}

func containsAny(s string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}
