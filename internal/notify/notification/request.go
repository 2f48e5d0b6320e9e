package notification

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/rivo/uniseg"

	"dateline/internal/infra/webpage"
)

// outgoing is a message that is ready to be sent.
type outgoing struct {
	id      uuid.UUID // of the delivery, the same for all attempts
	message Message
	lines   []line
}

// limits of texts, each in the unit of its service. Longer ones are refused.
const (
	maxTelegram = 4096 // UTF-16 code units, https://core.telegram.org/bots/api#sendmessage
	maxDiscord  = 2000 // UTF-16 code units, https://discord.com/developers/docs/resources/webhook#execute-webhook
	// bytes; 4,096 are an attachment, which is off by default (ntfy 2.13), https://docs.ntfy.sh/publish/#limitations
	maxNtfy     = 4095
	maxNtfyJSON = 7000 // bytes of the message in JSON; ntfy 2.13 reads a body of twice the limit of a message
	// Bytes in JSON; an event has at most 65,536 with what servers add,
	// https://spec.matrix.org/v1.18/client-server-api/#size-limits
	maxMatrix = 57000
	// Bytes of the card's texts in JSON; a message has at most 28 KB,
	// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
	maxTeams = 24000
	maxText  = 20000 // characters; Slack truncates at 40,000
)

