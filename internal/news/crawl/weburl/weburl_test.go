package weburl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

func TestParse_Canonical(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		// the WHATWG URL Standard
		{"https://example.org", "https://example.org/"},
		{" https://example.org/a \n", "https://example.org/a"},
		{"HTTPS://EXAMPLE.org/A", "https://example.org/A"},
		{"https:\\\\example.org\\a", "https://example.org/a"},
		{"https:example.org/a", "https://example.org/a"},
		{"http://example.org:80/", "http://example.org/"},
		{"https://example.org:443/", "https://example.org/"},
		{"http://example.org:8080/", "http://example.org:8080/"},
		{"https://example.org/a/./b/../c", "https://example.org/a/c"},
		{"https://example.org/%2e%2E/a", "https://example.org/a"},
		{"https://example.org./a", "https://example.org/a"},
		{"https://báo.example/", "https://xn--bo-mia.example/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://[::0001]/", "http://[::1]/"},
		{"https://example.org/tìm kiếm", "https://example.org/t%C3%ACm%20ki%E1%BA%BFm"},
		// fragments
		{"https://example.org/a#b", "https://example.org/a"},
		{"https://example.org/a#!b", "https://example.org/a"},
		// percent-encoding
		{"https://example.org/%7ea%2fb%41", "https://example.org/~a%2FbA"},
		{"https://example.org/100%", "https://example.org/100%"},
		{"https://example.org/?q=%c3%ac", "https://example.org/?q=%C3%AC"},
		// queries
		{"https://example.org/a?", "https://example.org/a"},
		{"https://example.org/a?&&", "https://example.org/a"},
		{"https://example.org/a?b=2&a=1", "https://example.org/a?a=1&b=2"},
		{"https://example.org/a?x=2&x=1", "https://example.org/a?x=2&x=1"},
		{"https://example.org/a?12345", "https://example.org/a?12345"},
		{"https://example.org/a?b=", "https://example.org/a?b="},
		// tracking
		{"https://example.org/a?utm_source=x&UTM_Medium=y&id=1", "https://example.org/a?id=1"},
		{"https://example.org/a?fbclid=1&gclid=2&zarsrc=3&gidzl=4", "https://example.org/a"},
		{"https://example.org/a?vn_source=x&vn_zone=3&vn_medium=z", "https://example.org/a"},
		{"https://example.org/a?utm%5Fsource=x", "https://example.org/a"},
		{"https://example.org/a?utm=1&source=2", "https://example.org/a?source=2&utm=1"},
		// sessions
		{"https://example.org/a;jsessionid=0123ABCD?id=1", "https://example.org/a?id=1"},
		{"https://example.org/a;v=1", "https://example.org/a;v=1"},
		{"https://example.org/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "https://example.org/a.aspx"},
		{"https://example.org/a?PHPSESSID=abc&sid=0123456789abcdef0123", "https://example.org/a"},
		{"https://example.org/a?sid=12&s=tin", "https://example.org/a?s=tin&sid=12"},
		{"https://example.org/a?s=tranhchapbiendong", "https://example.org/a?s=tranhchapbiendong"},
		{"https://example.org/a?ASPSESSIONIDQQ=X", "https://example.org/a"},
	} {
		u, err := Parse(c.raw, Rules{})
		if err != nil || u.String() != c.want {
			t.Errorf("%q: %q %v", c.raw, u, err)
		}
	}
}

func TestParse_Errors(t *testing.T) {
	long := strings.Repeat("a", MaxLength)
	for raw, want := range map[string]error{
		"": ErrInvalid, "news": ErrInvalid, "/a": ErrInvalid, "https://": ErrInvalid,
		"https://exa mple.org/": ErrInvalid, "http://a:99999/": ErrInvalid,
		"http://../": ErrInvalid, "http://./": ErrInvalid, "mailto:a@example.org": ErrScheme,
		"javascript:alert(1)": ErrScheme, "ftp://example.org/": ErrScheme, "data:,a": ErrScheme,
		"https://user@example.org/": ErrCredentials, "https://:secret@example.org/": ErrCredentials,
		"https://example.org/" + long: ErrTooLong, "https://example.org/?a=" + strings.Repeat(long, 20): ErrTooLong,
	} {
		if u, err := Parse(raw, Rules{}); !errors.Is(err, want) {
			t.Errorf("%.60q: %q %v", raw, u, err)
		}
	}
	// Dropped parameters do not count.
	if _, err := Parse("https://example.org/?fbclid="+long, Rules{}); err != nil {
		t.Error(err)
	}
}

