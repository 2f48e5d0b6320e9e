// Package csp builds Content-Security-Policy sources.
package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// StyleHash returns the source that allows only the first style element of a page
// (Content Security Policy Level 3, 2.3.1, hash-source). It is empty without one.
func StyleHash(page string) string {
	_, rest, found := strings.Cut(page, "<style>")
	style, _, closed := strings.Cut(rest, "</style>")
	if !found || !closed {
		return ""
	}
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
