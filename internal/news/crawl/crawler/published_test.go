package crawler

import (
	"testing"
	"time"
)

func TestPublishedAt_Formats(t *testing.T) {
	want := time.Date(2026, 12, 24, 10, 0, 0, 0, time.UTC)
	for name, page := range map[string]string{
		"open graph": `<html><head><meta property="article:published_time" content="2026-12-24T17:00:00+07:00"></head>`,
		"name":       `<meta name='pubdate' content='2026-12-24T10:00:00Z'/>`,
		"itemprop":   `<body><time itemprop="datePublished" datetime="2026-12-24T10:00:00Z">heute</time>`,
		"JSON-LD":    `<script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","datePublished" : "2026-12-24T10:00:00Z"}]}</script>`,
	} {
		if got := publishedAt([]byte(page), want); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for name, page := range map[string]string{
		"nothing":         `<p>2026-12-24</p>`,
		"another script":  `<script>{"datePublished":"2026-12-24T10:00:00Z"}</script>`,
		"another element": `<time datetime="2026-12-24T10:00:00Z">of a comment</time>`,
		"no date":         `<meta property="article:published_time" content="yesterday or so">`,
		"no text":         `<script type="application/ld+json">{"datePublished":20261224}</script>`,
		"no zone":         `<meta property="article:published_time" content="2026-12-24T10:00:00">`,
		"no time":         `<meta property="article:published_time" content="2026-12-24">`,
		"truncated":       `<script type="application/ld+json">{"datePublished"`,
	} {
		if got := publishedAt([]byte(page), time.Time{}); !got.IsZero() {
			t.Errorf("%s: got %s, want zero", name, got)
		}
	}
	if got := publishedAt([]byte(`<meta name="pubdate" content="2026-12-24T10:00:00Z">`),
		want.Add(time.Minute)); !got.IsZero() {
		t.Errorf("published before the domain was added: got %s, want zero", got)
	}
}

func FuzzPublishedAt(f *testing.F) {
	f.Add(
		[]byte(
			`<meta property="article:published_time" content="2026-12-24T17:00:00+07:00"><script type="application/ld+json">{"datePublished":"x"}`))
	f.Fuzz(func(t *testing.T, page []byte) {
		if at := publishedAt(page, time.Time{}); !at.IsZero() && (at.Year() < 1900 || at.Year() > 2300) {
			t.Errorf("%s", at)
		}
	})
}
