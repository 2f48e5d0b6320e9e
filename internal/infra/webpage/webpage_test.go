package webpage_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/csp"
	"dateline/internal/infra/webpage"
)

func TestPreferencesOf_DashboardBeforeBrowser(t *testing.T) {
	for _, c := range []struct {
		name, accept, cookies string
		want                  webpage.Preferences
	}{
		{"nothing", "", "", webpage.Preferences{Language: webpage.English}},
		{"browser", "vi-VN,vi;q=0.9,en;q=0.8", "", webpage.Preferences{Language: webpage.Vietnamese}},
		{"weights", "en;q=0.3, vi;q=0.7", "", webpage.Preferences{Language: webpage.Vietnamese}},
		{"unwanted", "vi;q=0, en;q=0.1", "", webpage.Preferences{Language: webpage.English}},
		{"other language", "fr-FR,fr;q=0.9", "", webpage.Preferences{Language: webpage.English}},
		{"dashboard", "en", "dateline-language=vi; dateline-scheme=dark", webpage.Preferences{
			Language: webpage.Vietnamese, Scheme: "dark",
		}},
		{"nonsense", "vi", `dateline-language=xx; dateline-scheme="><script>`, webpage.Preferences{
			Language: webpage.Vietnamese,
		}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", c.accept)
		r.Header.Set("Cookie", c.cookies)
		if got := webpage.PreferencesOf(r); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPage_IsEscapedAndAllowedByItsPolicy(t *testing.T) {
	look := webpage.Preferences{Language: webpage.Vietnamese, Scheme: "dark"}
	body, err := look.Body(`<b>{{.}}</b>`, "<i>")
	if err != nil {
		t.Fatal(err)
	}
	page, err := look.HTML(webpage.Page{Title: "<Title>", Error: "<Error>", Texts: []string{"<Text>"}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<html lang="vi" data-scheme="dark">`, "&lt;Title&gt;", "&lt;Error&gt;",
		"&lt;Text&gt;", "<b>&lt;i&gt;</b>", `<link rel="icon" href="data:image/svg`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("got a page without %s:\n%s", want, page)
		}
	}
	if got, want := csp.StyleHash(page), webpage.StyleSource(); got != want {
		t.Errorf("got the style %s, want %s: browsers would not apply it", got, want)
	}
}

func TestText_HasBothLanguages(t *testing.T) {
	text := webpage.Text{EN: "Log in with %s", VI: "Đăng nhập bằng %s"}
	for language, want := range map[webpage.Language]string{
		webpage.English:    "Log in with A",
		webpage.Vietnamese: "Đăng nhập bằng A",
	} {
		if got := (webpage.Preferences{Language: language}).Translate(text, "A"); got != want {
			t.Errorf("%s: got %q, want %q", language, got, want)
		}
	}
}

func TestLongTime_HasTheWeekday(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at     time.Time
		en, vi string
	}{
		{time.Date(2026, 11, 28, 10, 1, 0, 0, time.UTC), "Saturday, Nov 28, 10:01", "10:01, Thứ Bảy 28/11"},
		{time.Date(2026, 11, 29, 0, 5, 0, 0, time.UTC), "Sunday, Nov 29, 00:05", "00:05, Chủ Nhật 29/11"},
		{time.Date(2027, 1, 4, 17, 30, 0, 0, time.UTC), "Monday, Jan 4, 2027, 17:30", "17:30, Thứ Hai 4/1/2027"},
	} {
		for language, want := range map[webpage.Language]string{webpage.English: c.en, webpage.Vietnamese: c.vi} {
			if got := (webpage.Preferences{Language: language}).LongTime(c.at, now); got != want {
				t.Errorf("%s: got %q, want %q", language, got, want)
			}
		}
	}
}
