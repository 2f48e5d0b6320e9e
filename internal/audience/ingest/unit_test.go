package ingest

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPageName_Normalizes(t *testing.T) {
	for text, want := range map[string]string{
		"/":                    "/",
		"https://news.example": "/",
		"https://news.example/a/b/?utm_source=zalo&UTM_Medium=x&fbclid=1#c": "/a/b",
		"/a?b=2&a=1&gclid=x":                     "/a?a=1&b=2",
		"/a?ref=home":                            "/a",
		"//a":                                    "/a",
		"//a//":                                  "/a",
		"///a/b":                                 "/a/b",
		"https://news.example//a":                "/a",
		"//":                                     "/",
		"/t%C3%ACm%20ki%E1%BA%BFm":               "/tìm kiếm",
		"/a%0a%00b":                              "/a__b",
		" 0192f1a0-7c00-7000-8000-000000000001 ": "0192f1a0-7c00-7000-8000-000000000001",
		"order 7":                                "order 7",
		"/" + strings.Repeat("a", 199):           "/" + strings.Repeat("a", 199),
	} {
		if got, problem := PageName(text); got != want || problem != nil {
			t.Errorf("%q: got the page %q, want %q; %v", text, got, want, problem)
		}
	}
	for _, parameter := range []string{
		"gidzl=x1", "mibextid=Zxz2cZ", "gad_campaignid=1", "gclsrc=aw.ds", "rdt_cid=1", "ScCid=1", "epik=dj0y",
		"irclickid=1", "_branch_match_id=1", "__twitter_impression=true", "xmt=AQF0", "ysclid=l1", "ndclid=1",
		"__cft__[0]=AZ", "sfnsn=wa", "_x_tr_sl=vi", "NaPm=ct",
	} {
		if got, problem := PageName("/a?id=7&" + parameter); got != "/a?id=7" || problem != nil {
			t.Errorf("%s: got the page %q, %v", parameter, got, problem)
		}
	}
	for _, parameter := range []string{"q=x", "page=2", "name=a", "article=1", "reference=1", "cid=1"} { // what is read
		if got, _ := PageName("/a?" + parameter); got != "/a?"+parameter {
			t.Errorf("%s: got the page %q", parameter, got)
		}
	}
	for _, text := range []string{
		"", "  ", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 4001), "/%zz",
		"http://[::1",
	} {
		if got, problem := PageName(text); problem == nil {
			t.Errorf("%q: got the page %q", text, got)
		}
	}
	one, _ := PageName("/" + strings.Repeat("ệ", 100) + "1")
	two, _ := PageName("/" + strings.Repeat("ệ", 100) + "2")
	if one == two || len(one) > 200 || !utf8.ValidString(one) {
		t.Errorf("%q and %q", one, two)
	}
}

func FuzzPageName(f *testing.F) {
	for _, text := range []string{
		"/a?b=c&utm_x=1", "https://news.example/%C3%A1", "id",
		"/" + strings.Repeat("ệ", 100),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, problem := PageName(text)
		if problem != nil {
			return
		}
		if name == "" || len(name) > 200 || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\n") {
			t.Fatalf("%q: got the page %q", text, name)
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, body := range []string{
		`{"site":"x","page":"/a"}`, `{"site":5}`, `null`, `{"site":"x"}{}`, `{"colour":1}`,
		`[]`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var m message
		if problem := decode(body, &m); problem != nil && (problem.Field == "" || problem.Code == "" ||
			problem.Message == "") {
			t.Errorf("%q: %+v", body, problem)
		}
		var row serverHit
		if problem := decode(body, &row); problem != nil && problem.Field == "" {
			t.Errorf("%q: %+v", body, problem)
		}
	})
}
