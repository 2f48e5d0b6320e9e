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
		{
			"https://news.example/a?utm_source=Weekly&utm_medium=Newsletter#x", "https://news.example/", "",
			"email|weekly|",
		},
		{"/a?utm_source=app&utm_medium=push", "", "", "push|app|"},
		{"/a?utm_medium=affiliate", "", "", "affiliate|affiliate|"},
		{"/a?utm_source=reader@example.com&utm_campaign=0912345678", "", "", "referral|redacted|redacted"},
		{"/a?utm_source=ig&utm_campaign=" + strings.Repeat("a1", 20), "", "", "social|instagram.com|redacted"},
		{
			"/a?utm_campaign=" + strings.Repeat("ầ ", 90), "", "",
			"direct|direct|" + strings.TrimSpace(strings.Repeat("ầ ", 15)),
		},
		{"/a?utm_source=%zz&x=1", "", "", "direct|direct|"},
	} {
		a := r.Arrival(c.page, c.referrer, c.agent, own)
		if got := string(a.Channel) + "|" + a.Source + "|" + strings.TrimSpace(a.Campaign); got != c.want {
			t.Errorf("%s from %q: got %s, want %s", c.page, c.referrer, got, c.want)
		}
	}
}

// One name for each source, whether the referrer, the app, the agent or the URL names it.
func TestArrival_Sources(t *testing.T) {
	const (
		iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 "
		android = "Mozilla/5.0 (Linux; Android 14; SM-A165F; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
			"Chrome/142.0.0.0 Mobile Safari/537.36 "
	)
	r := dimensions.NewReferrers()
	own := func(host string) bool { return host == "news.example" }
	for _, c := range []struct{ page, referrer, agent, want string }{
		// Apps.
		{"/a", "android-app://com.slack/", "", "social|slack.com|"},
		{"/a", "android-app://vn.unknown.reader/", "", "referral|vn.unknown.reader|"},
		{"/a", "android-app://com.unknown_app.x/https/www.blog.example/path", "", "referral|blog.example|"},
		{"/a", "ios-app://585027354/http/www.google.com", "", "search|google.com|"},
		{"/a", "ios-app://284882215/https/www.facebook.com/story", "", "social|facebook.com|"},
		{"/a", "ios-app://999999999", "", "referral|id999999999|"},
		{"/a", "android-app://com.google.android.googlequicksearchbox/https/www.google.com", "", "search|google.com|"},
		{"/a", "android-app://com.google.android.googlequicksearchbox", "", "news|discover.google.com|"},
		{
			"/a", "android-app://com.google.android.googlequicksearchbox/https/news.example", "",
			"news|discover.google.com|",
		},
		{"/a", "android-app://com.google.android.gm/", "", "email|mail.google.com|"},
		// Browsers in apps.
		{"/a", "", iphone + "MetaIAB Facebook", "social|facebook.com|"},
		{"/a", "", iphone + "MetaIAB Instagram", "social|instagram.com|"},
		{"/a", "", "[FBAN/FB4A;FBAV/600.0.0.0.1;FBBV/1;FBDV/SM-A165F;FBSV/15]", "social|facebook.com|"},
		{
			"/a", "", iphone + "musical_ly_33.0.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/vi",
			"video|tiktok.com|",
		},
		{"/a", "", iphone + "BytedanceWebview/d8a21c6", "video|tiktok.com|"},
		{"/a", "", android + "TwitterAndroid", "social|x.com|"},
		{"/a", "", iphone + "Snapchat/12.12.0.35 (like Safari/8613.2.7.0.9, panda)", "social|snapchat.com|"},
		{"/a", "", android + "MicroMessenger/8.0.25.2200(0x28001956) WeChat/arm64 Weixin", "social|wechat.com|"},
		{"/a", "", iphone + "SmartNews/24.1.0", "news|smartnews.com|"},
		{"/a", "", strings.TrimSpace(android) + ";KAKAOTALK 2409720", "social|kakao.com|"},
		{"/a", "", iphone + "Safari Line/13.9.0", "social|line.me|"},
		{"/a", "", android + "Online/2.0", "direct|direct|"},
		// Parameters.
		{"/a?UTM_Source=zalo&UTM_Campaign=T4", "", "", "social|zalo.me|t4"},
		{"/a?Utm_Source=Facebook&uTM_mEDIUM=CPC", "", "", "paid_social|facebook.com|"},
		{"/a?utm_source=google-news", "", "", "news|news.google.com|"},
		{"/a?utm_source=Google%20News", "", "", "news|news.google.com|"},
		{"/a?utm_source=facebook-ads", "", "", "social|facebook.com|"},
		{"/a?utm_source=fb_fanpage", "", "", "social|facebook.com|"},
		{"/a?utm_source=instagram-stories", "", "", "social|instagram.com|"},
		{"/a?utm_source=https://facebook.com", "", "", "social|facebook.com|"},
		{"/a?utm_source=https%3A%2F%2Fm.facebook.com%2Fgroups", "", "", "social|facebook.com|"},
		{"/a?utm_source=zalo-oa", "", "", "social|zalo.me|"},
		{"/a?utm_source=www.blog.example", "", "", "referral|blog.example|"},
		{"/a?utm_source=partner-ads", "", "", "referral|partner-ads|"},
		{"/a?gidzl=abc", "", "", "social|zalo.me|"},
		{"/a?mibextid=Zxz2cZ", "", "", "social|facebook.com|"},
		{"/a?ScCid=1", "", "", "social|snapchat.com|"},
		{"/a?gad_campaignid=1", "", "", "paid_search|google.com|"},
	} {
		a := r.Arrival(c.page, c.referrer, c.agent, own)
		if got := string(a.Channel) + "|" + a.Source + "|" + a.Campaign; got != c.want {
			t.Errorf("%s from %q, %q: got %s, want %s", c.page, c.referrer, c.agent, got, c.want)
		}
	}
	for channel, hosts := range map[dimensions.Channel][]string{
		dimensions.AI: {
			"duck.ai", "chat.qwen.ai", "kimi.com", "www.kimi.com", "doubao.com", "m365.cloud.microsoft",
			"notebooklm.google.com", "chatglm.cn", "iask.ai", "labs.openai.com",
		},
		dimensions.Search: {
			"lens.google.com", "images.google.com", "images.google.com.vn", "images.google.de", "search.daum.net",
			"laban.vn", "search.naver.com", "m.search.naver.com", "de.search.yahoo.com", "www.mojeek.com",
			"cse.google.co.uk", "yandex.kz",
		},
		dimensions.News: {
			"news.yahoo.co.jp", "news.yahoo.com", "news.naver.com", "n.news.naver.com", "news.google.com",
			"news.google.de", "news.ycombinator.com", "newsbreak.com", "www.newsbreak.com", "toutiao.com", "dzen.ru",
			"getpocket.com", "news.baidu.com",
		},
		dimensions.Email: {
			"mail.yandex.ru", "mail.naver.com", "outlook.office365.com", "mail.proton.me", "mail.qq.com",
			"webmail.isp.example", "mail.zoho.com", "e.mail.ru", "outlook.live.com",
		},
		dimensions.Social: {
			"app.slack.com", "discord.gg", "t.cn", "mp.weixin.qq.com", "xiaohongshu.com", "www.xiaohongshu.com",
			"t.umblr.com", "otofun.net", "www.otofun.net", "webtretho.com", "news.otofun.net", "ok.ru", "xing.com",
		},
		dimensions.Referral: {
			"cnn.com", "mail.example", "news.blog.example", "google.blog.example",
			"discover.blog.example", "cafe.daum.example",
		},
	} {
		for _, host := range hosts {
			if got := r.Arrival("/a", "https://"+host+"/", "", own); got.Channel != channel {
				t.Errorf("%s: got %s (%s), want %s", host, got.Channel, got.Source, channel)
			}
		}
	}
	for host, want := range map[string]string{
		"t.umblr.com": "tumblr.com", "discord.gg": "discord.com",
		"t.cn": "weibo.com", "images.google.fr": "google.com",
		"outlook.office365.com": "outlook.com", "search.naver.com": "naver.com", "n.news.naver.com": "news.naver.com",
		"mail.yandex.ru": "mail.yandex.com",
	} {
		if got := r.Resolve("https://"+host+"/", "", own); got != want {
			t.Errorf("%s: got the source %s, want %s", host, got, want)
		}
	}
}

