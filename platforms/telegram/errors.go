package telegram

import (
	"net/http"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// refusal classifies an answer that is no success. Telegram has no codes of its
// own: the status and the wording tell.
func refusal(res *call.Response, got answer) *network.Error {
	e := res.StatusError("", sentence(got.Description))
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if got.Parameters.RetryAfter > 0 {
			e.RetryAt = res.Received.Add(time.Duration(got.Parameters.RetryAfter) * time.Second)
		}
	case res.Status == http.StatusForbidden, rightsLost(got.Description):
		// Kicked, blocked or no longer an administrator: a person has to let the
		// bot in again, as with a token that was revoked.
		e.Class, e.Code = network.Auth, "not_allowed_in_chat"
	case res.Status == http.StatusNotFound && got.Description == "Not Found":
		// How a token of the wrong form is answered: the method is not found.
		e.Class, e.Code = network.Auth, "token_refused"
	case got.Parameters.MigrateTo != 0:
		e.Code, e.Message = "chat_moved", "The group became a supergroup and has another id. Connect it again."
	}
	return e
}

func sentence(description string) string {
	_, after, found := strings.Cut(description, ": ")
	if !found {
		return description
	}
	return after
}

// rightsLost knows the refusals of status 400 that are about what the bot may do.
func rightsLost(description string) bool {
	for _, known := range []string{"need administrator rights", "not enough rights", "CHAT_WRITE_FORBIDDEN", "CHAT_ADMIN_REQUIRED"} {
		if strings.Contains(description, known) {
			return true
		}
	}
	return false
}
