package rules_test

import (
	"strings"
	"testing"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		"Read https://example.com/a?x=1#top, then (http://b.example/c_(d)).": "https://example.com/a?x=1#top " +
			"http://b.example/c_(d)",
		"HTTPS://EXAMPLE.COM/É “https://x.example/y”":           "HTTPS://EXAMPLE.COM/É https://x.example/y",
		"xhttp://no.example ftp://no.example http:// https://!": "",
		"#Hanoi: #mưa_lớn, C#, #1, #2026a ##x a#b &#39; /#top":  "#Hanoi #mưa_lớn #2026a",
		"<https://a.example> \"https://b.example\"":             "https://a.example https://b.example",
		"": "",
	} {
		var got []string
		at := 0
		for _, span := range rules.Spans(text) {
			if span.Start < at || span.Target != strings.TrimPrefix(text[span.Start:span.End], "#") {
				t.Errorf("%q: span %+v", text, span)
			}
			if (span.Kind == network.SpanTag) != (text[span.Start] == '#') {
				t.Errorf("%q: kind of %+v", text, span)
			}
			at = span.End
			got = append(got, text[span.Start:span.End])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFoldOffset(t *testing.T) {
	for _, row := range []struct {
		text              string
		characters, lines int
		want              string
	}{
		{"short", 10, 3, ""},
		{"exactly te", 10, 3, ""},
		{"exactly ten.", 10, 3, "exactly te"},
		{"👨‍👩‍👧‍👦🇻🇳👍🏽x", 3, 0, "👨‍👩‍👧‍👦🇻🇳👍🏽"},
		{"a\nb\nc\nd", 100, 3, "a\nb\nc"},
		{"a\r\nb\r\nc\r\nd", 100, 3, "a\r\nb\r\nc"},
		{"a\nb\nc\n", 100, 3, ""},
		{"", 1, 1, ""},
	} {
		if got := row.text[:rules.FoldOffset(row.text, row.characters, row.lines)]; got != row.want {
			t.Errorf("Fold(%q, %d, %d) shows %q, want %q", row.text, row.characters, row.lines, got, row.want)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("Read https://example.com/a#b #tag")
	f.Add("https://\xff#\xffa")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range rules.Spans(text) {
			if s.Start < at || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: %+v", text, s)
			}
			at = s.End
		}
		if fold := rules.FoldOffset(text, 5, 2); fold < 0 || fold > len(text) {
			t.Fatalf("%q folds at %d", text, fold)
		}
	})
}
