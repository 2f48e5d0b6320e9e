package dimensions

import (
	"net/url"
	"strings"
)

// knownSite is one site with several names; what ends in one of them, at a dot,
// belongs to it.
type knownSite struct {
	name  string
	hosts []string
	apps  []string // Android packages, which browsers name as android-app://…
	agent string   // what its app's browser has in its User-Agent
}

func knownSites() []knownSite {
	return []knownSite{
		{"facebook.com", []string{"facebook.com", "fb.com", "fb.me", "messenger.com"}, []string{"com.facebook."}, "FBAN/"},
		{"facebook.com", nil, nil, "FB_IAB/"},
		{"instagram.com", []string{"instagram.com"}, []string{"com.instagram."}, "Instagram "},
		{"threads.com", []string{"threads.com", "threads.net"}, []string{"com.instagram.barcelona"}, "Barcelona "},
		{"zalo.me", []string{"zalo.me", "zaloapp.com"}, []string{"com.zing.zalo"}, "Zalo "},
		{"tiktok.com", []string{"tiktok.com"}, []string{"com.zhiliaoapp.musically", "com.ss.android.ugc.trill"}, "musical_ly"},
		{"x.com", []string{"x.com", "twitter.com", "t.co"}, []string{"com.twitter."}, "Twitter for "},
		{"youtube.com", []string{"youtube.com", "youtu.be", "youtube-nocookie.com"}, []string{"com.google.android.youtube"}, ""},
		{"linkedin.com", []string{"linkedin.com", "lnkd.in"}, []string{"com.linkedin."}, "LinkedInApp"},
		{"pinterest.com", []string{"pinterest.com", "pin.it"}, []string{"com.pinterest"}, "Pinterest/"},
		{"telegram.org", []string{"telegram.org", "t.me", "telegram.me"}, []string{"org.telegram."}, "Telegram-Android"},
		{"whatsapp.com", []string{"whatsapp.com", "wa.me"}, []string{"com.whatsapp"}, ""},
		{"line.me", []string{"line.me"}, []string{"jp.naver.line."}, " Line/"},
		{"reddit.com", []string{"reddit.com", "redd.it"}, []string{"com.reddit."}, ""},
		{"coccoc.com", []string{"coccoc.com"}, nil, ""},
		{"bing.com", []string{"bing.com"}, nil, ""},
		{"yahoo.com", []string{"yahoo.com"}, nil, ""},
		{"duckduckgo.com", []string{"duckduckgo.com"}, nil, ""},
		{"baidu.com", []string{"baidu.com"}, nil, ""},
		{"google.com", nil, []string{"com.google.android.googlequicksearchbox", "com.google.android.gm"}, " GSA/"},
	}
}

// Referrers groups the addresses that readers come from by site. It is safe for
// concurrent use.
type Referrers struct {
	hosts  map[string]string
	apps   map[string]string // by beginning
	agents []knownSite
}

// NewReferrers makes the table.
func NewReferrers() *Referrers {
	r := &Referrers{hosts: map[string]string{}, apps: map[string]string{}}
	for _, f := range knownSites() {
		for _, h := range f.hosts {
			r.hosts[h] = f.name
		}
		for _, a := range f.apps {
			r.apps[a] = f.name
		}
		if f.agent != "" {
			r.agents = append(r.agents, f)
		}
	}
	return r
}

// hostLimit is how long a name in the domain name system can be (RFC 1035, 2.3.4).
const hostLimit = 253

// Resolve gives the site that an address belongs to: that of a family, or its host.
// Readers who come from one of the own hosts, or from nowhere, come from "",
// unless their browser is part of an app that hides it.
func (r *Referrers) Resolve(address, agent string, own func(host string) bool) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return r.inApp(agent)
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "android-app" {
		best := ""
		for beginning := range r.apps {
			if strings.HasPrefix(host, beginning) && len(beginning) > len(best) {
				best = beginning
			}
		}
		return r.apps[best]
	}
	host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if own(host) || (u.Scheme != "http" && u.Scheme != "https") || len(host) > hostLimit || !isHost(host) {
		return ""
	}
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

// isGoogle knows the search in all countries: google.de, google.com.vn.
func isGoogle(host string) bool {
	host = strings.TrimPrefix(strings.TrimPrefix(host, "www."), "news.")
	rest, ok := strings.CutPrefix(host, "google.")
	return ok && len(rest) <= 6 && strings.Count(rest, ".") <= 1
}

// isHost keeps what is no name out of the statistics, network addresses too.
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