func TestResolve_References(t *testing.T) {
	base, _ := Parse("https://example.org/tin/a.html?id=1", Rules{})
	for ref, want := range map[string]string{
		"b.html": "https://example.org/tin/b.html", "/b": "https://example.org/b", "../b": "https://example.org/b",
		"?x=1":             "https://example.org/tin/a.html?x=1",
		"//khac.example/b": "https://khac.example/b", "#top": "https://example.org/tin/a.html?id=1",
		"":                    "https://example.org/tin/a.html?id=1",
		"http://example.org/": "http://example.org/",
	} {
		if u, err := base.Resolve(ref, Rules{}); err != nil || u.String() != want {
			t.Errorf("%q: %q %v", ref, u, err)
		}
	}
}

func TestRules_Parameters(t *testing.T) {
	for _, c := range []struct {
		rules     Rules
		raw, want string
	}{
		{
			Rules{Drop: []string{"ref", "click_*"}},
			"https://example.org/?ref=1&click_a=2&id=3",
			"https://example.org/?id=3",
		},
		{
			Rules{Keep: []string{"utm_source"}},
			"https://example.org/?utm_source=1&utm_medium=2",
			"https://example.org/?utm_source=1",
		},
		{
			Rules{Keep: []string{"id"}, DropOthers: true},
			"https://example.org/?id=1&a=2&b=3",
			"https://example.org/?id=1",
		},
		{Rules{DropNothing: true}, "https://example.org/?utm_source=1", "https://example.org/?utm_source=1"},
		{Rules{HTTPS: true}, "http://example.org/a", "https://example.org/a"},
		{Rules{HTTPS: true}, "http://example.org:8080/a", "http://example.org:8080/a"},
	} {
		if u, err := Parse(c.raw, c.rules); err != nil || u.String() != c.want {
			t.Errorf("%+v %s: %s %v", c.rules, c.raw, u, err)
		}
	}
}

