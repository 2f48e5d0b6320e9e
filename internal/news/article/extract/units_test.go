package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// A list or table is kept between paragraphs of the same text, not in another composition between them, such as a
// short post or a card.
func TestKeepEnclosed_InTheSameComposition(t *testing.T) {
	p := "<p>" + strings.Repeat("The harbor master said that the bridge would open again, before the summer. ", 2) + "</p>"
	stats := `<dl><dt>Points</dt><dd>4,726</dd><dt>Reaction score</dt><dd>10</dd></dl>`
	table := `<table><tr><th>Points</th><td>4,726</td></tr><tr><th>Reaction score</th><td>10</td></tr></table>`
	for name, c := range map[string]struct {
		between            string
		isDiscussion, want bool
	}{
		"a list":                          {stats, false, true},
		"a table with a heading":          {`<div><h3>Scores</h3>` + table + `</div>`, false, true},
		"a post":                          {`<article><h4>Jo</h4>` + stats + `<p>Thanks!</p></article>`, false, false},
		"a table in a card":               {`<div><article><h4>Jo</h4>` + table + `</article></div>`, false, false},
		"a post without an element":       {`<div><h4>Jo</h4>` + stats + `<p>Thanks!</p></div>`, true, false},
		"a list in a post":                {`<ul><li>Points: 4</li><li>Score: 10</li></ul>`, true, true},
		"a wrapped table in a post":       {`<div class="table">` + table + `</div>`, true, true},
		"a list about an author in a row": {`<div><b>Jo</b><ul><li>Points: 4</li></ul></div>`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := html.Parse(strings.NewReader("<main>" + p + p + c.between + p + p + "</main>"))
			require.NoError(t, err)
			o := newOutline(root, &Meta{names: newNameCache()})
			o.isDiscussion = c.isDiscussion
			selected := make([]bool, len(o.blocks))
			for i := range o.blocks {
				selected[i] = o.blocks[i].isProse()
			}
			o.keepEnclosed(selected, "The bridge")
			units := 0
			for i := range o.blocks {
				if o.blocks[i].unit != noUnit {
					units++
					require.Equal(t, c.want, selected[i], o.blocks[i].text)
				}
			}
			require.Positive(t, units)
		})
	}
}
