package pipeline

import (
	"strings"
	"testing"

	"dateline/internal/news/article"
)

// Chinese, Japanese and Thai articles have hardly any spaces.
func TestNotArticleReason_CountsWordsWithoutSpaces(t *testing.T) {
	a := func(text string) *article.Article {
		out := &article.Article{Title: "A title", Text: text}
		out.SetOrigin(article.FieldBody, article.FromHTML, 0.9)
		return out
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"Chinese":    {strings.Repeat("市长周一表示大桥将重新开放。", 8), true},
		"Japanese":   {strings.Repeat("市長は月曜日に橋が再び開通すると述べた。", 5), true},
		"TooShort":   {"市长周一表示大桥将重新开放。", false},
		"English":    {strings.Repeat("The bridge opens again. ", 10), true},
		"FewEnglish": {"The bridge opens again.", false},
	} {
		reason, detail := notArticleReason(a(c.text))
		if got := reason == ""; got != c.want {
			t.Errorf("%s: got %v (%s: %s), want %v", name, got, reason, detail, c.want)
		}
	}
}
