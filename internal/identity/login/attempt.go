package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// attemptLimit is how long the way to the provider and back may take.
const attemptLimit = 10 * time.Minute

// attempt is one try to log in at the provider. All of it follows from a secret
// in a cookie, so that nothing is stored for somebody who only looks: the state
// binds the answer to the browser that asked (RFC 6749, section 10.12), the
// nonce binds the ID token to the attempt (OpenID Connect Core 1.0, 15.5.2),
// the verifier binds the code to it (RFC 7636).
type attempt struct{ secret string }

func (a attempt) derive(label string) string {
	mac := hmac.New(sha256.New, []byte(a.secret))
	mac.Write([]byte(label))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (a attempt) nonce() string    { return a.derive("nonce") }
func (a attempt) verifier() string { return a.derive("verifier") } // 43 characters, as RFC 7636, section 4.1, wants

// state begins with the time, because browsers alone see to the end of cookies.
func (a attempt) state(began time.Time) string {
	at := strconv.FormatInt(began.Unix(), 10)
	return at + "." + a.derive("state "+at)
}

// answers says whether a state is this attempt's and not too old.
func (a attempt) answers(state string, now time.Time) bool {
	at, _, _ := strings.Cut(state, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || a.secret == "" {
		return false
	}
	began := time.Unix(seconds, 0)
	return same(state, a.state(began)) && !now.Before(began) && now.Sub(began) < attemptLimit
}

// used is what is kept of an attempt whose answer came.
func (a attempt) used() []byte { return hash(a.derive("used")) }

// same compares secrets in a time that tells nothing of them.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
