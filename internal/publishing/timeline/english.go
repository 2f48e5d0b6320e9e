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
		Count: func(n int, noun string) string {
			if n == 1 {
				noun = strings.TrimSuffix(noun, "s")
			}
			return fmt.Sprintf("%d %s", n, noun)
		},
	}
}

func english() map[string]string {
	return map[string]string{
		Unknown: "Noted: {type}.",
		Account: "an account that is not part of the post any more",

		"created":          "Created[, to be published on {scheduled_time}][, to {accounts}].",
		"created.operator": "Created by an operator[, to be published on {scheduled_time}][, to {accounts}].",
		"created.dateline": "Created by Dateline[, to be published on {scheduled_time}][, to {accounts}].",

		"scheduled": "Scheduled: no longer a draft.",

		"submitted":          "Waits for approval.",
		"submitted.dateline": "Waits for approval: its series was made by an author.",
		"approved":           "Approved.",
		"rejected":           "Not approved.[ {note}]",

		"needs_reconnect":  "The network does not accept Dateline's access any more; the account has to be connected again.",
		"expiring":         "Dateline's access to the account ends soon; connect it again before then.",
		"disconnected":     "The account was disconnected.",
		"webhook_disabled": "A webhook was switched off because its receiver kept failing.",

		"selectors_learned":     "The pages[ of {domain}] are read by other selectors now[: {reason}].",
		"selectors_rolled_back": "The selectors[ of {domain}] were taken back[: {reason}].",
		"article_matched":       "A new article is one that a kept search looks for[: {url}].",
		"selectors_failed":      "The selectors[ of {domain}] do badly, and none better were learned[: {problem}].",

		"edited":                "Edited: {changes}.",
		"edited.nothing":        "Saved again without a change.",
		"change.content":        "the text",
		"change.scheduled_time": "the time, now {scheduled_time}",
		"change.time_zone":      "the time zone, now {time_zone}",
		"change.language":       "the language[, now {language}]",
		"change.attachments":    "the attachments",
		"change.media":          "the name or description of a file",
		"change.thread":         "the parts that follow",
		"change.overrides":      "what single accounts get",
		"change.accounts":       "the accounts[, now {accounts}]",

		"change.track_links":          "whether links are tracked",
		"change.drop_if_late_minutes": "how late it may be published",

		"canceled":             "Canceled.",
		"canceled.operator":    "Canceled by an operator's signal.",
		"publish_now":          "Made due at once.",
		"publish_now.operator": "Made due at once by an operator's signal.",
		"refused":              "An operator's signal[ {asked}] was refused.[ {reason}]",
		"refused.approve":      "It could not be approved: its time had passed.",

		"prepared": "Ready for {handle}[, with {attachments} uploaded].",
		"problem":  "Found while preparing for {handle}: {message}",
		"late":     "Running late[: {seconds} behind its time].",

		"sending":       "Being sent to {handle}[, planned for {planned}].",
		"sending.again": "Being sent to {handle} again[, planned for {planned}]: send number {epoch}.",

		"ambiguous":                    "Sent to {handle}[ at {sent}]; no answer came that can be trusted.[ {message}]",
		"ambiguous.connection_reset":   "Sent to {handle}[ at {sent}]; the connection was reset before an answer came.",
		"ambiguous.connection_closed":  "Sent to {handle}[ at {sent}]; the connection was closed before an answer came.",
		"ambiguous.connection_failed":  "Sent to {handle}[ at {sent}]; the connection failed before an answer came.[ {message}]",
		"ambiguous.timeout":            "Sent to {handle}[ at {sent}]; no answer came in time.",
		"ambiguous.malformed_response": "Sent to {handle}[ at {sent}]; an answer came that cannot be read.",
		"ambiguous.interrupted":        "May have been sent to {handle}[ at {sent}]: the publisher stopped before it noted an answer.",
		"ambiguous.restored":           "May have been posted to {handle} already: it was due before the database was restored from a backup. It is looked for first.",
		"ambiguous.media_expired":      "Refused by the network of {handle}: the attachments are gone or belong to another post, which may be an earlier send of this one[, made at {sent}].",

		"reconciled":        "Looked for on {handle}.[ {evidence}]",
		"reconciled.found":  "Found live on {handle}[ as {url} ][: {evidence}]",
		"reconciled.absent": "Looked for on {handle} and not found[: {evidence}]",

		"uncertain.restored": "Whether it was posted to {handle} is not certain: it was due before the database was restored from a backup. A person has to look.",
		"uncertain":          "Whether it was posted to {handle} is not certain: it was sent, and neither an answer nor the post itself could be found. A person has to look.",

		"retrying":                 "Not posted to {handle} yet.[ {message}][ Next try at {retry_at}.]",
		"retrying.not_sent":        "Not sent to {handle} yet.[ {message}][ Next try at {retry_at}.]",
		"retrying.throttled":       "{handle} has used up what its network allows for now.[ {message}][ Next try at {retry_at}.]",
		"retrying.absent":          "To be sent to {handle} once more, because the network does not have it.",
		"retrying.overtaken":       "Another attempt at {handle} was faster; this one sent nothing.",
		"retrying.media_expired":   "The network has dropped the attachments for {handle} before they were posted; they are uploaded again.",
		"retrying.media_not_ready": "The network is still working on the attachments for {handle}.[ Next try at {retry_at}.]",
		"throttled":                "Waits before it goes to {handle}.[ {message}][ Next try at {retry_at}.]",
		"held":                     "Waits before it goes to {handle}.[ {message}][ Next try at {retry_at}.]",
		"posted":                   "Posted to {handle}[ as {url}][, {late} late][: sent at {sent}][, answered at {answered}].",
		"posted.on_time":           "Posted to {handle}[ as {url}], on time[: sent at {sent}][, answered at {answered}].",
		"segment_posted":           "Part {number}[ of {of}] posted to {handle}[ as {url}][, {late} late][: sent at {sent}][, answered at {answered}].",
		"segment_posted.on_time":   "Part {number}[ of {of}] posted to {handle}[ as {url}], on time[: sent at {sent}][, answered at {answered}].",
		"failed.too_late":          "Not posted to {handle}.[ {message}]",
		"failed":                   "Not posted to {handle}.[ {message}]",
		"failed.auth":              "Not posted to {handle}: it does not let Dateline in any more. Connect the account again.[ {message}]",
		"failed.rejected":          "Not posted to {handle}: the network refused it for good.[ {message}]",
		"failed.duplicate":         "Not posted to {handle}: the network says that it has this post already.[ {message}]",
		"failed.not_sent":          "Not posted to {handle}: all tries are used up, and none was sent.[ {message}]",
		"failed.transient":         "Not posted to {handle}: all tries are used up.[ {message}]",
		"failed.throttled":         "Not posted to {handle}: the network allows no more for now.[ {message}]",
		"parked":                   "Waits for a person to send it again, change it or discard it[, until {until}].",
		"redriven":                 "Put in line again[ for {targets}].",
		"redriven.manual":          "Put in line again by hand[ for {targets}].",
		"redriven.reconnected":     "Put in line again[ for {targets}], because the account is connected again.",
		"discarded":                "Discarded: it will not be tried again.",
		"confirmed":                "A person has confirmed that it is live on {handle}[ as {url}].",
		"resend":                   "A person has decided to send it to {handle} again.",
		"status":                   "The post is now {status}.",
		"status.posted":            "Done: the post is live on all of its accounts.",
		"status.partly_posted":     "Done in part: the post is live on some of its accounts, and not on others.",
		"status.failed":            "Ended: the post is live on none of its accounts.",
		"status.canceled":          "Ended: the post was canceled.",
	}
}
