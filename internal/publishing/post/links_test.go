package post_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/infra/linkcode"
	"dateline/internal/publishing/post"
)

const base = "https://go.example/l/"

func tracked(text string) (post.Post, post.Target) {
	return post.Post{ID: uuid.MustParse("018f6b1e-0000-7000-8000-000000000001"), Content: text, LinkBase: base},
		post.Target{AccountID: uuid.MustParse("018f6b1e-0000-7000-8000-000000000002")}
}

func TestShortLinks_ReplaceURLs(t *testing.T) {
	for text, want := range map[string]string{
		"Read https://news.example/flood.":               "Read L.",
		"(https://news.example/a_(b)) and more":          "(L) and more",
		"see [https://news.example/a], now!":             "see [L], now!",
		"HTTPS://News.example/a?b=c#d…":                  "L…",
		"https://a.example https://b.example":            "L L",
		"“https://a.example/x” – Đọc https://b.example":  "“L” – Đọc L",
		"no URL: example.com, ftp://a.example":           "no URL: example.com, ftp://a.example",
		"not https:// nor https://user@bank.example/":    "not https:// nor https://user@bank.example/",
		"ours already: " + base + "0123456789":           "ours already: " + base + "0123456789",
		"https://a.example/" + strings.Repeat("a", 2100): "https://a.example/" + strings.Repeat("a", 2100),
		"": "",
	} {
		p, target := tracked(text)
		got := p.Segments(target)[0].Content
		for _, l := range p.Links(target) {
			if !strings.HasPrefix(l.Short, base) || len(l.Code) != linkcode.Length || !strings.Contains(text, l.URL) {
				t.Errorf("%q: %+v", text, l)
			}
			got = strings.ReplaceAll(got, l.Short, "L")
		}
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		p.LinkBase = ""
		if p.Segments(target)[0].Content != text || p.Links(target) != nil {
			t.Errorf("%q was changed without tracking", text)
		}
	}
}

func TestShortLinks_AreStablePerAccount(t *testing.T) {
	p, target := tracked("https://a.example https://b.example https://a.example")
	p.Thread = []post.Segment{{Content: "more: https://b.example"}}
	first, again := p.Segments(target), p.Segments(target)
	if first[0].Content != again[0].Content || first[1].Content != again[1].Content ||
		strings.Contains(first[1].Content, "b.example") {
		t.Errorf("%v and %v", first, again)
	}
	links := p.Links(target)
	if len(links) != 2 || links[0].Code == links[1].Code {
		t.Errorf("%+v", links)
	}
	other := post.Target{AccountID: uuid.New()}
	if p.Links(other)[0].Code == links[0].Code {
		t.Error("two accounts have one link")
	}
	if p.Content != "https://a.example https://b.example https://a.example" {
		t.Error("the author's text was changed")
	}
	// Fingerprints ignore the links.
	if string(p.Fingerprint(target)) != string(p.Fingerprint(other)) {
		t.Error("short links hide a duplicate text")
	}
}

func FuzzShortLinks(f *testing.F) {
	f.Add("Read (https://news.example/a_(b)), https://b.example!")
	f.Add("https://https://a.example/]]]...")
	f.Fuzz(func(t *testing.T, text string) {
		p, target := tracked(text)
		got := p.Segments(target)[0].Content
		for _, l := range p.Links(target) {
			if !linkcode.IsValidTarget(l.URL) || len(l.Code) != linkcode.Length {
				t.Errorf("%q: %+v", text, l)
			}
			// Restoring the links returns the original text.
			got = strings.ReplaceAll(got, l.Short, l.URL)
		}
		if !strings.Contains(text, base) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// Texts that provoke quadratic time: this one took minutes.
func TestShortLinks_ManyBracketsAreFast(t *testing.T) {
	p, target := tracked("https://a.example/" + strings.Repeat("])}", 300_000) + " https://b.example")
	if links := p.Links(target); len(links) != 2 || links[0].URL != "https://a.example/" {
		t.Errorf("%d links", len(links))
	}
}
