package slack

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	infra "dateline/internal/infra/message"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// message has the used fields of https://docs.slack.dev/reference/events/message.
type message struct {
	Text     string `json:"text"`
	TS       string `json:"ts"` // identifies a message within its channel
	ThreadTS string `json:"thread_ts"`
	Blocks   []struct {
		Type string            `json:"type"`
		File map[string]string `json:"slack_file"`
	} `json:"blocks"`
	Metadata struct {
		Payload map[string]any `json:"event_payload"`
	} `json:"metadata"`
	Reactions []struct {
		Count int64 `json:"count"`
	} `json:"reactions"`
	Replies *int64 `json:"reply_count"`
}

// operation is the name of a submission's key in the metadata of its message, which are
// invisible in it. https://docs.slack.dev/messaging/message-metadata
const operation = "dateline_operation"

// parseID returns the parts of a remote id: the ts of a message, after that of the first
// message of its thread and a slash if it is a reply.
func parseID(remoteID string) (thread, ts string) {
	slash := strings.LastIndex(remoteID, "/")
	return remoteID[:max(slash, 0)], remoteID[slash+1:]
}

// idOf returns the remote id of a message; thread is empty if it is not a reply.
func idOf(thread, ts string) string { return strings.TrimPrefix(thread+"/"+ts, "/") }

// threadOf returns the first message of the thread that a submission continues, which a
// reply to a reply belongs to as well.
func threadOf(s network.Submission) string {
	first, _, _ := strings.Cut(cmp.Or(s.RootID, s.ReplyTo), "/")
	return first
}

// Publish creates a message. Next to pictures, which are blocks, the text is a block.
func (s *Slack) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	options, _ := submission.Options.(PostOptions)
	out := map[string]any{
		"channel": account.RemoteID, "text": escape(submission.Text), "mrkdwn": !options.PlainText,
		"unfurl_links": !options.SuppressPreviews, "unfurl_media": !options.SuppressPreviews,
		"metadata": map[string]any{
			"event_type": "dateline_post", "event_payload": map[string]string{operation: submission.Key},
		},
	}
	if thread := threadOf(submission); thread != "" {
		if !isTS(thread) {
			return network.Receipt{}, refused("", "bad_reply_target",
				"The post that this post replies to is not a Slack message.")
		}
		out["thread_ts"], out["reply_broadcast"] = thread, options.BroadcastReplies
	}
	if len(submission.MediaIDs) > 0 {
		out["blocks"] = blocks(submission, options)
	}
	var created struct {
		TS      string  `json:"ts"`
		Message message `json:"message"`
	}
	res, err := s.post(ctx, account, "chat.postMessage", out, true, &created)
	if err != nil {
		return network.Receipt{}, err
	}
	if !isTS(created.TS) {
		return network.Receipt{}, res.MalformedError("it contains no ts of a message")
	}
	created.Message.TS = created.TS
	receipt := s.receipt(ctx, account, submission, created.Message)
	receipt.SentAt, receipt.RequestID = res.Sent, res.RequestID
	return receipt, nil
}

// blocks are those of https://docs.slack.dev/reference/block-kit/blocks. A text that is not
// verbatim would have links, and mentions as well.
func blocks(submission network.Submission, options PostOptions) []any {
	var out []any
	text := map[string]any{"type": "mrkdwn", "text": linked(submission.Text), "verbatim": true}
	if options.PlainText {
		text = map[string]any{"type": "plain_text", "text": escape(submission.Text)}
	}
	if strings.TrimSpace(submission.Text) != "" {
		out = append(out, map[string]any{"type": "section", "text": text})
	}
	for i, id := range submission.MediaIDs {
		alt := "picture" // a description is required
		if i < len(submission.Media) {
			alt = cmp.Or(submission.Media[i].AltText, submission.Media[i].FileName, alt)
		}
		out = append(out, map[string]any{"type": "image", "slack_file": map[string]string{"id": id}, "alt_text": alt})
	}
	return out
}

// isTS reports whether a text is the ts of a message: seconds since 1970 with a fraction.
func isTS(text string) bool { return regexp.MustCompile(`^\d{1,11}\.\d{6}$`).MatchString(text) }

// timeOf returns the time of a ts; zero: it is none.
func timeOf(ts string) time.Time {
	micros, err := strconv.ParseInt(strings.Replace(ts, ".", "", 1), 10, 64)
	if err != nil || !isTS(ts) {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func (s *Slack) receipt(
	ctx context.Context, account network.Account, submission network.Submission, m message,
) network.Receipt {
	thread := threadOf(submission)
	return network.Receipt{
		RemoteID: idOf(thread, m.TS), CreatedAt: timeOf(m.TS), URL: s.permalink(ctx, account, thread, m.TS),
		Differences: m.differences(submission),
	}
}

// differences returns what Slack made otherwise than the submission asked. Formatting,
// cards of links and the copy of a reply in the channel are not compared.
func (m message) differences(submission network.Submission) infra.Messages {
	var c matching.Comparison
	c.Text(withoutEmoji(submission.Text), withoutEmoji(unescape(m.Text)))
	var shown []string
	for _, b := range m.Blocks {
		if b.Type == "image" {
			shown = append(shown, b.File["id"])
		}
	}
	c.MediaIDs(submission.MediaIDs, shown)
	repliesTo := m.ThreadTS
	if repliesTo == m.TS { // the first message of a thread
		repliesTo = ""
	}
	c.Reply(threadOf(submission), repliesTo)
	return c.Differences()
}

// Delete removes a message (https://docs.slack.dev/reference/methods/chat.delete). Its
// pictures stay among the files of the bot.
func (s *Slack) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, ts := parseID(remoteID)
	params := map[string]string{"channel": account.RemoteID, "ts": ts}
	_, err := s.post(ctx, account, "chat.delete", params, false, &struct{}{})
	if hasCode(err, "message_not_found") {
		return nil
	}
	return err
}
