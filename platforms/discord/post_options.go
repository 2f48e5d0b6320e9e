package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a message.
// https://docs.discord.com/developers/resources/message#create-message
type PostOptions struct {
	Embed          *Embed `json:"embed,omitempty"`
	SuppressEmbeds bool   `json:"suppress_embeds,omitempty"` // no cards of links
	Silent         bool   `json:"silent,omitempty"`          // suppress notifications
	Forum          *Forum `json:"forum,omitempty"`

	inForum bool // of a segment that follows a forum post
}

// Embed is a card below the text.
type Embed struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
	Color       string `json:"color,omitempty"` // #rrggbb
	Footer      string `json:"footer,omitempty"`
}

// Forum makes the message the first one of a new post in a forum or media
// channel.
type Forum struct {
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"` // ids of the channel's tags
}

var _ network.OptionParser = (*Discord)(nil)

// The limits of https://docs.discord.com/developers/resources/message#embed-object-embed-limits
// and https://docs.discord.com/developers/resources/channel#start-thread-in-forum-or-media-channel.
const (
	maxEmbedTitle       = 256
	maxEmbedDescription = 4096
	maxEmbedFooter      = 2048
	maxEmbedTotal       = 6000
	maxForumTitle       = 100
	maxForumTags        = 5

	flagSuppressEmbeds        = 1 << 2
	flagSuppressNotifications = 1 << 12
)

// Following returns the options about how messages are shown and notified.
func (o PostOptions) Following() network.PostOptions {
	return PostOptions{SuppressEmbeds: o.SuppressEmbeds, Silent: o.Silent, inForum: o.Forum != nil}
}

// ParseOptions reads the options of a message.
func (*Discord) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("Discord", raw)
}

var (
	colorPattern     = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`) //nolint:gochecknoglobals // compiled once
	snowflakePattern = regexp.MustCompile(`^[0-9]{5,20}$`)     //nolint:gochecknoglobals // compiled once
)

// problems returns what Discord would refuse of the options.
func (o PostOptions) problems(content network.Content) []network.Violation {
	c := rules.Options{Name: "Discord"}
	if o.Embed != nil {
		o.Embed.check(&c)
		if o.SuppressEmbeds {
			c.Add("suppress_embeds", "embed_suppressed",
				"Embeds are suppressed, so the embed would not be shown. Remove one of the two.")
		}
	}
	switch {
	case o.inForum:
		c.Add("forum", "forum_thread",
			"A post in a Discord forum cannot have a thread. Remove the following segments or the forum.")
	case o.Forum != nil && content.Reply:
		c.Add("forum", "forum_reply", "A reply cannot be a new post in a Discord forum. Remove the forum.")
	case o.Forum != nil:
		if strings.TrimSpace(o.Forum.Title) == "" {
			c.Add("forum.title", "no_forum_title", "A post in a Discord forum needs a title.")
		}
		c.MaxRunes("forum.title", o.Forum.Title, maxForumTitle)
		if len(o.Forum.Tags) > maxForumTags {
			c.Add("forum.tags", "too_many_tags", "The post has {used} tags; Discord allows {limit}.", len(o.Forum.Tags),
				maxForumTags)
		}
		for i, tag := range o.Forum.Tags {
			if !snowflakePattern.MatchString(tag) {
				c.Add(fmt.Sprintf("forum.tags[%d]", i), "not_a_tag_id",
					`"{value}" is not the id of a tag. Copy it from the channel's settings.`, tag)
			}
		}
	}
	return c.Problems
}

func (e Embed) check(c *rules.Options) {
	if e.Title == "" && e.Description == "" && e.ImageURL == "" {
		c.Add("embed", "empty_embed", "The embed is empty. Give it a title, a description or an image.")
	}
	c.MaxRunes("embed.title", e.Title, maxEmbedTitle)
	c.MaxRunes("embed.description", e.Description, maxEmbedDescription)
	c.MaxRunes("embed.footer", e.Footer, maxEmbedFooter)
	if total := utf8.RuneCountInString(e.Title + e.Description + e.Footer); total > maxEmbedTotal {
		c.Add("embed", "embed_too_long",
			"The embed has {used} characters in total; Discord allows {limit}. Shorten it.", total, maxEmbedTotal)
	}
	for _, one := range [][2]string{{"embed.url", e.URL}, {"embed.image_url", e.ImageURL}} {
		if one[1] != "" {
			c.HTTPS(one[0], one[1])
		}
	}
	if e.Color != "" && !colorPattern.MatchString(e.Color) {
		c.Add("embed.color", "not_a_color", `"{value}" is not a color. Use the form #1a2b3c.`, e.Color)
	}
}

