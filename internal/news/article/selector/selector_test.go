package selector_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
	"dateline/internal/news/article/selector"
)

func pagesOf(s *site, n int) (pages []extract.Page, truths []truth) {
	for range n {
		t := s.next()
		pages, truths = append(pages, t.page), append(truths, t)
	}
	return pages, truths
}

func mustCompile(t *testing.T, c selector.Config) *selector.Selector {
	t.Helper()
	s, err := selector.Compile(c)
	require.NoError(t, err)
	return s
}

func TestInduce(t *testing.T) {
	s := newSite()
	pages, _ := pagesOf(s, 8)
	cfg, err := selector.Induce(t.Context(), 1, pages)
	require.NoError(t, err)
	require.Len(t, cfg.Variants, 1)
	v := cfg.Variants[0]
	t.Logf("%+v", v)
	for _, p := range append(append([]string{}, v.Body...), v.Fields[article.FieldTitle]...) {
		require.NotRegexp(t, `\d{2}|@class\s*=`, p, "paths match on other pages")
	}
	require.Greater(t, v.Scores[article.FieldBody], 0.95)
	require.True(t, v.GenericBody, "nothing shows that the selected text is better")
	sel := mustCompile(t, cfg)
	used := map[article.Source]int{}
	for range 12 {
		want := s.next()
		a, o, err := sel.Extract(t.Context(), want.page)
		require.NoError(t, err)
		require.True(t, want.body == a.Text, "without the text at the end of every page: %q", a.Text[len(a.Text)-120:])
		require.Equal(t, want.title, a.Title)
		require.Equal(t, []string{want.author}, a.Authors)
		require.Equal(t, want.published, a.Published)
		require.Equal(t, article.FromHTML, a.Origins[article.FieldBody].Source)
		used[a.Origins[article.FieldPublished].Source]++
		for f, ok := range o.Found {
			require.True(t, ok, f)
		}
	}
	require.Equal(t, map[article.Source]int{article.FromSelector: 3, article.FromOpenGraph: 9}, used,
		"the selector is used for the time where the page does not state it")
}

// statedPages returns pages that state their text, and have other text beside it that generic extraction takes for a
// part of it.
func statedPages(t *testing.T, n int) (pages []extract.Page, truths []truth) {
	t.Helper()
	s := newSite()
	pages, truths = pagesOf(s, n)
	for i := range pages {
		ld, err := json.Marshal(map[string]string{"@type": "NewsArticle", "articleBody": truths[i].body})
		require.NoError(t, err)
		html := strings.Replace(string(pages[i].HTML), "</head>",
			`<script type="application/ld+json">`+string(ld)+`</script></head>`, 1)
		beside := "<p>" + s.sentence() + " " + s.sentence() + "</p>"
		pages[i].HTML = []byte(strings.Replace(html, `<div class="grid-below">`,
			`<div class="yesteryear">`+beside+beside[:len(beside)-4]+" "+s.sentence()+`</p></div><div class="grid-below">`, 1))
	}
	return pages, truths
}

// The text is selected where this is better on held-out pages, by what they state of their text.
func TestInduce_SelectsTheBodyWhereThatIsBetter(t *testing.T) {
	pages, truths := statedPages(t, 16)
	cfg, err := selector.Induce(t.Context(), 1, pages[:12])
	require.NoError(t, err)
	require.False(t, cfg.Variants[0].GenericBody)
	sel := mustCompile(t, cfg)
	for i, p := range pages[12:] {
		generic, err := extract.Extract(t.Context(), p)
		require.NoError(t, err)
		require.NotEqual(t, truths[12+i].body, generic.Text)
		a, o, err := sel.Extract(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, truths[12+i].body, a.Text)
		require.Equal(t, article.FromSelector, a.Origins[article.FieldBody].Source)
		require.True(t, o.Found[article.FieldBody])
	}
	// Where the text that they state is another, generic extraction remains.
	for i := range pages {
		pages[i].HTML = []byte(strings.Replace(string(pages[i].HTML), `"articleBody":"`, `"articleBody":"`+
			strings.Repeat("For subscribers only. ", 200), 1))
	}
	cfg, err = selector.Induce(t.Context(), 1, pages[:12])
	require.NoError(t, err)
	require.True(t, cfg.Variants[0].GenericBody)
}

