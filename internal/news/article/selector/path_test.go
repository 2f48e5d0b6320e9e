package selector

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// TestPath_SimpleMatchesXPath compares the hand-written matcher with the library.
func TestPath_SimpleMatchesXPath(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<body><main id="m"><article class="story  big
two"><p class="lead">a <b class="x">b</b></p><div class="story-box"><p>c</p><div class="story"><p class="lead x">d</p></div></div></article>
<time datetime="2026-03-07" itemprop="datePublished dateCreated">e</time><article class="other"><p>f</p></article></main><div class="lead"><p>g</p></div></body>`))
	require.NoError(t, err)
	in := newPage(root)
	class := func(tag, c string) string {
		return tag + "[contains(concat(' ',normalize-space(@class),' '),' " + c + " ')]"
	}
	for _, p := range []string{
		"//p", "//article/p", "//article//p", "//main[@id='m']/article/p", "//body//article//p",
		"//" + class("article", "story") + "/p",
		"//" + class("article", "two") + "//" + class("p", "lead"), "//" + class("div", "story") + "/p",
		"//" + class("div", "tory"), "//main/p",
		"//time[contains(concat(' ',normalize-space(@itemprop),' '),' datePublished ')]/@datetime", "//time/@datetime",
		"//p/@class",
		"//" + class("p", "lead") + "[@class='lead']", "//div//div/p", "//main//p//b", "//nothing",
		"//article/div/div/p",
	} {
		own, ok := simplePath(p)
		require.True(t, ok, p)
		e, err := compileXPath(p)
		require.NoError(t, err)
		general := &path{expr: e}
		require.Equal(t, trimmed(general.texts(in)), trimmed(own.texts(in)), p)
		require.ElementsMatch(t, general.elements(in, nil), own.elements(in, nil), p)
	}
	for _, p := range []string{
		"/html/body", "//p[1]", "//p[contains(@class,'lead')]", "//*", "//p/text()",
		"string(//p)", "//a:b", "//p[@class=\"x\"]", "//p/@class/..", "p", ".", "//p[@id='a' or @id='b']",
	} {
		_, ok := simplePath(p)
		require.False(t, ok, p)
	}
}

// trimmed is a sorted copy: the order of nested elements may differ.
func trimmed(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestPath_Below(t *testing.T) {
	root, err := html.Parse(
		strings.NewReader(`<div class="a"><p class="x">1</p></div><div class="b"><p class="x">2</p></div>`))
	require.NoError(t, err)
	in := newPage(root)
	b, ok := simplePath("//div[contains(concat(' ',normalize-space(@class),' '),' b ')]")
	require.True(t, ok)
	drop, ok := simplePath(".//p[contains(concat(' ',normalize-space(@class),' '),' x ')]")
	require.True(t, ok)
	got := drop.elements(in, b.elements(in, nil)[0])
	require.Len(t, got, 1)
	require.Equal(t, "2", got[0].FirstChild.Data)
}

// TestIsStableName distinguishes names chosen by people from generated ones.
func TestIsStableName(t *testing.T) {
	for _, s := range []string{
		"article-body", "fck_detail", "storyText", "detail-content", "sapo",
		"StoryBodyCompanionColumn",
	} {
		require.True(t, isStableName(s), s)
	}
	for _, s := range []string{
		"hJpRRP", "css-1x2y3z", "post-115809", "sc-77igqf-0", "dt-mb-[6]", "col-12x34", "md",
		"a1B2c3",
	} {
		require.False(t, isStableName(s), s)
	}
}
