package dimensions

import (
	"net/url"
	"slices"
	"strings"
)

// knownSite is a site with several names. Subdomains of its hosts belong to it.
type knownSite struct {
	name    string
	channel Channel
	hosts   []string
	apps    []string // Android packages in android-app:// referrers
	agent   string   // token in the User-Agent of its in-app browser
	aliases []string // in utm_source, besides the hosts and the name without its ending
}

func knownSites() []knownSite {
	return []knownSite{
		{"facebook.com", Social, []string{"facebook.com", "fb.com", "fb.me", "messenger.com"}, []string{"com.facebook."}, "FBAN/", []string{"fb", "messenger", "facebook_ads"}},
		{"facebook.com", Social, nil, nil, "FB_IAB/", nil},
		{"instagram.com", Social, []string{"instagram.com"}, []string{"com.instagram."}, "Instagram ", []string{"ig"}},
		{"threads.com", Social, []string{"threads.com", "threads.net"}, []string{"com.instagram.barcelona"}, "Barcelona ", nil},
		{"zalo.me", Social, []string{"zalo.me", "zaloapp.com"}, []string{"com.zing.zalo"}, "Zalo ", []string{"zalo_oa", "oa"}},
		{"x.com", Social, []string{"x.com", "twitter.com", "t.co"}, []string{"com.twitter."}, "Twitter for ", []string{"twitter", "tw"}},
		{"linkedin.com", Social, []string{"linkedin.com", "lnkd.in"}, []string{"com.linkedin."}, "LinkedInApp", []string{"li"}},
		{"pinterest.com", Social, []string{"pinterest.com", "pin.it"}, []string{"com.pinterest"}, "Pinterest/", nil},
		{"telegram.org", Social, []string{"telegram.org", "t.me", "telegram.me"}, []string{"org.telegram."}, "Telegram-Android", nil},
		{"whatsapp.com", Social, []string{"whatsapp.com", "wa.me"}, []string{"com.whatsapp"}, "", nil},
		{"line.me", Social, []string{"line.me"}, []string{"jp.naver.line."}, " Line/", nil},
		{"reddit.com", Social, []string{"reddit.com", "redd.it"}, []string{"com.reddit."}, "", nil},
		{"bsky.app", Social, []string{"bsky.app"}, []string{"xyz.blueskyweb."}, "", []string{"bluesky"}},
		{"viber.com", Social, []string{"viber.com"}, []string{"com.viber."}, "", nil},
		{"vk.com", Social, []string{"vk.com"}, nil, "", nil},
		{"weibo.com", Social, []string{"weibo.com", "weibo.cn"}, nil, "", nil},
		{"quora.com", Social, []string{"quora.com"}, nil, "", nil},
		{"discord.com", Social, []string{"discord.com"}, []string{"com.discord"}, "", nil},
		{"snapchat.com", Social, []string{"snapchat.com"}, []string{"com.snapchat."}, "", nil},
		{"mastodon.social", Social, []string{"mastodon.social"}, nil, "", []string{"mastodon"}},
		{"tinhte.vn", Social, []string{"tinhte.vn"}, nil, "", nil},
		{"voz.vn", Social, []string{"voz.vn"}, nil, "", nil},
		{"tiktok.com", Video, []string{"tiktok.com"}, []string{"com.zhiliaoapp.musically", "com.ss.android.ugc.trill"}, "musical_ly", nil},
		{"youtube.com", Video, []string{"youtube.com", "youtu.be", "youtube-nocookie.com"}, []string{"com.google.android.youtube"}, "", []string{"yt"}},
		{"vimeo.com", Video, []string{"vimeo.com"}, nil, "", nil},
		{"dailymotion.com", Video, []string{"dailymotion.com", "dai.ly"}, nil, "", nil},
		{"twitch.tv", Video, []string{"twitch.tv"}, nil, "", nil},
		{"coccoc.com", Search, []string{"coccoc.com"}, []string{"com.coccoc."}, "", []string{"coc_coc"}},
		{"bing.com", Search, []string{"bing.com"}, nil, "", nil},
		{"yahoo.com", Search, []string{"yahoo.com", "yahoo.co.jp"}, nil, "", nil},
		{"duckduckgo.com", Search, []string{"duckduckgo.com"}, []string{"com.duckduckgo."}, "", nil},
		{"baidu.com", Search, []string{"baidu.com"}, nil, "", nil},
		{"yandex.com", Search, []string{"yandex.com", "yandex.ru", "ya.ru"}, nil, "", nil},
		{"ecosia.org", Search, []string{"ecosia.org"}, nil, "", nil},
		{"startpage.com", Search, []string{"startpage.com"}, nil, "", nil},
		{"qwant.com", Search, []string{"qwant.com"}, nil, "", nil},
		{"search.brave.com", Search, []string{"search.brave.com"}, nil, "", []string{"brave"}},
		{"kagi.com", Search, []string{"kagi.com"}, nil, "", nil},
		{"naver.com", Search, []string{"naver.com"}, nil, "", nil},
		{"sogou.com", Search, []string{"sogou.com"}, nil, "", nil},
		{"seznam.cz", Search, []string{"seznam.cz"}, nil, "", nil},
		{"petalsearch.com", Search, []string{"petalsearch.com"}, nil, "", nil},
		{"chatgpt.com", AI, []string{"chatgpt.com", "chat.openai.com", "openai.com"}, []string{"com.openai."}, "", nil},
		{"perplexity.ai", AI, []string{"perplexity.ai"}, []string{"ai.perplexity."}, "", nil},
		{"gemini.google.com", AI, []string{"gemini.google.com", "bard.google.com"}, []string{"com.google.android.apps.bard"}, "", []string{"gemini"}},
		{"copilot.microsoft.com", AI, []string{"copilot.microsoft.com", "copilot.com"}, []string{"com.microsoft.copilot"}, "", []string{"copilot"}},
		{"claude.ai", AI, []string{"claude.ai"}, []string{"com.anthropic."}, "", nil},
		{"deepseek.com", AI, []string{"deepseek.com"}, nil, "", nil},
		{"grok.com", AI, []string{"grok.com", "x.ai"}, []string{"ai.x."}, "", nil},
		{"meta.ai", AI, []string{"meta.ai"}, nil, "", nil},
		{"poe.com", AI, []string{"poe.com"}, nil, "", nil},
		{"you.com", AI, []string{"you.com"}, nil, "", nil},
		{"mistral.ai", AI, []string{"mistral.ai"}, nil, "", nil},
		{"baomoi.com", News, []string{"baomoi.com"}, []string{"com.epi"}, "", []string{"bao_moi"}},
		{"discover.google.com", News, nil, []string{"com.google.android.googlequicksearchbox"}, "", []string{"googlequicksearchbox", "google_discover", "discover"}},
		{"news.google.com", News, []string{"news.google.com"}, []string{"com.google.android.apps.magazines"}, "", []string{"google_news", "googlenews"}},
		{"msn.com", News, []string{"msn.com"}, nil, "", nil},
		{"flipboard.com", News, []string{"flipboard.com"}, []string{"flipboard."}, "", nil},
		{"smartnews.com", News, []string{"smartnews.com"}, []string{"jp.gocro.smartnews."}, "", nil},
		{"apple.news", News, []string{"apple.news"}, nil, "", []string{"apple_news", "applenews"}},
		{"feedly.com", News, []string{"feedly.com"}, []string{"com.devhd.feedly"}, "", nil},
		{"mail.google.com", Email, []string{"mail.google.com"}, []string{"com.google.android.gm"}, "", []string{"gmail"}},
		{"outlook.com", Email, []string{"outlook.com", "outlook.live.com", "outlook.office.com"}, []string{"com.microsoft.office.outlook"}, "", nil},
		{"mail.yahoo.com", Email, []string{"mail.yahoo.com"}, nil, "", nil},
		{"google.com", Search, nil, nil, " GSA/", []string{"adwords", "google_ads", "googleads"}},
	}
}

