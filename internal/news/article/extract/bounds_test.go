package extract_test

import (
	"strings"
	"testing"
	"time"
)

// The time for the dates of a page is limited, whatever is on it: these pages took minutes.
func TestPublished_TakesLimitedTime(t *testing.T) {
	const story = `<p>5 March 2026 <a href="/x">Another story with a longer title</a></p>`
	own := `<h1>The bridge opens</h1><div class="story-text">` + paragraphs(prose(6)) + "</div>"
	named := `<div class="` + strings.Repeat("x", 300_000) + `">`
	for name, after := range map[string]string{
		"many elements": strings.Repeat("<i></i>", 200_000) +
			strings.Repeat(`<span title="2026-03-05 09">Then</span>`, 40) +
			strings.Repeat(strings.NewReplacer("<p>", "<span>", "</p>", "</span>").Replace(story), 3000),
		"long names": strings.Repeat(named, 20) + strings.Repeat(story, 3000) + strings.Repeat("</div>", 20),
		"deep": strings.Repeat("<div>", 400) + strings.Repeat(story, 3000) + strings.Repeat("</div>", 400) +
			strings.Repeat(`<b title="2026-03-05 09">Then</b>`, 40),
	} {
		t.Run(name, func(t *testing.T) {
			p := page("", own+after)
			p.Now = fetchedAt()
			start := time.Now()
			a := read(t, p)
			t.Logf("took %s", time.Since(start))
			if !a.Published.IsZero() {
				t.Errorf("got %s, want no date", a.Published)
			}
		})
	}
}