// What editors marked teaches selectors, and is a test of them.
func TestInduce_FollowsMarks(t *testing.T) {
	s := newSite()
	pages, _ := pagesOf(s, 9)
	for i := range pages {
		pages[i].HTML = []byte(strings.Replace(string(pages[i].HTML), `<div class="house-line">`,
			`<div class="desk-line"><p>`+s.sentence()+`</p></div><div class="house-line">`, 1))
		pages[i].Marks = []extract.Mark{{Element: "div.page-wrap > div.longread > div.desk-line"}}
	}
	cfg, err := selector.Induce(t.Context(), 1, pages)
	require.NoError(t, err)
	require.Contains(t, strings.Join(cfg.Variants[0].Drop, " "), "desk-line")
	doc, err := extract.Parse(t.Context(), pages[0], extract.DefaultLimits())
	require.NoError(t, err)
	require.Empty(t, mustCompile(t, cfg).Contradictions(doc, ""))
	cfg.Variants[0].Drop = nil
	require.Len(t, mustCompile(t, cfg).Contradictions(doc, ""), 1)

	// No learned path can select what is outside of the text.
	for i := range pages {
		pages[i].Marks = append(pages[i].Marks, extract.Mark{
			Text: extract.TextHash("Imprint, contact, all rights reserved by The Paper."), IsBody: true,
		})
	}
	_, err = selector.Induce(t.Context(), 1, pages)
	require.ErrorIs(t, err, selector.ErrContradicts)
	require.ErrorContains(t, err, "Imprint")
}

func TestInduce_TwoTemplates(t *testing.T) {
	s := newSite()
	pages, _ := pagesOf(s, 9)
	s.redesign = true
	more, _ := pagesOf(s, 7)
	cfg, err := selector.Induce(t.Context(), 1, append(pages, more...))
	require.NoError(t, err)
	require.Len(t, cfg.Variants, 2)
	sel := mustCompile(t, cfg)
	for i := range 10 {
		s.redesign = i%2 == 0
		want := s.next()
		a, o, err := sel.Extract(t.Context(), want.page)
		require.NoError(t, err)
		require.True(t, o.Found[article.FieldBody])
		require.True(t, want.body == a.Text, "%q", a.Text[len(a.Text)-120:])
	}
}

func TestInduce_RejectsUnusablePages(t *testing.T) {
	s := newSite()
	tooFew, _ := pagesOf(s, 3)
	_, err := selector.Induce(t.Context(), 1, tooFew)
	require.ErrorIs(t, err, selector.ErrTooFewPages)

	var empty []extract.Page
	for range 8 {
		empty = append(empty, extract.Page{
			HTML: []byte("<p>Please accept our cookies.</p>"), URL: "https://paper.example/",
		})
	}
	_, err = selector.Induce(t.Context(), 1, empty)
	require.ErrorIs(t, err, selector.ErrTooFewPages)
}

// TestRedesign simulates a site that changes its template: extraction quality stays high because
// generic extraction is the fallback, and within 20 pages the selectors are relearned, with a
// reason that names the cause.
func TestRedesign(t *testing.T) {
	s := newSite()
	var (
		mon     selector.Monitor
		sel     *selector.Selector
		recent  []extract.Page
		version int
		events  []string
		learned []int // the page number
	)
	for i := range 80 {
		s.redesign = i >= 40
		want := s.next()
		recent = append(recent, want.page)
		recent = recent[max(0, len(recent)-8):]
		a, o := read(t, sel, want.page)
		mon = mon.Record(o)
		f1 := score.CompareBody(want.body, a.Text).F1()
		require.Greater(t, f1, 0.9, "page %d", i)
		if i > 12 && i < 40 || i >= 60 {
			require.True(t, o.Found[article.FieldBody], "page %d is extracted with selectors", i)
			require.InDelta(t, 1, f1, 0.001, "page %d", i)
			require.Equal(t, []string{want.author}, a.Authors, "page %d", i)
		}
		d := mon.Decide()
		if d.Action != selector.ActionLearn {
			require.Equal(t, selector.ActionNone, d.Action)
			continue
		}
		events = append(events, d.Reason.Text)
		cfg, err := selector.Induce(t.Context(), version+1, recent)
		if err != nil {
			mon = mon.LearnFailed()
			continue
		}
		version++
		sel, mon = mustCompile(t, cfg), mon.Activate(cfg)
		learned = append(learned, i)
	}
	require.Len(t, learned, 2, "%v", events)
	require.Less(t, learned[1], 60, "within 20 pages of the redesign")
	require.Contains(t, events[len(events)-1], "found the body on")
	require.Contains(t, events[len(events)-1], "template")
}

