package login

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"

	"dateline/internal/csp"
)

//go:embed page.html
var pageText string

// PageStyle is the source that allows the pages' style in a
// Content-Security-Policy.
func PageStyle() string { return csp.StyleHash(pageText) }

// view is what a page shows.
type view struct {
	Prefix   string // the path that we are published under
	Title    string
	Texts    []string
	Provider string // offers to log in there
	Local    bool   // explains the login link
	Once     bool   // offers to use the link
	LoggedIn bool   // offers to log out
	Again    bool   // offers the login page
}

// headers of every page here. The address of a page may hold a secret and is
// never told to others; the form's own origin is, or CheckOrigin would refuse
// the forms of browsers that only send that (Fetch, "append a request Origin header").
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
}

func (s *Service) show(w http.ResponseWriter, status int, v view) {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		http.Error(w, "The page is broken.", http.StatusInternalServerError)
		return
	}
	v.Prefix = s.prefix()
	headers(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, v) // the reader may be gone
}

// The answers to all that goes wrong. Each is one page, whatever exactly went
// wrong: who has no business here learns nothing from them.

func (s *Service) impossible(w http.ResponseWriter) {
	s.show(w, http.StatusForbidden, view{Title: "No login over plain http", Texts: []string{
		"Cookies could be read on their way. Reach Dateline by https, and set DATELINE_PUBLIC_URL to that address."}})
}

func (s *Service) startAgain(w http.ResponseWriter) {
	s.show(w, http.StatusBadRequest, view{Title: "Please log in again", Again: true, Texts: []string{
		"This login did not begin in this browser, took too long, or has been used already."}})
}

func (s *Service) refused(w http.ResponseWriter) {
	s.show(w, http.StatusForbidden, view{Title: "Login refused", Again: true, Texts: []string{
		"The login at " + s.provider.Label + " did not succeed."}})
}

func (s *Service) noMember(w http.ResponseWriter) {
	v := view{Title: "You are not a member", Again: true, Texts: []string{
		"You are not a member of any workspace here. Ask an owner to invite you."}}
	if s.provider != nil {
		v.Texts = append(v.Texts, "An invitation finds you by your e-mail address, if "+s.provider.Label+" has verified it.")
	}
	s.show(w, http.StatusForbidden, v)
}

func (s *Service) usedLink(w http.ResponseWriter) {
	s.show(w, http.StatusForbidden, view{Title: "This link is no longer good", Again: true, Texts: []string{
		"It has been used, is older than ten minutes, or was followed by a newer one."}})
}

func (s *Service) foreign(w http.ResponseWriter) {
	s.show(w, http.StatusForbidden, view{Title: "Sent from another site", Texts: []string{
		"This request did not come from a page of Dateline, so it was not carried out."}})
}

// TooMany answers a client that tries too often.
func (s *Service) TooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "60")
	s.show(w, http.StatusTooManyRequests, view{Title: "Too many attempts", Texts: []string{"Wait a minute, then try again."}})
}

func (s *Service) unavailable(w http.ResponseWriter, r *http.Request, what string, err error) {
	s.log.ErrorContext(r.Context(), "login failed", "at", what, "error", brief(err))
	s.show(w, http.StatusServiceUnavailable, view{Title: "Login is not possible right now", Again: true, Texts: []string{
		"Something that it needs does not answer. Try again in a moment."}})
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
