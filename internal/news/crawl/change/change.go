// Package change tells whether a page brought something new. A hub changed when
// its set of articles did, an article when its text did; both are exact. SimHash
// over the text of articles finds the same story under another URL.
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

// Digest is a SHA-256 of something in normal form. The zero value is none.
type Digest [32]byte

// String is the digest in hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero says whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// HubDigest names the set of a hub's articles, whatever their order. Two hubs
// have the same exactly when they link the same articles. A hub without articles
// has one too, unlike a hub never seen.
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

// ArticleDigest names the content of an article: its title and body in normal form.
// Whitespace, composed or decomposed letters and invisible characters make no
// difference.
func ArticleDigest(title, body string) Digest {
	digest, _ := Fingerprints(title, body)
	return digest
}

// Fingerprints are Article and the SimHash of the body, with the work done once.
func Fingerprints(title, body string) (Digest, SimHash) {
	hash := sha256.New()
	hash.Write([]byte(NormalizeText(title)))
	hash.Write([]byte{0}) // Normal leaves no such character in a title
	body = NormalizeText(body)
	hash.Write([]byte(body))
	return Digest(hash.Sum(nil)), simHash(body)
}

// NormalizeText is text in NFC, with one space for each run of whitespace and without
// control and invisible formatting characters.
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
	// What was taken out may have kept letters apart that now compose.
	return norm.NFC.String(b.String())
}

// isCommonLetter knows most letters of Latin script, Vietnamese ones included, which
// nearly all text is made of, without a look into Unicode's tables.
func isCommonLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || 0xC0 <= r && r <= 0x24F && r != 0xD7 && r != 0xF7 || 0x1EA0 <= r && r <= 0x1EF9
}
