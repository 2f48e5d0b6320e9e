package dimensions

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Channel is the way readers arrive.
type Channel string

// The channels. Direct includes private messages and other referrers that
// browsers do not send.
const (
	Direct     Channel = "direct"
	Internal   Channel = "internal" // from another page of the site
	Search     Channel = "search"
	Social     Channel = "social"
	Video      Channel = "video"
	AI         Channel = "ai" // assistants such as ChatGPT
	News       Channel = "news"
	Email      Channel = "email"
	Push       Channel = "push"
	SMS        Channel = "sms"
	Affiliate  Channel = "affiliate"
	Display    Channel = "display"
	PaidSearch Channel = "paid_search"
	PaidSocial Channel = "paid_social"
	PaidVideo  Channel = "paid_video"
	PaidOther  Channel = "paid_other"
	Referral   Channel = "referral"
)

// Arrival is how a reader reached a page.
type Arrival struct {
	Channel  Channel
	Source   string // a site's name, utm_source, or the channel for Direct and Internal
	Campaign string // utm_campaign; "" for none
}

// maxUTMLength is the maximum length of a UTM value in bytes.
const maxUTMLength = 60

// Arrival classifies the way to a page: by the parameters of its URL, then by
// the referrer. Paid traffic comes first, then the declared medium, then the
// kind of source, as in Google Analytics 4 and Plausible.
func (r *Referrers) Arrival(page, referrer, agent string, own func(host string) bool) Arrival {
	var query url.Values
	if _, raw, ok := strings.Cut(page, "?"); ok {
		raw, _, _ = strings.Cut(raw, "#")
		query = parseParameters(raw)
	}
	a := Arrival{Campaign: cleanUTM(query.Get("utm_campaign"))}
	source, medium := r.declaredSource(query), cleanUTM(query.Get("utm_medium"))
	if source == "" && medium == "" && !isPaid(query, medium) && isOwn(referrer, own) {
		return Arrival{Channel: Internal, Source: string(Internal), Campaign: a.Campaign}
	}
	if source == "" {
		source = r.Resolve(referrer, agent, own)
	}
	if source == "" {
		source = clickSource(query)
	}
	a.Source = source
	kind := r.kind(source)
	switch declared := mediumChannel(medium); {
	case isPaid(query, medium):
		a.Channel = paidChannel(kind)
	case declared != "":
		a.Channel = declared
	case kind != "":
		a.Channel = kind
	case source != "":
		a.Channel = Referral
	default:
		a.Channel = Direct
	}
	if a.Source == "" {
		a.Source = string(a.Channel)
	}
	return a
}

// parseParameters parses a query with names in lower case, because people write
// UTM_Source, too. Malformed parameters are dropped.
func parseParameters(raw string) url.Values {
	parsed, _ := url.ParseQuery(raw)
	query := make(url.Values, len(parsed))
	for name, values := range parsed {
		lower := strings.ToLower(name)
		if _, ok := query[lower]; !ok || name == lower {
			query[lower] = values
		}
	}
	return query
}

// declaredSource returns the source that the URL's parameters name.
func (r *Referrers) declaredSource(query url.Values) string {
	source := cleanUTM(query.Get("utm_source"))
	if source == "" {
		return ""
	}
	if name := r.Source(source); name != "" {
		return name
	}
	return source
}

// Source returns the name of the source that a text means, such as "Google News",
// "facebook-ads" or "https://m.facebook.com/"; "" if it is not known and no host.
func (r *Referrers) Source(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if name, ok := r.aliases[squash(text)]; ok {
		return name
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok && (scheme == "android-app" || scheme == "ios-app") {
		return r.Resolve(text, "", func(string) bool { return false })
	} else if ok {
		text = rest
	}
	host := text
	if i := strings.IndexAny(host, "/?#:"); i >= 0 {
		host = host[:i]
	}
	if host = strings.TrimSuffix(host, "."); len(host) <= maxHostLength && isHost(host) {
		return r.site(host)
	}
	// "facebook-ads", "fb_page": a known site and how it was used.
	words := strings.FieldsFunc(text, isSeparator)
	for n := len(words) - 1; n > 0; n-- {
		if !isUse(words[n]) {
			break
		}
		if name, ok := r.aliases[squash(strings.Join(words[:n], ""))]; ok {
			return name
		}
	}
	return ""
}

func isSeparator(c rune) bool { return strings.ContainsRune(" -_.+/|:", c) }

// squash removes what separates words: google-news is googlenews.
func squash(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), isSeparator), "")
}

// isUse reports whether a word after a site's name says how the site was used.
func isUse(word string) bool {
	switch word {
	case "ad", "ads", "paid", "organic", "social", "post", "posts", "page", "fanpage", "group", "groups", "story",
		"stories", "reel", "reels", "bio",
		"feed", "share", "mobile", "app", "web", "desktop", "search", "cpc", "official", "channel", "video", "network",
		"chat", "messenger":
		return true
	}
	return false
}

