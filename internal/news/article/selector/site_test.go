package selector_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"dateline/internal/news/article/extract"
)

// site generates pages of an invented newspaper with one of two templates.
type site struct {
	rnd      *rand.Rand
	redesign bool
	n        int
}

// truth is the data that a page was generated from.
type truth struct {
	page      extract.Page
	title     string
	author    string
	body      string
	published time.Time
}

func newSite() *site { return &site{rnd: rand.New(rand.NewPCG(7, 11))} }

func (s *site) words(n int) string {
	list := strings.Fields("river council school market engine harbour report winter budget player season doctor " +
		"museum bridge farmer island letter police garden minister train signal planet summer museum court valley " +
		"teacher factory window traffic village music company library weather hospital street election")
	out := make([]string, n)
	for i := range out {
		out[i] = list[s.rnd.IntN(len(list))] + []string{"", "s", "ed", ""}[s.rnd.IntN(4)]
	}
	return strings.Join(out, " ")
}

func (s *site) sentence() string {
	w := s.words(9 + s.rnd.IntN(8))
	return strings.ToUpper(w[:1]) + w[1:] + ", " + s.words(4) + "."
}

func (s *site) next() truth {
	s.n++
	t := truth{
		title:     strings.TrimSuffix(s.sentence(), "."),
		author:    []string{"Mai Lan", "Jo Harper", "Peter Quill", "Ana Duarte"}[s.rnd.IntN(4)],
		published: time.Date(2026, 3, 1+s.n%28, s.n%24, 5+s.n%50, 0, 0, time.UTC),
	}
	var paras []string
	for range 5 + s.rnd.IntN(6) {
		paras = append(paras, s.sentence()+" "+s.sentence()+" "+s.sentence())
	}
	t.body = strings.Join(paras, "\n\n")
	html := s.oldPage(t, paras)
	if s.redesign {
		html = s.newPage(t, paras)
	}
	t.page = extract.Page{HTML: []byte(html), URL: fmt.Sprintf("https://paper.example/story-%d.html", s.n)}
	return t
}

// said returns the metadata of a page. One page in four has none: there, author and
// time are only on the page, in elements with meaningless names.
func (s *site) said(t truth) string {
	if s.n%4 == 0 {
		return ""
	}
	return fmt.Sprintf(`<meta name="author" content="%s"><meta property="article:published_time" content="%s">`,
		t.author, t.published.Format(time.RFC3339))
}

// oldPage ends every text with a request for letters in an element with a meaningless
// name.
func (s *site) oldPage(t truth, paras []string) string {
	return fmt.Sprintf(
		`<!doctype html><html lang="en"><head><title>%s | The Paper</title><meta property="og:site_name" content="The Paper">%s</head>
<body class="has-sidebar page-%d"><header class="masthead"><a href="/">The Paper</a><nav><a href="/world">World</a> <a href="/sport">Sport</a></nav></header>
<div class="page-wrap x%d"><h1 class="headline big-%d">%s</h1>
<div class="under-title"><span class="who">%s</span> <span class="when-out">%s</span></div>
<div class="longread col-%d "><p>%s</p><div class="house-line"><p>Do you know more about this? Write to our newsroom in Harbour Street, we read every letter.</p></div></div>
%s</div><footer>Imprint, contact, all rights reserved by The Paper.</footer></body></html>`,
		t.title, s.said(t), s.n, s.n, s.n%3, t.title, t.author, t.published.Format("2 January 2006 15:04 UTC"), s.n,
		strings.Join(paras, "</p><p>"), s.others())
}

// newPage is the redesign: other elements, other names, the text in divs.
func (s *site) newPage(t truth, paras []string) string {
	return fmt.Sprintf(
		`<!doctype html><html lang="en"><head><title>%s | The Paper</title><meta property="og:site_name" content="The Paper">%s</head>
<body><div id="app" class="css-%dab"><main><section class="hero"><h1 data-id="%d">%s</h1></section>
<section class="second-row"><b class="name-tag">%s</b><time>%s</time></section>
<section class="prose flow k%dz9"><div>%s</div><div class="house-line"><p>Do you know more about this? Write to our newsroom in Harbour Street, we read every letter.</p></div></section></main>
%s</div></body></html>`,
		t.title, s.said(t), s.n, s.n, t.title, t.author, t.published.Format("2006-01-02 15:04 UTC"), s.n,
		strings.Join(paras, "</div><div>"), s.others())
}

// others are teasers of other stories, each as long as a paragraph.
func (s *site) others() string {
	var b strings.Builder
	b.WriteString(`<div class="grid-below">`)
	for i := range 4 {
		fmt.Fprintf(&b, `<div class="tile"><h3><a href="/other-%d">%s</a></h3><p>%s</p></div>`, i, s.sentence(),
			s.sentence())
	}
	b.WriteString(`</div>`)
	return b.String()
}