// embedRequest is an embed of https://docs.discord.com/developers/resources/message#embed-object.
type embedRequest struct {
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	URL         string            `json:"url,omitempty"`
	Color       int64             `json:"color,omitempty"`
	Image       map[string]string `json:"image,omitempty"`
	Footer      map[string]string `json:"footer,omitempty"`
}

func (e Embed) request() embedRequest {
	out := embedRequest{Title: e.Title, Description: e.Description, URL: e.URL}
	out.Color, _ = strconv.ParseInt(strings.TrimPrefix(e.Color, "#"), 16, 64) // checked before
	if e.ImageURL != "" {
		out.Image = map[string]string{"url": e.ImageURL}
	}
	if e.Footer != "" {
		out.Footer = map[string]string{"text": e.Footer}
	}
	return out
}

// apply adds the options to a message.
func (o PostOptions) apply(out *messageRequest) {
	if o.Embed != nil {
		out.Embeds = []embedRequest{o.Embed.request()}
	}
	if o.SuppressEmbeds {
		out.Flags |= flagSuppressEmbeds
	}
	if o.Silent {
		out.Flags |= flagSuppressNotifications
	}
}

// forumPrefix is the prefix of the remote ids of forum posts: a thread, and the
// message with the same id in it.
const forumPrefix = "thread/"

// forumRequest is a new post in a forum, made by a bot.
// https://docs.discord.com/developers/resources/channel#start-thread-in-forum-or-media-channel
type forumRequest struct {
	Name        string         `json:"name"`
	AppliedTags []string       `json:"applied_tags,omitempty"`
	Message     messageRequest `json:"message"`
	Attachments []attachment   `json:"attachments,omitempty"`
}

// thread contains the used fields of a thread.
// https://docs.discord.com/developers/topics/threads
type thread struct {
	ID       string `json:"id"`
	ParentID string `json:"parent_id"`
	OwnerID  string `json:"owner_id"`
	Name     string `json:"name"`
}

// reconcileForum lists the server's active threads, and reads the first message
// of those that the bot opened in the channel with this title since the start of
// the window.
func (d *Discord) reconcileForum(
	ctx context.Context, account network.Account, submission network.Submission, forum Forum, window network.Window,
) (network.Finding, error) {
	author, skew, err := d.identityAndSkew(ctx, account)
	if err != nil {
		return network.Finding{}, err
	}
	where, err := d.locate(ctx, account)
	if err != nil {
		return network.Finding{}, err
	}
	var list struct {
		Threads []thread `json:"threads"`
	}
	if err := d.get(ctx, account, "/guilds/"+url.PathEscape(where.guild)+"/threads/active", &list); err != nil {
		return network.Finding{}, err
	}
	from := window.From
	if skew < 0 {
		from = from.Add(skew)
	}
	search, wanted := matching.New(window), matching.NewComparer(submission.Text)
	for _, t := range list.Threads {
		if t.ParentID != account.RemoteID || t.OwnerID != author || t.Name != forum.Title ||
			parseSnowflake(t.ID) < snowflake(from) {
			continue
		}
		var first message
		err := d.get(ctx, account, "/channels/"+url.PathEscape(t.ID)+"/messages/"+url.PathEscape(t.ID), &first)
		if e := network.AsError(err); e != nil && e.Status == http.StatusNotFound {
			continue // deleted
		}
		if err != nil {
			return network.Finding{}, err
		}
		search.Add(compare(d.forumReceipt(ctx, account, first, t.ID), first, submission, wanted))
	}
	return search.Result(from, true, network.Note{}), nil
}

func (d *Discord) forumReceipt(
	ctx context.Context, account network.Account, m message, threadID string,
) network.Receipt {
	m.ChannelID = threadID
	receipt := d.receipt(ctx, account, m)
	receipt.RemoteID = forumPrefix + threadID
	return receipt
}

// createdForumPost reads the response to a forum post: a bot gets the thread with
// its message, a webhook the message in its thread.
func (d *Discord) createdForumPost(
	ctx context.Context, account network.Account, res *call.Response,
) (network.Receipt, error) {
	var created struct {
		message
		Message *message `json:"message"`
	}
	if err := res.Decode(&created); err != nil {
		return network.Receipt{}, err
	}
	id, first := created.ChannelID, created.message
	if created.Message != nil {
		id, first = created.ID, *created.Message
	}
	if id == "" {
		return network.Receipt{}, res.MalformedError("it contains no thread id")
	}
	return d.forumReceipt(ctx, account, first, id), nil
}
