package dimensions

import (
	_ "embed"
	"net/url"
	"slices"
	"strings"
)

// ownSites are the sites that known.txt, which make sources writes, lacks or names
// differently.
//
//go:embed sites.txt
var ownSites string

//go:embed known.txt
var knownSites string

// knownSite is a site with several names. Subdomains of its hosts belong to it.
type knownSite struct {
	name    string
	channel Channel
	hosts   []string
	apps    []string // Android packages in android-app:// referrers, by prefix
	agents  []string // tokens in the User-Agents of its in-app browser
	aliases []string // in utm_source, besides the hosts and the name without its ending
}

// parseSites reads sites.txt.
func parseSites(text string) []knownSite {
	var sites []knownSite
	for line := range strings.Lines(text) {
		columns := strings.Split(strings.TrimSpace(line), "|")
		if len(columns) != 6 || strings.HasPrefix(line, "#") {
			continue
		}
		s := knownSite{
			channel: Channel(strings.TrimSpace(columns[0])), name: strings.TrimSpace(columns[1]),
			hosts: strings.Fields(columns[2]), apps: strings.Fields(columns[3]), aliases: strings.Fields(columns[5]),
		}
		for agent := range strings.SplitSeq(columns[4], ",") {
			if agent = strings.TrimPrefix(agent, " "); strings.TrimSpace(agent) != "" {
				s.agents = append(s.agents, strings.TrimSuffix(agent, " "))
			}
		}
		sites = append(sites, s)
	}
	return sites
}

// Referrers maps referring URLs to sites and channels. It is safe for concurrent
// use.
type Referrers struct {
	hosts   map[string]string // own and listed; also with {} for a country's domain
	exact   map[string]string // listed search engines: other services have other hosts
	apps    map[string]string // by prefix
	agents  []agentToken
	kinds   map[string]Channel // by name
	aliases map[string]string  // of utm_source, as squash returns them
}

// agentToken is a token in the User-Agents of a site's in-app browser.
type agentToken struct{ token, site string }

// NewReferrers returns the referrers of the known sites.
func NewReferrers() *Referrers {
	r := &Referrers{
		hosts: map[string]string{}, exact: map[string]string{}, apps: map[string]string{},
		kinds:   map[string]Channel{},
		aliases: map[string]string{},
	}
	for _, s := range parseSites(ownSites) {
		r.kinds[s.name] = s.channel
		for _, h := range append(s.hosts, s.name) {
			r.hosts[h] = s.name
		}
		for _, a := range s.apps {
			r.apps[a] = s.name
		}
		for _, token := range s.agents {
			r.agents = append(r.agents, agentToken{token, s.name})
		}
		for _, alias := range append(s.aliases, s.name) {
			r.aliases[squash(alias)] = s.name
		}
		if label, _, _ := strings.Cut(s.name, "."); strings.Count(s.name, ".") == 1 {
			r.aliases[squash(label)] = s.name // "facebook"
		}
	}
	r.addListed()
	return r
}

// addListed adds the sites of known.txt under our names, where we have one.
func (r *Referrers) addListed() {
	for line := range strings.Lines(knownSites) {
		columns := strings.Fields(line)
		if len(columns) < 3 || columns[0] == "#" {
			continue
		}
		channel, name, hosts := Channel(columns[0]), columns[1], columns[2:]
		for _, host := range append([]string{name}, hosts...) {
			if site := r.lookup(host); site != "" && r.kinds[site] == channel {
				name = site
				break
			}
		}
		if r.kinds[name] == "" {
			r.kinds[name] = channel
			if label, _, _ := strings.Cut(name, "."); r.aliases[squash(label)] == "" && len(label) > 3 &&
				channel != Search {
				r.aliases[squash(label)] = name
			}
		}
		to := r.hosts
		if channel == Search {
			to = r.exact
		}
		for _, host := range hosts {
			if r.hosts[host] == "" {
				to[host] = name
			}
		}
	}
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

// Resolve returns the site of a referring URL: a known site's name, the host, or an
// app's package. It returns "" for the site's own hosts, and for no referrer unless the
// user agent is that of a known in-app browser.
func (r *Referrers) Resolve(address, agent string, own func(host string) bool) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return r.inApp(agent)
	}
	switch host := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); {
	case u.Scheme == "android-app" || u.Scheme == "ios-app":
		return r.app(u, own)
	case own(host) || (u.Scheme != "http" && u.Scheme != "https") || len(host) > maxHostLength || !isHost(host):
		return ""
	default:
		return r.site(host)
	}
}

