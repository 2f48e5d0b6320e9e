package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// handle contains the values that all sends of a post share, fixed before the
// first of them. The time of the post is not part of it: each send uses its own,
// because Bluesky sorts by it and preparing can be minutes ahead. The key alone
// ensures that two sends create one post: a server stores one record per key.
type handle struct {
	Key      string            `json:"rkey"`
	Mentions map[string]string `json:"mentions,omitempty"` // DIDs by handle
	Reply    *reply            `json:"reply,omitempty"`
	Card     *card             `json:"card,omitempty"`
	Quote    *ref              `json:"quote,omitempty"`
}

func parseHandle(text string) (handle, bool) {
	var h handle
	err := json.Unmarshal([]byte(text), &h)
	return h, err == nil && len(h.Key) == tidLength && strings.Trim(h.Key, tidAlphabet) == ""
}

// Prepare chooses the record's key and resolves what the record refers to: the
// DIDs of mentions, the post that it replies to, and the page whose card it
// shows. It is ready after one call.
func (b *Bluesky) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	if _, ok := parseHandle(submission.Handle); ok {
		return network.Prepared{Handle: submission.Handle, Ready: true}, nil
	}
	h := handle{Key: b.tids.next()}
	var err error
	if submission.ReplyTo != "" {
		if h.Reply, err = b.replyTo(ctx, account, submission.ReplyTo); err != nil {
			return network.Prepared{}, err
		}
	}
	if h.Mentions, err = b.mentions(ctx, account, submission.Text); err != nil {
		return network.Prepared{}, err
	}
	if link := firstLink(submission.Text); link != "" && len(submission.MediaIDs) == 0 && !b.options.DisableLinkCard &&
		!b.isSandbox(account.BaseURL) {
		h.Card = b.card(ctx, account, link)
	}
	if options, _ := submission.Options.(PostOptions); options.Quote != "" {
		if h.Quote, err = b.quote(ctx, account, options.Quote); err != nil {
			return network.Prepared{}, err
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return network.Prepared{}, notSent(err)
	}
	return network.Prepared{Handle: string(text), Ready: true}, nil
}

// replyTo returns the parent and the root of a reply in their current versions.
// The parent's record names the root.
func (b *Bluesky) replyTo(ctx context.Context, account network.Account, uri string) (*reply, error) {
	at, ok := parseRecordAt(uri)
	if !ok {
		return nil, &network.Error{
			Class: network.Rejected, Code: "bad_reply_target",
			Message: "The post that this post replies to has no valid at:// address.",
		}
	}
	var parent post
	found, err := b.getRecord(ctx, account, at, 0, &parent)
	if isNotFound(err) {
		return nil, &network.Error{
			Class: network.Rejected, Code: "reply_target_deleted",
			Message: "The post that this post replies to does not exist.",
		}
	}
	if err != nil {
		return nil, err
	}
	if found.CID == "" {
		return nil, &network.Error{
			Class: network.Transient, Code: "malformed_response",
			Message: "The server did not return the version of the post that this post replies to.",
		}
	}
	if parent.Reply != nil && parent.Reply.Root.URI != "" {
		return &reply{Root: parent.Reply.Root, Parent: found}, nil
	}
	return &reply{Root: found, Parent: found}, nil
}

// maxMentions bounds the lookups of one post, which can contain about 60 handles.
const maxMentions = 20

// mentions resolves the mentioned handles. A handle that does not exist, or that
// cannot be resolved twice in a row, stays plain text and does not fail the post.
func (b *Bluesky) mentions(ctx context.Context, account network.Account, text string) (map[string]string, error) {
	known := map[string]string{}
	tried := map[string]bool{}
	for _, e := range entities(text) {
		name := strings.ToLower(e.target)
		if e.kind != network.SpanMention || tried[name] || len(tried) == maxMentions {
			continue
		}
		tried[name] = true
		for range 2 {
			did, err := b.resolveAt(ctx, account.BaseURL, name, call.Request{Timeout: b.options.EnrichTimeout})
			if err == nil {
				known[name] = did
				break
			}
			var e *network.Error
			if ctx.Err() != nil || errors.As(err, &e) && e.Class == network.Throttled {
				return nil, err
			}
			if errors.As(err, &e) && e.Class == network.Rejected {
				break // does not exist
			}
		}
	}
	return known, nil
}
