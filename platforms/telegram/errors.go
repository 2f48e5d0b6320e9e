package telegram

import (
	"net/http"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// refusal classifies an unsuccessful response. Telegram has no error codes, so
// status and message decide.
func refusal(res *call.Response, got apiResponse) *network.Error {
	e := res.StatusError("", sentence(got.Description))
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if got.Parameters.RetryAfter > 0 {
			e.RetryAt = res.Received.Add(time.Duration(got.Parameters.RetryAfter) * time.Second)
		}
	case res.Status == http.StatusForbidden, missingRights(got.Description):
		// Kicked, blocked or no longer an administrator: a user has to add the
		// bot again, as after a revoked token.
		e.Class, e.Code = network.Auth, "not_allowed_in_chat"
	case res.Status == http.StatusNotFound && got.Description == "Not Found":
		// The response to a malformed token: the method is not found.
		e.Class, e.Code = network.Auth, "token_refused"
	case got.Parameters.MigrateTo != 0:
		e.Code, e.Message = "chat_moved", "The group became a supergroup and has a new id. Reconnect the account."
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

// missingRights reports whether a 400 is about the bot's rights.
func missingRights(description string) bool {
	for _, known := range []string{
		"need administrator rights", "not enough rights", "CHAT_WRITE_FORBIDDEN",
		"CHAT_ADMIN_REQUIRED",
	} {
		if strings.Contains(description, known) {
			return true
		}
	}
	return false
}
