package ingest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
)

// maxHitBytes is the maximum size of a hit's body.
const maxHitBytes = 16 << 10 // bytes of a hit's body

// message is a hit as the tracker sends it.
type message struct {
	Site      string `json:"site"`
	Type      string `json:"type"`
	Page      string `json:"page"`
	URL       string `json:"url"`
	Referrer  string `json:"referrer"`
	Visitor   string `json:"visitor"`   // the site's visitor cookie
	User      string `json:"user"`      // the site's id of the logged-in reader
	Webdriver bool   `json:"webdriver"` // the browser is automated
	View      string `json:"view"`      // a random number that identifies the view in its heartbeats
	// Properties of a declared event.
	Properties map[string]string `json:"properties"`
}

// handleView serves POST /v1/view.
func (in *Handler) handleView(w http.ResponseWriter, r *http.Request) {
	in.handleHit(w, r, func(m *message) *apperr.FieldError {
		if m.Type != "" {
			return &apperr.FieldError{
				Field: "type", Code: "unknown_field", Message: "This endpoint only counts views; use /v1/event.",
			}
		}
		m.Type = string(counter.View)
		return nil
	})
}

// handleEvent serves POST /v1/event.
func (in *Handler) handleEvent(w http.ResponseWriter, r *http.Request) {
	in.handleHit(w, r, func(m *message) *apperr.FieldError {
		if m.Type == "" {
			return &apperr.FieldError{
				Field: "type", Code: "required",
				Message: "Send view, click, conversion or the name of a declared event.",
			}
		}
		return nil
	})
}

func isKind(text string) bool {
	switch counter.Kind(text) {
	case counter.View, counter.Click, counter.Conversion:
		return true
	default:
		return false
	}
}

func (in *Handler) handleHit(w http.ResponseWriter, r *http.Request, check func(*message) *apperr.FieldError) {
	var m message
	if !readHit(w, r, &m) {
		return
	}
	if problem := check(&m); problem != nil {
		writeInvalid(w, *problem)
		return
	}
	s, ok := in.authorizeSite(w, r, m.Site)
	if !ok {
		return
	}
	h, problems := in.parseMessage(r, s, m)
	isEvent := !isKind(m.Type)
	if isEvent {
		problems = append(problems, checkProperties(m.Properties)...)
	} else if len(m.Properties) > 0 {
		problems = append(problems, propertiesOfHit())
	}
	if len(problems) > 0 {
		writeInvalid(w, problems...)
		return
	}
	reason := in.filterReason(r.Header, m.Webdriver)
	var err error
	if isEvent {
		_, err = in.countEvent(r.Context(), h, m.Type, m.Properties, reason)
	} else {
		_, err = in.countHit(r.Context(), h, reason)
	}
	if err != nil {
		in.writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// readHit parses a JSON body of any content type: sendBeacon sends it as
// text/plain to avoid a CORS preflight.
func readHit(w http.ResponseWriter, r *http.Request, into any) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "application/json", "text/plain", "":
	default:
		writeProblem(w, http.StatusUnsupportedMediaType, "unsupported_media_type",
			"Send the body as application/json or text/plain.",
			apperr.FieldError{
				Field: "Content-Type", Code: "unsupported",
				Message: "Must be application/json or text/plain.",
			})
		return false
	}
	raw, ok := readBody(w, r, maxHitBytes)
	if !ok {
		return false
	}
	if problem := decode(raw, into); problem != nil {
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body is invalid; see errors.", *problem)
		return false
	}
	return true
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeProblem(w, http.StatusRequestEntityTooLarge, "too_large", "The body is too large.",
			apperr.FieldError{
				Field: "body", Code: "too_large", Message: fmt.Sprintf("Must have at most %d bytes.", limit),
			})
	case err != nil:
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body is incomplete.",
			apperr.FieldError{
				Field: "body", Code: "incomplete", Message: "The connection ended before the body was complete.",
			})
	}
	return raw, err == nil
}

// decode parses one JSON object and names the invalid field.
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
		return &apperr.FieldError{
			Field: wrongType.Field, Code: "wrong_type", Message: "Must not be a " + wrongType.Value + ".",
		}
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return &apperr.FieldError{Field: strings.Trim(name, `"`), Code: "unknown_field", Message: "Unknown field."}
	}
	return &apperr.FieldError{Field: "body", Code: "not_json", Message: "Send one JSON object."}
}

