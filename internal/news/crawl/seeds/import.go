package seeds

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
)

// Format is the format of an import.
type Format string

// The formats.
const (
	List Format = "list" // one address per line
	OPML Format = "opml"
)

// Outcome is the result of importing a line.
type Outcome string

// The outcomes.
const (
	Created  Outcome = "created"
	Existing Outcome = "existing"
	Invalid  Outcome = "invalid"
)

// Line is a line of an import.
type Line struct {
	Number  int
	URL     string
	Outcome Outcome
	ID      uuid.UUID
	Problem apperr.FieldError // of an invalid line
	draft   Draft
}

const (
	// maxImportLines is how many lines an import may have.
	maxImportLines = 5000
	// maxTriggeredDomains is how many domains an import crawls at once. The schedule
	// starts the others.
	maxTriggeredDomains = 10
)

// Import creates seeds from a list. Invalid lines do not affect the others.
func (s *Service) Import(
	ctx context.Context, who workspace.Principal, format Format, text string, kind crawl.Kind,
) ([]Line, error) {
	lines, err := parseList(format, text, kind)
	if err != nil {
		return nil, err
	}
	if len(lines) > maxImportLines {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "text", Code: "too_long", Message: "Import at most 5000 addresses at once.",
		})
	}
	var valid []crawl.Seed
	lineOf := map[uuid.UUID]int{}
	for i := range lines {
		n, problems := s.newSeed(who, lines[i].draft)
		if len(problems) > 0 {
			lines[i].Outcome, lines[i].Problem = Invalid, problems[0]
			continue
		}
		lines[i].Outcome, lines[i].URL = Existing, n.URL.String()
		lineOf[n.ID] = i
		valid = append(valid, n)
	}
	created, _, err := s.Seeds.CreateSeeds(ctx, valid, idempotency.Key{})
	if err != nil {
		return nil, err
	}
	domains := map[string]bool{}
	for _, n := range created {
		line := &lines[lineOf[n.ID]]
		line.Outcome, line.ID = Created, n.ID
		domains[n.URL.Domain()] = true
	}
	if len(domains) <= maxTriggeredDomains {
		for domain := range domains {
			s.triggerCrawl(ctx, domain)
		}
	}
	return lines, nil
}

func parseList(format Format, text string, kind crawl.Kind) (lines []Line, err error) {
	if format == OPML {
		return parseOPML(text)
	}
	for i, line := range strings.Split(text, "\n") {
		// "#" may also start the fragment of a URL, which crawlers ignore.
		address, _, _ := strings.Cut(line, "#")
		if address = strings.TrimSpace(address); address != "" {
			lines = append(lines, Line{Number: i + 1, URL: address, draft: Draft{URL: address, Kind: kind}})
		}
	}
	return lines, nil
}

func parseOPML(text string) ([]Line, error) {
	outlines, err := discover.ParseOPML([]byte(text))
	if err != nil {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "text", Code: "invalid", Message: "The text must be an OPML file.",
		})
	}
	lines := make([]Line, len(outlines))
	for i, o := range outlines {
		lines[i] = Line{Number: i + 1, URL: o.Feed, draft: Draft{
			URL: o.Feed, Kind: crawl.Feed, Title: truncateTitle(o.Title),
		}}
	}
	return lines, nil
}

func truncateTitle(title string) string {
	if r := []rune(title); len(r) > maxTitleLength {
		return string(r[:maxTitleLength])
	}
	return title
}
