package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/extract"
)

// sitePage is a page of a small site: a menu and a footer around a text, in English or
// Vietnamese.
func sitePage(body string) extract.Page {
	var menu, foot strings.Builder
	for i := range 8 {
		fmt.Fprintf(&menu, `<li><a href="/s/%d">Section %d</a></li>`, i, i)
	}
	for i := range 6 {
		fmt.Fprintf(&foot, `<li><a href="/f/%d">Service %d</a></li>`, i, i)
	}
	return page(`<title>Night ferry returns to Halden Sound | Paper</title>`,
		`<nav><ul>`+menu.String()+`</ul></nav><main><h1>Night ferry returns to Halden Sound</h1>`+
			body+`</main><footer><ul>`+foot.String()+`</ul></footer>`)
}

// sailings is a table of six rows.
func sailings(days ...string) (table string, rows []string) {
	var b strings.Builder
	for i, d := range days {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%d</td><td>0%d:30</td></tr>", d, 31+i, i+4)
		rows = append(rows, fmt.Sprintf("%s | %d | 0%d:30", d, 31+i, i+4))
	}
	return `<table><thead><tr><th>Sailing</th><th>Cars</th><th>Leaves at</th></tr></thead><tbody>` + b.String() +
			`</tbody></table>`,
		append([]string{"Sailing | Cars | Leaves at"}, rows...)
}

func TestBody_KeepsTablesWhole(t *testing.T) {
	text := prose(6)
	english, rows := sailings("Thursday", "Friday", "Saturday", "Sunday")
	vietnamese, weeks := sailings("Tuần một", "Tuần hai", "Tuần ba", "Tuần tư")
	for _, c := range []struct {
		name, before, table, after string
		rows                       []string
	}{
		{"Between paragraphs", "", english, "", rows},
		{"Vietnamese", "", vietnamese, "", weeks},
		{
			"In a figure", `<figure class="wp-block-table">`, english,
			`<figcaption>Source: the operator</figcaption></figure>`, rows,
		},
		{"In a scrolling box", `<div class="table-wrap"><div class="scroll">`, english, `</div></div>`, rows},
		{
			"Without headers", "",
			`<table><tr><td>Seats</td><td>12</td></tr><tr><td>Length</td><td>87 m</td></tr><tr><td>Built</td><td>2019</td></tr></table>`, "",
			[]string{"Seats | 12", "Length | 87 m", "Built | 2019"},
		},
		{
			"With a caption, links and a word of a role in each column", "",
			`<table><caption>Results</caption><tr><th class="rank">#</th><th class="author">Team</th><th class="date">Played</th></tr>` +
				`<tr><td class="rank">1</td><td class="author"><a href="/a">Halden Rovers</a></td><td class="date">5 March 2026</td></tr>` +
				`<tr><td class="rank">2</td><td class="author"><a href="/b">Oslo Town</a></td><td class="ad">–</td></tr></table>`, "",
			[]string{"Results", "# | Team | Played", "1 | Halden Rovers | 5 March 2026", "2 | Oslo Town | –"},
		},
		{
			"With empty cells", "",
			`<table><tr><th></th><th>Cars</th><th>Vans</th></tr><tr><td>Thursday</td><td></td><td>3</td></tr><tr><td>Friday</td><td>8</td><td></td></tr></table>`, "",
			[]string{"| Cars | Vans", "Thursday | | 3", "Friday | 8"},
		},
	} {
		for name, build := range map[string]func(string) extract.Page{"small page": sitePage, "busy page": busyPage} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				a := read(t, build(`<div class="entry">`+paragraphs(text[:3])+c.before+c.table+c.after+
					paragraphs(text[3:])+`</div>`))
				want := append(append([]string{}, text[:3]...), strings.Join(c.rows, "\n"))
				require.Equal(t, strings.Join(append(want, text[3:]...), "\n\n"), a.Text)
				require.Equal(t, strings.Count(c.table, "<td")+strings.Count(c.table, "<th>")+strings.Count(c.table,
					"<th "),
					strings.Count(a.HTML, "<td>")+strings.Count(a.HTML, "<th>"), a.HTML)
				requireSafe(t, a.HTML)
			})
		}
	}
}

