package login

import (
	"net/http"
	"time"
)

// cookies names and shapes our cookies. The prefix __Host- makes browsers
// refuse them unless they are secure and set by this very host, so that no
// neighbouring subdomain can plant one (RFC 6265bis, section 4.1.3.2). Browsers
// keep no secure cookie of plain http, which is what one machine speaks to
// itself.
type cookies struct{ secure bool }

func (c cookies) name(short string) string {
	if c.secure {
		return "__Host-" + short
	}
	return short
}

func (c cookies) session(r *http.Request) string { return c.get(r, "dateline") }
func (c cookies) attempt(r *http.Request) string { return c.get(r, "dateline-login") }

func (c cookies) setSession(w http.ResponseWriter, secret string) {
	c.set(w, "dateline", secret, AbsoluteLimit)
}

func (c cookies) setAttempt(w http.ResponseWriter, secret string) {
	c.set(w, "dateline-login", secret, attemptLimit)
}

func (c cookies) clearSession(w http.ResponseWriter) { c.set(w, "dateline", "", -time.Second) }
func (c cookies) clearAttempt(w http.ResponseWriter) { c.set(w, "dateline-login", "", -time.Second) }

// get gives the value of the one cookie of that name. Of two it gives none:
// one was planted, and there is no telling which.
func (c cookies) get(r *http.Request, short string) string {
	found := r.CookiesNamed(c.name(short))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// set: Lax rather than Strict, because the provider's answer comes from another
// site, and because a link to the dashboard should find its reader logged in.
func (c cookies) set(w http.ResponseWriter, short, value string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: only plain http on loopback goes without Secure
		Name: c.name(short), Value: value, Path: "/", MaxAge: int(lasts / time.Second), Secure: c.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
