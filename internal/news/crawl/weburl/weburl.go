// Package weburl canonicalizes URLs, so that every web page has one URL.
// Parsing follows the WHATWG URL Standard, as in browsers. Then everything that
// does not change the page is removed: fragments, tracking parameters, session
// IDs, and the parameters in a site's Rules.
package weburl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"
)

// MaxLength is the maximum length of a canonical URL. Longer ones are more
// often traps than articles.
const MaxLength = 2048

// maxRawLength is the maximum length of input; tracking parameters may be long.
const maxRawLength = 16 << 10

// Errors of Parse.
var (
	ErrInvalid     = errors.New("invalid URL")
	ErrScheme      = errors.New("URL scheme is neither http nor https")
	ErrCredentials = errors.New("URL contains credentials")
	ErrTooLong     = errors.New("URL too long")
)

// URL is a canonical URL. The zero value means none. URLs of the same page are
// equal with ==, as far as the rules know.
type URL struct {
	text     string
	scheme   string
	host     string // with the port, unless it is the scheme's default
	hostname string
	path     string
	query    string // without "?"
}

// Hash identifies a URL in keys and indexes: the first 16 bytes of the SHA-256
// of its text.
type Hash [16]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Parse canonicalizes a URL under the rules of its site.
func Parse(raw string, rules Rules) (URL, error) { return parse(raw, URL{}, rules) }

// Resolve canonicalizes a reference found on page u.
func (u URL) Resolve(ref string, rules Rules) (URL, error) { return parse(ref, u, rules) }

func parse(raw string, base URL, rules Rules) (URL, error) {
	if len(raw) > maxRawLength {
		return URL{}, ErrTooLong
	}
	if p, ok := parsePlain(raw, base); ok {
		return p.canonical(rules)
	}
	return parseStandard(raw, base, rules)
}

// parseStandard parses any URL with the WHATWG parser.
func parseStandard(raw string, base URL, rules Rules) (URL, error) {
	var parsed *whatwg.Url
	var err error
	if base.IsZero() {
		parsed, err = whatwg.Parse(raw)
	} else {
		parsed, err = whatwg.ParseRef(base.text, raw)
	}
	if err != nil {
		return URL{}, ErrInvalid
	}
	scheme := strings.TrimSuffix(parsed.Protocol(), ":")
	if scheme != "http" && scheme != "https" {
		return URL{}, ErrScheme
	}
	if parsed.Username() != "" || parsed.Password() != "" {
		return URL{}, ErrCredentials
	}
	// A trailing dot denotes the same host.
	hostname := strings.TrimSuffix(parsed.Hostname(), ".")
	if hostname == "" || strings.HasSuffix(hostname, ".") || len(hostname) > 253 {
		return URL{}, ErrInvalid
	}
	return parts{
		scheme: scheme, hostname: hostname, port: parsed.Port(), path: parsed.Pathname(),
		query: strings.TrimPrefix(parsed.Search(), "?"),
	}.canonical(rules)
}

// canonical removes everything that does not change the page.
func (p parts) canonical(rules Rules) (URL, error) {
	if rules.HTTPS && p.scheme == "http" && p.port == "" {
		p.scheme = "https"
	}
	host := p.hostname
	if p.port != "" {
		host += ":" + p.port
	}
	u := URL{scheme: p.scheme, host: host, hostname: host[:len(p.hostname)]}
	if u.path = normalizeEscapes(cleanPath(p.path)); u.path == "" {
		u.path = "/"
	}
	if u.query = rules.cleanQuery(p.query); u.query == "" {
		u.text = u.scheme + "://" + u.host + u.path
	} else {
		u.text = u.scheme + "://" + u.host + u.path + "?" + u.query
	}
	if len(u.text) > MaxLength {
		return URL{}, ErrTooLong
	}
	return u, nil
}

// String returns the canonical text.
func (u URL) String() string { return u.text }

// IsZero reports whether u is the zero value.
func (u URL) IsZero() bool { return u.text == "" }

// Scheme is http or https.
func (u URL) Scheme() string { return u.scheme }

// Host is the host name, with the port unless it is the scheme's default.
func (u URL) Host() string { return u.host }

// Hostname is the host name without the port. IPv6 addresses are in brackets.
func (u URL) Hostname() string { return u.hostname }

// Path is the path, escaped.
func (u URL) Path() string { return u.path }

// Query is the query without its question mark, escaped.
func (u URL) Query() string { return u.query }

// Origin is the URL up to its path. A robots.txt applies to one origin.
func (u URL) Origin() string {
	if u.host == "" {
		return ""
	}
	return u.scheme + "://" + u.host
}

// RequestURI is path and query, as robots.txt rules match them.
func (u URL) RequestURI() string {
	if u.query == "" {
		return u.path
	}
	return u.path + "?" + u.query
}

// Domain is the registered domain (eTLD+1), the unit of politeness: of
// thethao.example.com.vn it is example.com.vn. An IP address, or a name without
// a dot, is its own domain.
func (u URL) Domain() string { return Domain(u.hostname) }

// Hash returns the hash of u.
func (u URL) Hash() Hash {
	sum := sha256.Sum256([]byte(u.text))
	return Hash(sum[:16])
}

// MarshalText implements encoding.TextMarshaler.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.text), nil }

// UnmarshalText parses the output of MarshalText without applying a site's
// rules.
func (u *URL) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = URL{}
		return nil
	}
	parsed, err := Parse(string(text), Rules{DropNothing: true})
	if err == nil {
		*u = parsed
	}
	return err
}

// Domain is the registered domain of a host name, see URL.Domain.
func Domain(hostname string) string {
	hostname = strings.TrimSuffix(strings.ToLower(hostname), ".")
	if _, err := netip.ParseAddr(strings.Trim(hostname, "[]")); err == nil {
		return hostname
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(hostname)
	if err != nil { // the host is a public suffix or has no dot
		return hostname
	}
	return domain
}

// Absolute resolves a reference as browsers do, without canonicalizing it: the
// target of a redirect must be requested as written. base may be empty.
func Absolute(base, ref string) (string, error) {
	if len(ref) > maxRawLength {
		return "", ErrTooLong
	}
	if _, ok := parsePlain(ref, URL{}); ok {
		return ref, nil
	}
	var parsed *whatwg.Url
	var err error
	if base == "" {
		parsed, err = whatwg.Parse(ref)
	} else {
		parsed, err = whatwg.ParseRef(base, ref)
	}
	switch {
	case err != nil:
		return "", ErrInvalid
	case parsed.Protocol() != "http:" && parsed.Protocol() != "https:":
		return "", ErrScheme
	case parsed.Hostname() == "":
		return "", ErrInvalid
	case parsed.Username() != "" || parsed.Password() != "":
		return "", ErrCredentials
	}
	return parsed.Href(true), nil
}
