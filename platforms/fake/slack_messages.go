package fake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dateline/platforms/network"
)

// slackBlock has the used fields of https://docs.slack.dev/reference/block-kit/blocks.
type slackBlock struct {
	Type string `json:"type"`
	Text struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Verbatim bool   `json:"verbatim"`
	} `json:"text"`
	File    map[string]string `json:"slack_file"`
	AltText string            `json:"alt_text"`
}

// addSlackBlock adds what a block shows to a post, and returns what is wrong with it.
func (s slackFake) addSlackBlock(post *Post, c caller, b slackBlock) string {
	m := s.state.media[b.File["id"]]
	switch text := b.Text.Text; {
	case b.Type == "section" && text != "" && len([]rune(text)) <= 3000:
		if b.Text.Type == "mrkdwn" && !b.Text.Verbatim { // some mentions are parsed
			text = regexp.MustCompile(`@(channel|here|everyone)`).ReplaceAllString(text, "<!$1>")
			post.Options["notifies"] = strings.Contains(text, "<!")
		}
		post.Text += slackWritten(text)
		post.Options["section"] = b.Text.Type
	case b.Type != "image":
		return "must be more than 0 and less than 3001 characters"
	case b.AltText == "":
		return "missing required field: alt_text"
	case m == nil || m.AccountID != c.account.ID || m.ReadyAt.IsZero() || s.now().Before(m.ReadyAt) || m.Failed ||
		!s.now().Before(m.ExpiresAt) || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif"}, m.MIMEType):
		return "invalid slack file"
	default:
		shown := *m
		shown.Description = b.AltText
		post.Media = append(post.Media, shown)
	}
	return ""
}

// slackPost creates a message. Blocks are shown in place of its text.
func (s slackFake) slackPost(c slackCall) (map[string]any, string) {
	var blocks []slackBlock
	a := c.channel
	switch {
	case a.Kind == "archived":
		return nil, "is_archived"
	case !isSlackMember(c.caller, *a):
		return nil, "not_in_channel"
	case len([]rune(c.text("text"))) > 40_000:
		return nil, "msg_too_long"
	case c.params["blocks"] != nil && !c.decode("blocks", &blocks) || len(blocks) > 50:
		return nil, "invalid_blocks"
	case c.text("text") == "" && len(blocks) == 0:
		return nil, "no_text"
	}
	post := Post{
		Network: slackName, AccountID: a.ID, Account: a.Name, ReceivedAt: s.now(), Visibility: "public",
		Options: map[string]any{}, CreatedAt: s.now().Add(conditionsOf(c.Request).skew), ReplyTo: c.text("thread_ts"),
	}
	if len(blocks) == 0 {
		post.Text = slackWritten(c.text("text"))
	}
	for i, b := range blocks {
		if problem := s.addSlackBlock(&post, c.caller, b); problem != "" {
			return nil, fmt.Sprintf("invalid_blocks: %s [json-pointer:/blocks/%d]", problem, i)
		}
	}
	for s.isSlackTS(slackTS(post.CreatedAt)) { // unique within a channel
		post.CreatedAt = post.CreatedAt.Add(time.Microsecond)
	}
	post.ID = slackTS(post.CreatedAt)
	post.URL = s.slackSite(c.Request) + "archives/" + slackChannelID(*a) + "/p" + strings.Replace(post.ID, ".", "", 1)
	if post.ReplyTo != "" {
		if parent := s.state.postByID[post.ReplyTo]; parent == nil || parent.Deleted || parent.AccountID != a.ID {
			return nil, "thread_not_found"
		}
		post.ID = post.ReplyTo + "/" + post.ID
		post.URL += "?thread_ts=" + post.ReplyTo + "&cid=" + slackChannelID(*a)
	}
	for name, usual := range map[string]bool{
		"mrkdwn": true, "unfurl_links": true, "unfurl_media": true, "reply_broadcast": false,
	} {
		if value := c.flag(name, usual); value != usual {
			post.Options[name] = value
		}
	}
	var metadata struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if c.decode("metadata", &metadata) && regexp.MustCompile(`^[\w-]+$`).MatchString(metadata.Type) {
		raw, _ := json.Marshal(map[string]any{"event_type": metadata.Type, "event_payload": metadata.Payload})
		post.IdempotencyKey = string(raw) // which makes nothing idempotent
	}
	if s.storePost(c.Request, &post) != nil {
		return nil, "internal_error"
	}
	made := s.slackEntity(&post, true)
	return map[string]any{"channel": slackChannelID(*a), "ts": made["ts"], "message": made}, ""
}

func slackTS(at time.Time) string { return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000) }

// slackTS returns the ts of a message, whose id begins with that of its thread.
func (p Post) slackTS() string { return p.ID[strings.LastIndex(p.ID, "/")+1:] }

func (s slackFake) isSlackTS(ts string) bool {
	return slices.ContainsFunc(s.state.posts, func(p *Post) bool { return p.Network == slackName && p.slackTS() == ts })
}

// slackWritten returns the text that a client meant: characters that are not escaped make
// links and mentions.
func slackWritten(text string) string {
	text = regexp.MustCompile(`<(https?://[^<>|]*)>`).ReplaceAllString(text, "$1")
	return html.UnescapeString(regexp.MustCompile(`<[@!#]([^<>|]*)[^<>]*>`).ReplaceAllString(text, "@$1"))
}

