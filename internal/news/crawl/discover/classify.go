package discover

import (
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"

	"dateline/internal/news/crawl/weburl"
)

// articleScoreThreshold is the score from which a URL counts as an article.
const articleScoreThreshold = 4

var (
	dayInPath = regexp.MustCompile(
		`/(20\d{2})[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])(?:/|-|\d{0,12}(?:$|[./-]))`)
	idWithDay = regexp.MustCompile(
		`(?:^|[-_/])(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])([01]\d|2[0-3])?([0-5]\d)?\d{0,8}$`)
	// idOfCMS is the article ID of a widespread Vietnamese CMS: three digits
	// for the site, the time as yymmddhhmmss, and milliseconds.
	idOfCMS = regexp.MustCompile(
		`(?:^|[-_/])\d{3}(2\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d)[0-5]\d\d{3}$`)
	pageNumber = regexp.MustCompile(`^(?:page|trang|p)-?\d+$|[-/](?:page|trang|p)-?\d{1,4}$`)
)

// Classify guesses from a URL alone what it leads to. A higher score of an
// article means more certainty.
func Classify(u weburl.URL) (kind Kind, score int) {
	kind, score, _ = classify(u)
	return kind, score
}

// classify also reports whether the kind is certain because of a name in the URL, such as
// tag, or its extension.
func classify(u weburl.URL) (kind Kind, score int, isCertain bool) {
	lower := strings.ToLower(u.Path())
	switch ext := path.Ext(strings.TrimSuffix(lower, ".gz")); {
	case ext == ".xml" && strings.Contains(lower, "sitemap"), strings.HasSuffix(lower, ".xml.gz"):
		return Sitemap, 0, true
	case ext == ".rss", ext == ".atom", ext == ".rdf", ext == ".xml", isFeedPath(lower):
		return Feed, 0, true
	case isFileExtension(ext):
		return Other, 0, true
	}
	segments := strings.FieldsFunc(lower, func(r rune) bool { return r == '/' })
	if len(segments) == 0 {
		if u.Query() == "" {
			return Section, 0, true
		}
		return Other, 0, true
	}
	for _, segment := range segments {
		switch classifySegment(strings.TrimSuffix(segment, path.Ext(segment))) {
		case Other:
			return Other, 0, true
		case Section:
			return Section, 0, true
		}
	}
	last := segments[len(segments)-1]
	last = strings.TrimSuffix(last, path.Ext(last))
	if digitsAtEnd(last) > 0 && pageNumber.MatchString(last) {
		return Section, 0, true
	}
	score = articleScore(lower, last)
	if strings.Contains(path.Ext(lower), ".") && score > 0 {
		score++ // .html, .htm, .ldo, .vnp, .chn, …
	}
	switch {
	case score >= articleScoreThreshold:
		return Article, score, false
	case len(segments) <= 2 && u.Query() == "" && len(last) <= 40:
		return Section, score, false
	default:
		return Other, score, false
	}
}

func articleScore(lower, last string) int {
	score := 0
	words := 0
	for word := range strings.SplitSeq(strings.ReplaceAll(last, "_", "-"), "-") {
		if strings.ContainsFunc(word, unicode.IsLetter) && !strings.Contains(word, "%") ||
			strings.Contains(word, "%e1%") {
			words++
		}
	}
	switch {
	case words >= 5:
		score += 4
	case words == 4:
		score += 3
	case words == 3:
		score++
	}
	if hasID(last) {
		score += 3
	}
	if hasDay(lower) {
		score += 3
	}
	return score
}

// hasArticleNumber reports whether a URL contains the ID or the date of an
// article.
func hasArticleNumber(u weburl.URL) bool {
	lower := strings.ToLower(u.Path())
	bare := strings.TrimSuffix(lower, path.Ext(lower))
	return hasID(bare) || hasDay(lower)
}

// hasID reports whether a path ends with an article ID of 5 to 20 digits:
// gia-vang-4819273.html, gia-vang-20260307101500.htm, post123456.html, 4819273,
// a-d123456.html
func hasID(s string) bool {
	n := digitsAtEnd(s)
	if n < 5 || n > 20 {
		return false
	}
	if n == len(s) {
		return true
	}
	before := s[len(s)-n-1]
	return 'a' <= before && before <= 'z' || strings.IndexByte("-_/.", before) >= 0
}

