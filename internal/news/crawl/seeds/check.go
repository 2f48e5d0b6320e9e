package seeds

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

const (
	mostPatterns   = 100
	longestPattern = 200
	longestTitle   = 300
	deepest        = 10
	// shortestInterval keeps a seed from hammering its site.
	shortestInterval = time.Minute
	longestInterval  = 7 * 24 * time.Hour
)

// seed makes a seed of a draft, or says what is wrong with it.
func (s *Service) seed(who workspace.Principal, d Draft) (crawl.Seed, []apperr.FieldError) {
	u, problem := s.address(d.URL)
	n := crawl.Seed{ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, URL: u, Domain: u.Domain(), Kind: d.Kind, Title: strings.TrimSpace(d.Title), Status: crawl.Active,
		Priority: defaultPriority, Min: s.Pace.Min, Max: s.Pace.Max, Rules: crawl.Rules{Allow: d.Allow, Deny: d.Deny, Depth: 1}}
	if n.Kind == "" {
		n.Kind = crawl.Section
		if u.RequestURI() == "/" {
			n.Kind = crawl.Home
		}
	}
	if d.Paused {
		n.Status = crawl.Paused
	}
	set(&n.Priority, d.Priority)
	set(&n.Min, d.Min)
	set(&n.Max, d.Max)
	if d.Min != nil && d.Max == nil {
		n.Max = max(n.Max, n.Min)
	}
	if d.Max != nil && d.Min == nil {
		n.Min = min(n.Max, n.Min)
	}
	set(&n.Rules.Depth, d.Depth)
	set(&n.Rules.Budget, d.Budget)
	n.Every = min(max(s.Pace.Every, n.Min), n.Max)
	problems := check(n)
	if problem != nil {
		problems = append([]apperr.FieldError{*problem}, problems...)
	}
	return n, problems
}

// address reads the URL of a seed, and refuses what leads into private networks.
// Where a name leads is looked at again whenever it is dialled.
func (s *Service) address(text string) (weburl.URL, *apperr.FieldError) {
	wrong := func(code, message string) *apperr.FieldError {
		return &apperr.FieldError{Field: "url", Code: code, Message: message}
	}
	u, err := weburl.Parse(strings.TrimSpace(text), weburl.Rules{})
	switch {
	case errors.Is(err, weburl.ErrCredentials):
		return u, wrong("credentials", "Leave user name and password out of the address.")
	case errors.Is(err, weburl.ErrScheme):
		return u, wrong("scheme", "Only http and https can be crawled.")
	case errors.Is(err, weburl.ErrTooLong):
		return u, wrong("too_long", fmt.Sprintf("An address may have %d characters.", weburl.MaxLength))
	case err != nil:
		return u, wrong("invalid", "Give the address of a page, like https://news.example/.")
	}
	host, port := u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme()]
	if _, given, err := net.SplitHostPort(u.Host()); err == nil {
		port = given
	}
	bare := strings.Trim(host, "[]")
	if s.Guard.Trusts(net.JoinHostPort(bare, port)) {
		return u, nil
	}
	private := wrong("private", "This address is private; the operator can allow it (DATELINE_ALLOW_PRIVATE_HOSTS).")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if s.Guard.CheckAll(net.JoinHostPort(bare, port), []netip.Addr{ip}) != nil {
			return u, private
		}
		return u, nil
	}
	name := strings.TrimSuffix(bare, ".")
	for _, suffix := range []string{"localhost", "local", "internal", "lan", "home.arpa", "intranet"} {
		if name == suffix || strings.HasSuffix(name, "."+suffix) {
			return u, private
		}
	}
	if !strings.Contains(name, ".") {
		return u, private
	}
	return u, nil
}

// check says what is wrong with a seed, its address apart.
func check(n crawl.Seed) (problems []apperr.FieldError) {
	wrong := func(field, message string, args ...any) {
		problems = append(problems, apperr.FieldError{Field: field, Code: "invalid", Message: fmt.Sprintf(message, args...)})
	}
	switch n.Kind {
	case crawl.Home, crawl.Section, crawl.Feed, crawl.Sitemap:
	default:
		wrong("kind", "Give home, section, feed or sitemap.")
	}
	if n.Status != crawl.Active && n.Status != crawl.Paused {
		wrong("status", "Give active or paused.")
	}
	if utf8.RuneCountInString(n.Title) > longestTitle || !utf8.ValidString(n.Title) || strings.ContainsRune(n.Title, 0) {
		wrong("title", "A title may have %d characters.", longestTitle)
	}
	if n.Priority < 0 || n.Priority > 100 {
		wrong("priority", "Give a number from 0 to 100.")
	}
	if n.Min < shortestInterval || n.Min > longestInterval {
		wrong("min_interval_seconds", "Give %d to %d seconds.", int(shortestInterval.Seconds()), int(longestInterval.Seconds()))
	}
	if n.Max < n.Min || n.Max > longestInterval {
		wrong("max_interval_seconds", "Give at least the shortest interval, and at most %d seconds.", int(longestInterval.Seconds()))
	}
	if n.Rules.Depth < 0 || n.Rules.Depth > deepest {
		wrong("depth", "Give a number from 0 to %d; 1 follows the links of the seed itself.", deepest)
	}
	if n.Rules.Budget < 0 || n.Rules.Budget > 1_000_000 {
		wrong("daily_budget", "Give a number from 0 to 1000000; 0 is as many as the domain may have.")
	}
	for field, all := range map[string][]string{"allow": n.Rules.Allow, "deny": n.Rules.Deny} {
		if len(all) > mostPatterns {
			wrong(field, "Give at most %d patterns.", mostPatterns)
		}
		for i, one := range all {
			if strings.Trim(one, "^$*") == "" || len(one) > longestPattern || !utf8.ValidString(one) || strings.ContainsRune(one, 0) {
				wrong(fmt.Sprintf("%s[%d]", field, i), "A pattern is a part of an address, like /the-thao/ or ^/tin/*.html$, with at most %d characters.", longestPattern)
			}
		}
	}
	return problems
}
