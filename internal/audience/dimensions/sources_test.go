package dimensions_test

import (
	"strings"
	"testing"

	"dateline/internal/audience/dimensions"
)

func TestArrival_ChannelsAndSources(t *testing.T) {
	r := dimensions.NewReferrers()
	own := func(host string) bool { return host == "news.example" || strings.HasSuffix(host, ".news.example") }
	for _, c := range []struct{ page, referrer, agent, want string }{
		{"/a", "", "", "direct|direct|"},
		{"/a", "https://news.example/b", "", "internal|internal|"},
		{"/a", "https://m.news.example/", "", "internal|internal|"},
		{"/a", "https://blog.example/x", "", "referral|blog.example|"},
		{"/a", "https://www.google.com.vn/", "", "search|google.com|"},
		{"/a", "https://coccoc.com/search?query=x", "", "search|coccoc.com|"},
		{"/a", "https://baomoi.com/", "", "news|baomoi.com|"},
		{"/a", "android-app://com.google.android.googlequicksearchbox/", "", "news|discover.google.com|"},
		{"/a", "https://chat.zalo.me/", "", "social|zalo.me|"},
		{"/a", "", "Mozilla/5.0 (Linux) Mobile Safari/537.36 Zalo android/481", "social|zalo.me|"},
		{"/a", "https://chatgpt.com/", "", "ai|chatgpt.com|"},
		{"/a?utm_source=chatgpt.com", "", "", "ai|chatgpt.com|"},
		{"/a", "https://www.perplexity.ai/", "", "ai|perplexity.ai|"},
		{"/a", "https://gemini.google.com/app", "", "ai|gemini.google.com|"},
		{"/a", "https://copilot.microsoft.com/", "", "ai|copilot.microsoft.com|"},
		{"/a", "https://claude.ai/", "", "ai|claude.ai|"},
		{"/a", "https://m.youtube.com/", "", "video|youtube.com|"},
		{"/a?utm_source=FB&utm_medium=CPC&utm_campaign=Bầu%20cử", "", "", "paid_social|facebook.com|bầu cử"},
		{"/a?gclid=x", "https://www.google.com/", "", "paid_search|google.com|"},
		{"/a?gclid=x", "", "", "paid_search|google.com|"},
		{"/a?msclkid=x", "", "", "paid_search|bing.com|"},
		{"/a?fbclid=x", "", "", "social|facebook.com|"},
		{"/a?utm_source=yt&utm_medium=paid-video", "", "", "paid_video|youtube.com|"},
		{"https://news.example/a?utm_source=Weekly&utm_medium=Newsletter#x", "https://news.example/", "", "email|weekly|"},
		{"/a?utm_source=app&utm_medium=push", "", "", "push|app|"},
		{"/a?utm_medium=affiliate", "", "", "affiliate|affiliate|"},
		{"/a?utm_source=reader@example.com&utm_campaign=0912345678", "", "", "referral|redacted|redacted"},
		{"/a?utm_source=ig&utm_campaign=" + strings.Repeat("a1", 20), "", "", "social|instagram.com|redacted"},
		{"/a?utm_campaign=" + strings.Repeat("ầ ", 90), "", "", "direct|direct|" + strings.TrimSpace(strings.Repeat("ầ ", 15))},
		{"/a?utm_source=%zz&x=1", "", "", "direct|direct|"},
	} {
		a := r.Arrival(c.page, c.referrer, c.agent, own)
		if got := string(a.Channel) + "|" + a.Source + "|" + strings.TrimSpace(a.Campaign); got != c.want {
			t.Errorf("%s from %q: got %s, want %s", c.page, c.referrer, got, c.want)
		}
	}
}

func TestBrowser_AndOS(t *testing.T) {
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for agent, want := range map[string]string{
		"": "|",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/120.0.0.0 Safari/537.36":                         "Chrome|Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/120.0.0.0 Safari/537.36 Edg/120.0":               "Edge|Windows",
		"Mozilla/5.0 (Windows NT 10.0)" + webkit + "coc_coc_browser/112.0.0 Chrome/106.0.0.0 Safari/537.36":             "Cốc Cốc|Windows",
		"Mozilla/5.0 (Linux; Android 10; K)" + webkit + "Chrome/120.0.0.0 Mobile Safari/537.36":                         "Chrome|Android",
		"Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S911B)" + webkit + "SamsungBrowser/23.0 Chrome/115.0 Safari/537.36": "Samsung Internet|Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) Version/17.1 Mobile/15E148 Safari/604.1":                "Safari|iOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) CriOS/119.0 Mobile/15E148 Safari/604.1":                 "Chrome|iOS",
		"Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21B101 [FBAN/FBIOS;FBAV/442.0]":           "Facebook|iOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:120.0) Gecko/20100101 Firefox/120.0":                          "Firefox|macOS",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit + "Chrome/119.0.0.0 Safari/537.36":                          "Chrome|ChromeOS",
		"Mozilla/5.0 (X11; Linux x86_64)" + webkit + "Chrome/119.0 Safari/537.36 OPR/105":                               "Opera|Linux",
		"Something": "other|other",
	} {
		if got := dimensions.Browser(agent) + "|" + dimensions.OS(agent); got != want {
			t.Errorf("%q: got %s, want %s", agent, got, want)
		}
	}
}
