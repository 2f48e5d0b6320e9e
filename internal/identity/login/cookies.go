package login

import (
	"net/http"
	"time"
)

// cookies defines the names and attributes of cookies. With the prefix __Host-, browsers
// only accept secure cookies of this host, so that subdomains cannot set one
// (RFC 6265bis, section 4.1.3.2). The prefix is not used with plain http on a loopback
// address.
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
	c.set(w, "dateline-login", secret, attemptTimeout)
}

func (c cookies) clearSession(w http.ResponseWriter) { c.set(w, "dateline", "", -time.Second) }
func (c cookies) clearAttempt(w http.ResponseWriter) { c.set(w, "dateline-login", "", -time.Second) }

// get returns the value of a cookie. If there are two, one was injected, and it returns
// none.
func (c cookies) get(r *http.Request, short string) string {
	found := r.CookiesNamed(c.name(short))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// set sets a cookie. SameSite is Lax, because the response of the provider comes from
// another site, and because users who follow a link to the dashboard should be logged in.
func (c cookies) set(w http.ResponseWriter, short, value string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: only plain http on loopback goes without Secure
		Name: c.name(short), Value: value, Path: "/", MaxAge: int(lasts / time.Second), Secure: c.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