func TestBody_DropsTablesThatAreNoText(t *testing.T) {
	text := prose(6)
	for name, table := range map[string]string{
		"Links":      `<table><tr><td><a href="/1">The mayor resigns</a></td><td><a href="/2">Fishing fleet comes home</a></td></tr><tr><td><a href="/3">School opens its doors</a></td><td><a href="/4">Prices rise again</a></td></tr></table>`,
		"Navigation": `<nav><table><tr><td>The mayor resigns</td><td>Home</td></tr><tr><td>Sport</td><td>Weather</td></tr></table></nav>`,
		"Comments":   `<div class="comments"><table><tr><td>Reader Quill</td><td>The mayor resigns, I was on that pier this morning.</td></tr><tr><td>Jo</td><td>So was I, with my two children.</td></tr></table></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, sitePage(`<div class="entry">`+paragraphs(text[:3])+table+paragraphs(text[3:])+`</div>`))
			require.Equal(t, strings.Join(text, "\n\n"), a.Text)
		})
	}
	for name, body := range map[string]string{
		"layout with a menu":         `<table><tr><td><ul><li><a href="/1">Sport</a></li><li><a href="/2">Weather</a></li></ul></td><td>` + paragraphs(text) + `</td></tr></table>`,
		"layout with a row of links": `<table><tr><td><a href="/1">Sport</a></td><td><a href="/2">Weather</a></td></tr><tr><td colspan="2">` + paragraphs(text) + `</td></tr></table>`,
		"a role of presentation":     `<table role="presentation"><tr><td><a href="/1">Sport</a></td><td><a href="/2">Weather</a></td></tr><tr><td colspan="2">` + paragraphs(text) + `</td></tr></table>`,
		"a table inside a layout":    `<table><tr><td><table><tr><td><a href="/1">Sport</a></td></tr><tr><td><a href="/2">Weather</a></td></tr></table></td><td>` + paragraphs(text) + `</td></tr></table>`,
		"paragraphs in cells of rows": `<table>` + "<tr><td>" + strings.Join(text, "</td></tr><tr><td>") +
			`</td></tr></table>`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, strings.Join(text, "\n\n"), read(t, sitePage(body)).Text)
		})
	}
}

func TestBody_KeepsListsWhole(t *testing.T) {
	text := prose(6)
	for name, c := range map[string]struct {
		list  string
		items []string
	}{
		"Loose": {
			`<ul><li><p>every name is checked twice</p></li><li><p>every correction gets an answer</p></li><li><p>every picture has a source</p></li></ul>`, []string{"every name is checked twice", "every correction gets an answer", "every picture has a source"},
		},
		"Ordered": {
			`<ol><li>Close the gate.</li><li>11:30</li><li>Ring the bell, twice.</li></ol>`,
			[]string{"Close the gate.", "11:30", "Ring the bell, twice."},
		},
		"Vietnamese": {
			`<ul><li>Tuần một: 118</li><li>Cập nhật 05/03/2026</li><li>Tuần ba: 97</li></ul>`,
			[]string{"Tuần một: 118", "Cập nhật 05/03/2026", "Tuần ba: 97"},
		},
		"Terms": {
			`<dl><dt>Length</dt><dd>87 m</dd><dt>Built</dt><dd>2019</dd></dl>`,
			[]string{"Length", "87 m", "Built", "2019"},
		},
		"Some links": {
			`<ul><li><a href="/k">Karin Berg</a></li><li>Tom Lie, captain since 2009</li><li>Anna Moe, who built the pier</li></ul>`, []string{"Karin Berg", "Tom Lie, captain since 2009", "Anna Moe, who built the pier"},
		},
		"Nested": {
			`<ul><li>On deck<ul><li>cars</li><li>vans</li></ul></li><li>Below</li></ul>`,
			[]string{"On deck", "cars", "vans", "Below"},
		},
	} {
		for kind, build := range map[string]func(string) extract.Page{"small page": sitePage, "busy page": busyPage} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				a := read(t, build(`<div class="entry">`+paragraphs(text[:3])+c.list+paragraphs(text[3:])+`</div>`))
				want := append(append(append([]string{}, text[:3]...), c.items...), text[3:]...)
				require.Equal(t, strings.Join(want, "\n\n"), a.Text)
				require.Equal(t, strings.Count(c.list, "<li>"), strings.Count(a.HTML, "<li>"))
			})
		}
	}
	t.Run("Links", func(t *testing.T) {
		a := read(t, sitePage(`<div class="entry">`+paragraphs(text[:3])+
			`<ul><li><a href="/1">The mayor resigns</a></li><li><a href="/2">Fishing fleet comes home</a></li></ul>`+
			paragraphs(text[3:])+`</div>`))
		require.Equal(t, strings.Join(text, "\n\n"), a.Text)
	})
}

// Pages contain the article again for other screens, or for readers without scripts.
func TestBody_SelectsRepeatedListsOnce(t *testing.T) {
	text := prose(6)
	for name, list := range map[string]string{
		"list":  `<ul><li>two cups of flour, sifted twice and weighed</li><li>one cup of sugar</li><li>three eggs, beaten well</li></ul>`,
		"terms": `<dl><dt>Length of the ferry</dt><dd>87 m, with both ramps down</dd><dt>Built</dt><dd>2019 in Halden</dd></dl>`,
		"table": `<table><tr><th>Sailing</th><th>Cars and vans</th></tr><tr><td>Thursday, before the holidays</td><td>31</td></tr><tr><td>Friday</td><td>8</td></tr></table>`,
	} {
		article := paragraphs(text[:3]) + list + paragraphs(text[3:])
		for kind, build := range map[string]func(string) extract.Page{"small page": sitePage, "busy page": busyPage} {
			t.Run(name+", "+kind, func(t *testing.T) {
				once := read(t, build(`<div><div class="wide">`+article+`</div></div>`))
				twice := read(t, build(`<div><div class="wide">`+article+`</div><div class="narrow">`+article+
					`</div></div>`))
				require.Equal(t, once.Text, twice.Text)
			})
		}
	}
}

// Elements that unfold or fade in are named as hidden until a script shows them.
func TestBody_KeepsListsThatAreShownLater(t *testing.T) {
	text := prose(23)
	list := `<ul><li>Simple start: 38 dollars for one user, paid monthly</li><li>Plus: 115 dollars for up to five users, and a free month</li><li>Advanced: 275 dollars</li></ul>`
	for _, class := range []string{
		"elementor-element elementor-invisible",
		"kt-accordion-panel kt-accordion-panel-hidden", "tab-pane pane-hidden", "faq-panel-hide",
	} {
		t.Run(class, func(t *testing.T) {
			var b strings.Builder
			for i := range 6 {
				b.WriteString(`<div class="` + class + `">` + paragraphs(text[3*i:3*i+3]) + `<p>The plans:</p>` +
					strings.ReplaceAll(list, "dollars", fmt.Sprintf("dollars in year %d", i+1)) + `</div>`)
			}
			a := read(t, busyPage(`<article class="entry-content">`+paragraphs(text[18:])+b.String()+`</article>`))
			require.Contains(t, a.Text, text[17])
			require.Equal(t, 6, strings.Count(a.Text, "Plus: 115 dollars"), a.Text)
		})
	}
	t.Run("a hidden item", func(t *testing.T) {
		a := read(t, busyPage(`<article>`+paragraphs(text[:6])+strings.Replace(list, "<li>Plus", `<li hidden>Plus`, 1)+
			paragraphs(text[6:])+`</article>`))
		require.Contains(t, a.Text, "Advanced: 275 dollars")
		require.NotContains(t, a.Text, "Plus: 115 dollars")
	})
}

func TestHeadings_HaveNoPermalinks(t *testing.T) {
	text := prose(6)
	for name, link := range map[string]string{
		"Pilcrow":      `Night ferry returns<a class="headerlink" href="#night-ferry" title="Permanent link">¶</a>`,
		"Number sign":  `<a class="anchor" href="#t">#</a> Night ferry returns`,
		"Picture sign": `Night ferry returns <a href="#night-ferry" aria-label="Permalink">🔗</a>`,
		"Empty":        `Night ferry returns<a class="hash-link" href="#night-ferry" title="Direct link">&#8203;</a>`,
		"Address":      `Night ferry returns <a href="https://www.paper.example/world/bridge-opens.html#night-ferry">§</a>`,
		"Words":        `Night ferry returns <a href="#night-ferry"><span>Link to this heading</span></a>`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, page := range []extract.Page{
				page(`<title>Night ferry returns</title>`, `<article><h1 id="night-ferry" itemprop="headline">`+link+
					`</h1>`+paragraphs(text[:3])+`<h2>Why</h2>`+paragraphs(text[3:])+`</article>`),
				page(`<title>Sailing</title>`, `<article><h1>Sailing</h1>`+paragraphs(text[:3])+`<h2 id="night-ferry">`+
					link+`</h2>`+paragraphs(text[3:])+`</article>`),
			} {
				a := read(t, page)
				if a.Title != "Sailing" {
					require.Equal(t, "Night ferry returns", a.Title)
					continue
				}
				require.Contains(t, a.Text, "\n\nNight ferry returns\n\n")
				require.Regexp(t, "<h2> ?Night ferry returns ?</h2>", a.HTML)
			}
		})
	}
	t.Run("A heading that is a link", func(t *testing.T) {
		a := read(t, page(`<title>Sailing</title>`, `<article><h1>Sailing</h1>`+paragraphs(text[:3])+
			`<h2 id="why"><a href="#why">Why it vanished</a></h2>`+paragraphs(text[3:])+`</article>`))
		require.Contains(t, a.Text, "Why it vanished")
	})
	t.Run("A footnote", func(t *testing.T) {
		a := read(t, page(`<title>Sailing</title>`, `<article><h1>Sailing</h1>`+paragraphs(text)+
			`<p id="fn1">As the master wrote in the log of that day, in March. <a href="#ref1">↩</a></p></article>`))
		require.True(t, strings.HasSuffix(a.Text, "in March."), a.Text)
	})
}

