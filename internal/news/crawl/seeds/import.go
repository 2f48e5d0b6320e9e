package seeds

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
)

// Format is how a list of seeds is written.
type Format string

// The formats.
const (
	List Format = "list"
	OPML Format = "opml"
)

// Outcome is what became of a line.
type Outcome string

// The outcomes.
const (
	Created  Outcome = "created"
	Existing Outcome = "known"
	Invalid  Outcome = "refused"
)

// Line is one line of a list.
type Line struct {
	Number  int
	URL     string
	Outcome Outcome
	ID      uuid.UUID
	Reason  string
	draft   Draft
}

// maxImportLines of one import.
const maxImportLines = 5000

// Import makes seeds of a list. What is refused keeps nothing else from being
// made.
func (s *Service) Import(ctx context.Context, who workspace.Principal, format Format, text string, kind crawl.Kind) ([]Line, error) {
	lines, err := parseList(format, text, kind)
	if err != nil {
		return nil, err
	}
	if len(lines) > maxImportLines {
		return nil, apperr.InvalidFields(apperr.FieldError{Field: "text", Code: "too_long", Message: "Import at most 5000 addresses at once."})
	}
	var make []crawl.Seed
	at := map[uuid.UUID]int{}
	for i := range lines {
		n, problems := s.newSeed(who, lines[i].draft)
		if len(problems) > 0 {
			lines[i].Outcome, lines[i].Reason = Invalid, problems[0].Message
			continue
		}
		lines[i].Outcome, lines[i].URL = Existing, n.URL.String()
		at[n.ID] = i
		make = append(make, n)
	}
	made, _, err := s.Store.CreateSeeds(ctx, make, idempotency.Key{})
	if err != nil {
		return nil, err
	}
	domains := map[string]bool{}
	for _, n := range made {
		line := &lines[at[n.ID]]
		line.Outcome, line.ID = Created, n.ID
		domains[n.URL.Domain()] = true
	}
	// A few are looked at now; of many the schedule makes its plan.
	if len(domains) <= 10 {
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
		// A # within an address is a fragment, which means nothing to a crawler.
		address, _, _ := strings.Cut(line, "#")
		if address = strings.TrimSpace(address); address != "" {
			lines = append(lines, Line{Number: i + 1, URL: address, draft: Draft{URL: address, Kind: kind}})
		}
	}
	return lines, nil
}
