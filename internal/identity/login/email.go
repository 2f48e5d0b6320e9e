package login

import (
	"slices"
	"strings"

	"dateline/internal/identity/workspace"
)

// plainEmail gives an address in lower case, and nothing for one with letters
// beyond ASCII: folding the case of those makes different addresses equal, such
// as K (the Kelvin sign) and k, and who owns one would get the other's account.
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

// Joining says which strangers become members by logging in.
type Joining struct {
	Domains []string // of their verified e-mail addresses, in lower case
	Role    workspace.Role
}

// role gives what a person may join as; nothing for most.
func (j Joining) role(p Person) workspace.Role {
	_, domain, _ := strings.Cut(p.Email, "@")
	if p.Email == "" || strings.Contains(domain, "@") || !slices.Contains(j.Domains, domain) {
		return ""
	}
	return j.Role
}