func read(t *testing.T, sel *selector.Selector, p extract.Page) (*article.Article, selector.Outcome) {
	t.Helper()
	if sel == nil {
		a, err := extract.Extract(t.Context(), p)
		require.NoError(t, err)
		return a, selector.Outcome{}
	}
	doc, err := extract.Parse(t.Context(), p, extract.DefaultLimits())
	require.NoError(t, err)
	a, o, err := sel.Article(t.Context(), doc, p)
	require.NoError(t, err)
	return a, selector.VerifyBody(doc, a, o)
}

// TestDecide_RollsBackAWorseVersion activates a version that selects the teasers below the text.
func TestDecide_RollsBackAWorseVersion(t *testing.T) {
	s := newSite()
	pages, _ := pagesOf(s, 8)
	good, err := selector.Induce(t.Context(), 1, pages)
	require.NoError(t, err)
	sel := mustCompile(t, good)
	mon := selector.Monitor{}.Activate(good)
	for range 12 {
		_, o := read(t, sel, s.next().page)
		mon = mon.Record(o)
		require.Equal(t, selector.ActionNone, mon.Decide().Action)
	}
	bad := selector.Config{Version: 2, Variants: []selector.Variant{
		{Name: "wrong", Body: []string{"//div[contains(@class,'grid-below')]"}},
	}}
	sel, mon = mustCompile(t, bad), mon.Activate(bad)
	for i := range 20 {
		want := s.next()
		a, o := read(t, sel, want.page)
		mon = mon.Record(o)
		d := mon.Decide()
		if d.Action == selector.ActionRollBack {
			require.Less(t, i, 10)
			require.Equal(t, article.FieldBody, d.Field)
			require.Contains(t, d.Reason.Text,
				"Version 2 finds the body on 0% of pages, the previous version 1 found it on 100%.")
			mon = mon.RollBack(good)
			sel = mustCompile(t, good)
			a, o = read(t, sel, want.page)
			require.True(t, o.Found[article.FieldBody])
			require.True(t, want.body == a.Text, "%q", a.Text[len(a.Text)-120:])
			require.Equal(t, 1, mon.Version)
			return
		}
		require.NotEmpty(t, a.Text)
	}
	t.Fatal("the bad version stayed")
}

func TestMonitor_RoundTripsThroughJSON(t *testing.T) {
	s := newSite()
	pages, _ := pagesOf(s, 6)
	cfg, err := selector.Induce(t.Context(), 3, pages)
	require.NoError(t, err)
	mon := selector.Monitor{}.Activate(cfg)
	_, o := read(t, mustCompile(t, cfg), s.next().page)
	mon = mon.Record(o)
	raw, err := json.Marshal(mon)
	require.NoError(t, err)
	var back selector.Monitor
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, mon, back)

	raw, err = json.Marshal(cfg)
	require.NoError(t, err)
	var again selector.Config
	require.NoError(t, json.Unmarshal(raw, &again))
	require.Equal(t, cfg, again)
}

