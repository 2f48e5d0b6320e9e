package timeline

import (
	"fmt"
	"strings"
	"time"
)

// English is the language of the API.
func English() Language {
	return Language{
		Messages: english(),
		Seconds:  func(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) },
		Day:      func(at time.Time) string { return at.Format("2 January 2006") },
		List: func(items []string) string {
			if len(items) < 2 {
				return strings.Join(items, "")
			}
			return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
		},
	}
}

func english() map[string]string {
	return map[string]string{
		Unknown: "Noted: {type}.",
		Account: "an account that was removed from the post",

		"created":          "Created[, to be published at {scheduled_at}][, to {accounts}].",
		"created.operator": "Created by an operator[, to be published at {scheduled_at}][, to {accounts}].",
		"created.dateline": "Created by Dateline[, to be published at {scheduled_at}][, to {accounts}].",

		"scheduled": "Scheduled: no longer a draft.",

		"submitted":          "Pending approval.",
		"submitted.dateline": "Pending approval: a rule or a recurring post created it.",
		"approved":           "Approved[ by {reviewer}].[ {comment}]",
		"rejected":           "Not approved[ by {reviewer}].[ {note}]",
		"reopened":           "Pending approval again: the decision was undone.",
		"labeled":            "Labels changed.",

		"time_zone_changed": "Moved from {before_at} to {after_at}, to keep its local time: version {database} " +
			"of the time zone database changed the rules of {time_zone}.",
		"time_zone_changed.held": "Still due at {before_at}, which shows another local time now: version {database} " +
			"of the time zone database changed the rules of {time_zone}, and nothing is moved within the hour.",

		"commented": "A comment was added.",

		"needs_reconnect":  "The network no longer accepts Dateline's access; reconnect the account.",
		"expiring":         "Dateline's access to the account expires soon; reconnect it before then.",
		"disconnected":     "The account was disconnected.",
		"webhook_disabled": "A webhook was disabled because its receiver kept failing.",

		"selectors_learned":     "New selectors were activated[ for {domain}].[ {reason}]",
		"selectors_rolled_back": "The selectors[ of {domain}] were rolled back.[ {reason}]",
		"site_spike":            "A site has many more views than usual[: {views} instead of {usual}].",
		"site_drop":             "A site has far fewer views than usual[: {views} instead of {usual}].",
		"rule_paused":           "The rule[ {rule}] paused itself[: {message}].",
		"page_changed":          "A watched page changed[: {url}].",
		"story_missed":          "Other sources have a story that you do not have[: {title}].",
		"article_matched":       "A new article matches a saved search[: {url}].",
		"selectors_failed": "The selectors[ of {domain}] are failing, and relearning found no better ones.[ " +
			"{learn_error}]",

		"deleted_at_network": "The post of {handle} was deleted at the network.",

		"edited":                "Edited: {changes}.",
		"edited.nothing":        "Saved without changes.",
		"change.content":        "the text",
		"change.scheduled_time": "the time, now {scheduled_at}",
		"change.time_zone":      "the time zone, now {time_zone}",
		"change.language":       "the language[, now {language}]",
		"change.attachments":    "the attachments",
		"change.media":          "the name or description of a file",
		"change.thread":         "the thread",
		"change.options":        "the network options",
		"change.overrides":      "the account overrides",
		"change.accounts":       "the accounts[, now {accounts}]",

		"change.track_links":          "link tracking",
		"change.utm":                  "the UTM parameters",
		"change.drop_if_late_minutes": "how late it may be published",

		"canceled":             "Canceled.",
		"canceled.remaining":   "The remaining parts were canceled; what is published stays.",
		"canceled.operator":    "Canceled by an operator's signal.",
		"publish_now":          "Set to publish immediately.",
		"publish_now.operator": "Published immediately by an operator's signal.",
		"refused":              "An operator's signal[ {asked}] was refused.[ {reason}]",
		"refused.approve":      "It could not be approved: its time had passed.",

		"prepared": "Ready for {handle}[, with {attachments|attachment|attachments} uploaded].",
		"problem":  "Found while preparing for {handle}: {message}",
		"late":     "Running late[: {behind_seconds} behind its time].",

		"sending":       "Being sent to {handle}[, planned for {planned_at}].",
		"sending.again": "Being sent to {handle} again[, planned for {planned_at}]: send number {epoch}.",

		"ambiguous": "Sent to {handle}[ at {sent_at}]; no reliable response was received.[ " +
			"{message}]",
		"ambiguous.connection_reset": "Sent to {handle}[ at {sent_at}]; the connection was reset before a " +
			"response arrived.",
		"ambiguous.connection_closed": "Sent to {handle}[ at {sent_at}]; the connection was closed before a " +
			"response arrived.",
		"ambiguous.connection_failed": "Sent to {handle}[ at {sent_at}]; the connection failed before a response " +
			"arrived.[ {message}]",
		"ambiguous.timeout":            "Sent to {handle}[ at {sent_at}]; no response arrived in time.",
		"ambiguous.malformed_response": "Sent to {handle}[ at {sent_at}]; the response could not be parsed.",
		"ambiguous.interrupted": "May have been sent to {handle}[ at {sent_at}]: the worker stopped before it " +
			"recorded a response.",
		"ambiguous.restored": "May have been posted to {handle} already: it was due before the database was " +
			"restored from a backup. Dateline searches for it first.",
		"ambiguous.media_expired": "Refused by the network of {handle}: the attachments are gone or belong to " +
			"another post, which may be an earlier send of this one[, made at {sent_at}].",

		"reconciled":        "Searched on {handle}.[ {evidence}]",
		"reconciled.found":  "Found on {handle}[ as {url} ][: {evidence}]",
		"reconciled.absent": "Searched on {handle} and not found[: {evidence}]",

		"uncertain.restored": "Whether it was posted to {handle} is not certain: it was due before the database was " +
			"restored from a backup. Someone has to check.",
		"uncertain": "Whether it was posted to {handle} is not certain: it was sent, but no response arrived and the " +
			"post was not found. Someone has to check.",

		"retrying":          "Not posted to {handle} yet.[ {message}][ Next attempt at {retry_at}.]",
		"retrying.not_sent": "Not sent to {handle} yet.[ {message}][ Next attempt at {retry_at}.]",
		"retrying.throttled": "{handle} has reached its network's rate limit.[ {message}][ Next attempt at " +
			"{retry_at}.]",
		"retrying.renewal_waits": "Waiting until the access token of {handle} is renewed; nothing was sent.[ Next " +
			"attempt at {retry_at}.]",
		"retrying.parent_waiting": "Waiting on {handle} until the post that this one replies to is published.[ Next " +
			"attempt at {retry_at}.]",
		"retrying.absent":    "It will be sent to {handle} again because the network does not have it.",
		"retrying.overtaken": "Another attempt at {handle} was first; this one sent nothing.",
		"retrying.media_expired": "The network dropped the attachments for {handle} before they were posted; they " +
			"are being uploaded again.",
		"retrying.media_not_ready": "The network is still processing the attachments for {handle}.[ Next attempt at " +
			"{retry_at}.]",
		"throttled":           "Delayed before sending to {handle}.[ {message}][ Next attempt at {retry_at}.]",
		"waiting_for_network": "Delayed before sending to {handle}.[ {message}][ Next attempt at {retry_at}.]",
		"posted": "Posted to {handle}[ as {url}][, {late_seconds} late][: sent at {sent_at}][, " +
			"answered at {answered_at}].",
		"posted.on_time": "Posted to {handle}[ as {url}], on time[: sent at {sent_at}][, answered at " +
			"{answered_at}].",
		"segment_posted": "Part {number}[ of {of}] posted to {handle}[ as {url}][, {late_seconds} late][: " +
			"sent at {sent_at}][, answered at {answered_at}].",
		"segment_posted.on_time": "Part {number}[ of {of}] posted to {handle}[ as {url}], on time[: sent at " +
			"{sent_at}][, answered at {answered_at}].",
		"differs":         "The post on {handle} is not as you asked for[: {evidence}]",
		"accepted":        "Accepted on {handle} as it is.",
		"deleted":         "Deleted on {handle}[: {url}].",
		"comment_failed":  "Posted to {handle} without its first comment.[ {message}]",
		"failed.too_late": "Not posted to {handle}.[ {message}]",
		"failed":          "Not posted to {handle}.[ {message}]",
		"failed.auth": "Not posted to {handle}: the network no longer accepts Dateline's access. Reconnect " +
			"the account.[ {message}]",
		"failed.rejected":  "Not posted to {handle}: the network rejected it.[ {message}]",
		"failed.duplicate": "Not posted to {handle}: the network reports it as a duplicate.[ {message}]",
		"failed.not_sent":  "Not posted to {handle}: all attempts failed before anything was sent.[ {message}]",
		"failed.transient": "Not posted to {handle}: all attempts failed.[ {message}]",
		"failed.throttled": "Not posted to {handle}: the rate limit was reached.[ {message}]",
		"parked":           "Needs attention: retry, edit or discard it[ until {until_at}].",
		"redriven":         "Retried[ for {targets}][ for {count|account|accounts}].",
		"redriven.manual":  "Retried manually[ for {targets}][ for {count|account|accounts}].",
		"redriven.reconnected": "Retried[ for {targets}][ for {count|account|accounts}] because the account was " +
			"reconnected.",
		"discarded":            "Discarded: it will not be retried.",
		"confirmed":            "Confirmed as published on {handle}[ as {url}].",
		"resend":               "Confirmed as not published on {handle}; it will be sent again.",
		"status":               "The post is now {status}.",
		"status.posted":        "Published on all accounts.",
		"status.partly_posted": "Published on some of its accounts.",
		"status.failed":        "Failed on all accounts.",
		"status.canceled":      "The post was canceled.",
	}
}