func TestURL_Parts(t *testing.T) {
	u, err := Parse("http://thethao.baomau.com.vn:8080/tin?b=1&a", Rules{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(u.Scheme(), " ", u.Host(), " ", u.Hostname(), " ", u.Domain(), " ", u.Path(), " ", u.Query(), " ",
		u.Origin(), " ", u.RequestURI())
	if want := "http thethao.baomau.com.vn:8080 thethao.baomau.com.vn baomau.com.vn /tin a&b=1 " +
		"http://thethao.baomau.com.vn:8080 /tin?a&b=1"; got != want {
		t.Error(got)
	}
	for host, want := range map[string]string{
		"www.example.org": "example.org", "a.b.gov.vn": "b.gov.vn",
		"com.vn": "com.vn", "localhost": "localhost",
		"127.0.0.1": "127.0.0.1", "[::1]": "[::1]", "A.Example.ORG.": "example.org", "site-0001.test": "site-0001.test",
		"x.blogspot.com": "x.blogspot.com",
	} {
		if got := Domain(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

func TestURL_Hash(t *testing.T) {
	a, _ := Parse("https://example.org/a?utm_source=x", Rules{})
	b, _ := Parse("https://example.org/a", Rules{})
	c, _ := Parse("https://example.org/b", Rules{})
	if a != b || a.Hash() != b.Hash() || b.Hash() == c.Hash() {
		t.Error("hashes of different pages are equal")
	}
	// The hash is stored: it must never change.
	if got := b.Hash().String(); got != "b5b10dd0429e69ac7cfaf0a20b6901c1" {
		t.Errorf("the hash of %s became %s", b, got)
	}
}

func TestURL_JSON(t *testing.T) {
	u, _ := Parse("https://example.org/a?b=1", Rules{})
	data, err := json.Marshal(map[string]URL{"u": u, "none": {}})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]URL
	if err := json.Unmarshal(data, &back); err != nil || back["u"] != u || !back["none"].IsZero() {
		t.Errorf("%s: %v %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"u":"ftp://x"}`), &back); err == nil {
		t.Error("ftp was accepted")
	}
}

func TestLearn_Rules(t *testing.T) {
	page := func(n int, query, canonical, content string) Observation {
		u := fmt.Sprintf("https://example.org/tin-%d.html", n)
		o := Observation{URL: u + query, Content: content}
		if canonical != "-" {
			o.Canonical = u + canonical
		}
		return o
	}
	three := func(query, canonical, content string) (all []Observation) {
		for n := range 3 {
			all = append(all, page(n, query, canonical, content))
		}
		return all
	}
	for _, c := range []struct {
		name       string
		seen       []Observation
		drop, keep string
	}{
		{"nothing seen", nil, "", ""},
		{"canonical URLs omit it", three("?ref=home", "", ""), "ref", ""},
		{"two pages are too few", three("?ref=home", "", "")[:2], "", ""},
		{
			"one page often is one page", []Observation{
				page(1, "?ref=a", "", ""), page(1, "?ref=b", "", ""),
				page(1, "?ref=c", "", ""),
			}, "", "",
		},
		{"one canonical URL has it", append(three("?ref=home", "", ""), page(9, "?ref=home", "?ref=home", "")), "", ""},
		{"the same text with and without", slices.Concat(
			[]Observation{
				page(1, "?ref=a", "-", "x"), page(1, "", "-", "x"), page(2, "?ref=a", "-", "y"),
				page(2, "?ref=b", "-", "y"), page(3, "?ref=a", "-", "z"), page(3, "", "-", "z"),
			}), "ref", ""},
		{"another text, whatever the canonical URL", append(three("?part=1", "", ""), page(7, "?part=1", "", "a"),
			page(7, "?part=2", "", "b")), "", ""},
		{"it selects a page of a list", three("?page=2", "", ""), "", ""},
		{"tracking is dropped anyway", three("?utm_source=a", "", ""), "", ""},
		{
			"a parameter that looks like tracking changes the page",
			[]Observation{page(1, "?spm=1", "-", "a"), page(1, "?spm=2", "-", "b")},
			"", "spm",
		},
		{"a canonical URL of another site proves nothing", []Observation{
			{URL: "https://example.org/a?ref=1", Canonical: "https://example.org/"},
			{URL: "https://example.org/b?ref=1", Canonical: "https://example.org/"},
			{URL: "https://example.org/c?ref=1", Canonical: "https://example.org/"},
		}, "", ""},
		{"rubbish", []Observation{{URL: "::", Canonical: "::", Content: "x"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := Learn(c.seen)
			if strings.Join(rules.Drop, " ") != c.drop || strings.Join(rules.Keep, " ") != c.keep {
				t.Errorf("%+v", rules)
			}
		})
	}
}

// TestLearn_RulesApply checks that learned rules make the URLs of one page equal.
func TestLearn_RulesApply(t *testing.T) {
	var seen []Observation
	for n := range 5 {
		seen = append(seen, Observation{
			URL:       fmt.Sprintf("https://example.org/tin-%d.html?box=hot&id=%d", n, n),
			Canonical: fmt.Sprintf("https://example.org/tin-%d.html?id=%d", n, n),
		})
	}
	rules := Learn(seen)
	a, _ := Parse("https://example.org/tin.html?id=1&box=hot", rules)
	b, _ := Parse("https://example.org/tin.html?id=1", rules)
	c, _ := Parse("https://example.org/tin.html?id=2", rules)
	if a != b || b == c {
		t.Errorf("%+v: %s %s %s", rules, a, b, c)
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		"https://example.org/a?b=1&utm_source=c#d", "http://0x7f.1/%2e%2E/;jsessionid=1",
		"https://báo.example/%", "http://[::1]:80/?&=&", "//x",
		"https://a/(S(lit3py55t21z5v55vlm25s55))/;sid=1;sid=2",
	} {
		f.Add(raw, "../b?c")
	}
	f.Fuzz(func(t *testing.T, raw, ref string) {
		u, err := Parse(raw, Rules{})
		wantStandard(t, raw, URL{})
		if err != nil {
			return
		}
		wantStandard(t, ref, u)
		for _, one := range []URL{u, func() URL { r, _ := u.Resolve(ref, Rules{}); return r }()} {
			if one.IsZero() {
				continue
			}
			again, err := Parse(one.String(), Rules{})
			if err != nil || again != one {
				t.Errorf("%q becomes %q, and that %q: %v", raw, one, again, err)
			}
			if len(one.String()) > MaxLength || one.Domain() == "" || !strings.HasPrefix(one.RequestURI(), "/") {
				t.Errorf("%q: %+v", raw, one)
			}
		}
	})
}

// wantStandard checks that plain agrees with the Standard's parser.
func wantStandard(t *testing.T, raw string, base URL) {
	t.Helper()
	if _, ok := parsePlain(raw, base); !ok {
		return
	}
	got, err := parse(raw, base, Rules{})
	want, wanted := parseStandard(raw, base, Rules{})
	if got != want || !errors.Is(err, wanted) {
		t.Errorf("%q on %q is %+v (%v), by the Standard %+v (%v)", raw, base, got, err, want, wanted)
	}
	if !base.IsZero() {
		return
	}
	if u, err := whatwg.Parse(raw); err != nil || u.Href(true) != raw {
		t.Errorf("%q is not as the Standard writes it: %v %v", raw, u, err)
	}
}

func TestParsePlain_MatchesStandard(t *testing.T) {
	base, err := Parse("http://báo.example:8080/a/b?c=1", Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for raw, ok := range map[string]bool{
		"https://example.org/": true,
		"http://site-0001.test:4711/thoi-su/gia-vang-4819273.html":  true,
		"https://a.b-c.d1.example.com.vn/A/~b/c,d+e=f:g@h!i&j*k$.l": true,
		"https://example.org/a?b=%E1&utm_source=x;y?z":              true,
		"https://example.org:8443/a//b":                             true,
		"/tin-tuc/gia-vang-4819273.html?box=1":                      true,
		"/":                                                         true,
		"https://example.org":                                       false,
		"https://example.org/a?":                                    false,
		"https://example.org/a#b":                                   false,
		"https://example.org/../a":                                  false,
		"https://example.org/a/.b":                                  false,
		"https://example.org/%2e%2e/a":                              false,
		"https://example.org/a b":                                   false,
		"https://example.org/a\tb":                                  false,
		"https://example.org\\a/":                                   false,
		"https://example.org/tìm":                                   false,
		"https://example.org/a;jsessionid=1":                        false,
		"https://example.org/(S(lit3py55t21z5v55vlm25s55))/":        false,
		"https://Example.org/":                                      false,
		"https://example.org./":                                     false,
		"https://example..org/":                                     false,
		"https://xn--bo-mia.example/":                               false,
		"https://-a.example/":                                       false,
		"https://a-.example/":                                       false,
		"https://127.0.0.1/":                                        false,
		"https://127.1/":                                            false,
		"https://example.0x7f/":                                     false,
		"https://[::1]/":                                            false,
		"https://a:b@example.org/":                                  false,
		"https://a@example.org/":                                    false,
		"https://example.org:/":                                     false,
		"https://example.org:443/":                                  false,
		"http://example.org:80/":                                    false,
		"https://example.org:080/":                                  false,
		"https://example.org:65536/":                                false,
		"https://example.org:1e3/":                                  false,
		"HTTPS://example.org/":                                      false,
		" https://example.org/":                                     false,
		"//example.org/a":                                           false,
		"a/b":                                                       false,
		"?a=1":                                                      false,
		"":                                                          false,
	} {
		for _, on := range []URL{{}, base} {
			if _, got := parsePlain(raw, on); got != (ok && (raw[0] != '/' || !on.IsZero())) {
				t.Errorf("%q on %q: plain %v", raw, on, got)
			}
			wantStandard(t, raw, on)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, raw := range map[string]string{
		"plain":   "https://example.org/thoi-su/gia-vang-sang-nay-4819273.html",
		"encoded": "https://example.org/thoi-su/gi%C3%A1-v%C3%A0ng-4819273.html",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(raw, Rules{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
