package robots

import "strings"

// For is what the file says to the crawler with this product token. The groups
// that name it hold together; if there are none, those for all ("*") do
// (RFC 9309 §2.2.1).
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

// Check says whether a path with its query, such as /tin?id=1, may be fetched.
// The rule with the longest pattern decides; of two equally long ones, Allow
// (RFC 9309 §2.2.2).
func (a Group) Check(path string) Verdict {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	path, _, _ = strings.Cut(path, "#")
	// In a path they are no special characters (§2.2.3).
	path = normalize(strings.NewReplacer("*", "%2A", "$", "%24").Replace(path))
	if path == "/robots.txt" { // §2.2.2: always allowed
		return Verdict{Allowed: true}
	}
	if a.disallowAll {
		return Verdict{Rule: "robots.txt could not be fetched"}
	}
	best, longest := -1, -1
	for i, r := range a.rules {
		if len(r.pattern) < longest || len(r.pattern) == longest && !r.allow || !matches(r.pattern, path) {
			continue
		}
		best, longest = i, len(r.pattern)
	}
	if best < 0 {
		return Verdict{Allowed: true}
	}
	return Verdict{Allowed: a.rules[best].allow, Rule: a.rules[best].line}
}

// matches compares from the start of the path. "*" stands for anything, "$" at
// the end for the end (RFC 9309 §2.2.3). It takes time proportional to the
// product of both lengths at worst, whatever the pattern.
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
	// Each part at the first place where it fits: no later place can be better,
	// but for the last part of an anchored pattern, which stands at the end.
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