// request returns the request that sends a message.
func request(ctx context.Context, k Kind, d Destination, o outgoing) (*http.Request, error) {
	address, method, token := d.URL, http.MethodPost, ""
	var body any
	switch k {
	case Slack:
		// https://docs.slack.dev/messaging/formatting-message-text#escaping
		body = map[string]any{
			"text":         cut("*"+slackEscape(o.message.Title)+"*\n"+joined(o.lines, slackEscape), maxText),
			"unfurl_links": false,
		}
	case Telegram:
		// Without parse_mode, texts have no markup.
		address = strings.TrimSuffix(first(d.URL, telegramURL), "/") + "/bot" + d.Token + "/sendMessage"
		body = map[string]any{
			"chat_id": d.Recipient, "text": cutBy(o.plain(), maxTelegram, utf16Units),
			"link_preview_options": map[string]bool{"is_disabled": true},
		}
	case Discord:
		body = map[string]any{
			"content": cutBy("**"+markdownEscape(o.message.Title)+"**\n"+
				joined(o.lines, markdownEscape), maxDiscord, utf16Units),
			"allowed_mentions": map[string]any{"parse": []string{}}, "flags": 4,
		} // SUPPRESS_EMBEDS
	case Ntfy:
		// https://docs.ntfy.sh/publish/#publish-as-json
		u, err := url.Parse(d.URL)
		if err != nil {
			return nil, err
		}
		topic := strings.Trim(u.Path, "/")
		if i := strings.LastIndexByte(topic, '/'); i >= 0 {
			u.Path, topic = "/"+topic[:i], topic[i+1:]
		} else {
			u.Path = "/"
		}
		address, token = u.String(), d.Token
		out := map[string]any{
			"topic": topic, "title": o.message.Title,
			"message": cutBy(cutBy(joined(o.lines, nil), maxNtfy, utf8Bytes), maxNtfyJSON, jsonBytes),
		}
		if len(o.message.Entries) == 1 && o.message.Entries[0].URL != "" {
			out["click"] = o.message.Entries[0].URL
		}
		body = out
	case Matrix:
		// The transaction ID makes repetitions harmless:
		// https://spec.matrix.org/v1.18/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid
		method, token = http.MethodPut, d.Token
		address = strings.TrimSuffix(d.URL, "/") + "/_matrix/client/v3/rooms/" + url.PathEscape(d.Recipient) +
			"/send/m.room.message/dateline-" + o.id.String()
		body = map[string]any{"msgtype": "m.text", "body": cutBy(o.plain(), maxMatrix, jsonBytes)}
	case Teams:
		body = o.card()
	default:
		address = d.URL
		body = o.object()
		token = d.Token
	}
	raw, err := encodeJSON(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Dateline")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r, nil
}

// telegramURL is the Bot API; others run their own server of it.
const telegramURL = "https://api.telegram.org"

// encodeJSON does not escape characters of HTML, which some services show escaped.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

func (o outgoing) plain() string { return o.message.Title + "\n" + joined(o.lines, nil) }

// card is an Adaptive Card: https://learn.microsoft.com/power-automate/overview-adaptive-cards
func (o outgoing) card() any {
	block := func(text string, bold bool) map[string]any {
		b := map[string]any{"type": "TextBlock", "text": text, "wrap": true}
		if bold {
			b["weight"] = "Bolder"
		}
		return b
	}
	blocks := []map[string]any{block(markdownEscape(o.message.Title), true)}
	room := maxTeams - jsonBytes(o.message.Title)
	for _, l := range o.lines {
		const overhead = 80 // bytes of a block without its text
		used := jsonBytes(markdownEscape(l.text)) + overhead
		if l.url {
			used += jsonBytes(l.text)
		}
		if used > room {
			if !l.url && room > 2*overhead {
				blocks = append(blocks, block(markdownEscape(cutBy(l.text, (room-overhead)/2, jsonBytes)), l.title))
			}
			break
		}
		room -= used
		switch {
		case l.text == "":
		case l.url:
			blocks = append(blocks, block("["+l.text+"]("+l.text+")", false))
		default:
			blocks = append(blocks, block(markdownEscape(l.text), l.title))
		}
	}
	return map[string]any{
		"type": "message",
		"attachments": []any{map[string]any{
			"contentType": "application/vnd.microsoft.card.adaptive",
			"content": map[string]any{
				"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard",
				"version": "1.2", "body": blocks,
			},
		}},
	}
}

// object is the body for servers of users.
func (o outgoing) object() any {
	type event struct {
		Type  string   `json:"type,omitempty"`
		Title string   `json:"title"`
		Lines []string `json:"lines"`
		URL   string   `json:"url,omitempty"`
	}
	events := make([]event, len(o.message.Entries))
	for i, e := range o.message.Entries {
		events[i] = event{e.Type, e.Title, append([]string{}, e.Lines...), e.URL}
	}
	text := joined(o.lines, nil)
	// message is what Gotify and many other servers require. Gotify 2.9 refuses an id or appid
	// that is no number.
	return map[string]any{
		"notification_id": o.id, "title": o.message.Title, "text": text, "message": text, "events": events,
		"more": o.message.More,
	}
}

func slackEscape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// markdownEscape escapes the markup of Discord and Teams, so that texts of users and
// pages contain no links of their own.
func markdownEscape(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()<>#+-!|~", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// cut limits a text to a number of code points.
func cut(text string, limit int) string { return cutBy(text, limit, utf8.RuneCountInString) }

// cutBy limits a text in the given unit, including the ellipsis. It does not split what a
// reader sees as one character (Unicode Standard Annex #29).
func cutBy(text string, limit int, units func(string) int) string {
	if units(text) <= limit {
		return text
	}
	end, used := 0, units("…")
	for rest, state := text, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += units(cluster); used > limit {
			break
		}
		end += len(cluster)
	}
	return text[:end] + "…"
}

func utf8Bytes(text string) int { return len(text) }

func utf16Units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// jsonBytes is the length of a text in JSON, without its quotation marks.
func jsonBytes(text string) int {
	raw, err := encodeJSON(text)
	if err != nil {
		return len(text)
	}
	return len(raw) - len("\"\"\n")
}

// asEmail renders a message as plain text and a subject.
func (o outgoing) asEmail(language webpage.Language, unsubscribe string) (subject, text string) {
	look := webpage.Preferences{Language: language}
	footer := look.Translate(webpage.Text{EN: "Unsubscribe: %s", VI: "Hủy nhận email: %s"}, unsubscribe)
	return o.message.Title, joined(o.lines, nil) + "\n\n-- \n" + footer + "\n"
}
