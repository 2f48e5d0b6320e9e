// Package botfilter tells programs from people, before anything is written of them,
// and says by what.
package botfilter

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// Reason is why a hit is not counted; empty: it is.
type Reason string

// The reasons.
const (
	Crawler    Reason = "crawler"     // its name says so
	AI         Reason = "ai"          // the same, of an assistant or what feeds one
	Preview    Reason = "preview"     // a program that shows a link's page in a message
	Monitor    Reason = "monitor"     // a program that looks whether a page works
	Headless   Reason = "headless"    // a browser without a window
	Library    Reason = "library"     // a tool or a library for programmers
	NoBrowser  Reason = "no_browser"  // its name is not built as those of browsers are
	Automation Reason = "automation"  // the browser says that a program drives it
	Prefetch   Reason = "prefetch"    // fetched ahead, perhaps never looked at
	NoLanguage Reason = "no_language" // browsers always send Accept-Language
	DataCenter Reason = "data_center" // headers that only programs send
	Rate       Reason = "rate"        // more hits than a person makes
	OptOut     Reason = "opt_out"     // does not want to be counted
)

// Reasons lists all of them.
func Reasons() []Reason {
	return []Reason{Crawler, AI, Preview, Monitor, Headless, Library, NoBrowser, Automation, Prefetch, NoLanguage, DataCenter, Rate, OptOut}
}

//go:embed tokens.txt
var tokenFile string

type token struct {
	text       string
	reason     Reason
	exceptions []string // words in which it means nothing
}

// Matcher knows programs by what they call themselves. It is safe for
// concurrent use.
type Matcher struct {
	tokens  []token
	finder  *automaton
	contact *regexp.Regexp
	cache   cache
}

// New reads the tokens.
func New() (*Matcher, error) {
	m := &Matcher{cache: cache{maxEntries: cacheEntries},
		// A product of an ordinary browser that is followed by where to complain.
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
			return nil, fmt.Errorf("bots: %q is no rule", line)
		}
		m.tokens = append(m.tokens, token{text: text, reason: Reason(reason), exceptions: strings.Fields(exceptions)})
		texts = append(texts, text)
	}
	m.finder = newAutomaton(texts)
	return m, nil
}

// maxAgentLength is how much of an agent is looked at: the longest of real browsers
// have some 600 bytes, those with lists of modules.
const maxAgentLength = 1024

// MatchAgent says what a User-Agent header is a program by; empty: nothing.
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

// isException looks whether the token that ends there is part of a word in which it
// means nothing: CUBOT makes phones.
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

// afterEngine is what stands behind the parts that all browsers have in common.
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

// looksLikeBrowser: all browsers since 1995 begin with Mozilla and what system
// they run on, and name an engine, but for those of some phones of before.
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
