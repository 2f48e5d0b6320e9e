package fake

import (
	"regexp"
	"strings"
)

// LinkedInText returns the visible text of a commentary in LinkedIn's "little"
// text format. As on LinkedIn, the text is truncated without an error at the
// first reserved character that is neither escaped nor begins an element.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/little-text-format
func LinkedInText(commentary string) string {
	const escaped = `(?:\\.|[^\\|{}@\[\]()<>#*_~])`
	elements := regexp.MustCompile(`(?s)^(?:` +
		`\{hashtag\|(\\[#＃])\|(` + escaped + `+)\}` + // a hashtag as a template
		`|@\[(` + escaped + `+)\]\(urn:li:(?:person|organization):[A-Za-z0-9_-]+\)` + // a mention
		`|(#[\p{L}\p{M}\p{N}]+)` + // a hashtag
		`|(` + escaped + `))`)
	unescaped := regexp.MustCompile(`(?s)\\(.)`)
	var shown strings.Builder
	for commentary != "" {
		m := elements.FindStringSubmatch(commentary)
		if m == nil {
			break
		}
		for _, text := range m[1:] {
			shown.WriteString(unescaped.ReplaceAllString(text, "$1"))
		}
		commentary = commentary[len(m[0]):]
	}
	return shown.String()
}

// parseLittleText returns a text as LinkedIn returns it.
func parseLittleText(text string) string {
	text = regexp.MustCompile(`[\\|{}@\[\]()<>#*_~]`).ReplaceAllString(text, `\$0`)
	return regexp.MustCompile(`(^|\s)\\#(\p{L}[\p{L}\p{N}]*)`).ReplaceAllString(text, `$1{hashtag|\#|$2}`)
}
