package crawl

import "github.com/google/uuid"

// Control is what may be done with the crawl of a domain.
type Control string

// What may be done.
const (
	Pause  Control = "pause"
	Resume Control = "resume"
	RunNow Control = "run_now"
	Empty  Control = "empty"
)

// DomainUUID names a domain in the audit log.
func DomainUUID(domain string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(domain))
}