// app returns the site of an app: of the page that its address names, as in
// android-app://package/https/host (developers.google.com/search/docs/advanced/app-indexing)
// and ios-app://number/http/host, otherwise of the app.
func (r *Referrers) app(u *url.URL, own func(host string) bool) string {
	id := strings.ToLower(u.Host)
	if path := strings.Split(strings.Trim(u.Path, "/"), "/"); len(path) > 1 &&
		(path[0] == "http" || path[0] == "https") {
		if host := strings.ToLower(path[1]); len(host) <= maxHostLength && isHost(host) && !own(host) {
			return r.site(host)
		}
	}
	best := ""
	for prefix := range r.apps {
		if strings.HasPrefix(id, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	switch {
	case best != "":
		return r.apps[best]
	case u.Scheme == "ios-app" && strings.Trim(id, "0123456789") == "" && len(id) < 16:
		return "id" + id // as the App Store's addresses name it
	case len(id) <= maxHostLength && isHost(id):
		return id
	default:
		return ""
	}
}

// site returns the name of the site of a host. Mail and news have names of their own,
// also at sites of other kinds.
func (r *Referrers) site(host string) string {
	host = strings.TrimPrefix(host, "www.")
	name := r.lookup(host)
	service, rest, _ := strings.Cut(host, ".")
	switch {
	case r.hosts[host] != "":
		return name
	case (service == "mail" || service == "webmail") && strings.Contains(rest, "."):
		return "mail." + rest
	case (service == "news" || strings.Contains(host, ".news.")) && r.kinds[name] == Search:
		return "news." + name
	case name != "":
		return name
	default:
		return host
	}
}

// kind returns the channel of a source.
func (r *Referrers) kind(source string) Channel {
	if kind := r.kinds[source]; kind != "" {
		return kind
	}
	service, rest, _ := strings.Cut(source, ".")
	switch {
	case service == "mail" && strings.Contains(rest, "."):
		return Email
	case service == "news" && r.kinds[rest] == Search:
		return News
	default:
		return ""
	}
}

// lookup returns the known site of a host, or "". Subdomains belong to their site.
func (r *Referrers) lookup(host string) string {
	if isGoogle(host) {
		return "google.com"
	}
	if name := find(r.exact, host); name != "" && r.hosts[host] == "" {
		return name
	}
	for rest := host; ; {
		if name := find(r.hosts, rest); name != "" {
			return name
		}
		_, parent, more := strings.Cut(rest, ".")
		if !more {
			return ""
		}
		rest = parent
	}
}

// find looks a host up, also as one of a country: images.google.com.vn is
// images.google.{}, and de.search.yahoo.com is {}.search.yahoo.com.
func find(sites map[string]string, host string) string {
	if name := sites[host]; name != "" {
		return name
	}
	if country, rest, _ := strings.Cut(host, "."); len(country) == 2 {
		if name := sites["{}."+rest]; name != "" {
			return name
		}
	}
	labels := strings.Split(host, ".")
	last := len(labels) - 1
	if last > 1 && len(labels[last]) == 2 && len(labels[last-1]) <= 3 {
		if name := sites[strings.Join(labels[:last-1], ".")+".{}"]; name != "" {
			return name
		}
	}
	if last > 0 && (len(labels[last]) == 2 || labels[last] == "com") {
		return sites[strings.Join(labels[:last], ".")+".{}"]
	}
	return ""
}

func (r *Referrers) inApp(agent string) string {
	if agent == "" {
		return ""
	}
	for _, a := range r.agents {
		if hasToken(agent, a.token) {
			return a.site
		}
	}
	return ""
}

// hasToken reports whether an agent contains a token that does not continue a word.
func hasToken(agent, token string) bool {
	for from := 0; ; {
		i := strings.Index(agent[from:], token)
		if i < 0 {
			return false
		}
		if i += from; i == 0 || !isLetter(agent[i-1]) {
			return true
		}
		from = i + len(token)
	}
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// isGoogle reports whether a host is Google search in any country: google.de,
// google.com.vn.
func isGoogle(host string) bool {
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
