package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/internal/news/article"
)

// readLanguage prefers the detected language, because many templates declare a wrong
// one.
func (r *builder) readLanguage() {
	if r.a.Language != "" {
		return
	}
	declared := languageTag(firstOf(r.meta.lang, r.jsonLD.text("inLanguage"),
		r.meta.first("og:locale", "content-language", "language")))
	if guess := detectLanguage(r.a.Title + " " + r.a.Text[:min(len(r.a.Text), maxLanguageBytes)]); guess != "" {
		conf := 0.9
		if guess == declared {
			conf = 1
		}
		r.a.Language = guess
		r.a.SetOrigin(article.FieldLanguage, article.FromText, conf)
		return
	}
	if declared != "" {
		r.a.Language = declared
		r.a.SetOrigin(article.FieldLanguage, article.FromMeta, 0.7)
	}
}

// languageTag returns the language of a tag such as vi-VN or en_US.
func languageTag(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if i := strings.IndexAny(s, "-_, "); i >= 0 {
		s = s[:i]
	}
	if len(s) != 2 && len(s) != 3 {
		return ""
	}
	for _, c := range s {
		if c < 'a' || c > 'z' {
			return ""
		}
	}
	return s
}

// maxLanguageBytes limits the text that the language is detected in.
const maxLanguageBytes = 6000

// detectLanguage recognizes Vietnamese by its letters and English by stop words. For
// other languages it returns nothing.
func detectLanguage(text string) string {
	text = text[:min(len(text), maxLanguageBytes)]
	letters, viet := 0, 0
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				letters++
			}
		case unicode.IsLetter(c):
			letters++
			switch {
			case c >= 0x1EA0 && c <= 0x1EF9, c == 'ơ', c == 'ư', c == 'đ', c == 'ă', c == 'Đ', c == 'Ơ', c == 'Ư':
				viet++
			}
		}
	}
	if letters < 60 {
		return ""
	}
	if viet*100 > letters*6 {
		return "vi"
	}
	all, english := 0, 0
	for w := range strings.FieldsSeq(text) {
		if all++; len(w) < 2 || len(w) > len("they") {
			continue
		}
		switch strings.ToLower(w) {
		case "the", "of", "and", "to", "in", "that", "is", "was", "for", "with", "on", "as", "it", "at", "by", "from",
			"be", "are", "this", "have", "has", "his", "he", "they", "but", "not", "said":
			english++
		}
	}
	if all > 20 && english*100 > all*15 {
		return "en"
	}
	return ""
}