func TestBrowser_AndOS(t *testing.T) {
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for agent, want := range map[string]string{
		"": "|",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit +
			"Chrome/120.0.0.0 Safari/537.36": "Chrome|Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit +
			"Chrome/120.0.0.0 Safari/537.36 Edg/120.0": "Edge|Windows",
		"Mozilla/5.0 (Windows NT 10.0)" + webkit +
			"coc_coc_browser/112.0.0 Chrome/106.0.0.0 Safari/537.36": "Cốc Cốc|Windows",
		"Mozilla/5.0 (Linux; Android 10; K)" + webkit +
			"Chrome/120.0.0.0 Mobile Safari/537.36": "Chrome|Android",
		"Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S911B)" + webkit +
			"SamsungBrowser/23.0 Chrome/115.0 Safari/537.36": "Samsung Internet|Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) Version/17.1 Mobile/15E148 " +
			"Safari/604.1": "Safari|iOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) CriOS/119.0 Mobile/15E148 " +
			"Safari/604.1": "Chrome|iOS",
		"Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21B101 " +
			"[FBAN/FBIOS;FBAV/442.0]": "Facebook|iOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:120.0) Gecko/20100101 Firefox/120.0": "Firefox|macOS",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit + "Chrome/119.0.0.0 Safari/537.36": "Chrome|ChromeOS",
		"Mozilla/5.0 (X11; Linux x86_64)" + webkit + "Chrome/119.0 Safari/537.36 OPR/105":      "Opera|Linux",
		"Something": "other|other",
	} {
		if got := dimensions.Browser(agent) + "|" + dimensions.OS(agent); got != want {
			t.Errorf("%q: got %s, want %s", agent, got, want)
		}
	}
}
