package mastodon

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
)

// software is the server software that an instance reports.
type software struct {
	name    string // lowercase, as in NodeInfo; empty: unknown
	version string
}

func (s software) String() string {
	if s.name == "" {
		return "this server's software"
	}
	return strings.TrimSpace(s.name + " " + s.version)
}

// honorsIdempotencyKeys reports whether the software is known to answer a second
// request with the same Idempotency-Key with the first status, and since which
// version. Forks of Mastodon that keep its name also keep this code
// (app/services/post_status_service.rb, idempotency_key). Other servers may
// ignore the header, as GoToSocial does.
func (s software) honorsIdempotencyKeys() bool {
	switch s.name {
	case "mastodon":
		return s.major() >= 2
	case "hometown":
		return true
	}
	return false
}

// listsImmediately reports whether the software reads an account's statuses from
// the database that it writes them to, so that a status is listed as soon as it
// exists.
func (s software) listsImmediately() bool {
	switch s.name {
	case "mastodon", "hometown", "gotosocial", "pleroma", "akkoma", "hollo":
		return true
	}
	return false
}

// rendersPlainText reports whether the software is known to show a text as it was
// written.
func (s software) rendersPlainText() bool { return s.name == "mastodon" || s.name == "hometown" }

// appliesMarkdown reports whether the software is known to apply Markdown to every
// status: snac 2.94, Hollo 0.10, and GoToSocial for accounts that chose it.
func (s software) appliesMarkdown() bool {
	return s.name == "snac" || s.name == "hollo" || s.name == "gotosocial"
}

// ignored returns the options that the software is known to ignore; of software that is
// not known, those that others were seen to ignore.
func (s software) ignored() []string {
	switch s.name {
	case "mastodon", "hometown", "gotosocial", "pleroma", "akkoma", "hollo":
		return nil
	case "mitra": // 5.9.2: unlisted becomes public, spoiler_text is dropped
		return []string{"visibility", "content_warning"}
	case "snac": // 2.94
		return []string{"quote_policy"}
	}
	return []string{"visibility", "content_warning", "poll", "quote_policy"}
}

// isKnown reports whether the behavior of the software is known.
func (s software) isKnown() bool {
	switch s.name {
	case "mastodon", "hometown", "gotosocial", "pleroma", "akkoma", "hollo", "mitra", "snac":
		return true
	}
	return false
}

// notes tell people who connect an account what the server leaves out.
func (s software) notes() message.Messages {
	options := strings.Join(s.ignored(), ", ")
	switch {
	case !s.isKnown():
		return message.One("unknown_software",
			"Dateline does not know {software}. Some servers with Mastodon's API leave out {options}; what is left "+
				"out is shown on each post.", s.String(), options)
	case options != "":
		return message.One("ignored_options",
			"{software} leaves out {options}; what is left out is shown on each post.", s.String(), options)
	}
	return nil
}

// knownSoftware returns the software of an instance without a call.
func (m *Mastodon) knownSoftware(base string) software {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.instances[base].software
}

// major returns the first number of the version; 0: none.
func (s software) major() int {
	number, _, _ := strings.Cut(s.version, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// nodeInfoPath is the address of the documents that name a server's software.
// https://nodeinfo.diaspora.software/protocol
const nodeInfoPath = "/.well-known/nodeinfo"

// fetchSoftware reads a server's software from NodeInfo. The version in GET
// /api/v2/instance cannot be used, because other servers report the version of
// Mastodon that they are compatible with. The software of a server that does not
// respond in this format is unknown.
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
		path, ok := pathOnHost(base, link.Href)
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

// pathOnHost returns the path of an address on the same host; false for other
// hosts, which are not queried.
func pathOnHost(base, address string) (path string, ok bool) {
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

// minReplayAge is how much older than the request a status must be to be a replay
// of an earlier response: Date and created_at can be rounded.
const minReplayAge = 5 * time.Second

// observeReplay records that a server answered with a status that is older than
// the request. Only servers that honor the key do that, so the key can be relied
// on for as long as was just observed.
func (m *Mastodon) observeReplay(base string, created status, res *call.Response) {
	if created.CreatedAt.IsZero() || res.Sent.IsZero() {
		return
	}
	age := res.Sent.Add(res.ClockSkew()).Sub(created.CreatedAt)
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
