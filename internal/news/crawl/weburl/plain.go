package weburl

import "strings"

// parts are the parts of a URL in the notation of the URL Standard. The port is
// empty if it is the scheme's default.
type parts struct{ scheme, hostname, port, path, query string }

// parsePlain is a fast path for URLs that are already in the form of the URL
// Standard, like nearly all links. For all others ok is false, and the much
// slower standard parser is used. References must be absolute paths; base may
// be zero.
func parsePlain(raw string, base URL) (p parts, ok bool) {
	rest := raw
	switch {
	case strings.HasPrefix(raw, "https://"):
		p.scheme, rest = "https", raw[len("https://"):]
	case strings.HasPrefix(raw, "http://"):
		p.scheme, rest = "http", raw[len("http://"):]
	case !base.IsZero() && strings.HasPrefix(raw, "/") && !strings.HasPrefix(raw, "//"):
		p.scheme, p.hostname = base.scheme, base.hostname
		p.port = strings.TrimPrefix(base.host[len(base.hostname):], ":")
	default:
		return parts{}, false
	}
	if p.hostname == "" {
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			return parts{}, false
		}
		if p.hostname, p.port, ok = parsePlainHost(rest[:end], p.scheme); !ok {
			return parts{}, false
		}
		rest = rest[end:]
	}
	path, query, asks := strings.Cut(rest, "?")
	if asks && query == "" || strings.Contains(path, "/.") || !isPlainText(path, false) || !isPlainText(query, true) {
		return parts{}, false
	}
	p.path, p.query = path, query
	return p, true
}

// parsePlainHost splits a host name and a port. It accepts only lower case
// letters, digits and single hyphens, which excludes encoded names, and no name
// that could end as an IPv4 address (URL Standard §3.5).
func parsePlainHost(authority, scheme string) (hostname, port string, ok bool) {
	hostname, port, has := strings.Cut(authority, ":")
	if has && !isPlainPort(port, scheme) || len(hostname) > 253 {
		return "", "", false
	}
	label := 0 // start of the label
	for i := range len(hostname) + 1 {
		if i < len(hostname) && hostname[i] != '.' {
			c := hostname[i]
			if alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; !alphanumeric &&
				(c != '-' || i == label || hostname[i-1] == '-') {
				return "", "", false
			}
			continue
		}
		if i == label || i-label > 63 || hostname[i-1] == '-' {
			return "", "", false
		}
		if i == len(hostname) {
			first := hostname[label]
			return hostname, port, 'a' <= first && first <= 'z'
		}
		label = i + 1
	}
	return "", "", false
}

func isPlainPort(port, scheme string) bool {
	isDefault := scheme == "http" && port == "80" || scheme == "https" && port == "443"
	if isDefault || port == "" || port[0] == '0' || !isDigits(port) {
		return false
	}
	return len(port) < 5 || len(port) == 5 && port <= "65535"
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isPlainText reports whether a path or query has only characters that the URL
// Standard leaves unchanged (§1.3). Percent signs in paths need the standard
// parser, because they may encode dots.
func isPlainText(s string, query bool) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
		case c == '-', c == '_', c == '~', c == '.', c == '/', c == ',', c == '+', c == '=', c == ':', c == '@',
			c == '!', c == '&', c == '*', c == '$':
		case query && (c == '%' || c == '?' || c == ';'):
		default:
			return false
		}
	}
	return true
}
