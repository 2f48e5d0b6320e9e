package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dateline/internal/news/search"
)

func TestFold_IgnoresSpellingVariants(t *testing.T) {
	for text, want := range map[string]string{
		"Đường": "duong", "ĐƯỜNG": "duong", "Du\u031bo\u031b\u0300ng": "duong", "hoà": "hoa", "naïve": "naive",
		"Straße": "strasse", "Œuvre": "oeuvre",
		"elections": "election", "parties": "party", "prices": "price", "boss": "boss", "virus": "virus", "gas": "gas",
		"2026": "2026", "ﬁnance": "finance",
	} {
		if got := search.Tokens(text); len(got) != 1 || got[0].Word != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
	for a, b := range map[string]string{"hòa": "hoà", "thủy": "thuỷ", "bộ": "bộ", "Nguyễn": "NGUYỄN"} {
		if x, y := search.Tokens(a)[0], search.Tokens(b)[0]; x.Marked != y.Marked || !x.HasMarks() {
			t.Errorf("%s and %s are %q and %q", a, b, x.Marked, y.Marked)
		}
	}
	for a, b := range map[string]string{"má": "mã", "mã": "mà", "bo": "bỏ", "đa": "da", "cơ": "cô"} {
		if search.Tokens(a)[0].Marked == search.Tokens(b)[0].Marked {
			t.Errorf("%s and %s are one word", a, b)
		}
	}
}

func terms(q search.Query) (out []string) {
	for _, t := range q.Terms {
		var words []string
		for _, w := range t.Words {
			words = append(words, q.Text[w.Start:w.End])
		}
		s := strings.Join(words, "+")
		for mark, is := range map[string]bool{"-": t.Excluded, "*": t.Prefix, "~": t.StopWord} {
			if is {
				s = mark + s
			}
		}
		out = append(out, s)
	}
	return out
}

func TestParse_Operators(t *testing.T) {
	for text, want := range map[string][]string{
		`giá vàng`:                 {"giá", "vàng"},
		`"giá vàng" hôm nay`:       {"giá+vàng", "hôm", "nay"},
		`“giá vàng” covid-19`:      {"giá+vàng", "covid+19"},
		`apple -iphone -"one two"`: {"apple", "-iphone", "-one+two"},
		`elect* x* - * "" the`:     {"*elect", "x", "~the"},
		`the of và`:                {"the", "of", "và"},
		`a-b 30/4 "not closed`:     {"a+b", "30+4", "not+closed"},
	} {
		if got := terms(search.Parse(text)); !slices.Equal(got, want) {
			t.Errorf("%q is parsed as %q, want %q", text, got, want)
		}
	}
}

func TestSemanticRatio_DependsOnTheQuery(t *testing.T) {
	order := []string{`"fish and chips"`, "Hanoi", "gold price Vietnam today", "why do bees make more honey in towns?"}
	for i := 1; i < len(order); i++ {
		if a, b := search.Parse(order[i-1]).SemanticRatio(), search.Parse(order[i]).SemanticRatio(); a >= b {
			t.Errorf("%q: %v, %q: %v", order[i-1], a, order[i], b)
		}
	}
	if r := search.Parse(`semicond*`).SemanticRatio(); r != 0 {
		t.Errorf("with an operator, got the semantic ratio %v", r)
	}
}

func TestMatches_RequiresExactWords(t *testing.T) {
	d := search.Document{
		Title: "Giá vàng SJC tăng", Lead: "Người dân xếp hàng",
		Body: "Elections and gold prices. Má tôi mua.", Tags: []string{"kinh tế"}, Authors: []string{"Lê Thu Hà"},
	}
	text := search.NewText(d)
	for query, want := range map[string]bool{
		"giá vàng": true, "gia vang": true, "vàng giá": true, `"vàng giá"`: false, `"giá vàng"`: true,
		"già vàng": false, "má": true, "mã": false, "ma": true,
		// Across fields
		"election": true, "price golds": true, "elect*": true, "gol* -silver": true, "vàng -sjc": false,
		`vàng -"sjc giảm"`: true, `"tăng người"`: false,
		"kinh tế lê": true, "eelection": false, "": true, "the vàng": true,
	} {
		if got := search.Parse(query).Matches(text); got != want {
			t.Errorf("%q matches: %v", query, got)
		}
	}
}

// Saved searches match both spellings of a word, like searches.
func TestMatches_SpellingsOfOneWord(t *testing.T) {
	for title, queries := range map[string]map[string]bool{
		"Kỹ thuật trồng lúa":  {"kĩ thuật": true, `"kĩ thuật"`: true, "ki thuat": true, "ky thuat": true, "kì thuật": false},
		"Công ti gạch ngói":   {"công ty": true, `"công ty gạch"`: true, "cong ty": true, "-\"công ty\" gạch": false},
		"Bác sĩ ở Mĩ":         {"bác sỹ": true, "Mỹ": true, "my": true, "mỳ": false},
		"Cô Thúy kể chuyện":   {"cô thúi": false, "thuý": true},
		"Ðà Nẵng bắn pháo":    {"Đà Nẵng": true, `"Đà Nẵng"`: true, "đà nẵng": true, "da nang": true, "dà nẵng": false},
		"Đồng Nai":            {"Ðồng Nai": true, "\u0189ồng Nai": true},
		"Hoà bình":            {"hòa bình": true, "ho\u0300a bi\u0300nh": true},
		"Tho\u031b\u0300i sự": {"thời sự": true, `"thời sự"`: true},
	} {
		text := search.NewText(search.Document{Title: title})
		for query, want := range queries {
			if got := search.Parse(query).Matches(text); got != want {
				t.Errorf("%q matches %q: got %v, want %v", query, title, got, want)
			}
		}
	}
}

func TestSnippet_ShowsTheDensestWindow(t *testing.T) {
	body := strings.Repeat("một hai ba. ", 60) + "Giá vàng tăng mạnh. " + strings.Repeat("bốn năm sáu. ", 60)
	var shown string
	var marked []string
	for _, f := range search.NewHighlighter(search.Parse("gia vang")).Snippet("A lead without it", body) {
		if shown += f.Text; f.Match {
			marked = append(marked, f.Text)
		}
	}
	if !slices.Equal(marked, []string{"Giá vàng"}) || !strings.HasPrefix(shown, "… ") ||
		!strings.HasSuffix(shown, " …") || len(shown) > 400 {
		t.Errorf("%q is shown, %q is marked", shown, marked)
	}
	if f := search.NewHighlighter(search.Parse("nothing")).Snippet("", "Short text."); len(f) != 1 ||
		f[0].Text != "Short text." {
		t.Errorf("%+v", f)
	}
}

// Highlighted text is the page's own, rune for rune, in any spelling; text that looks
// like markup is text.
func TestHighlight_KeepsDiacritics(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"duong", "Đường cao tốc", "[Đường] cao tốc"},
		{"đường cao", "ĐƯỜNG CAO tốc", "[ĐƯỜNG CAO] tốc"},
		{"pho", "Pho\u031b\u0309 bò và phố", "[Pho\u031b\u0309] bò và [phố]"}, // decomposed
		{"hòa", "Hoà bình", "[Hoà] bình"},
		{`"covid 19"`, "Covid-19: ca mới", "[Covid]-[19]: ca mới"},
		{"script", "<script>alert(1)</script> & <b>", "<[script]>alert(1)</[script]> & <b>"},
		{"ngu*", "Nguyễn nguội ngày", "[Nguyễn nguội] ngày"},
	} {
		var got strings.Builder
		for _, f := range search.NewHighlighter(search.Parse(c.query)).Highlight(c.text) {
			if f.Match {
				got.WriteString("[" + f.Text + "]")
			} else {
				got.WriteString(f.Text)
			}
		}
		if got.String() != c.want {
			t.Errorf("%q marks %q, want %q", c.query, got.String(), c.want)
		}
	}
}

