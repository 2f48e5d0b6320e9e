// Package csp writes parts of Content-Security-Policies.
package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// StyleHash is the source that allows the first style element of a page, and no
// other (Content Security Policy Level 3, 2.3.1, hash-source). Empty: it has none.
func StyleHash(page string) string {
	_, rest, found := strings.Cut(page, "<style>")
	style, _, closed := strings.Cut(rest, "</style>")
	if !found || !closed {
		return ""
	}
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
