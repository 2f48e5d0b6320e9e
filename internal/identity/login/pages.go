package login

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"net/http"
	"strings"

	"dateline/internal/infra/webpage"
)

//go:embed page.html
var pageText string

// view is the content of a page. Empty fields below the texts are omitted.
type view struct {
	Title string
	Texts []string

	Provider   string // leads to the provider
	Once       string // uses the login link
	Name       string // asks for the name of the invited person
	Continue   string // leads to the dashboard; with Logout and Everywhere
	Logout     string
	Everywhere string
	Again      string // leads to the login page
	Local      string // explains the command that prints a login link
	Prefix     string // the path that we are published under
}

// headers sets the headers of all pages. The URL of a page can contain a secret and is not
// sent to other origins. The origin of forms is sent, because CheckOrigin requires it for
// browsers that send nothing else (Fetch, "append a request Origin header").
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
}

// show renders a page in the language of the user.
func (s *Service) show(w http.ResponseWriter, r *http.Request, status int, fill func(say translator, t texts) view) {
	look := webpage.PreferencesOf(r)
	v := fill(look.Translate, allTexts())
	v.Prefix = s.prefix()
	body, err := look.Body(pageText, v)
	var page string
	if err == nil {
		page, err = look.HTML(webpage.Page{Title: v.Title, Texts: v.Texts, Body: body})
	}
	if err != nil {
		http.Error(w, "Internal server error", http.StatusInternalServerError)
		return
	}
	headers(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, page) //nolint:gosec // html/template escaped it; the reader may be gone
}

// translator translates a text.
type translator func(t webpage.Text, args ...any) string

// ToLogin redirects a browser without a session to the login page.
func (s *Service) ToLogin(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	s.to(w, r, "/login")
}

// Error pages. They distinguish only causes that the person's own login reveals, to tell
// attackers nothing about other people.

func (s *Service) impossible(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say translator, t texts) view {
		return view{Title: say(t.noPlainHTTP), Texts: []string{say(t.useHTTPS)}}
	})
}

func (s *Service) startAgain(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusBadRequest, func(say translator, t texts) view {
		return view{Title: say(t.startAgain), Again: say(t.toLogin), Texts: []string{say(t.startAgainWhy)}}
	})
}

func (s *Service) refused(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say translator, t texts) view {
		return view{Title: say(t.refused), Again: say(t.toLogin), Texts: []string{say(t.refusedAt, s.provider.Label)}}
	})
}

func (s *Service) noMember(w http.ResponseWriter, r *http.Request, why Refusal) {
	s.log.WarnContext(r.Context(), "a login was refused", "reason", string(why))
	s.show(w, r, http.StatusForbidden, func(say translator, t texts) view {
		v := view{Title: say(t.noMember), Again: say(t.toLogin), Texts: []string{say(t.noMemberWhy)}}
		switch {
		case why == NotVerified:
			v.Title, v.Texts = say(t.notVerified), []string{say(t.notVerifiedWhy, s.provider.Label)}
		case s.provider != nil:
			v.Texts = append(v.Texts, say(t.invitation, s.provider.Label))
		}
		return v
	})
}

func (s *Service) usedLink(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say translator, t texts) view {
		return view{Title: say(t.usedLink), Again: say(t.toLogin), Texts: []string{say(t.usedLinkWhy)}}
	})
}

func (s *Service) foreign(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say translator, t texts) view {
		return view{Title: say(t.foreign), Texts: []string{say(t.foreignWhy)}}
	})
}

// CheckProvider logs a warning if the provider cannot log anybody in as it is set up.
func (s *Service) CheckProvider(ctx context.Context) {
	if s.provider == nil {
		return
	}
	if err := s.provider.Check(ctx); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the OpenID provider cannot be used; `dateline doctor` says what to set", "error",
			brief(err))
	}
}

// TooMany responds to a client that exceeded the rate limit.
func (s *Service) TooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "60")
	s.show(w, r, http.StatusTooManyRequests, func(say translator, t texts) view {
		return view{Title: say(t.tooMany), Texts: []string{say(t.waitAMinute)}}
	})
}

func (s *Service) unavailable(w http.ResponseWriter, r *http.Request, what string, err error) {
	s.log.ErrorContext(r.Context(), "login failed", "at", what, "error", brief(err))
	remedy := func(t texts) webpage.Text { return t.unavailableWhy }
	if issuer := new(IssuerError); errors.As(err, &issuer) { // waiting does not help
		remedy = func(t texts) webpage.Text { return t.misconfigured }
	}
	s.show(w, r, http.StatusServiceUnavailable, func(say translator, t texts) view {
		return view{Title: say(t.unavailable), Again: say(t.toLogin), Texts: []string{say(remedy(t))}}
	})
}

// brief shortens an error for the log, because some contain the whole response.
func brief(err error) string {
	const maxBytes = 300
	text := err.Error()
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return text
}
