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
	maxPatterns      = 100
	maxPatternLength = 200
	maxTitleLength   = 300
	maxDepth         = 10
	// minInterval keeps a seed from hammering its site.
	minInterval = time.Minute
	maxInterval = 7 * 24 * time.Hour
)

// newSeed makes a seed of a draft, or says what is wrong with it.
func (s *Service) newSeed(who workspace.Principal, d Draft) (crawl.Seed, []apperr.FieldError) {
	u, problem := s.parseURL(d.URL)
	n := crawl.Seed{ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, URL: u, Domain: u.Domain(), Kind: d.Kind, Title: strings.TrimSpace(d.Title), Status: crawl.Active,
		Priority: defaultPriority, MinInterval: s.Policy.MinHubInterval, MaxInterval: s.Policy.MaxHubInterval, Rules: crawl.Rules{Allow: d.Allow, Deny: d.Deny, MaxDepth: 1}}
	if n.Kind == "" {
		n.Kind = crawl.Section
		if u.RequestURI() == "/" {
			n.Kind = crawl.Home
		}
	}
	if d.Paused {
		n.Status = crawl.Paused
	}
	setIfGiven(&n.Priority, d.Priority)
	setIfGiven(&n.MinInterval, d.MinInterval)
	setIfGiven(&n.MaxInterval, d.MaxInterval)
	if d.MinInterval != nil && d.MaxInterval == nil {
		n.MaxInterval = max(n.MaxInterval, n.MinInterval)
	}
	if d.MaxInterval != nil && d.MinInterval == nil {
		n.MinInterval = min(n.MaxInterval, n.MinInterval)
	}
	setIfGiven(&n.Rules.MaxDepth, d.MaxDepth)
	setIfGiven(&n.Rules.DailyBudget, d.DailyBudget)
	n.Interval = min(max(s.Policy.HubInterval, n.MinInterval), n.MaxInterval)
	problems := validate(n)
	if problem != nil {
		problems = append([]apperr.FieldError{*problem}, problems...)
	}
	return n, problems
}

// parseURL reads the URL of a seed, and refuses what leads into private networks.
// Where a name leads is looked at again whenever it is dialled.
func (s *Service) parseURL(text string) (weburl.URL, *apperr.FieldError) {
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

// validate says what is wrong with a seed, its address apart.
func validate(n crawl.Seed) (problems []apperr.FieldError) {
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
	if utf8.RuneCountInString(n.Title) > maxTitleLength || !utf8.ValidString(n.Title) || strings.ContainsRune(n.Title, 0) {
		wrong("title", "A title may have %d characters.", maxTitleLength)
	}
	if n.Priority < 0 || n.Priority > 100 {
		wrong("priority", "Give a number from 0 to 100.")
	}
	if n.MinInterval < minInterval || n.MinInterval > maxInterval {
		wrong("min_interval_seconds", "Give %d to %d seconds.", int(minInterval.Seconds()), int(maxInterval.Seconds()))
	}
	if n.MaxInterval < n.MinInterval || n.MaxInterval > maxInterval {
		wrong("max_interval_seconds", "Give at least the shortest interval, and at most %d seconds.", int(maxInterval.Seconds()))
	}
	if n.Rules.MaxDepth < 0 || n.Rules.MaxDepth > maxDepth {
		wrong("depth", "Give a number from 0 to %d; 1 follows the links of the seed itself.", maxDepth)
	}
	if n.Rules.DailyBudget < 0 || n.Rules.DailyBudget > 1_000_000 {
		wrong("daily_budget", "Give a number from 0 to 1000000; 0 is as many as the domain may have.")
	}
	for field, all := range map[string][]string{"allow": n.Rules.Allow, "deny": n.Rules.Deny} {
		if len(all) > maxPatterns {
			wrong(field, "Give at most %d patterns.", maxPatterns)
		}
		for i, one := range all {
			if strings.Trim(one, "^$*") == "" || len(one) > maxPatternLength || !utf8.ValidString(one) || strings.ContainsRune(one, 0) {
				wrong(fmt.Sprintf("%s[%d]", field, i), "A pattern is a part of an address, like /the-thao/ or ^/tin/*.html$, with at most %d characters.", maxPatternLength)
			}
		}
	}
	return problems
}
