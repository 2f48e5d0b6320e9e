package config

import (
	"errors"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func crawlSettings() []Setting {
	return []Setting{
		{Name: "DATELINE_CRAWL", Default: "true", Accepts: yesNo,
			Help: "Crawl the sites of seeds; without seeds nothing is crawled. False starts nothing of it.", set: toBool(func(c *Config) *bool { return &c.Crawl })},
		{Name: "DATELINE_CRAWL_CONTACT", DefaultText: "<DATELINE_PUBLIC_URL>", Accepts: "https://example.org/bot or mailto:crawler@example.org",
			Help: "Where the people of a site turn to; sent with every request. Set it before you crawl sites of others.", set: setCrawlContact,
			derive: func(c *Config) string { return c.PublicURL }},
		{Name: "DATELINE_CRAWL_DOMAINS", Default: "500", Accepts: "1 to 5000",
			Help: "How many sites are crawled at the same time, by all workers together.", set: toNumber(func(c *Config) *int { return &c.CrawlDomains }, 1, 5000)},
		{Name: "DATELINE_CRAWL_DELAY", Default: "1s", Accepts: "100ms to 10m",
			Help: "Pause between an answer of a site and the next request to it; a robots.txt may ask for more.",
			set:  toDuration(func(c *Config) *time.Duration { return &c.CrawlDelay }, 100*time.Millisecond, 10*time.Minute)},
		{Name: "DATELINE_CRAWL_MAX_DELAY", Default: "30s", Accepts: "100ms to 10m",
			Help: "The longest Crawl-delay of a robots.txt that is honoured.", set: toDuration(func(c *Config) *time.Duration { return &c.CrawlMaxDelay }, 100*time.Millisecond, 10*time.Minute)},
		{Name: "DATELINE_CRAWL_IP_DELAY", Default: "100ms", Accepts: "0s to 1m",
			Help: "Pause between two requests to one address, whatever sites it has.", set: toDuration(func(c *Config) *time.Duration { return &c.CrawlIPDelay }, 0, time.Minute)},
		{Name: "DATELINE_CRAWL_BUDGET", Default: "20000", Accepts: "a number; 0 for no limit",
			Help: "Pages that are fetched of one site in a day, hubs apart.", set: toNumber(func(c *Config) *int { return &c.CrawlBudget }, 0, 1<<30)},
		{Name: "DATELINE_CRAWL_VERSIONS", Default: "10", Accepts: "1 to 1000",
			Help: "How many versions of a page are kept.", set: toNumber(func(c *Config) *int { return &c.CrawlVersions }, 1, 1000)},
		{Name: "DATELINE_CRAWL_RETENTION", Default: "365d", Accepts: "days or hours, such as 90d or 36h; 0 keeps everything",
			Help: "How long versions are kept; the newest stays.", set: toSpan(func(c *Config) *time.Duration { return &c.CrawlRetention })},
		{Name: "DATELINE_CRAWL_PROXY", Secret: true, //nolint:gosec // an example
			Accepts: "http://user:password@proxy:3128 or socks5://proxy:1080",
			Help:    "Proxy of the crawler.", set: setCrawlProxy},
		{Name: "DATELINE_CRAWL_BROWSER", Secret: true, Accepts: "http://chromium:9222 or ws://chromium:9222/devtools/browser/…",
			Help: "Where a Chromium is controlled (Chrome DevTools Protocol). Pages of domains that are set to render are shown in it; without it none are.", set: setCrawlBrowser},
	}
}

func setCrawlContact(c *Config, v string) error {
	if address, ok := strings.CutPrefix(v, "mailto:"); ok {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return errors.New("is no mail address")
		}
	} else if u, err := url.Parse(v); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("is neither a web address nor one of mailto")
	}
	c.CrawlContact = v
	return nil
}

func setCrawlProxy(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return errors.New("is no address of a proxy")
	}
	c.CrawlProxy = v
	return nil
}

func setCrawlBrowser(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ws" && u.Scheme != "wss" {
		return errors.New("is no address of a browser")
	}
	c.CrawlBrowser = v
	return nil
}

func toNumber(field func(*Config) *int, least, most int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return errors.New("is not a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
		}
		*field(c) = n
		return nil
	}
}

func toDuration(field func(*Config) *time.Duration, least, most time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least || d > most {
			return errors.New("is not a time from " + least.String() + " to " + most.String())
		}
		*field(c) = d
		return nil
	}
}
