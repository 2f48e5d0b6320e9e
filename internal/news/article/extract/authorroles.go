package extract

import "strings"

// withoutJobTitles drops what follows a name in its byline: degrees, papers, agencies,
// job titles.
func withoutJobTitles(names []string) []string {
	var out []string
	for i, n := range names {
		if i == 0 {
			if len(names) == 1 || countWords(n) > 2 || !isRole(n) {
				out = append(out, n)
			}
			continue
		}
		last := strings.ToLower(n[strings.LastIndexByte(n, ' ')+1:])
		if isJobTitle(last) {
			continue
		}
		if countWords(n) == 1 && len(n) <= 4 && isAllCaps(n) || strings.HasSuffix(last, ".com") ||
			strings.Contains(n, " for ") {
			continue
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return names[:1]
	}
	return out
}

// isJobTitle reports whether the last word of a name makes it a job title, a degree or an
// agency.
func isJobTitle(word string) bool {
	switch word {
	case "writer", "reporter", "editor", "correspondent", "press", "news", "media", "business", "staff", "contributor",
		"columnist", "agency", "service", "online", "m.d", "ph.d", "md", "phd", "rd", "ms", "fand", "founder",
		"gardener", "astrologer", "teacher", "author", "reviewer", "producer", "anchor", "analyst", "strategist",
		"specialist", "manager", "director", "ceo", "coordinator", "consultant", "president", "officer":
		return true
	}
	return false
}

// isRole reports whether a name is only what somebody is, such as "Lead Reviewer".
func isRole(name string) bool {
	switch strings.ToLower(name[strings.LastIndexByte(name, ' ')+1:]) {
	case "writer", "reporter", "editor", "correspondent", "contributor", "columnist", "author", "reviewer", "founder",
		"journalist", "astrologer", "freelancer", "producer", "analyst":
		return true
	}
	return false
}