func TestWrappers_AreNoSidebars(t *testing.T) {
	text := prose(6)
	for _, class := range []string{
		"page-wrap no-sidebar", "has-sidebar", "with-sidebar", "right-sidebar",
		"content-sidebar", "has-related", "no-comments", "has-menu", "with-ads",
		"has-breadcrumb", "sidebar-left", "layout newsletter-open", "comments-closed", "menu-wrapper",
	} {
		t.Run(class, func(t *testing.T) {
			p := page(`<title>Night ferry returns to Halden Sound | Sông Lặng</title>`,
				`<div class="`+class+
					`"><main><h1>Night ferry returns to Halden Sound</h1><p class="by">By <span class="author">Maren Oakley</span></p><time datetime="2026-11-05T06:50:00+07:00">5 November 2026</time>`+
					paragraphs(text)+`</main></div>`)
			p.URL = "https://song-lang.example/night-ferry/"
			a := read(t, p)
			require.Equal(t, "Night ferry returns to Halden Sound", a.Title)
			require.Equal(t, []string{"Maren Oakley"}, a.Authors)
			require.Equal(t, "2026-11-04T23:50", a.Published.UTC().Format("2006-01-02T15:04"))
			require.Equal(t, strings.Join(text, "\n\n"), a.Text)
		})
	}
	t.Run("A sidebar", func(t *testing.T) {
		a := read(t, page(`<title>Night ferry returns</title>`, `<div class="page"><main><h1>Night ferry returns</h1>`+
			paragraphs(text)+`</main><div class="right-sidebar"><h1>Most read</h1><p>`+
			`By <span class="author">Petra Moore</span></p><p>A long teaser of another story that has nothing to do with the bridge, but reads well.</p></div></div>`))
		require.Equal(t, "Night ferry returns", a.Title)
		require.Equal(t, strings.Join(text, "\n\n"), a.Text)
	})
}

