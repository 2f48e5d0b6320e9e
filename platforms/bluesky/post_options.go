package bluesky

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
type PostOptions struct {
	// WhoCanReply is a thread gate: nobody, or any of mentioned, followers,
	// following and at:// addresses of lists; empty: everyone.
	WhoCanReply []string `json:"who_can_reply,omitempty"`
	NoQuotes    bool     `json:"no_quotes,omitempty"` // a post gate
	Labels      []string `json:"labels,omitempty"`    // of the author: sexual, nudity, porn, graphic-media
	Languages   []string `json:"languages,omitempty"` // BCP 47; empty: the post's language
	Quote       string   `json:"quote,omitempty"`     // address of the quoted post
}

var _ network.OptionParser = (*Bluesky)(nil)

// The limits of the lexicons app.bsky.feed.threadgate and app.bsky.feed.post.
const (
	maxReplyRules = 5
	maxLanguages  = 3
	maxLabels     = 10

	replyNobody = "nobody"
)

// Following returns the options that describe the text. Gates apply to the first post.
func (o PostOptions) Following() network.PostOptions {
	return PostOptions{Labels: o.Labels, Languages: o.Languages}
}

// ParseOptions reads the options of a post.
func (*Bluesky) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("Bluesky", raw)
}

var (
	languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)                       //nolint:gochecknoglobals // compiled once
	quotePattern    = regexp.MustCompile(`^https://bsky\.app/profile/([^/?#]+)/post/([a-zA-Z0-9]+)$`) //nolint:gochecknoglobals // compiled once
)

// problems returns what Bluesky would refuse of the options.
func (o PostOptions) problems(content network.Content) []network.Violation {
	c := rules.Options{Name: "Bluesky"}
	o.checkGates(&c, content)
	if len(o.Labels) > maxLabels {
		c.Add("labels", "too_many_labels", "The post has {used} labels; Bluesky allows {limit}.", len(o.Labels),
			maxLabels)
	}
	for i, label := range o.Labels {
		c.OneOf(fmt.Sprintf("labels[%d]", i), label, "sexual", "nudity", "porn", "graphic-media")
	}
	if len(o.Languages) > maxLanguages {
		c.Add("languages", "too_many_languages", "The post has {used} languages; Bluesky allows {limit}.",
			len(o.Languages), maxLanguages)
	}
	for i, language := range o.Languages {
		if !languagePattern.MatchString(language) {
			c.Add(fmt.Sprintf("languages[%d]", i), "not_a_language",
				`"{value}" is not a language code. Use one like vi or en-US.`, language)
		}
	}
	if _, ok := quotedRecord(o.Quote); o.Quote != "" && !ok {
		c.Add("quote", "not_a_post_url",
			"Enter the address of a post, such as https://bsky.app/profile/name.bsky.social/post/3kxyz.")
	}
	return c.Problems
}

func (o PostOptions) checkGates(c *rules.Options, content network.Content) {
	if content.Reply && (len(o.WhoCanReply) > 0 || o.NoQuotes) {
		field := "who_can_reply"
		if len(o.WhoCanReply) == 0 {
			field = "no_quotes"
		}
		c.Add(field, "set_on_first_post",
			"On {network} the first post of a thread decides who can reply or quote. Remove this option from "+
				"the reply.", c.Name)
	}
	if len(o.WhoCanReply) > maxReplyRules {
		c.Add("who_can_reply", "too_many_reply_rules", "There are {used} rules; Bluesky allows {limit}.",
			len(o.WhoCanReply), maxReplyRules)
	}
	for i, rule := range o.WhoCanReply {
		field := fmt.Sprintf("who_can_reply[%d]", i)
		if at, ok := parseRecordAt(rule); ok && at.collection == "app.bsky.graph.list" {
			continue
		}
		if rule == replyNobody && len(o.WhoCanReply) > 1 {
			c.Add(field, "reply_contradiction",
				"Replies are restricted to nobody and also allowed for some. Choose one.")
		}
		c.OneOf(field, rule, replyNobody, "mentioned", "followers", "following")
		if rule == "" {
			c.Add(field, "empty_rule", "The rule is empty. Remove it.")
		}
	}
}

