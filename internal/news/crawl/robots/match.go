package robots

import "strings"

// For returns the rules for the crawler with this product token: those of all
// groups that name it, or else those of the groups for "*" (RFC 9309 §2.2.1).
func (f *File) For(product string) Group {
	product = productToken(product)
	agent := Group{}
	if product != "" {
		agent = f.merge(product)
	}
	if !agent.matched {
		agent = f.merge("*")
	}
	return agent
}

func (f *File) merge(name string) Group {
	agent := Group{}
	for _, g := range f.records {
		for _, known := range g.agents {
			if known != name {
				continue
			}
			agent.matched = true
			agent.rules = append(agent.rules, g.rules...)
			agent.CrawlDelay = max(agent.CrawlDelay, g.delay)
			break
		}
	}
	return agent
}

// Check reports whether a path with its query, such as /tin?id=1, may be
// fetched. The rule with the longest pattern decides; of two equally long ones,
// Allow (RFC 9309 §2.2.2).
func (a Group) Check(path string) Verdict {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	path, _, _ = strings.Cut(path, "#")
	// These characters are not special in a path (§2.2.3).
	path = normalize(strings.NewReplacer("*", "%2A", "$", "%24").Replace(path))
	if path == "/robots.txt" { // §2.2.2: always allowed
		return Verdict{Allowed: true}
	}
	if a.disallowAll {
		return Verdict{Rule: "robots.txt could not be fetched"}
	}
	best, bestLength := -1, -1
	for i, r := range a.rules {
		if len(r.pattern) < bestLength || len(r.pattern) == bestLength && !r.allow || !matches(r.pattern, path) {
			continue
		}
		best, bestLength = i, len(r.pattern)
	}
	if best < 0 {
		return Verdict{Allowed: true}
	}
	return Verdict{Allowed: a.rules[best].allow, Rule: a.rules[best].line}
}

// matches matches a pattern from the start of the path. "*" matches any text
// and a trailing "$" the end (RFC 9309 §2.2.3). The time is at most
// proportional to the product of both lengths.
func matches(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	rest := path[len(parts[0]):]
	if len(parts) == 1 {
		return !anchored || rest == ""
	}
	// Each part matches at its first occurrence. Later ones cannot be better,
	// except for the last part of an anchored pattern.
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	last := parts[len(parts)-1]
	if anchored {
		return strings.HasSuffix(rest, last)
	}
	return strings.Contains(rest, last)
}
