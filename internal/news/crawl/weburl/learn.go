package weburl

import (
	"maps"
	"slices"
	"strings"
)

// Observation describes a fetched page.
type Observation struct {
	URL       string // as linked, with all parameters
	Canonical string // rel=canonical; empty: none
	Content   string // identifies the text of the page, such as its hash; empty: unknown
}

// minEvidence is how many pages must agree before a parameter is dropped: a
// wrong rule loses articles, while a missing one only costs fetches.
const minEvidence = 3

// Learn determines which parameters do not change a site's pages. There are two
// kinds of evidence: URLs that differ in one parameter and have the same or
// another text, and canonical URLs. The text takes precedence, because some
// sites declare the first page as the canonical URL of the second.
func Learn(seen []Observation) Rules {
	votes := map[string]*evidence{}
	pages := make([]page, 0, len(seen))
	for _, one := range seen {
		u, err := Parse(one.URL, Rules{DropNothing: true})
		if err != nil {
			continue
		}
		p := page{u: u, parameters: parseParameters(u.query), content: one.Content}
		pages = append(pages, p)
		if canonical, err := Parse(one.Canonical, Rules{DropNothing: true}); err == nil {
			addCanonicalEvidence(votes, p, canonical)
		}
	}
	addContentEvidence(votes, pages)

	var rules Rules
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		v := votes[name]
		isKnown := isTracking(name)
		switch {
		case v.differs > 0 || v.included > 0 && len(v.same) == 0:
			if isKnown {
				rules.Keep = append(rules.Keep, name)
			}
		case isKnown:
		case len(v.same) >= minEvidence, len(v.omitted) >= minEvidence && v.included == 0 && !isPageNumber(name):
			rules.Drop = append(rules.Drop, name)
		}
	}
	return rules
}

type page struct {
	u          URL
	parameters map[string]string
	content    string
}

// evidence counts the evidence on one parameter. Pages are identified by their
// paths, so that a page seen often counts once.
type evidence struct {
	same     map[string]bool // pages with the same text without it
	omitted  map[string]bool // pages whose canonical URL omits it
	included int             // canonical URLs that contain it
	differs  int             // pairs of pages with different texts
}

func voteFor(votes map[string]*evidence, name string) *evidence {
	v := votes[name]
	if v == nil {
		v = &evidence{same: map[string]bool{}, omitted: map[string]bool{}}
		votes[name] = v
	}
	return v
}

func addCanonicalEvidence(votes map[string]*evidence, p page, canonical URL) {
	// A canonical URL with another path shows nothing about parameters.
	if p.u.hostname != canonical.hostname || p.u.path != canonical.path {
		return
	}
	canonicalParams := parseParameters(canonical.query)
	for name, value := range p.parameters {
		switch canonicalValue, has := canonicalParams[name]; {
		case !has:
			voteFor(votes, name).omitted[p.u.path] = true
		case canonicalValue == value:
			voteFor(votes, name).included++
		}
	}
}

func addContentEvidence(votes map[string]*evidence, pages []page) {
	type seen struct{ value, content string }
	names := map[string]bool{} // all parameters: pages without one are compared with pages that have it
	for _, p := range pages {
		for name := range p.parameters {
			names[name] = true
		}
	}
	groups := map[string]map[string]seen{} // name → URL without it → first page
	for _, p := range pages {
		if p.content == "" {
			continue
		}
		for name := range names {
			rest := p.u.Origin() + p.u.path + "?" + withoutParameter(p.parameters, name)
			now := seen{p.parameters[name], p.content}
			if groups[name] == nil {
				groups[name] = map[string]seen{}
			}
			first, known := groups[name][rest]
			switch {
			case !known:
				groups[name][rest] = now
			case first.value == now.value:
			case first.content == now.content:
				voteFor(votes, name).same[p.u.path] = true
			default:
				voteFor(votes, name).differs++
			}
		}
	}
}

func withoutParameter(all map[string]string, name string) string {
	var b strings.Builder
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if other != name {
			b.WriteString(other + "=" + all[other] + "&")
		}
	}
	return b.String()
}

func parseParameters(query string) map[string]string {
	all := map[string]string{}
	for piece := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(piece, "="); name != "" {
			all[parameterName(name)] = value
		}
	}
	return all
}

// isPageNumber recognizes pagination parameters, which canonical URLs often
// omit by mistake.
func isPageNumber(name string) bool {
	switch name {
	case "page", "p", "paged", "trang", "start", "offset", "pageindex", "pg", "id":
		return true
	}
	return false
}