// clickSource returns the network whose click id the URL contains; that of an
// advertisement if there are several.
func clickSource(query url.Values) string {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch source, isPaid := clickID(name); {
		case isPaid:
			return source
		case best == "":
			best = source
		}
	}
	return best
}

// isPaid reports whether a visit was bought. Facebook adds fbclid to unpaid
// links, too.
func isPaid(query url.Values, medium string) bool {
	for name := range query {
		if _, isPaid := clickID(name); isPaid {
			return true
		}
	}
	return strings.HasPrefix(medium, "cp") || strings.HasPrefix(medium, "paid") || medium == "ppc" ||
		medium == "retargeting"
}

func paidChannel(kind Channel) Channel {
	switch kind {
	case Search:
		return PaidSearch
	case Social:
		return PaidSocial
	case Video:
		return PaidVideo
	default:
		return PaidOther
	}
}

// mediumChannel returns the channel that a utm_medium names; "" for others.
func mediumChannel(medium string) Channel {
	switch medium {
	case "email", "e-mail", "e_mail", "mail", "newsletter":
		return Email
	case "social", "social-network", "social-media", "social_network", "social_media", "sm":
		return Social
	case "push", "web_push", "webpush", "notification", "mobile":
		return Push
	case "sms":
		return SMS
	case "affiliate", "affiliates":
		return Affiliate
	case "display", "banner", "expandable", "interstitial":
		return Display
	case "video":
		return Video
	case "organic":
		return Search
	case "referral", "link":
		return Referral
	default:
		return ""
	}
}

// isOwn reports whether a referrer is a page of the site.
func isOwn(referrer string, own func(host string) bool) bool {
	u, err := url.Parse(referrer)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		own(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
}

// redacted replaces a value that may name a person.
const redacted = "redacted"

// cleanUTM returns a UTM value in lower case, because their case varies. A value
// that may contain an address, a phone number or a token is redacted.
func cleanUTM(s string) string {
	s = strings.ToLower(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
	if IsPersonal(s) {
		return redacted
	}
	if len(s) > maxUTMLength {
		s = s[:maxUTMLength]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

// IsPersonal reports whether a text may contain an e-mail address, a phone number
// or a token.
func IsPersonal(s string) bool { return strings.Contains(s, "@") || hasSecret(strings.ToLower(s)) }

// hasSecret reports whether a text contains a number of 9 or more digits, or 24 or
// more letters and digits of which some are digits, without a separator.
func hasSecret(s string) bool {
	length, digits, run := 0, 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			length, digits, run = length+1, digits+1, run+1
		case c >= 'a' && c <= 'z':
			length, run = length+1, 0
		default:
			length, digits, run = 0, 0, 0
		}
		if run >= 9 || length >= 24 && digits > 0 {
			return true
		}
	}
	return false
}

// Browser returns the browser, or the app, of a User-Agent.
func Browser(agent string) string {
	return match(agent, []product{
		{"Cốc Cốc", []string{"coc_coc_browser"}},
		{"Facebook", []string{"FBAN/", "FBAV/", "FB_IAB/"}},
		{"Instagram", []string{"Instagram "}},
		{"Zalo", []string{"Zalo "}},
		{"TikTok", []string{"musical_ly", "BytedanceWebview", "trill_"}},
		{"Google app", []string{" GSA/"}},
		{"Edge", []string{"Edg/", "EdgA/", "EdgiOS/", "Edge/"}},
		{"Opera", []string{"OPR/", "Opera", "OPiOS/"}},
		{"Samsung Internet", []string{"SamsungBrowser/"}},
		{"UC Browser", []string{"UCBrowser/", "UCWEB/"}},
		{"Yandex", []string{"YaBrowser/"}},
		{"DuckDuckGo", []string{"DuckDuckGo/", "Ddg/"}},
		{"Firefox", []string{"Firefox/", "FxiOS/"}},
		{"Chrome", []string{"Chrome/", "CriOS/"}},
		{"Safari", []string{"Safari/"}},
	})
}

// OS returns the operating system of a User-Agent, without its version.
func OS(agent string) string {
	return match(agent, []product{
		{"iOS", []string{"iPhone", "iPad", "iPod"}},
		{"Android", []string{"Android"}},
		{"Windows", []string{"Windows"}},
		{"macOS", []string{"Macintosh"}},
		{"ChromeOS", []string{"CrOS"}},
		{"Linux", []string{"Linux", "X11;"}},
	})
}

// product is a browser or system with tokens of its User-Agents.
type product struct {
	name   string
	tokens []string
}

// match returns the first product whose token an agent contains.
func match(agent string, products []product) string {
	if agent == "" {
		return ""
	}
	for _, p := range products {
		for _, token := range p.tokens {
			if strings.Contains(agent, token) {
				return p.name
			}
		}
	}
	return Other
}
