// Package crawl defines the crawler's data model: seeds, registered domains, and
// the URLs of the frontier, with the rules for when each of them is fetched.
//
// Subpackages do the work: crawler fetches a domain's due URLs, fetch makes the
// requests, discover extracts links, robots applies robots.txt, and seen answers
// which URLs are new. internal/storage/postgres stores the frontier.
package crawl

import (
	"github.com/google/uuid"

	"dateline/internal/news/crawl/weburl"
)

// Kind is the type of page that a URL leads to.
type Kind string

// All kinds but Article are hubs, which are fetched repeatedly for their links.
const (
	Home    Kind = "home"
	Section Kind = "section"
	Feed    Kind = "feed"
	Sitemap Kind = "sitemap"
	Article Kind = "article"
)

// Hub reports whether URLs of this kind are fetched for their links.
func (k Kind) Hub() bool { return k != Article }

// State is the result of the last fetch of a URL.
type State string

// The states of a URL in the frontier.
const (
	Pending  State = "pending"  // never fetched
	Stored   State = "stored"   // its newest version is stored
	Failed   State = "failed"   // the last fetch failed and will be retried
	Dead     State = "dead"     // 404, 410 or 451, or out of retries; checked again after a month
	Excluded State = "excluded" // blocked by robots.txt, or not a page that the crawler fetches
)

// URLID is the ID of a URL in the frontier: the first 128 bits of the SHA-256
// of its canonical form.
func URLID(u weburl.URL) uuid.UUID { return uuid.UUID(u.Hash()) }

// DomainUUID is the ID of a domain in the audit log.
func DomainUUID(domain string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(domain))
}

// Command is an operation on the crawl of a domain.
type Command string

// The commands that members and operators can send.
const (
	Pause  Command = "pause"
	Resume Command = "resume"
	RunNow Command = "run_now"
	Empty  Command = "empty"
)
