package mastodon

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
)

// software is what a server says that it runs.
type software struct {
	name    string // lower case, as NodeInfo spells it; empty: unknown
	version string
}

func (s software) String() string {
	if s.name == "" {
		return "this server's software"
	}
	return strings.TrimSpace(s.name + " " + s.version)
}

// honorsKeys lists the software that is known to answer a second request with
// the same Idempotency-Key with the first one's status, and since which version.
// Forks of Mastodon that keep its name keep its code, too
// (app/services/post_status_service.rb, idempotency_key). Servers that are not
// listed may ignore the header, as GoToSocial does.
func (s software) honorsKeys() bool {
	switch s.name {
	case "mastodon":
		return s.major() >= 2
	case "hometown":
		return true
	}
	return false
}

// listsAtOnce lists the software that reads an account's statuses from the
// database to which it writes them, so that a status is listed as soon as it
// exists.
func (s software) listsAtOnce() bool {
	switch s.name {
	case "mastodon", "hometown", "gotosocial", "pleroma", "akkoma":
		return true
	}
	return false
}

// major is the first number of the version; 0 when there is none.
func (s software) major() int {
	number, _, _ := strings.Cut(s.version, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// nodeInfoPath leads to the documents that name a server's software.
// https://nodeinfo.diaspora.software/protocol
const nodeInfoPath = "/.well-known/nodeinfo"

// fetchSoftware asks a server what it runs. The version that GET /api/v2/instance
// gives does not tell: other servers fill in the version of Mastodon with which
// they are compatible. A server that does not answer, or not in this form, has
// unknown software.
func (m *Mastodon) fetchSoftware(ctx context.Context, base string) software {
	res, err := m.do(ctx, base, nodeInfoPath, call.Request{Method: http.MethodGet})
	if err != nil {
		return software{}
	}
	var documents struct {
		Links []struct {
			Rel  string `json:"rel"`
			Href string `json:"href"`
		} `json:"links"`
	}
	if res.Decode(&documents) != nil {
		return software{}
	}
	for _, link := range documents.Links {
		if !strings.HasPrefix(link.Rel, "http://nodeinfo.diaspora.software/ns/schema/") {
			continue
		}
		path, ok := samePlace(base, link.Href)
		if !ok {
			continue
		}
		res, err := m.do(ctx, base, path, call.Request{Method: http.MethodGet})
		if err != nil {
			continue
		}
		var document struct {
			Software struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"software"`
		}
		if res.Decode(&document) == nil && document.Software.Name != "" {
			return software{name: strings.ToLower(document.Software.Name), version: document.Software.Version}
		}
	}
	return software{}
}

// samePlace gives the path of an address that lies on the server itself. What
// another host says of this one is not asked.
func samePlace(base, address string) (path string, ok bool) {
	root, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	u, err := root.Parse(address)
	if err != nil || u.Host != root.Host {
		return "", false
	}
	return u.EscapedPath(), true
}

// minReplayAge is how much older than the request a status must be for the
// server to have repeated an earlier answer: Date and created_at may be rounded.
const minReplayAge = 5 * time.Second

// learnReplay notes that a server answered with a status that is older than the
// request. Only a server that honors the key does that, so the key may be
// relied on for as long as it was just seen to work.
func (m *Mastodon) learnReplay(base string, made status, res *call.Response) {
	if made.CreatedAt.IsZero() || res.Sent.IsZero() {
		return
	}
	age := res.Sent.Add(res.ClockSkew()).Sub(made.CreatedAt)
	if age < minReplayAge {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.instances[base]
	window := min(int(age.Seconds()), idempotencyWindow)
	if !ok || known.limits.IdempotencyWindow >= window {
		return
	}
	known.limits.IdempotencyWindow = window
	m.instances[base] = known
}
