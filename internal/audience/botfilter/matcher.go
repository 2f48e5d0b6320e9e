// Package botfilter detects hits of bots and other programs before anything is
// written, and reports why a hit was filtered. It also limits the rate of hits per
// visitor.
package botfilter

import (
	_ "embed"
	"fmt"
	"slices"
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
	return []Reason{
		Crawler, AI, Preview, Monitor, Headless, Library, NoBrowser, Automation, Prefetch, NoLanguage,
		DataCenter, Rate, OptOut,
	}
}

//go:embed tokens.txt
var tokenFile string

// token is a rule of tokens.txt.
type token struct {
	text             string
	reason           Reason
	anyStart, anyEnd bool // whether the token may be the end or the beginning of a word
}

// Matcher recognizes programs by their user agent and headers. It is safe for
// concurrent use.
type Matcher struct {
	tokens []token
	finder *automaton
	cache  cache
}

// New returns a matcher with the embedded tokens.
func New() (*Matcher, error) {
	m := &Matcher{cache: cache{maxEntries: cacheEntries}}
	var texts []string
	for line := range strings.Lines(tokenFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		reason, text, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains(Reasons(), Reason(reason)) || strings.Trim(text, "*") == "" {
			return nil, fmt.Errorf("tokens.txt: invalid rule %q", line)
		}
		t := token{text: strings.Trim(text, "*"), reason: Reason(reason)}
		t.anyStart, t.anyEnd = strings.HasPrefix(text, "*"), strings.HasSuffix(text, "*")
		m.tokens = append(m.tokens, t)
		texts = append(texts, t.text)
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
		if (best < 0 || len(m.tokens[i].text) > len(m.tokens[best].text)) && m.tokens[i].isNamed(agent, end) {
			best = i
		}
	})
	if best >= 0 {
		return m.tokens[best].reason
	}
	if hasContact(agent) || isCompatible(agent) {
		return Crawler
	}
	if lower := strings.ToLower(agent); !isBrowser(lower) && !isDevice(lower) {
		return NoBrowser
	}
	return ""
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
