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
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

const (
	maxPatterns      = 100
	maxPatternLength = 200
	maxTitleLength   = 300
	maxDepth         = 10
	// minInterval protects sites from excessive requests.
	minInterval = time.Minute
	maxInterval = 7 * 24 * time.Hour
)

// newSeed builds a seed from a draft, or returns its errors.
func (s *Service) newSeed(who workspace.Principal, d Draft) (crawl.Seed, []apperr.FieldError) {
	u, problem := s.parseURL(d.URL)
	n := crawl.Seed{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, URL: u, Domain: u.Domain(), Kind: d.Kind,
		Title: strings.TrimSpace(d.Title), Status: crawl.Active,
		Priority: defaultPriority, MinInterval: s.Policy.MinHubInterval, MaxInterval: s.Policy.MaxHubInterval,
		Rules: crawl.Rules{Allow: d.Allow, Deny: d.Deny, MaxDepth: 1},
	}
	if n.Kind == "" {
		n.Kind = guessKind(u)
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

// guessKind guesses from its URL what a seed is. The crawler corrects it after the first
// fetch.
func guessKind(u weburl.URL) crawl.Kind {
	if u.RequestURI() == "/" {
		return crawl.Home
	}
	switch kind, _ := discover.Classify(u); kind {
	case discover.Feed:
		return crawl.Feed
	case discover.Sitemap:
		return crawl.Sitemap
	}
	return crawl.Section
}

// parseURL parses the URL of a seed and rejects private addresses. Addresses
// that names resolve to are checked when they are dialed.
func (s *Service) parseURL(text string) (weburl.URL, *apperr.FieldError) {
	invalid := func(code, message string) *apperr.FieldError {
		return &apperr.FieldError{Field: "url", Code: code, Message: message}
	}
	u, err := weburl.Parse(strings.TrimSpace(text), weburl.Rules{})
	switch {
	case errors.Is(err, weburl.ErrCredentials):
		return u, invalid("credentials", "Remove the user name and password from the address.")
	case errors.Is(err, weburl.ErrScheme):
		return u, invalid("scheme", "The address must start with http:// or https://.")
	case errors.Is(err, weburl.ErrTooLong):
		return u, invalid("too_long", fmt.Sprintf("The address can have at most %d characters.", weburl.MaxLength))
	case err != nil:
		return u, invalid("invalid", "Enter the address of a page, such as https://news.example/.")
	}
	host, port := u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme()]
	if _, given, err := net.SplitHostPort(u.Host()); err == nil {
		port = given
	}
	bare := strings.Trim(host, "[]")
	if s.Guard.Trusts(net.JoinHostPort(bare, port)) {
		return u, nil
	}
	private := invalid("private",
		"This address is private. An operator can allow it with DATELINE_ALLOW_PRIVATE_HOSTS.")
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

// validate returns the errors of a seed, except for its URL.
func validate(n crawl.Seed) (problems []apperr.FieldError) {
	invalid := func(field, message string, args ...any) {
		problems = append(problems, apperr.FieldError{
			Field: field, Code: "invalid", Message: fmt.Sprintf(message, args...),
		})
	}
	switch n.Kind {
	case crawl.Home, crawl.Section, crawl.Feed, crawl.Sitemap:
	default:
		invalid("kind", "The kind must be home, section, feed or sitemap.")
	}
	if n.Status != crawl.Active && n.Status != crawl.Paused {
		invalid("status", "The status must be active or paused.")
	}
	if utf8.RuneCountInString(n.Title) > maxTitleLength || !utf8.ValidString(n.Title) ||
		strings.ContainsRune(n.Title, 0) {
		invalid("title", "The title can have at most %d characters.", maxTitleLength)
	}
	if n.Priority < 0 || n.Priority > 100 {
		invalid("priority", "The priority must be between 0 and 100.")
	}
	if n.MinInterval < minInterval || n.MinInterval > maxInterval {
		invalid("min_interval_seconds", "The interval must be between %d and %d seconds.", int(minInterval.Seconds()),
			int(maxInterval.Seconds()))
	}
	if n.MaxInterval < n.MinInterval || n.MaxInterval > maxInterval {
		invalid("max_interval_seconds", "The interval must be at least min_interval_seconds and at most %d seconds.",
			int(maxInterval.Seconds()))
	}
	if n.Rules.MaxDepth < 0 || n.Rules.MaxDepth > maxDepth {
		invalid("max_depth", "The depth must be between 0 and %d. 1 follows only the seed's own links.", maxDepth)
	}
	if n.Rules.DailyBudget < 0 || n.Rules.DailyBudget > 1_000_000 {
		invalid("daily_budget", "The budget must be between 0 and 1000000. 0 means that only the domain's "+
			"budget applies.")
	}
	for field, all := range map[string][]string{"allow": n.Rules.Allow, "deny": n.Rules.Deny} {
		if len(all) > maxPatterns {
			invalid(field, "There can be at most %d patterns.", maxPatterns)
		}
		for i, one := range all {
			if strings.Trim(one, "^$*") == "" || len(one) > maxPatternLength || !utf8.ValidString(one) ||
				strings.ContainsRune(one, 0) {
				invalid(fmt.Sprintf("%s[%d]", field, i),
					"The pattern must be a part of a URL, such as /the-thao/ or ^/tin/*.html$, with at most %d "+
						"characters.", maxPatternLength)
			}
		}
	}
	return problems
}