// Referrers maps referring URLs to sites and channels. It is safe for concurrent
// use.
type Referrers struct {
	hosts   map[string]string
	apps    map[string]string // by prefix
	agents  []knownSite
	kinds   map[string]Channel // by name
	aliases map[string]string  // of utm_source
}

// NewReferrers returns the referrers of the known sites.
func NewReferrers() *Referrers {
	r := &Referrers{hosts: map[string]string{}, apps: map[string]string{}, kinds: map[string]Channel{}, aliases: map[string]string{}}
	for _, f := range knownSites() {
		r.kinds[f.name] = f.channel
		for _, h := range f.hosts {
			r.hosts[h] = f.name
		}
		for _, a := range f.apps {
			r.apps[a] = f.name
		}
		if f.agent != "" {
			r.agents = append(r.agents, f)
		}
		if label, _, _ := strings.Cut(f.name, "."); strings.Count(f.name, ".") == 1 {
			r.aliases[label] = f.name // "facebook"
		}
		for _, alias := range f.aliases {
			r.aliases[alias] = f.name
		}
	}
	return r
}

// Names returns the names of the known sites of a channel.
func (r *Referrers) Names(c Channel) []string {
	var names []string
	for name, channel := range r.kinds {
		if channel == c {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// maxHostLength is the maximum length of a domain name (RFC 1035, 2.3.4).
const maxHostLength = 253

// Resolve returns the site of a referring URL: a known site's name, or the
// host. It returns "" for the site's own hosts, and for no referrer unless the
// user agent is that of a known in-app browser.
func (r *Referrers) Resolve(address, agent string, own func(host string) bool) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return r.inApp(agent)
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "android-app" {
		best := ""
		for prefix := range r.apps {
			if strings.HasPrefix(host, prefix) && len(prefix) > len(best) {
				best = prefix
			}
		}
		return r.apps[best]
	}
	host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if own(host) || (u.Scheme != "http" && u.Scheme != "https") || len(host) > maxHostLength || !isHost(host) {
		return ""
	}
	return r.site(host)
}

// site returns the name of the site of a host.
func (r *Referrers) site(host string) string {
	if isGoogle(host) {
		return "google.com"
	}
	for rest := host; ; {
		if name, ok := r.hosts[rest]; ok {
			return name
		}
		_, parent, more := strings.Cut(rest, ".")
		if !more {
			return strings.TrimPrefix(host, "www.")
		}
		rest = parent
	}
}

func (r *Referrers) inApp(agent string) string {
	for _, f := range r.agents {
		if strings.Contains(agent, f.agent) {
			return f.name
		}
	}
	return ""
}

// isGoogle reports whether a host is Google search in any country: google.de,
// google.com.vn.
func isGoogle(host string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(host, "www."), "google.")
	return ok && len(rest) <= 6 && strings.Count(rest, ".") <= 1
}

// isHost reports whether a host is a domain name, and not an IP address.
func isHost(host string) bool {
	letters := false
	for _, c := range []byte(host) {
		switch {
		case c >= 'a' && c <= 'z':
			letters = true
		case c >= '0' && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return letters && strings.Contains(host, ".") && last != "" && (last[0] < '0' || last[0] > '9')
}