func digitsAtEnd(s string) (n int) {
	for n < len(s) && '0' <= s[len(s)-1-n] && s[len(s)-1-n] <= '9' {
		n++
	}
	return n
}

// hasDay checks for a substring first, because regular expressions are slow and
// most URLs cannot match.
func hasDay(lower string) bool { return strings.Contains(lower, "/20") && dayInPath.MatchString(lower) }

// DateInURL returns the publication date in a URL, such as /2026/03/07/ or an
// article ID that starts with it; zero if there is none. zone is the site's
// time zone.
func DateInURL(u weburl.URL, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	lower := strings.ToLower(u.Path())
	if hasDay(lower) {
		f := dayInPath.FindStringSubmatch(lower)
		if at, err := time.ParseInLocation("20060102", f[1]+f[2]+f[3], zone); err == nil {
			return at
		}
	}
	bare := strings.TrimSuffix(lower, path.Ext(lower))
	if digitsAtEnd(bare) < 8 {
		return time.Time{} // too short for a day
	}
	if f := idOfCMS.FindStringSubmatch(bare); f != nil {
		if at, err := time.ParseInLocation("0601021504", f[1], zone); err == nil {
			return at
		}
	}
	if f := idWithDay.FindStringSubmatch(bare); f != nil {
		hour, minute := f[4], f[5]
		if hour == "" || minute == "" {
			hour, minute = "00", "00"
		}
		if at, err := time.ParseInLocation("200601021504", f[1]+f[2]+f[3]+hour+minute, zone); err == nil {
			return at
		}
	}
	return time.Time{}
}

// classifySegment recognizes path segments that do not lead to articles but to
// lists (Section) or to pages that a crawler does not need (Other). Everything
// else is Article.
func classifySegment(segment string) Kind {
	switch segment {
	case "tag", "tags", "chu-de", "topic", "topics", "category", "categories", "chuyen-muc", "chuyen-de", "su-kien",
		"tac-gia", "author", "authors",
		"archive", "archives", "tin-moi", "tin-moi-nhat", "moi-nhat", "latest", "tin-nong", "doc-nhieu", "dong-su-kien",
		"tin-tuc-24h", "event", "events", "collection", "collections":
		return Section
	case "login", "dang-nhap", "signin", "sign-in", "signup", "sign-up", "register", "dang-ky", "logout", "dang-xuat",
		"account", "tai-khoan", "user", "profile", "search", "tim-kiem", "tim", "lien-he", "contact", "contact-us",
		"gioi-thieu", "about", "about-us", "privacy", "privacy-policy", "terms", "dieu-khoan", "dieu-khoan-su-dung",
		"chinh-sach", "chinh-sach-bao-mat", "quang-cao", "advertise", "ads", "tuyen-dung", "careers", "share",
		"chia-se", "print", "in-bai", "comment", "comments", "binh-luan", "cart", "gio-hang", "checkout", "wp-admin",
		"wp-login", "wp-json", "wp-content", "cdn-cgi", "xmlrpc", "newsletter", "subscribe", "dat-bao", "toa-soan",
		"so-do-trang", "faq", "help", "embed", "widget", "ajax",
		"api", "static", "assets":
		return Other
	}
	return Article
}

func isFeedPath(lower string) bool {
	return strings.HasSuffix(lower, "/feed") || strings.HasSuffix(lower, "/feed/") ||
		strings.HasSuffix(lower, "/rss") || strings.HasSuffix(lower, "/rss/")
}

// isFileExtension recognizes files that are not pages.
func isFileExtension(ext string) bool {
	switch ext {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp", ".mp3", ".mp4", ".m4a", ".webm",
		".avi", ".mov", ".m3u8", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".zip", ".rar", ".7z",
		".tar", ".exe", ".apk", ".dmg", ".css", ".js", ".mjs", ".json", ".woff", ".woff2",
		".ttf", ".eot", ".csv", ".ics", ".txt", ".swf":
		return true
	}
	return false
}
