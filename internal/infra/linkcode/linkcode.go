// Package linkcode generates and validates the codes of short links, such as
// 4fKq09ZbXa in https://go.example.org/l/4fKq09ZbXa.
package linkcode

import (
	"math/big"
	"net/url"
	"strings"
)

const (
	// Length is the number of characters in a code: ten base-62 characters hold
	// 59 bits.
	Length = 10
	// MaxURLLength is the maximum length in bytes of a link's target URL.
	MaxURLLength = 2048
)

// Encode returns the code for 16 hash bytes: their last Length base-62 digits.
func Encode(sum [16]byte) string {
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	if missing := Length - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[len(text)-Length:]
}

// Parameter is the query parameter of a site's page that names the short link that
// led to it.
const Parameter = "dateline_link"

// IsValid reports whether text has the form of a code.
func IsValid(text string) bool {
	if len(text) != Length {
		return false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// IsValidTarget reports whether a short link may redirect to a URL: it must be
// an absolute http or https URL without user info, which could pass for a host.
func IsValidTarget(address string) bool {
	if len(address) > MaxURLLength ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) &&
		u.Hostname() != "" && u.User == nil
}
