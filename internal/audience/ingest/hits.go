package ingest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
)

const hitLimit = 16 << 10 // bytes of a hit's body

// message is what the tracker sends.
type message struct {
	Site      string `json:"site"`
	Type      string `json:"type"`
	Page      string `json:"page"`
	URL       string `json:"url"`
	Referrer  string `json:"referrer"`
	Visitor   string `json:"visitor"`   // a cookie of the site's own
	User      string `json:"user"`      // who is logged in, by the site
	Webdriver bool   `json:"webdriver"` // a program drives the browser
}

// view answers POST /v1/view.
func (in *Intake) view(w http.ResponseWriter, r *http.Request) {
	in.accept(w, r, func(m *message) *apperr.FieldError {
		if m.Type != "" {
			return &apperr.FieldError{Field: "type", Code: "unknown_field", Message: "This address counts views only; see /v1/event."}
		}
		m.Type = string(counter.View)
		return nil
	})
}

// event answers POST /v1/event.
func (in *Intake) event(w http.ResponseWriter, r *http.Request) {
	in.accept(w, r, func(m *message) *apperr.FieldError {
		if !isKind(m.Type) {
			return &apperr.FieldError{Field: "type", Code: "not_allowed", Message: "One of view, click and convert."}
		}
		return nil
	})
}

func isKind(text string) bool {
	switch counter.Kind(text) {
	case counter.View, counter.Click, counter.Convert:
		return true
	default:
		return false
	}
}

func (in *Intake) accept(w http.ResponseWriter, r *http.Request, check func(*message) *apperr.FieldError) {
	var m message
	if !readHit(w, r, &m) {
		return
	}
	if problem := check(&m); problem != nil {
		writeInvalid(w, *problem)
		return
	}
	s, ok := in.siteOf(w, r, m.Site)
	if !ok {
		return
	}
	h, problems := in.fromMessage(r, s, m)
	if len(problems) > 0 {
		writeInvalid(w, problems...)
		return
	}
	if err := in.take(r.Context(), h, in.refusal(r.Header, m.Webdriver)); err != nil {
		in.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// readHit reads a body of JSON, whatever it is said to be: sendBeacon sends it
// as text/plain, for which browsers ask nobody's leave.
func readHit(w http.ResponseWriter, r *http.Request, into *message) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "application/json", "text/plain", "":
	default:
		writeProblem(w, http.StatusUnsupportedMediaType, "unsupported_media_type", "Send the body as application/json or text/plain.",
			apperr.FieldError{Field: "Content-Type", Code: "unsupported", Message: "Must be application/json or text/plain."})
		return false
	}
	raw, ok := readAll(w, r, hitLimit)
	if !ok {
		return false
	}
	if problem := decode(raw, into); problem != nil {
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body cannot be read; see errors.", *problem)
		return false
	}
	return true
}

func readAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeProblem(w, http.StatusRequestEntityTooLarge, "too_large", "The body is too large.",
			apperr.FieldError{Field: "body", Code: "too_large", Message: "It has more bytes than any that is right."})
	case err != nil:
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body did not arrive whole.",
			apperr.FieldError{Field: "body", Code: "incomplete", Message: "The body did not arrive whole."})
	}
	return raw, err == nil
}

// decode reads one JSON object, and names the field that is wrong.
func decode(raw []byte, into any) *apperr.FieldError {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		err = errors.New("more than one document")
	}
	if err == nil && bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		err = errors.New("null")
	}
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return &apperr.FieldError{Field: wrongType.Field, Code: "wrong_type", Message: "It cannot be a " + wrongType.Value + "."}
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return &apperr.FieldError{Field: strings.Trim(name, `"`), Code: "unknown_field", Message: "There is no such field here."}
	}
	return &apperr.FieldError{Field: "body", Code: "not_json", Message: "Send one JSON object."}
}

// siteOf finds the site of a write key, and checks that the page that sends is
// one of its own. It lets the page read the answer (fetch.spec.whatwg.org, "CORS
// protocol").
func (in *Intake) siteOf(w http.ResponseWriter, r *http.Request, key string) (*site.Active, bool) {
	if key == "" {
		writeInvalid(w, apperr.FieldError{Field: "site", Code: "required", Message: "Send the site's write key."})
		return nil, false
	}
	s, ok := in.Sites.ByKey(key)
	if !ok {
		writeInvalid(w, apperr.FieldError{Field: "site", Code: "unknown_site", Message: "No site has this write key."})
		return nil, false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		if referer := r.Header.Get("Referer"); referer != "" && !s.Allows(hostOf(referer)) {
			writeForeign(w)
			return nil, false
		}
		return s, true
	}
	if !s.Allows(hostOf(origin)) {
		writeForeign(w)
		return nil, false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Vary", "Origin")
	return s, true
}

func writeForeign(w http.ResponseWriter) {
	writeProblem(w, http.StatusForbidden, "origin_not_allowed", "This page does not belong to the site. Its domains are among the site's settings.",
		apperr.FieldError{Field: "Origin", Code: "not_allowed", Message: "Not one of the site's domains."})
}

// hostOf gives the host of an address, "" for what has none (Origin: null).
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

const (
	nameLimit     = 200 // bytes of a visitor's and a user's name
	referrerLimit = 4000
)

func (in *Intake) fromMessage(r *http.Request, s *site.Active, m message) (hit, []apperr.FieldError) {
	h := hit{site: s, kind: counter.Kind(m.Type), referrer: m.Referrer, at: in.now(), traits: in.readerOf(r)}
	h.traits.Login, h.traits.Cookie = m.User, m.Visitor
	var problems []apperr.FieldError
	name, field := m.Page, "page"
	if name == "" && m.URL != "" {
		name, field = m.URL, "url"
	}
	page, problem := PageName(name)
	if problem != nil {
		problem.Field = field
		problems = append(problems, *problem)
	}
	h.page = page
	for _, f := range []struct {
		field, value string
		most         int
	}{{"user", m.User, nameLimit}, {"visitor", m.Visitor, nameLimit}, {"referrer", m.Referrer, referrerLimit}} {
		if len(f.value) > f.most {
			problems = append(problems, apperr.FieldError{Field: f.field, Code: "too_long", Message: "It is too long."})
		}
	}
	return h, problems
}

// pixel answers GET /v1/pixel.gif: for pages without programs, and for mail.
func (in *Intake) pixel(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	m := message{Site: query.Get("site"), Type: string(counter.View), Page: query.Get("page"), URL: query.Get("url"), Referrer: query.Get("referrer"), User: query.Get("user")}
	if m.Page == "" && m.URL == "" {
		m.URL = r.Header.Get("Referer")
	}
	s, ok := in.siteOf(w, r, m.Site)
	if !ok {
		return
	}
	h, problems := in.fromMessage(r, s, m)
	if len(problems) > 0 {
		writeInvalid(w, problems...)
		return
	}
	if err := in.take(r.Context(), h, in.refusal(r.Header, false)); err != nil {
		in.fail(w, r, err)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Type", "image/gif")
	_, _ = w.Write(gif())
}

// gif is a transparent picture of one pixel (GIF89a).
func gif() []byte {
	raw, _ := base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
	return raw
}
