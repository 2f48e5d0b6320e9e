package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// personName cleans a name, or returns nothing if it is not one.
func (r authorReader) personName(s string, explicit bool) string {
	s = strings.TrimSpace(s)
	if by := nameAfterBy(s); by != "" {
		s = by
	}
	if by := nameAfterBy(s); by != "" { // "Mar 6 Written By" is cut by the caller
		s = by
	}
	if strings.HasPrefix(strings.ToLower(s), "updated by ") {
		return ""
	}
	if i := strings.IndexAny(s, "(["); i >= 0 { // "Hà Thu (tổng hợp)"
		if isCredited(s[i:]) {
			return ""
		}
		s = s[:i]
	}
	for _, mark := range []string{" » ", " Last updated", " Updated", " Published", " Offline", " Online"} {
		s, _, _ = strings.Cut(s, mark)
	}
	s = cutDate(strings.TrimPrefix(s, "Articles by "))
	if i := strings.Index(strings.ToLower(s), " for "); i > 0 && countWords(s[:i]) >= 2 {
		s = s[:i] // "Mai Lan For The Paper on Sunday"
	}
	s = strings.Trim(s, " \t,.;:–—-@\"'“”&")
	n := utf8.RuneCountInString(s)
	if n < 2 || n > 60 || countWords(s) > 7 {
		return ""
	}
	if strings.Contains(s, "://") || strings.Contains(s, "www.") || strings.ContainsAny(s, "@©") {
		return ""
	}
	letters, digits := 0, 0
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			letters++
		case unicode.IsDigit(c):
			digits++
		}
	}
	if letters < 2 || digits > 1 && !explicit || digits > letters || !explicit && s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	if !r.anySite && (r.isSite(s) || r.resemblesSite(s)) || isDateLine(s) || isMonthDay(s) {
		return ""
	}
	if countWords(s) == 1 && isDateWord(strings.ToLower(s)) {
		return ""
	}
	if r.anySite && (Plain(s) == "newsdesk" || Plain(s) == "staffwriter" ||
		(Plain(s) == "staff" || Plain(s) == "editorialteam" || Plain(s) == "editorialstaff" ||
			Plain(s) == "staffreports" || Plain(s) == "staffreporter")) {
		return s
	}
	switch Plain(s) {
	case "posted", "published", "updated", "admin", "administrator", "staff", "editor", "editors", "author",
		"webmaster", "null", "undefined", "none", "unknown", "guest", "user", "by", "byline",
		"anonymous", "minread", "editorialteam", "editorialstaff", "staffreports", "staffreport", "bientapvien", "btv",
		"tonghop", "pv", "phongvien", "toasoan", "tacgia", "wireservice", "newsdesk", "contributor", "reporter",
		"staffwriter", "followus", "share", "gastautor", "writtenby", "postedby", "agencies":
		return ""
	}
	if strings.HasSuffix(Plain(s), "staffwriter") || strings.HasSuffix(Plain(s), "correspondent") &&
		countWords(s) <= 3 {
		return ""
	}
	return s
}

// isMonthDay reports whether a text is a month and a number.
func isMonthDay(s string) bool {
	month, day, ok := strings.Cut(strings.ToLower(s), " ")
	return ok && isDateWord(month) && day != "" && strings.Trim(day, "0123456789.,") == ""
}

// cutDate removes a date at the end of a name: "Mai Lan February 8".
func cutDate(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if i > 0 && i+1 < len(words) && isDateWord(strings.ToLower(strings.Trim(w, ".,"))) && words[i+1][0] >= '0' &&
			words[i+1][0] <= '9' {
			return strings.Join(words[:i], " ")
		}
	}
	return s
}

// resemblesSite reports whether a name is a variant of the name of the site, such as
// "TUOI TRE ONLINE".
func (r authorReader) resemblesSite(s string) bool {
	f := Plain(s)
	for _, n := range r.siteNames {
		if len(n) > 4 && (strings.HasPrefix(f, n) && len(f)-len(n) <= 8 || strings.HasSuffix(f, n) &&
			len(f)-len(n) <= 5 || strings.HasPrefix(n, f) && len(f) > 5) {
			return true
		}
	}
	return false
}

func containsName(list []string, s string) bool {
	for _, v := range list {
		if Plain(v) == Plain(s) {
			return true
		}
	}
	return false
}

// splitNames splits a byline into names.
func splitNames(s string) []string {
	var names []string
	for {
		first, rest, ok := cutName(s)
		if names == nil && !ok {
			return []string{s}
		}
		if names = append(names, first); !ok {
			return names
		}
		s = rest
	}
}

// firstName returns the first name of a byline.
func firstName(s string) string {
	name, _, _ := cutName(s)
	return name
}

// cutName splits a byline after the first name; ok is false if it is the only one.
func cutName(s string) (name, rest string, ok bool) {
	for i := range len(s) {
		n := 0
		switch s[i] {
		case ';', '|', '/', '\n':
			n = 1
		case "•"[0]:
			if strings.HasPrefix(s[i:], "•") {
				n = len("•")
			}
		case ',':
			if strings.HasPrefix(s[i:], ", ") {
				n = 2
			}
		case ' ':
			n = nameSeparator(s[i:])
		}
		if n > 0 {
			return s[:i], s[i+n:], true
		}
	}
	return s, "", false
}

// nameSeparator returns the length of the word between spaces that separates names, at the start of a text.
func nameSeparator(s string) int {
	end := strings.IndexByte(s[1:], ' ')
	if end <= 0 || end > len("with") {
		return 0
	}
	switch s[1 : 1+end] {
	case "and", "And", "AND", "&", "và", "und", "y", "et", "-", "–", "with":
		return end + 2
	}
	return 0
}

func startsUpper(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first)
}
