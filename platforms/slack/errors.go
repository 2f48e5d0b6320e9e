package slack

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// meaning is what error codes mean for another attempt, and for a user.
type meaning struct {
	codes string
	class network.Class
	text  string
}

// meanings has the errors of https://docs.slack.dev/reference/methods/chat.postMessage and
// other methods that are not about the content.
func meanings() []meaning {
	return []meaning{
		{
			"not_authed invalid_auth account_inactive token_revoked token_expired no_permission not_allowed_token_type",
			network.Auth, "Slack no longer accepts the bot token. Reconnect the channel with a valid one.",
		},
		{"missing_scope", network.Auth, "The bot lacks a scope. Add it, install the app again and reconnect."},
		{"not_in_channel", network.Auth, "The bot is not a member of the channel. Invite it there with /invite."},
		{"channel_not_found", network.Auth, "The channel does not exist, or is private and the bot is not a member."},
		{"is_archived", network.Auth, "The channel is archived."},
		{
			"restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel " +
				"access_denied ekm_access_denied org_login_required enterprise_is_restricted team_access_not_granted " +
				"two_factor_setup_required",
			network.Auth, "An administrator of the workspace does not let the bot post here.",
		},
		{"ratelimited rate_limited message_limit_exceeded", network.Throttled, "Too many calls in a short time."},
		{"team_added_to_org external_channel_migrating", network.Transient, "Slack is moving the channel."},
		{"request_timeout", network.Transient, "The request reached Slack incomplete."},
		{"thread_not_found", network.Rejected, "The message that this one replies to does not exist any more."},
		// "It's possible some aspect of the operation succeeded before the error was raised"
		{"internal_error fatal_error service_unavailable", "", "Slack has a problem and may have acted."},
	}
}

// refusal classifies an unsuccessful response by its code. Unknown ones are permanent.
func refusal(res *call.Response, got apiResponse) *network.Error {
	text := ""
	if got.Error != "" {
		details := append(append([]string{got.Error}, got.Errors...), got.Metadata.Messages...)
		text = "Slack refuses this: " + strings.Join(details, ", ") + "."
	}
	e := res.StatusError(got.Error, text)
	for _, m := range meanings() {
		if slices.Contains(strings.Fields(m.codes), got.Error) {
			e.Class, e.Message = cmp.Or(m.class, e.Class), strings.TrimSpace(m.text+" "+got.Needed)
			got.Error = ""
		}
	}
	switch {
	case strings.Contains(text, "invalid slack file"): // an upload was deleted; nothing was published
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	case res.OK() && got.Error != "":
		e.Class = network.Rejected
	}
	if e.Class == network.Throttled { // https://docs.slack.dev/apis/web-api/rate-limits
		e.Scope = network.ScopeAccount
		if e.RetryAt = res.RetryAfter(); e.RetryAt.IsZero() {
			e.RetryAt = res.Received.Add(time.Minute)
		}
	}
	return e
}

// hasCode reports whether Slack refused a call with one of the codes.
func hasCode(err error, codes ...string) bool {
	e := network.AsError(err)
	return e != nil && e.Status == http.StatusOK && slices.Contains(codes, e.Code)
}

func refused(field, code, text string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: text}
}
