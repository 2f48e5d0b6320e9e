// Package change detects whether a page has news. A hub has changed if its set
// of articles has, and an article if its text has; both checks are exact.
// SimHash over article text finds the same story under another URL.
//
// Raw HTML is never compared: SimHash over it called front pages with up to
// three new articles unchanged.
package change

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/news/crawl/weburl"
)

// Digest is a SHA-256 of normalized content. The zero value means none.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// HubDigest is the digest of a hub's set of articles, independent of their
// order. A hub without articles has a non-zero digest.
func HubDigest(articles []weburl.URL) Digest {
	hashes := make([]weburl.Hash, len(articles))
	for i, u := range articles {
		hashes[i] = u.Hash()
	}
	slices.SortFunc(hashes, func(a, b weburl.Hash) int { return bytes.Compare(a[:], b[:]) })
	hash := sha256.New()
	for _, one := range slices.Compact(hashes) {
		hash.Write(one[:])
	}
	return Digest(hash.Sum(nil))
}

// ArticleDigest is the digest of an article's normalized title and body.
// Whitespace, Unicode composition and invisible characters make no difference.
func ArticleDigest(title, body string) Digest {
	digest, _ := Fingerprints(title, body)
	return digest
}

// Fingerprints returns ArticleDigest and the SimHash of the body in one pass.
func Fingerprints(title, body string) (Digest, SimHash) {
	hash := sha256.New()
	hash.Write([]byte(NormalizeText(title)))
	hash.Write([]byte{0}) // NormalizeText removes this character from titles
	body = NormalizeText(body)
	hash.Write([]byte(body))
	return Digest(hash.Sum(nil)), simHash(body)
}

// NormalizeText returns text in NFC, with runs of whitespace replaced by one
// space and without control and invisible formatting characters.
func NormalizeText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap, dropped := false, false
	for _, r := range norm.NFC.String(text) {
		switch {
		case isCommonLetter(r):
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case unicode.Is(unicode.C, r):
			dropped = true
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	if !dropped {
		return b.String()
	}
	// Removed characters may have separated letters that now compose.
	return norm.NFC.String(b.String())
}

// isCommonLetter recognizes most letters of the Latin script, including
// Vietnamese ones, without a lookup in the Unicode tables.
func isCommonLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || 0xC0 <= r && r <= 0x24F && r != 0xD7 && r != 0xF7 ||
		0x1EA0 <= r && r <= 0x1EF9
}
