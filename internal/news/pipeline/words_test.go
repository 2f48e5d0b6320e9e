package pipeline

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
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

// The date of a sentence in the text says nothing about when the article was published.
func TestDropUncertainDate_KeepsStatedDates(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want bool
	}{
		"Stated": {
			`<p class="date">7 March 2026</p><p>` + strings.Repeat("The bridge opens again after a year of work. ", 20),
			true,
		},
		"Sentence": {"<p>" + strings.Repeat("The bridge opens again after a year of work. ", 20) +
			"</p><p>Its predecessor, which the province had built in one winter and which carried a single lane over " +
			"the river, collapsed in a storm on 14 May 2019 while nobody was on it, and was never rebuilt.", false},
	} {
		a, err := extract.Extract(t.Context(), extract.Page{
			HTML: []byte("<html><body><h1>A bridge opens again</h1>" + c.page + "</p></body></html>"),
			URL:  "https://paper.example/bridge", Now: time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.Published.IsZero() {
			t.Errorf("%s: extraction found no date, want one", name)
		}
		dropUncertainDate(a)
		if _, hasOrigin := a.Origins[article.FieldPublished]; a.Published.IsZero() == c.want || hasOrigin != c.want {
			t.Errorf("%s: got the date %s, want one: %v", name, a.Published, c.want)
		}
	}
}