// discussion is a list of readers' comments.
func discussion(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			`<li id="comment-%d" class="comment"><img class="avatar" src="http://1.gravatar.com/avatar/d7a9?s=40" width="40"><div>Reader Quill</div><div class="wp-block-comment-content"><p>I was on that pier this morning with my two children, number %d, and nobody had told us anything about it.</p></div></li>`, i, i)
	}
	return b.String()
}

func TestShortNews_WithoutItsComments(t *testing.T) {
	const text = "The night ferry to Halden Sound has been cancelled because of fog, the operator said on Thursday. " +
		"Buses will run."
	for name, comments := range map[string]string{
		"WordPress": `<div class="wp-block-comments"><h3>2 responses</h3><ol class="wp-block-comment-template">` +
			discussion(2) + `</ol></div>`,
		"Many": `<div class="wp-block-comments"><h3>40 responses</h3><ol class="wp-block-comment-template">` +
			discussion(40) + `</ol></div>`,
		"Classic": `<div id="comments"><ol class="commentlist">` + discussion(3) +
			`</ol><div id="respond"><p>Your address is not published, and all fields with a star are required.</p></div></div>`,
		"Vietnamese": `<div class="box-binh-luan"><h3>Ý kiến</h3><ul>` + strings.ReplaceAll(discussion(3),
			`class="comment"`, "") + `</ul></div>`,
		"Microdata": `<section><h3>Talk</h3><div itemprop="comment" itemscope itemtype="https://schema.org/Comment"><img src="/avatars/quill.jpg"><p>I was on that pier this morning with my two children, and nobody had told us anything about it.</p></div></section>`,
	} {
		for kind, build := range map[string]func(string) extract.Page{"small page": sitePage, "busy page": busyPage} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				a := read(t, build(`<div class="entry-content"><p>`+text+`</p></div>`+comments))
				require.Equal(t, text, a.Text)
				require.Empty(t, a.Image)
			})
		}
	}
}

