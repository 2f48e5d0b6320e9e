package post

import (
	"crypto/sha256"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fingerprint is equal for posts whose first text on an account has the same words,
// regardless of case, white space and the encoding of accents. nil: there are no words.
func (p Post) Fingerprint(t Target) []byte {
	text := p.threadFor(t)[0].Content // short links differ from post to post
	text = strings.Join(strings.Fields(norm.NFC.String(cases.Fold().String(text))), " ")
	if text == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}
