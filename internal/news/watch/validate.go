package watch

import (
	"cmp"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/cascadia"

	"dateline/internal/infra/apperr"
)

// check normalizes a watch and names its invalid fields.
func (s *Service) check(w *Watch) error {
	w.Name, w.URL, w.Selector = strings.TrimSpace(w.Name), strings.TrimSpace(w.URL), strings.TrimSpace(w.Selector)
	if w.IntervalMinutes == 0 {
		w.IntervalMinutes = 60
	}
	var problems []apperr.FieldError
	add := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	if w.Name == "" || utf8.RuneCountInString(w.Name) > maxName || !isStorable(w.Name) {
		add("name", "invalid", "name must have 1 to 200 characters.")
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		len(w.URL) > maxURL || !isStorable(w.URL):
		add("url", "invalid", "url must be the address of a page that begins with http:// or https://.")
	case s.refuses(u):
		add("url", "private", "This address is private. An operator can allow it with DATELINE_ALLOW_PRIVATE_HOSTS.")
	}
	if len(w.Selector) > maxSelector || !isStorable(w.Selector) {
		add("selector", "invalid", "selector must have at most 500 characters.")
	} else if w.Selector != "" {
		if _, err := cascadia.ParseGroup(w.Selector); err != nil {
			add("selector", "invalid", "selector is not a CSS selector; write it like #prices or main .notice.")
		}
	}
	if w.IntervalMinutes < MinInterval || w.IntervalMinutes > MaxInterval {
		add("interval_minutes", "invalid", "interval_minutes must be from 5 to 10080.")
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

func (s *Service) refuses(u *url.URL) bool {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if s.Guard.Trusts(net.JoinHostPort(u.Hostname(), port)) {
		return false
	}
	return port != "80" && port != "443" || s.Guard.CheckHost(u.Hostname()) != nil
}

func isStorable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
