package botfilter

import (
	"net/http"
	"strings"
)

// MatchRequest returns the reason to filter a request of a tracker or a pixel;
// empty for a reader's.
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

// isPrefetch reports whether the page was fetched before the reader opened it.
// Sec-Purpose is part of the Fetch standard (fetch.spec.whatwg.org,
// "Sec-Purpose header"); older browsers send Purpose (Chrome, Safari) and X-Moz
// (Firefox).
func isPrefetch(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		value := strings.ToLower(h.Get(name))
		if strings.Contains(value, "prefetch") || strings.Contains(value, "prerender") ||
			strings.Contains(value, "preview") {
			return true
		}
	}
	return false
}

// hasProgramHeaders reports headers that browsers never send: From, which "a
// robotic user agent SHOULD send" (RFC 9110, 10.1.2); CF-Worker, which
// Cloudflare adds to requests of Workers; Signature-Agent of signed bots
// (draft-meunier-web-bot-auth-architecture).
func hasProgramHeaders(h http.Header) bool {
	for _, name := range []string{"From", "Cf-Worker", "Signature-Agent"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// OptOutCookie is the cookie, with any value, that opts a reader out.
const OptOutCookie = "dateline_optout"

// HasOptedOut reports whether the reader has opted out: by Global Privacy
// Control (w3.org/TR/gpc, 3.2), by Do Not Track (w3.org/TR/tracking-dnt, 5.2),
// or by our cookie.
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