// authorizeSite looks up the site of a write key and checks that the request comes
// from one of its pages.
func (in *Handler) authorizeSite(w http.ResponseWriter, r *http.Request, key string) (*site.Active, bool) {
	if key == "" {
		writeInvalid(w, apperr.FieldError{Field: "site", Code: "required", Message: "Send the site's write key."})
		return nil, false
	}
	s, ok := in.Sites.ByKey(key)
	if !ok {
		writeInvalid(w, apperr.FieldError{Field: "site", Code: "unknown_site", Message: "No site has this write key."})
		return nil, false
	}
	return s, in.allowOrigin(w, r, s)
}

// allowOrigin checks that a request comes from one of the site's pages, and allows
// the page to read the response (fetch.spec.whatwg.org, "CORS protocol").
func (in *Handler) allowOrigin(w http.ResponseWriter, r *http.Request, s *site.Active) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		if referer := r.Header.Get("Referer"); referer != "" && !s.Allows(hostOf(referer)) {
			writeOriginNotAllowed(w)
			return false
		}
		return true
	}
	if !s.Allows(hostOf(origin)) {
		writeOriginNotAllowed(w)
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Vary", "Origin")
	return true
}

func writeOriginNotAllowed(w http.ResponseWriter) {
	writeProblem(w, http.StatusForbidden, "origin_not_allowed",
		"This page does not belong to the site. Add its domain to the site's settings.",
		apperr.FieldError{Field: "Origin", Code: "not_allowed", Message: "Must be one of the site's domains."})
}

// hostOf returns the host of a URL; "" if it has none (Origin: null).
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

const (
	maxNameBytes     = 200 // of a visitor or user id
	maxReferrerBytes = 4000
	maxViewBytes     = 32 // of a view's number
)

func (in *Handler) parseMessage(r *http.Request, s *site.Active, m message) (hit, []apperr.FieldError) {
	h := hit{
		site: s, kind: counter.Kind(m.Type), url: m.URL, referrer: m.Referrer, view: m.View, at: in.now(),
		traits: in.traitsOf(r),
	}
	h.traits.Login, h.traits.Cookie = m.User, m.Visitor
	var problems []apperr.FieldError
	name, field := m.Page, "page"
	if name == "" && m.URL != "" {
		name, field = m.URL, "url"
	}
	if h.url == "" {
		h.url = m.Page
	}
	page, problem := PageName(name)
	if problem != nil {
		problem.Field = field
		problems = append(problems, *problem)
	}
	h.page = page
	for _, f := range []struct {
		field, value string
		limit        int
	}{
		{"user", m.User, maxNameBytes},
		{"visitor", m.Visitor, maxNameBytes},
		{"referrer", m.Referrer, maxReferrerBytes},
		{"view", m.View, maxViewBytes},
	} {
		if len(f.value) > f.limit {
			problems = append(problems, apperr.FieldError{
				Field: f.field, Code: "too_long", Message: fmt.Sprintf("Must have at most %d bytes.", f.limit),
			})
		}
	}
	return h, problems
}

// handlePixel serves GET /v1/pixel.gif, for pages without scripts and for mail.
func (in *Handler) handlePixel(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	m := message{
		Site: query.Get("site"), Type: string(counter.View), Page: query.Get("page"), URL: query.Get("url"),
		Referrer: query.Get("referrer"), User: query.Get("user"),
	}
	if m.Page == "" && m.URL == "" {
		m.URL = r.Header.Get("Referer")
	}
	s, ok := in.authorizeSite(w, r, m.Site)
	if !ok {
		return
	}
	h, problems := in.parseMessage(r, s, m)
	if len(problems) > 0 {
		writeInvalid(w, problems...)
		return
	}
	if _, err := in.countHit(r.Context(), h, in.filterReason(r.Header, false)); err != nil {
		in.writeError(w, r, err)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Type", "image/gif")
	_, _ = w.Write(gif())
}

// gif returns a transparent image of one pixel (GIF89a).
func gif() []byte {
	raw, _ := base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
	return raw
}