// quotedRecord returns the address of a quoted post; the repository may be a
// handle.
func quotedRecord(address string) (recordAt, bool) {
	if at, ok := parseRecordAt(address); ok {
		return at, at.collection == postCollection
	}
	if parts := quotePattern.FindStringSubmatch(address); parts != nil {
		return recordAt{parts[1], postCollection, parts[2]}, true
	}
	return recordAt{}, false
}

// quote resolves a quoted post in its current version.
func (b *Bluesky) quote(ctx context.Context, account network.Account, address string) (*ref, error) {
	at, ok := quotedRecord(address)
	if !ok {
		return nil, &network.Error{
			Class: network.Rejected, Code: "bad_quote", Field: "options.quote",
			Message: "The quoted post has no valid address.",
		}
	}
	if !strings.HasPrefix(at.repo, "did:") {
		did, err := b.resolveAt(ctx, account.BaseURL, strings.ToLower(at.repo), call.Request{})
		if err != nil {
			return nil, err
		}
		at.repo = did
	}
	var quoted post
	found, err := b.getRecord(ctx, account, at, 0, &quoted)
	if isNotFound(err) {
		return nil, &network.Error{
			Class: network.Rejected, Code: "quote_deleted", Field: "options.quote",
			Message: "The quoted post does not exist. Remove it from the options.",
		}
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// selfLabels is com.atproto.label.defs#selfLabels.
type selfLabels struct {
	Type   string              `json:"$type"`
	Values []map[string]string `json:"values"`
}

// String returns the labels in order.
func (l *selfLabels) String() string {
	if l == nil {
		return ""
	}
	names := make([]string, len(l.Values))
	for i, one := range l.Values {
		names[i] = one["val"]
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

func (o PostOptions) labels() *selfLabels {
	if len(o.Labels) == 0 {
		return nil
	}
	labels := &selfLabels{Type: "com.atproto.label.defs#selfLabels"}
	for _, label := range o.Labels {
		labels.Values = append(labels.Values, map[string]string{"val": label})
	}
	return labels
}

// withQuote adds a quoted post to an embed.
func withQuote(embed any, quoted *ref) any {
	record := map[string]any{"$type": "app.bsky.embed.record", "record": quoted}
	switch {
	case quoted == nil:
		return embed
	case embed == nil:
		return record
	default:
		return map[string]any{"$type": "app.bsky.embed.recordWithMedia", "record": record, "media": embed}
	}
}

// write is one write of com.atproto.repo.applyWrites.
type write struct {
	Type       string `json:"$type"`
	Collection string `json:"collection"`
	Key        string `json:"rkey"`
	Value      any    `json:"value"`
}

func createWrite(collection, key string, value any) write {
	return write{"com.atproto.repo.applyWrites#create", collection, key, value}
}

const (
	collectionReplyRules = "app.bsky.feed.threadgate"
	collectionQuoteRules = "app.bsky.feed.postgate"
)

// gates are the records beside a post that restrict it. They have its key, and are
// written in the same commit, so that the post is never unrestricted.
func (o PostOptions) gates(at recordAt, createdAt string) []write {
	var writes []write
	if len(o.WhoCanReply) > 0 {
		allow := []map[string]string{}
		for _, rule := range o.WhoCanReply {
			switch rule {
			case replyNobody:
			case "mentioned", "followers", "following":
				kind := strings.TrimSuffix(strings.TrimSuffix(rule, "ed"), "s") // mention, follower, following
				allow = append(allow, map[string]string{"$type": collectionReplyRules + "#" + kind + "Rule"})
			default:
				allow = append(allow, map[string]string{"$type": collectionReplyRules + "#listRule", "list": rule})
			}
		}
		writes = append(writes, createWrite(collectionReplyRules, at.key, map[string]any{
			"$type": collectionReplyRules, "post": at.String(), "allow": allow, "createdAt": createdAt,
		}))
	}
	if o.NoQuotes {
		writes = append(writes, createWrite(collectionQuoteRules, at.key,
			map[string]any{
				"$type": collectionQuoteRules, "post": at.String(), "createdAt": createdAt,
				"embeddingRules": []map[string]string{{"$type": collectionQuoteRules + "#disableRule"}},
			}))
	}
	return writes
}

// createdRef finds the post among the results of applyWrites.
func createdRef(results []ref, uri string) ref {
	if i := slices.IndexFunc(results, func(r ref) bool { return r.URI == uri }); i >= 0 {
		return results[i]
	}
	return ref{}
}
