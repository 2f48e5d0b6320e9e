package login

import (
	_ "embed"
	"io"
	"net/http"
	"strings"

	"dateline/internal/infra/webpage"
)

//go:embed page.html
var pageText string

// view is what a page shows, in the reader's language. Of what is below the texts,
// the empty is left out.
type view struct {
	Title string
	Texts []string

	Provider   string // leads to the provider
	Once       string // uses the login link
	Continue   string // leads to the dashboard; with Logout and Everywhere
	Logout     string
	Everywhere string
	Again      string // leads to the login page
	Local      string // explains the command that prints a login link
	Prefix     string // the path that we are published under
}

// headers of every page here. The address of a page may hold a secret and is
// never told to others; the form's own origin is, or CheckOrigin would refuse
// the forms of browsers that only send that (Fetch, "append a request Origin header").
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
}

// show answers with a page that is made for the reader's language.
func (s *Service) show(w http.ResponseWriter, r *http.Request, status int, fill func(say sayer, t texts) view) {
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

// sayer writes a text in the reader's language.
type sayer func(t webpage.Text, args ...any) string

// ToLogin leads a browser that is not logged in to the login page.
func (s *Service) ToLogin(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	s.to(w, r, "/login")
}

// The answers to all that goes wrong. Each is one page, whatever exactly went
// wrong: who has no business here learns nothing from them.

func (s *Service) impossible(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say sayer, t texts) view {
		return view{Title: say(t.noPlainHTTP), Texts: []string{say(t.useHTTPS)}}
	})
}

func (s *Service) startAgain(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusBadRequest, func(say sayer, t texts) view {
		return view{Title: say(t.startAgain), Again: say(t.toLogin), Texts: []string{say(t.startAgainWhy)}}
	})
}

func (s *Service) refused(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say sayer, t texts) view {
		return view{Title: say(t.refused), Again: say(t.toLogin), Texts: []string{say(t.refusedAt, s.provider.Label)}}
	})
}

func (s *Service) noMember(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say sayer, t texts) view {
		v := view{Title: say(t.noMember), Again: say(t.toLogin), Texts: []string{say(t.noMemberWhy)}}
		if s.provider != nil {
			v.Texts = append(v.Texts, say(t.invitation, s.provider.Label))
		}
		return v
	})
}

func (s *Service) usedLink(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say sayer, t texts) view {
		return view{Title: say(t.usedLink), Again: say(t.toLogin), Texts: []string{say(t.usedLinkWhy)}}
	})
}

func (s *Service) foreign(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, func(say sayer, t texts) view {
		return view{Title: say(t.foreign), Texts: []string{say(t.foreignWhy)}}
	})
}

// TooMany answers a client that tries too often.
func (s *Service) TooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "60")
	s.show(w, r, http.StatusTooManyRequests, func(say sayer, t texts) view {
		return view{Title: say(t.tooMany), Texts: []string{say(t.waitAMinute)}}
	})
}

func (s *Service) unavailable(w http.ResponseWriter, r *http.Request, what string, err error) {
	s.log.ErrorContext(r.Context(), "login failed", "at", what, "error", brief(err))
	s.show(w, r, http.StatusServiceUnavailable, func(say sayer, t texts) view {
		return view{Title: say(t.unavailable), Again: say(t.toLogin), Texts: []string{say(t.unavailableWhy)}}
	})
}

// brief is an error for the log: some hold all that a provider answered.
func brief(err error) string {
	const most = 300
	text := err.Error()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