func TestCompile_RejectsInvalidSelectors(t *testing.T) {
	one := func(path string) selector.Config {
		return selector.Config{Variants: []selector.Variant{{Name: "a", Body: []string{path}}}}
	}
	for _, c := range []struct{ path, why string }{
		{"//div[", "is not valid XPath"},
		{"", "1 to 400 characters"},
		{"//*[//*[//*]]", "not supported in predicates"},
		{"//div/following::p", "not supported"},
		{"//a|//b", "no |"},
		{"//a//b//c//d", "at most three"},
		{strings.Repeat("a", 500), "1 to 400 characters"},
	} {
		_, err := selector.Compile(one(c.path))
		require.ErrorIs(t, err, selector.ErrConfig, c.path)
		require.ErrorContains(t, err, c.why, c.path)
	}
	require.ErrorContains(t, selector.Config{}.Validate(), "0 variants")
	bad := one("//article")
	bad.Variants[0].Fields = map[article.Field][]string{"colour": {"//b"}}
	require.ErrorContains(t, bad.Validate(), `"colour" is not a selectable field`)
}

// TestOddElements selects elements that should not contain text; the text then comes
// from generic extraction.
func TestOddElements(t *testing.T) {
	s := newSite()
	for _, path := range []string{
		"//span", "//b", "//a", "//h1", "//nav", "//html", "//head", "/", "//title/..", "//p",
		"//meta/@content", "//text()",
	} {
		sel := mustCompile(t, selector.Config{
			Variants: []selector.Variant{
				{Body: []string{path}, Drop: []string{"."}, Fields: map[article.Field][]string{
					article.FieldTitle: {path},
				}},
			},
		})
		a, _, err := sel.Extract(t.Context(), s.next().page)
		require.NoError(t, err, path)
		require.NotEmpty(t, a.Text, path)
		require.NotEmpty(t, a.Title, path)
	}
}

// TestManyAtOnce uses one selector from several goroutines, with paths of both kinds.
func TestManyAtOnce(t *testing.T) {
	s := newSite()
	sel := mustCompile(t, selector.Config{Variants: []selector.Variant{{
		Body: []string{"//div[starts-with(@class,'longread')]"},
		Fields: map[article.Field][]string{
			article.FieldAuthors: {"//span[contains(concat(' ',normalize-space(@class),' '),' who ')]"},
		},
	}}})
	pages, truths := pagesOf(s, 24)
	got := make([]*article.Article, len(pages))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < len(pages); i += 4 {
				got[i], _, _ = sel.Extract(t.Context(), pages[i])
			}
		})
	}
	wg.Wait()
	for i, a := range got {
		require.NotNil(t, a)
		require.Equal(t, []string{truths[i].author}, a.Authors)
		require.Contains(t, a.Text, truths[i].body)
	}
}

// TestPropose derives selectors from one page, for people to edit.
func TestPropose(t *testing.T) {
	s := newSite()
	cfg, err := selector.Propose(t.Context(), s.next().page)
	require.NoError(t, err)
	want := s.next()
	a, o, err := mustCompile(t, cfg).Extract(t.Context(), want.page)
	require.NoError(t, err)
	require.True(t, o.Found[article.FieldBody])
	require.Contains(t, a.Text, want.body)
	_, err = selector.Propose(t.Context(), extract.Page{HTML: []byte("<p>Hello.</p>")})
	require.ErrorIs(t, err, selector.ErrTooFewPages)
}

// FuzzCompile checks that the result is an error or a usable selector, and never a
// panic.
func FuzzCompile(f *testing.F) {
	f.Add("//div[contains(concat(' ',normalize-space(@class),' '),' body ')]")
	f.Add("//meta[@property='og:title']/@content")
	f.Add("string(//a)")
	page := newSite().next().page
	f.Fuzz(func(t *testing.T, path string) {
		s, err := selector.Compile(selector.Config{Variants: []selector.Variant{{
			Body: []string{path}, Fields: map[article.Field][]string{article.FieldTitle: {path}},
		}}})
		if err != nil {
			require.ErrorIs(t, err, selector.ErrConfig)
			return
		}
		a, _, err := s.Extract(t.Context(), page)
		require.NoError(t, err)
		require.NotEmpty(t, a.Text)
	})
}
