package seeds

import (
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
)

func parseOPML(text string) ([]Line, error) {
	outlines, err := discover.ParseOPML([]byte(text))
	if err != nil {
		return nil, apperr.InvalidFields(apperr.FieldError{Field: "text", Code: "invalid", Message: "This is no OPML file."})
	}
	lines := make([]Line, len(outlines))
	for i, o := range outlines {
		lines[i] = Line{Number: i + 1, URL: o.Feed, draft: Draft{URL: o.Feed, Kind: crawl.Feed, Title: truncateTitle(o.Title)}}
	}
	return lines, nil
}

func truncateTitle(title string) string {
	if r := []rune(title); len(r) > maxTitleLength {
		return string(r[:maxTitleLength])
	}
	return title
}
