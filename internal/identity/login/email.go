package login

import (
	"slices"
	"strings"

	"dateline/internal/identity/workspace"
)

// plainEmail returns an address in lower case, or nothing if it has non-ASCII letters: case
// folding could make different addresses equal, such as K (the Kelvin sign) and k, and
// give access to the account of another user.
func plainEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at == len(address)-1 || len(address) > 254 {
		return ""
	}
	for _, r := range address {
		if r <= ' ' || r > '~' {
			return ""
		}
	}
	return strings.ToLower(address)
}

// Joining configures which unknown users become members when they log in.
type Joining struct {
	Domains []string // of their verified e-mail addresses, in lower case
	Role    workspace.Role
}

// role returns the role with which a person can join, or nothing.
func (j Joining) role(p Person) workspace.Role {
	_, domain, _ := strings.Cut(p.Email, "@")
	if p.Email == "" || strings.Contains(domain, "@") || !slices.Contains(j.Domains, domain) {
		return ""
	}
	return j.Role
}
