package config

import (
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/ssrf"
)

func crawlSettings() []Setting {
	return []Setting{
		{
			Name: "DATELINE_CRAWL", Default: "true", Accepts: trueOrFalse,
			Help: "Run the crawler. Only the sites of seeds are crawled.",
			set:  toBool(func(c *Config) *bool { return &c.Crawl }),
		},
		{
			Name: "DATELINE_CRAWL_CONTACT", DefaultText: "<DATELINE_PUBLIC_URL>",
			Accepts: "https://example.org/bot or mailto:crawler@example.org",
			Help: "Contact for site operators, sent in the User-Agent of every request. Set it before you crawl " +
				"other people's sites.", set: setCrawlContact,
			derive: func(c *Config) string { return c.PublicURL },
		},
		{
			Name: "DATELINE_WEBSUB", DefaultText: "true if the host of DATELINE_PUBLIC_URL is public, otherwise false",
			Accepts: trueOrFalse,
			Help: "Subscribe to the WebSub hubs that feeds name, which call DATELINE_PUBLIC_URL when there are " +
				"new articles.", set: toBool(func(c *Config) *bool { return &c.WebSub }),
			derive: defaultWebSub,
		},
		{
			Name: "DATELINE_CRAWL_MAX_DOMAINS", Default: "500", Accepts: "1 to 5000",
			Help: "Number of sites crawled concurrently by all workers together.",
			set:  toNumber(func(c *Config) *int { return &c.CrawlMaxDomains }, 1, 5000),
		},
		{
			Name: "DATELINE_CRAWL_DELAY", Default: "1s", Accepts: "100ms to 10m",
			Help: "Delay between a response of a site and the next request to it; a robots.txt can request a " +
				"longer one.",
			set: toDuration(func(c *Config) *time.Duration { return &c.CrawlDelay }, 100*time.Millisecond,
				10*time.Minute),
		},
		{
			Name: "DATELINE_CRAWL_MAX_DELAY", Default: "30s", Accepts: "100ms to 10m",
			Help: "Maximum Crawl-delay of a robots.txt that is honored.",
			set: toDuration(func(c *Config) *time.Duration { return &c.CrawlMaxDelay }, 100*time.Millisecond,
				10*time.Minute),
		},
		{
			Name: "DATELINE_CRAWL_IP_DELAY", Default: "100ms", Accepts: "0s to 1m",
			Help: "Delay between two requests to the same IP address.",
			set:  toDuration(func(c *Config) *time.Duration { return &c.CrawlIPDelay }, 0, time.Minute),
		},
		{
			Name: "DATELINE_CRAWL_BUDGET", Default: "20000", Accepts: "a number; 0 disables the limit",
			Help: "Maximum pages fetched per site and day, not counting hub pages.",
			set:  toNumber(func(c *Config) *int { return &c.CrawlBudget }, 0, 1<<30),
		},
		{
			Name: "DATELINE_CRAWL_MAX_VERSIONS", Default: "10", Accepts: "1 to 1000",
			Help: "Maximum stored versions of a page.",
			set:  toNumber(func(c *Config) *int { return &c.CrawlMaxVersions }, 1, 1000),
		},
		{
			Name: "DATELINE_CRAWL_RETENTION", Default: "365d",
			Accepts: "days or hours, such as 90d or 36h; 0 disables deletion",
			Help:    "Retention of page versions; the newest version is never deleted.",
			set:     toRetention(func(c *Config) *time.Duration { return &c.CrawlRetention }),
		},
		{ //nolint:gosec // an example
			Name: "DATELINE_CRAWL_PROXY_URL", Secret: true,
			Accepts: "http://user:password@proxy:3128 or socks5://proxy:1080",
			Help:    "Proxy for all requests of the crawler.", set: setCrawlProxy,
		},
		{
			Name: "DATELINE_CRAWL_BROWSER_URL", Secret: true,
			Accepts: "http://chromium:9222 or ws://chromium:9222/devtools/browser/…",
			Help: "Chrome DevTools Protocol endpoint of a Chromium that renders the pages of domains with " +
				"rendering enabled; empty disables rendering.", set: setCrawlBrowser,
		},
	}
}

// defaultWebSub reports whether hubs can reach the API: a name without a dot, or of a
// network's own, is not public.
func defaultWebSub(c *Config) string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return "false"
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	guard, err := ssrf.New(nil)
	if err != nil || guard.CheckHost(host) != nil {
		return "false"
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return "true"
	}
	// RFC 6762, RFC 6761, RFC 8375
	for _, private := range []string{".local", ".internal", ".test", ".home.arpa", ".localdomain"} {
		if strings.HasSuffix(host, private) {
			return "false"
		}
	}
	return strconv.FormatBool(strings.Contains(host, "."))
}

func setCrawlContact(c *Config, v string) error {
	if address, ok := strings.CutPrefix(v, "mailto:"); ok {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return errors.New("is not an email address")
		}
	} else if u, err := url.Parse(v); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" &&
		u.Scheme != "http" {
		return errors.New("is neither an http(s) URL nor a mailto: address")
	}
	c.CrawlContact = v
	return nil
}

func setCrawlProxy(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return errors.New("is not a proxy URL")
	}
	c.CrawlProxyURL = v
	return nil
}

func setCrawlBrowser(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ws" &&
		u.Scheme != "wss" {
		return errors.New("is not the URL of a DevTools endpoint")
	}
	c.CrawlBrowserURL = v
	return nil
}

func toNumber(field func(*Config) *int, minimum, maximum int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < minimum || n > maximum {
			return errors.New("is not a whole number from " + strconv.Itoa(minimum) + " to " + strconv.Itoa(maximum))
		}
		*field(c) = n
		return nil
	}
}

func toDuration(field func(*Config) *time.Duration, minimum, maximum time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < minimum || d > maximum {
			return errors.New("is not a duration from " + minimum.String() + " to " + maximum.String())
		}
		*field(c) = d
		return nil
	}
}
