package dimensions

import (
	"net/url"
	"strings"
)

// knownSite is a site with several names. Subdomains of its hosts belong to it.
type knownSite struct {
	name  string
	hosts []string
	apps  []string // Android packages in android-app:// referrers
	agent string   // token in the User-Agent of its in-app browser
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

// Referrers maps referring URLs to sites. It is safe for concurrent use.
type Referrers struct {
	hosts  map[string]string
	apps   map[string]string // by prefix
	agents []knownSite
}

// NewReferrers returns the referrers of the known sites.
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
	host = strings.TrimPrefix(strings.TrimPrefix(host, "www."), "news.")
	rest, ok := strings.CutPrefix(host, "google.")
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
