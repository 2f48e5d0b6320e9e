package crawl

import (
	"regexp"
	"strings"
)

// CompilePatterns reads what seeds allow or deny. A pattern is compared with a URL
// behind its host, from anywhere on: /the-thao/ is found in
// /tin/the-thao/bong-da.html. * stands for anything, ^ at the beginning and $ at
// the end for the ends.
func CompilePatterns(written []string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, 0, len(written))
	for _, w := range written {
		text, start := strings.CutPrefix(w, "^")
		text, end := strings.CutSuffix(text, "$")
		parts := strings.Split(text, "*")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		text = strings.Join(parts, ".*")
		if start {
			text = "^" + text
		}
		if end {
			text += "$"
		}
		if p, err := regexp.Compile(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}