// slackText returns a text as Slack lists it: escaped, with links in brackets and names of
// emoji (https://docs.slack.dev/messaging/retrieving-messages).
func slackText(text string) string {
	text = regexp.MustCompile(`https?://[^\s<>|]*[^\s<>|.,;:!?)]`).ReplaceAllString(text, "\x02$0\x03")
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x02", "<", "\x03", ">").Replace(text)
	var out strings.Builder
	for _, r := range text {
		if unicode.In(r, unicode.So, unicode.Sk) && r > 0x2000 || r == 'ℹ' {
			fmt.Fprintf(&out, ":emoji-%x:", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// slackEntity returns a message. The caller must hold s.mu.
func (s slackFake) slackEntity(p *Post, withMetadata bool) map[string]any {
	entity := map[string]any{
		"type": "message", "user": slackBot, "bot_id": "B0DATELINE", "team": "T0SANDBOX", "ts": p.slackTS(),
		"text": slackText(p.listedText()),
	}
	if p.ReplyTo != "" {
		entity["thread_ts"], entity["parent_user_id"] = p.ReplyTo, slackBot
	}
	var blocks []any
	if kind := p.Options["section"]; kind != nil {
		text := map[string]any{"type": kind, "text": entity["text"], "verbatim": false}
		blocks = append(blocks, map[string]any{"type": "section", "text": text})
	}
	for _, m := range p.Media {
		file := map[string]string{"id": m.ID}
		blocks = append(blocks, map[string]any{"type": "image", "slack_file": file, "alt_text": m.Description})
	}
	if blocks != nil {
		entity["blocks"] = blocks
	}
	if withMetadata && p.IdempotencyKey != "" {
		entity["metadata"] = json.RawMessage(p.IdempotencyKey)
	}
	return entity
}

// slackCounted adds reactions and the size of the message's thread.
func (s slackFake) slackCounted(r *http.Request, p *Post, entity map[string]any) map[string]any {
	if likes, ok := s.metric(r, p, "reactions", network.MetricLikes); ok && likes > 0 {
		entity["reactions"] = []map[string]any{
			{"name": "+1", "count": likes - likes/3}, {"name": "fire", "count": likes / 3},
		}
	}
	if replies, ok := s.metric(r, p, "reply_count", network.MetricReplies); ok && replies > 0 && p.ReplyTo == "" {
		entity["reply_count"], entity["thread_ts"] = replies, p.slackTS()
	}
	return entity
}

// slackList lists a channel, newest first and without replies unless they are shown there
// too, or a thread, whose first message is always part of it.
func (s slackFake) slackList(c slackCall) (map[string]any, string) {
	a, thread := c.channel, c.text("ts")
	switch {
	case !isSlackMember(c.caller, *a):
		return nil, "not_in_channel"
	case thread != "" && s.state.postByID[thread] == nil:
		return nil, "thread_not_found"
	}
	oldest, latest, inclusive := c.text("oldest"), c.text("latest"), c.flag("inclusive", false)
	if conditionsOf(c.Request).ignoreSince {
		oldest = ""
	}
	list := []any{}
	for _, post := range slices.SortedFunc(slices.Values(s.state.byAccount[a.ID]), func(a, b *Post) int {
		return strings.Compare(a.slackTS(), b.slackTS())
	}) {
		at := post.slackTS()
		isListed := at > oldest && (latest == "" || at < latest) || inclusive && (at == oldest || at == latest)
		if thread != "" {
			isListed = isListed && strings.HasPrefix(post.ID, thread+"/") || post.ID == thread
		} else {
			isListed = isListed && (!strings.Contains(post.ID, "/") || post.Options["reply_broadcast"] == true)
		}
		if isListed && s.isListed(post) {
			entity := s.slackEntity(post, c.flag("include_all_metadata", false))
			list = append(list, s.slackCounted(c.Request, post, entity))
		}
	}
	if thread == "" {
		slices.Reverse(list)
	}
	limit := 999
	if s.options.NetworkRates[slackName]["conversations.history"].Requests == 1 {
		limit = 15 // of apps that are sold outside of the Marketplace
	}
	page, cursor := c.page(list, limit)
	return map[string]any{"messages": page, "has_more": cursor["next_cursor"] != "", "response_metadata": cursor}, ""
}

// page returns a page of a list, and the cursor of the next one
// (https://docs.slack.dev/apis/web-api/pagination).
func (c slackCall) page(list []any, limit int) (page []any, cursor map[string]string) {
	if asked, err := strconv.Atoi(c.text("limit")); err == nil && asked > 0 {
		limit = min(limit, asked)
	}
	raw, _ := base64.StdEncoding.DecodeString(c.text("cursor"))
	from, _ := strconv.Atoi(string(raw))
	from = max(0, min(from, len(list)))
	end, next := min(from+limit, len(list)), ""
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	}
	return list[from:end], map[string]string{"next_cursor": next}
}

func (s slackFake) slackDelete(c slackCall) (map[string]any, string) {
	for _, post := range s.state.byAccount[c.channel.ID] {
		if !post.Deleted && post.slackTS() == c.text("ts") && s.commit(record{Kind: kindDelete, ID: post.ID}) == nil {
			return map[string]any{"channel": c.text("channel"), "ts": c.text("ts")}, ""
		}
	}
	return nil, "message_not_found"
}
