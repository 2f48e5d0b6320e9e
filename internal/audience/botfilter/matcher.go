// Package botfilter detects hits of bots and other programs before anything is
// written, and reports why a hit was filtered. It also limits the rate of hits per
// visitor.
package botfilter

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Reason is why a hit is filtered; empty if it is not.
type Reason string

// The reasons.
const (
	Crawler    Reason = "crawler"     // known user agent of a crawler
	AI         Reason = "ai"          // known user agent of an AI assistant or its crawler
	Preview    Reason = "preview"     // link preview of a messenger or social network
	Monitor    Reason = "monitor"     // uptime monitor
	Headless   Reason = "headless"    // headless browser
	Library    Reason = "library"     // HTTP library or command-line tool
	NoBrowser  Reason = "no_browser"  // the user agent doesn't have the form of a browser's
	Automation Reason = "automation"  // navigator.webdriver is set
	Prefetch   Reason = "prefetch"    // prefetched or prerendered
	NoLanguage Reason = "no_language" // without Accept-Language, which browsers always send
	DataCenter Reason = "data_center" // headers that only programs send
	Rate       Reason = "rate"        // above the visitor's rate limit
	OptOut     Reason = "opt_out"     // the reader opted out
)

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{Crawler, AI, Preview, Monitor, Headless, Library, NoBrowser, Automation, Prefetch, NoLanguage, DataCenter, Rate, OptOut}
}

//go:embed tokens.txt
var tokenFile string

type token struct {
	text       string
	reason     Reason
	exceptions []string // words that contain the token but are not bots
}

// Matcher recognizes programs by their user agent and headers. It is safe for
// concurrent use.
type Matcher struct {
	tokens  []token
	finder  *automaton
	contact *regexp.Regexp
	cache   cache
}

// New returns a matcher with the embedded tokens.
func New() (*Matcher, error) {
	m := &Matcher{cache: cache{maxEntries: cacheEntries},
		// A contact address after an ordinary browser's user agent.
		contact: regexp.MustCompile(`(?i)\b[a-z0-9-]+\.(?:com|net|org|io|fr|de|ru)(?:/|\)|$)`)}
	var texts []string
	for line := range strings.Lines(tokenFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, exceptions, _ := strings.Cut(line, " !")
		reason, text, ok := strings.Cut(rule, " ")
		if !ok || text == "" {
			return nil, fmt.Errorf("tokens.txt: invalid rule %q", line)
		}
		m.tokens = append(m.tokens, token{text: text, reason: Reason(reason), exceptions: strings.Fields(exceptions)})
		texts = append(texts, text)
	}
	m.finder = newAutomaton(texts)
	return m, nil
}

// maxAgentLength is the number of bytes of a user agent that are examined. The
// longest ones of real browsers, with lists of modules, have about 600.
const maxAgentLength = 1024

// MatchAgent returns the reason to filter a user agent; empty for a browser.
func (m *Matcher) MatchAgent(agent string) Reason {
	if len(agent) > maxAgentLength {
		agent = agent[:maxAgentLength]
	}
	if reason, ok := m.cache.get(agent); ok {
		return reason
	}
	reason := m.classify(agent)
	m.cache.put(strings.Clone(agent), reason)
	return reason
}

func (m *Matcher) classify(agent string) Reason {
	best := int32(-1)
	m.finder.eachMatch(agent, func(i int32, end int) {
		if (best < 0 || len(m.tokens[i].text) > len(m.tokens[best].text)) && !m.isException(agent, i, end) {
			best = i
		}
	})
	switch {
	case best >= 0:
		return m.tokens[best].reason
	case !looksLikeBrowser(agent):
		return NoBrowser
	case strings.Contains(agent, ".") && m.contact.MatchString(afterEngine(agent)):
		return Crawler
	}
	return ""
}

// isException reports whether the token that ends at end is part of an excepted
// word: CUBOT is a phone maker.
func (m *Matcher) isException(agent string, i int32, end int) bool {
	for _, word := range m.tokens[i].exceptions {
		at := strings.Index(word, m.tokens[i].text)
		from := end - len(m.tokens[i].text) - at
		if from >= 0 && from+len(word) <= len(agent) && strings.EqualFold(agent[from:from+len(word)], word) {
			return true
		}
	}
	return false
}

// afterEngine returns the part after what all browsers have in common.
func afterEngine(agent string) string {
	const last = "like Gecko"
	if at := strings.Index(agent, last); at >= 0 {
		return agent[at+len(last):]
	}
	if at := strings.Index(agent, "Gecko/"); at >= 0 {
		return agent[at:]
	}
	return ""
}

// looksLikeBrowser reports whether a user agent has the form of a browser's:
// since 1995 all begin with Mozilla and the system and name an engine, except
// those of some older phones.
func looksLikeBrowser(agent string) bool {
	for _, phone := range []string{"Opera/", "UCWEB/", "Nokia", "SAMSUNG-", "SonyEricsson", "BlackBerry", "LG-"} {
		if strings.HasPrefix(agent, phone) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(agent, "Mozilla/")
	if !ok || len(rest) < 4 || (rest[:3] != "5.0" && rest[:3] != "4.0") {
		return false
	}
	rest = strings.TrimLeft(rest[3:], " ")
	if !strings.HasPrefix(rest, "(") {
		return false
	}
	if inside, ok := strings.CutPrefix(rest, "(compatible;"); ok {
		inside = strings.TrimLeft(inside, " ")
		return strings.HasPrefix(inside, "MSIE ") && strings.Contains(agent, "Windows") || strings.HasPrefix(inside, "Konqueror/")
	}
	for _, engine := range []string{"AppleWebKit/", "Gecko/", "Trident/", "Presto/", "KHTML", "Goanna/"} {
		if strings.Contains(rest, engine) {
			return true
		}
	}
	return false
}

// cacheEntries is the maximum size of each of the two generations: about 6 MB
// with long user agents.
const cacheEntries = 8192

// cache caches the reasons of recent user agents in two generations: when the
// newer one is full it replaces the older one, and entries that are read move
// to the newer one. User agents are stored in memory only.
type cache struct {
	mu           sync.RWMutex
	maxEntries   int
	newer, older map[string]Reason
}

func (c *cache) get(agent string) (Reason, bool) {
	c.mu.RLock()
	reason, ok := c.newer[agent]
	if ok {
		c.mu.RUnlock()
		return reason, true
	}
	reason, ok = c.older[agent]
	c.mu.RUnlock()
	if ok {
		c.put(agent, reason)
	}
	return reason, ok
}

func (c *cache) put(agent string, reason Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newer == nil || len(c.newer) >= c.maxEntries {
		c.newer, c.older = make(map[string]Reason, c.maxEntries/8), c.newer
	}
	c.newer[agent] = reason
}
