package crawl

import "github.com/google/uuid"

// Command is what may be done with the crawl of a domain.
type Command string

// What may be done.
const (
	Pause  Command = "pause"
	Resume Command = "resume"
	RunNow Command = "run_now"
	Empty  Command = "empty"
)

// DomainUUID names a domain in the audit log.
func DomainUUID(domain string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(domain))
}
