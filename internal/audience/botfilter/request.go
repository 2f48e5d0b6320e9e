package botfilter

import (
	"net/http"
	"strings"
)

// MatchRequest says what a request of a tracker or a pixel is not a person's by, from
// its headers; empty: nothing.
func (m *Matcher) MatchRequest(h http.Header) Reason {
	if reason := m.MatchAgent(h.Get("User-Agent")); reason != "" {
		return reason
	}
	switch {
	case isPrefetch(h):
		return Prefetch
	case hasProgramHeaders(h):
		return DataCenter
	case h.Get("Accept-Language") == "":
		return NoLanguage
	}
	return ""
}

// isPrefetch: the page is fetched before anybody asked for it. Sec-Purpose is of the
// Fetch standard (fetch.spec.whatwg.org, "Sec-Purpose header"); browsers before
// it said Purpose (Chrome, Safari) and X-Moz (Firefox).
func isPrefetch(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		value := strings.ToLower(h.Get(name))
		if strings.Contains(value, "prefetch") || strings.Contains(value, "prerender") || strings.Contains(value, "preview") {
			return true
		}
	}
	return false
}

// hasProgramHeaders knows headers that no browser sends: From, "a robotic user agent
// SHOULD send" it (RFC 9110, 10.1.2); CF-Worker, which Cloudflare adds to the
// requests of its customers' programs; Signature-Agent of signed robots
// (draft-meunier-web-bot-auth-architecture).
func hasProgramHeaders(h http.Header) bool {
	for _, name := range []string{"From", "Cf-Worker", "Signature-Agent"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// OptOutCookie is set, to anything, by who does not want to be counted.
const OptOutCookie = "dateline_optout"

// HasOptedOut says that whoever sends these headers does not want to be counted:
// by Global Privacy Control (w3.org/TR/gpc, 3.2), by Do Not Track
// (w3.org/TR/tracking-dnt, 5.2), or by our own cookie.
func HasOptedOut(h http.Header) bool {
	if h.Get("Sec-Gpc") == "1" || h.Get("Dnt") == "1" {
		return true
	}
	for _, cookies := range h["Cookie"] {
		for len(cookies) > 0 {
			one, rest, _ := strings.Cut(cookies, ";")
			if name, _, _ := strings.Cut(strings.TrimSpace(one), "="); name == OptOutCookie {
				return true
			}
			cookies = rest
		}
	}
	return false
}
