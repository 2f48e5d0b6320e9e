package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// around is what surrounds the text of a page.
func around(main string) string {
	var more strings.Builder
	for i, text := range prose(10) {
		fmt.Fprintf(&more, `<li class="teaser"><a href="/other-%d.html"><h3>%s</h3></a></li>`, i, text[:60])
	}
	return `<header class="site"><a href="/">The Paper</a><nav><ul><li><a href="/world">World</a></li><li><a href="/sport">Sport</a></li></ul></nav></header>
		<main><h1>The bridge opens</h1>` + main + `</main><section class="more"><h2>More stories</h2><ul>` + more.String() +
		`</ul></section><footer><p>Imprint, contact, all rights reserved.</p></footer>`
}

// Bodies whose paragraphs are in different elements are whole, and what is between them is not part of them.
func TestBody_TornApart(t *testing.T) {
	text := prose(9)
	ad := `<div class="ad-slot"><span>Advertisement</span></div>`
	each := func(open, end string) (out string) {
		for i, p := range text {
			if out += open + "<p>" + p + "</p>" + end; i%3 == 1 {
				out += ad
			}
		}
		return out
	}
	for name, main := range map[string]string{
		"a wrapper around every paragraph": `<div class="x">` + each(`<div class="block"><div class="inner">`, `</div></div>`) + `</div>`,
		"a section around every paragraph": each(`<section class="row"><div class="col">`, `</div></section>`),
		"split by advertisements": `<div class="part">` + paragraphs(text[:3]) + `</div>` + ad + `<div class="part">` +
			paragraphs(text[3:6]) + `</div>` + ad + `<div class="part">` + paragraphs(text[6:]) + `</div>`,
		"split by a related story": `<div class="part">` + paragraphs(text[:4]) +
			`</div><aside class="related"><h4>Related</h4><a href="/x.html"><p>The old bridge closes after eighty years, and nobody misses it.</p></a></aside><div class="part">` +
			paragraphs(text[4:]) + `</div>`,
		"the first paragraph outside": `<div class="opening"><p>` + text[0] + `</p></div><div class="tools"><button>Share</button></div><div class="text">` +
			paragraphs(text[1:]) + `</div>`,
		"the last paragraphs outside": `<div class="text">` + paragraphs(text[:6]) + `</div><div class="tools"><button>Share</button></div><div class="unlocked">` +
			paragraphs(text[6:]) + `</div>`,
		"paragraphs as lines of divs": `<div class="text"><div>` + strings.Join(text, "</div><div>") + `</div></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, strings.Join(text, "\n\n"), read(t, page("", around(main))).Text)
		})
	}
}

// Texts that consist of lists, tables, questions or pictures are whole.
func TestBody_OfListsAndTables(t *testing.T) {
	text := prose(9)
	item := func(i int) string { return fmt.Sprintf("%d. The ferry to Halden in the year %d", i+1, 1990+i) }
	var listicle, questions, schedule string
	var inListicle, inQuestions, inSchedule []string
	for i, p := range text {
		listicle += `<h2>` + item(i) + `</h2><figure><img src="/f.jpg"><figcaption>Photo: Jo Harper</figcaption></figure><p>` + p + `</p>`
		inListicle = append(inListicle, item(i), p)
		q := fmt.Sprintf("How often does line %d run on Sundays?", i+1)
		questions += `<div class="faq-item"><h3>` + q + `</h3><div><p>` + p + `</p></div></div>`
		inQuestions = append(inQuestions, q, p)
		schedule += fmt.Sprintf(`<tr><td>%d:15</td><td>Harbour to Halden</td><td>%d minutes</td></tr>`, 6+i, 40+i)
		inSchedule = append(inSchedule, fmt.Sprintf("%d:15 | Harbour to Halden | %d minutes", 6+i, 40+i))
	}
	recipe := []string{
		"200 g of flour", "2 eggs", "a pinch of salt", "Mix the flour with the eggs, and leave it for an hour.",
		"Bake it at 180 degrees until it is brown.",
	}
	for name, c := range map[string]struct {
		main string
		want []string
	}{
		"numbered headings with pictures": {`<article>` + listicle + `</article>`, inListicle},
		"questions and answers":           {`<article><p>` + text[0] + `</p>` + questions + `</article>`, inQuestions},
		"a schedule": {
			`<article><p>` + text[0] + `</p><table><tr><th>Departure</th><th>Line</th><th>Duration</th></tr>` + schedule +
				`</table><p>` + text[1] + `</p></article>`, inSchedule,
		},
		"a recipe": {
			`<article>` + paragraphs(text[:3]) + `<h2>Ingredients</h2><ul><li>` + strings.Join(recipe[:3], "</li><li>") +
				`</li></ul><h2>Steps</h2><ol><li>` + strings.Join(recipe[3:], "</li><li>") + `</li></ol></article>`, recipe,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, page("", around(c.main))).Text
			for _, want := range c.want {
				require.Contains(t, got, want)
			}
			require.NotContains(t, got, "More stories")
			require.NotContains(t, got, "Photo: Jo Harper")
		})
	}
}
