package websub

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // hubs may use it (W3C WebSub, section 7)
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strings"
)

// hasSignature reports whether an X-Hub-Signature header, method=signature, is that of a
// body (W3C WebSub, section 7).
func hasSignature(header, secret string, body []byte) bool {
	method, signature, ok := strings.Cut(strings.TrimSpace(header), "=")
	if !ok {
		return false
	}
	var algorithm func() hash.Hash
	switch strings.ToLower(method) {
	case "sha1":
		algorithm = sha1.New
	case "sha256":
		algorithm = sha256.New
	case "sha384":
		algorithm = sha512.New384
	case "sha512":
		algorithm = sha512.New
	default:
		return false
	}
	got, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	mac := hmac.New(algorithm, []byte(secret))
	_, _ = mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil)) // in constant time
}