// For any query and text: nothing fails, fragments are parts of the text, and a query
// finds itself.
func FuzzSearch(f *testing.F) {
	f.Add("giá vàng", "Giá vàng hôm nay")
	f.Add(`-"a b* “`, "\xff\xfe\u0300\u0301 x")
	f.Fuzz(func(t *testing.T, query, text string) {
		q := search.Parse(query)
		for _, term := range q.Terms {
			for _, w := range term.Words {
				if w.Start < 0 || w.End > len(q.Text) || w.Start >= w.End {
					t.Fatalf("%q: a word from %d to %d", query, w.Start, w.End)
				}
			}
		}
		m := search.NewHighlighter(q)
		var all strings.Builder
		for _, part := range m.Highlight(text) {
			all.WriteString(part.Text)
		}
		if want := strings.ToValidUTF8(text, "\uFFFD"); all.String() != want {
			t.Errorf("%q became %q", want, all.String())
		}
		for _, part := range m.Snippet(text, query) {
			if !utf8.ValidString(part.Text) {
				t.Errorf("%q is not plain text", part.Text)
			}
		}
		own := search.NewText(search.Document{Title: query})
		if plain := search.Parse(strings.NewReplacer("-", " ", "\"", " ", "*", " ").
			Replace(query)); utf8.RuneCountInString(query) < search.MaxQueryLength && plain.IsPlain() &&
			!plain.Matches(own) {
			t.Errorf("%q does not find itself", query)
		}
	})
}

func TestFilters_ValueWithoutLettersMatchesNothing(t *testing.T) {
	for name, f := range map[string]search.Filters{
		"section": {Sections: []string{"—"}}, "tag": {Tags: []string{"😀"}}, "author": {Authors: []string{""}},
		"no domains": {VisibleDomains: []string{}},
	} {
		for _, d := range []search.Document{{}, {Section: "***", Tags: []string{"…"}, Authors: []string{"?"}}} {
			if f.Matches(d) {
				t.Errorf("%s: %+v matches %+v, want no match", name, f, d)
			}
		}
	}
	if f := (search.Filters{Sections: []string{"—", "kinh tế"}}); !f.Matches(search.Document{Section: "Kinh tế"}) {
		t.Error("the other value of the field does not match, want a match")
	}
}