func TestImage_IsNotAnAvatar(t *testing.T) {
	text := prose(6)
	for name, img := range map[string]string{
		"Class":  `<img class="avatar photo" src="/u/9.jpg">`,
		"Host":   `<img src="https://secure.gravatar.com/avatar/d7a9?s=400">`,
		"Folder": `<img src="/media/avatars/9.jpg" width="300">`,
		"Small":  `<img src="/u/9.jpg" width="40" height="40">`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `<article><h1>The bridge opens</h1>` + img + paragraphs(text[:3]) + `%s` + paragraphs(text[3:]) +
				`</article>`
			require.Empty(t, read(t, page("", fmt.Sprintf(body, ""))).Image)
			require.Equal(t, "https://www.paper.example/b.jpg",
				read(t, page("", fmt.Sprintf(body, `<img src="/b.jpg" width="600">`))).Image)
		})
	}
}

func TestIDs_MadeFromTheTextAreNoRoles(t *testing.T) {
	text := prose(8)
	for _, id := range []string{
		"share-price", "gdpr-intro", "related-costs", "cookie-law", "menu-change",
		"poll-results", "comment-on-prices", "newsletter", "ad-market", "sidebar-of-history", "time-table",
		"lead-pipes",
	} {
		t.Run(id, func(t *testing.T) {
			words := strings.ReplaceAll(id, "-", " ")
			list := append([]string{}, text...)
			list[3] = "The " + words + " of the harbour is what the town talks about, said the master of it. " + text[3]
			paragraph := strings.Replace(paragraphs(list), "<p>The "+words, `<p id="`+id+`">The `+words, 1)
			require.Equal(t, strings.Join(list, "\n\n"), read(t, sitePage(`<div>`+paragraph+`</div>`)).Text)
			paragraph = paragraphs(text[:3]) + `<p id="` + id + `">` + text[3] + `</p>` + paragraphs(text[4:])
			require.Equal(t, strings.Join(text, "\n\n"), read(t, sitePage(`<div>`+paragraph+`</div>`)).Text)
			for _, heading := range []string{
				`<h2 id="` + id + `">The ` + words + ` of the town</h2>` + paragraphs(text[3:6]),
				`<h2><span class="mw-headline" id="` + strings.ReplaceAll(id, "-", "_") + `">The ` + words +
					` of the town</span></h2>` + paragraphs(text[3:6]),
			} {
				a := read(t, busyPage(`<div>`+paragraphs(text[:3])+heading+paragraphs(text[6:])+`</div>`))
				require.Contains(t, a.Text, "\n\nThe "+words+" of the town\n\n"+strings.Join(text[3:], "\n\n"))
			}
		})
	}
	t.Run("Section", func(t *testing.T) {
		a := read(t, busyPage(`<div>`+paragraphs(text[:3])+`<section id="related-costs"><h2>Related costs</h2>`+
			paragraphs(text[3:5])+`</section>`+paragraphs(text[5:])+`</div>`))
		require.Contains(t, a.Text, "Related costs\n\n"+strings.Join(text[3:], "\n\n"))
	})
	for name, box := range map[string]string{
		"related":    `<div id="related-articles"><h3>Related articles</h3><p>A long teaser of another story that has nothing to do with the bridge, but reads well.</p></div>`,
		"newsletter": `<div id="newsletter-signup"><p>Sign up for our newsletter, which comes every morning and is free.</p></div>`,
		"byline":     `<p id="byline">Jo Harper</p>`,
	} {
		t.Run("A box: "+name, func(t *testing.T) {
			a := read(t, sitePage(`<div>`+paragraphs(text[:3])+box+paragraphs(text[3:])+`</div>`))
			require.Equal(t, strings.Join(text, "\n\n"), a.Text)
		})
	}
}

