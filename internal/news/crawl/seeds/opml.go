package seeds

import (
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/publishing/post"
)

func readOPML(text string) ([]Line, error) {
	outlines, err := discover.OPML([]byte(text))
	if err != nil {
		return nil, post.InvalidFields(post.Problem{Field: "text", Code: "invalid", Message: "This is no OPML file."})
	}
	lines := make([]Line, len(outlines))
	for i, o := range outlines {
		lines[i] = Line{Number: i + 1, URL: o.Feed, draft: Draft{URL: o.Feed, Kind: crawl.Feed, Title: shortened(o.Title)}}
	}
	return lines, nil
}

func shortened(title string) string {
	if r := []rune(title); len(r) > longestTitle {
		return string(r[:longestTitle])
	}
	return title
}
