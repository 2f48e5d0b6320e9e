package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// attemptTimeout is the time limit for a login at the provider.
const attemptTimeout = 10 * time.Minute

// attempt is a login attempt at the provider. It is derived from a secret in a cookie, so
// nothing is stored until it succeeds: the state binds the response to the browser
// (RFC 6749, section 10.12), the nonce binds the ID token to the attempt (OpenID Connect
// Core 1.0, 15.5.2), and the verifier binds the code to it (RFC 7636).
type attempt struct{ secret string }

func (a attempt) derive(label string) string {
	mac := hmac.New(sha256.New, []byte(a.secret))
	mac.Write([]byte(label))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (a attempt) nonce() string    { return a.derive("nonce") }
func (a attempt) verifier() string { return a.derive("verifier") } // 43 characters, as RFC 7636, section 4.1, requires

// state starts with the time, because only browsers enforce the expiry of cookies.
func (a attempt) state(began time.Time) string {
	at := strconv.FormatInt(began.Unix(), 10)
	return at + "." + a.derive("state "+at)
}

// answers reports whether a state belongs to this attempt and has not expired.
func (a attempt) answers(state string, now time.Time) bool {
	at, _, _ := strings.Cut(state, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || a.secret == "" {
		return false
	}
	began := time.Unix(seconds, 0)
	return same(state, a.state(began)) && !now.Before(began) && now.Sub(began) < attemptTimeout
}

// used returns the identifier of an attempt whose response was processed.
func (a attempt) used() []byte { return hash(a.derive("used")) }

// same compares secrets in constant time.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