func TestTitle_KeepsTheNameOfTheSiteInHeadlines(t *testing.T) {
	text := paragraphs(prose(5))
	for _, c := range []struct{ name, site, title, og, h1, want string }{
		{
			"Vietnamese", "Tuổi Trẻ", "Tuổi trẻ - khát vọng cống hiến", "Tuổi trẻ - khát vọng cống hiến",
			"Tuổi trẻ - khát vọng cống hiến", "Tuổi trẻ - khát vọng cống hiến",
		},
		{
			"Colon", "Thanh Niên", "Thanh Niên: thanh niên Việt Nam", "Thanh Niên: thanh niên Việt Nam",
			"Thanh Niên: thanh niên Việt Nam", "Thanh Niên: thanh niên Việt Nam",
		},
		{
			"Only the headline", "Thanh Niên", "", "", "Thanh Niên: thanh niên Việt Nam",
			"Thanh Niên: thanh niên Việt Nam",
		},
		{
			"Title with the site", "The Harbour", "The Harbour: a hundred years of news | The Harbour",
			"The Harbour: a hundred years of news", "The Harbour: a hundred years of news",
			"The Harbour: a hundred years of news",
		},
		{
			"At the end", "Paper", "What became of the town's only - Paper", "What became of the town's only - Paper",
			"What became of the town's only - Paper", "What became of the town's only - Paper",
		},
		{
			"A page that disagrees", "Paper", "The bridge opens on Monday - Paper", "The bridge opens on Monday",
			"Paper: The bridge opens on Monday", "The bridge opens on Monday",
		},
		{
			"No headline", "Paper", "The bridge opens on Monday - Paper", "The bridge opens on Monday - Paper", "",
			"The bridge opens on Monday",
		},
		{
			"Usual", "Paper", "The bridge opens on Monday | World | Paper", "The bridge opens on Monday",
			"The bridge opens on Monday", "The bridge opens on Monday",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, h1 := `<meta property="og:site_name" content="`+c.site+`">`, ""
			if c.title != "" {
				head += `<title>` + c.title + `</title>`
			}
			if c.og != "" {
				head += `<meta property="og:title" content="` + c.og + `">`
			}
			if c.h1 != "" {
				h1 = `<h1>` + c.h1 + `</h1>`
			}
			require.Equal(t, c.want, read(t, page(head, `<article>`+h1+text+`</article>`)).Title)
		})
	}
}

// The questions of a list of frequent ones are no discussion, so that readers' comments below them are no text.
func TestBody_FrequentQuestionsAreNoDiscussion(t *testing.T) {
	text := prose(4)
	comments := `<div class="comments"><div class="comment"><p>I asked the same at the harbor last week, and nobody there had an answer for me.</p></div></div>`
	ask := func(kind string) string {
		return `<div itemscope itemtype="https://schema.org/` + kind + `"><div itemprop="mainEntity" itemscope itemtype="https://schema.org/Question"><h2 itemprop="name">When does it open?</h2></div>` +
			paragraphs(text) + `</div>`
	}
	script := func(kind string) string {
		return `<script type="application/ld+json">{"@context":"https://schema.org","@type":"` + kind +
			`","mainEntity":[{"@type":"Question","name":"When does it open?"}]}</script>` + paragraphs(text)
	}
	for name, c := range map[string]struct {
		body       string
		discussion bool
	}{
		"microdata, frequent": {ask("FAQPage"), false}, "JSON-LD, frequent": {script("FAQPage"), false},
		"microdata, asked": {ask("QAPage"), true}, "JSON-LD, asked": {script("QAPage"), true},
		"a question alone": {ask("WebPage"), true},
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page(`<title>Tickets - Paper</title>`, `<main><h1>Tickets</h1>`+c.body+comments+`</main>`))
			require.Contains(t, a.Text, text[3])
			require.Equal(t, c.discussion, strings.Contains(a.Text, "I asked the same"), a.Text)
		})
	}
}
