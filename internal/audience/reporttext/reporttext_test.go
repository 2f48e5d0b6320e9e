package reporttext_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"dateline/internal/audience/report"
	"dateline/internal/audience/reporttext"
	"dateline/internal/infra/webpage"
)

// Shared reports and emails use the words of the dashboard, in both languages.
func TestTexts_AreThoseOfTheDashboard(t *testing.T) {
	t.Parallel()
	for _, language := range []webpage.Language{webpage.English, webpage.Vietnamese} {
		look := webpage.Preferences{Language: language}
		raw, err := os.ReadFile("../../../web/src/i18n/" + string(language) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var dashboard struct {
			Report struct{ Metrics, Tables, Channels, Devices, Values, Filters map[string]string }
		}
		if err := json.Unmarshal(raw, &dashboard); err != nil {
			t.Fatal(err)
		}
		words := dashboard.Report
		expect := func(what string, got webpage.Text, want string) {
			t.Helper()
			if look.Translate(got) != want {
				t.Errorf("%s: %s: got %q, want %q", language, what, look.Translate(got), want)
			}
		}
		for _, m := range reporttext.Metrics() {
			expect(m.Key, m.Name, words.Metrics[m.Key])
		}
		for by, name := range reporttext.Tables() {
			expect(string(by), name, words.Tables[string(by)])
		}
		for value, want := range words.Channels {
			expect(value, reporttext.Channels()[value], want)
		}
		for value, want := range words.Devices {
			expect(value, reporttext.Devices()[value], want)
		}
		for name, f := range reporttext.Filters() {
			expect(name, f.Name, words.Filters[name])
		}
		expect("other", reporttext.Other(), words.Values["other"])
		expect("redacted", reporttext.Redacted(), words.Values["redacted"])
	}
}

func TestValue_IsNamedInTheLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by            report.Table
		value, en, vi string
	}{
		{report.Channels, "direct", "Direct", "Trực tiếp"},
		{report.Channels, "paid_social", "Paid social", "Mạng xã hội có trả tiền"},
		{report.Channels, "new_channel", "new_channel", "new_channel"},
		{report.Sources, "direct", "Direct", "Trực tiếp"},
		{report.Sources, "zalo.me", "zalo.me", "zalo.me"},
		{report.Sources, "search", "search", "search"},
		{report.Devices, "tablet", "Tablet", "Máy tính bảng"},
		{report.Countries, "VN", "Vietnam", "Việt Nam"},
		{report.Countries, "JP", "Japan", "Nhật Bản"},
		{report.Countries, "other", "Other", "Khác"},
		{report.Pages, "/direct", "/direct", "/direct"},
		{report.Pages, "redacted", "redacted", "redacted"},
		{report.Campaigns, "redacted", "Redacted", "Đã ẩn"},
	} {
		for language, want := range map[webpage.Language]string{webpage.English: c.en, webpage.Vietnamese: c.vi} {
			if got := reporttext.Value(webpage.Preferences{Language: language}, c.by, c.value); got != want {
				t.Errorf("%s %s in %s: got %q, want %q", c.by, c.value, language, got, want)
			}
		}
	}
}

func TestDays_AreWrittenAsInTheDashboard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, en, vi string }{
		{"2026-11-01", "2026-11-28", "Nov 1 – 28, 2026", "1/11/2026 – 28/11/2026"},
		{"2026-10-01", "2026-11-28", "Oct 1 – Nov 28, 2026", "1/10/2026 – 28/11/2026"},
		{"2025-12-01", "2026-01-02", "Dec 1, 2025 – Jan 2, 2026", "1/12/2025 – 2/1/2026"},
		{"2026-11-28", "2026-11-28", "Nov 28, 2026", "28/11/2026"},
	} {
		from, _ := time.Parse(time.DateOnly, c.from)
		to, _ := time.Parse(time.DateOnly, c.to)
		for language, want := range map[webpage.Language]string{webpage.English: c.en, webpage.Vietnamese: c.vi} {
			if got := reporttext.Days(webpage.Preferences{Language: language}, from, to); got != want {
				t.Errorf("%s to %s in %s: got %q, want %q", c.from, c.to, language, got, want)
			}
		}
	}
}

func TestFilter_NamesDimensionsAndValues(t *testing.T) {
	t.Parallel()
	filters := report.ParseFilters([]string{"page:/a", "country:VN", "country:LA"})
	for language, want := range map[webpage.Language]string{
		webpage.English: "Page: /a · Country: Vietnam or Laos", webpage.Vietnamese: "Trang: /a · Quốc gia: Việt Nam hoặc Lào",
	} {
		if got := reporttext.Filter(webpage.Preferences{Language: language}, filters); got != want {
			t.Errorf("%s: got %q, want %q", language, got, want)
		}
	}
}
