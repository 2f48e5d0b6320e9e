package bluesky

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/internal/infra/retry"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Publish creates the record (com.atproto.repo.createRecord, or applyWrites with
// the gates beside it) under the key that Prepare chose. A server refuses a second record under the same key (the
// reference server with a bare 500), so that two sends result in one post.
func (b *Bluesky) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		return network.Receipt{}, &network.Error{
			Class: network.Rejected, Code: "not_prepared",
			Message: "The post has no record key: it must be prepared first.",
		}
	}
	record, err := b.record(h, submission)
	if err != nil {
		return network.Receipt{}, err
	}
	at := recordAt{account.RemoteID, postCollection, h.Key}
	options, _ := submission.Options.(PostOptions)
	method, input := methodCreate, map[string]any{
		"repo": account.RemoteID, "collection": postCollection, "rkey": h.Key, "record": record,
	}
	if gates := options.gates(at, record.CreatedAt); len(gates) > 0 {
		method, input = methodApply, map[string]any{
			"repo": account.RemoteID, "writes": append([]write{createWrite(postCollection, h.Key, record)}, gates...),
		}
	}
	body, err := call.JSON(input)
	if err != nil {
		return network.Receipt{}, notSent(err)
	}
	res, err := b.do(ctx, account.BaseURL, method, nil, call.Request{
		Method: http.MethodPost, Token: account.Token, Body: body, Create: true,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	var answer struct {
		ref
		Results []ref `json:"results"` // of applyWrites
	}
	if err := res.Decode(&answer); err != nil {
		return network.Receipt{}, err
	}
	created := answer.ref
	if method == methodApply {
		created = createdRef(answer.Results, at.String())
	}
	if created.URI != at.String() {
		return network.Receipt{}, res.MalformedError("it does not name the created record")
	}
	return network.Receipt{
		Differences: b.readBack(ctx, account, at, record),
		RemoteID:    created.URI,
		URL:         b.permalink(account, h.Key),
		CreatedAt:   record.created(),
		SentAt:      res.Sent,
		RequestID:   res.RequestID,
		Rates:       rates(res, method),
	}, nil
}

// readBack compares the stored record with the one that was sent, and what the network's
// app view shows of a gallery, because older servers accept embeds that they do not know.
// Gates and cards are not compared. What cannot be read is no difference.
func (b *Bluesky) readBack(ctx context.Context, account network.Account, at recordAt, sent post) message.Messages {
	ctx, cancel := context.WithTimeout(ctx, b.options.EnrichTimeout)
	defer cancel()
	var there post
	if _, err := b.getRecord(ctx, account, at, b.options.EnrichTimeout, &there); err != nil {
		return nil
	}
	attached := attachedCount(there.Embed)
	if attached > maxImagesEmbed {
		if n, known := b.shownCount(ctx, account, at); known {
			attached = n
		}
	}
	return compareRecords(sent, there, attached)
}

func compareRecords(sent, there post, attached int) message.Messages {
	var c matching.Comparison
	c.Text(sent.Text, there.Text)
	c.Media(attachedCount(sent.Embed), attached)
	c.Reply(parentOf(sent.Reply), parentOf(there.Reply))
	c.Warning(sent.Labels.String(), there.Labels.String())
	if len(sent.Langs) > 0 && len(there.Langs) > 0 {
		c.Language(sent.Langs[0], there.Langs[0])
	}
	return c.Differences()
}

// shownCount returns how many attachments the app view shows, once it knows the post
// (app.bsky.feed.getPosts, which the account's server passes on).
func (b *Bluesky) shownCount(ctx context.Context, account network.Account, at recordAt) (n int, known bool) {
	for {
		res, err := b.do(ctx, account.BaseURL, "app.bsky.feed.getPosts", url.Values{"uris": {at.String()}},
			call.Request{Method: http.MethodGet, Token: account.Token})
		if err != nil {
			return 0, false
		}
		var body struct {
			Posts []struct {
				Embed any `json:"embed"`
			} `json:"posts"`
		}
		if res.Decode(&body) != nil {
			return 0, false
		}
		if len(body.Posts) > 0 {
			return attachedCount(body.Posts[0].Embed), true
		}
		if retry.Sleep(ctx, 500*time.Millisecond) != nil {
			return 0, false
		}
	}
}

// record encodes a submission as app.bsky.feed.post.
func (b *Bluesky) record(h handle, submission network.Submission) (post, error) {
	now := time.Now()
	created := post{
		Type:      postCollection,
		Text:      submission.Text,
		CreatedAt: now.UTC().Format("2006-01-02T15:04:05.000Z"),
		Facets:    facets(submission.Text, h.Mentions),
		Reply:     h.Reply,
	}
	options, _ := submission.Options.(PostOptions)
	created.Labels, created.Langs = options.labels(), options.Languages
	if len(created.Langs) == 0 && submission.Language != "" {
		created.Langs = []string{submission.Language}
	}
	switch attached, err := embedMedia(submission.MediaIDs); {
	case err != nil:
		return post{}, err
	case attached != nil:
		created.Embed = attached
	case h.Card != nil:
		created.Embed = h.Card.embed(now)
	}
	created.Embed = withQuote(created.Embed, h.Quote)
	return created, nil
}

// Delete removes a post (com.atproto.repo.deleteRecord). Deleting a missing
// record is not an error for the server either.
func (b *Bluesky) Delete(ctx context.Context, account network.Account, remoteID string) error {
	at, ok := parseRecordAt(remoteID)
	if !ok || at.repo != account.RemoteID || !strings.HasPrefix(at.collection, "app.bsky.feed.") {
		return &network.Error{Class: network.Rejected, Code: "not_ours", Message: "This is not a post of this account."}
	}
	body, err := call.JSON(map[string]string{"repo": at.repo, "collection": at.collection, "rkey": at.key})
	if err != nil {
		return notSent(err)
	}
	_, err = b.do(ctx, account.BaseURL, "com.atproto.repo.deleteRecord", nil, call.Request{
		Method: http.MethodPost, Token: account.Token, Body: body,
	})
	return err
}

// Reconcile reads the post's record key. An existing record was created by one of
// the post's sends; if there is none, none of them acted: the account's own
// server is consistent. The text is compared anyway, because record keys are only
// very likely to be unique.
func (b *Bluesky) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		return network.Finding{
			Conclusive: true,
			Evidence:   message.One("no_record_key", "The post has no record key, so it was never sent."),
		}, nil
	}
	at := recordAt{account.RemoteID, postCollection, h.Key}
	var there post
	found, err := b.getRecord(ctx, account, at, 0, &there)
	switch {
	case isNotFound(err):
		return network.Finding{
			Conclusive: true,
			Evidence:   message.One("no_record", "The account's server has no record {key}.", h.Key),
		}, nil
	case err != nil:
		return network.Finding{}, err
	case window.Known[found.URI] || window.SinceID == found.URI:
		return network.Finding{Evidence: message.One("record_of_other_post",
			"The record {key} belongs to another post of Dateline.", h.Key)}, nil
	case there.Text != submission.Text || parentOf(there.Reply) != parentOf(h.Reply):
		return network.Finding{Evidence: message.One("record_differs",
			"The record {key} has a different text or reply target.", h.Key)}, nil
	}
	return network.Finding{
		Found: true, Conclusive: true,
		Evidence: message.One("record_found", "The account's server has the record {key} with this text.", h.Key),
		Receipt: network.Receipt{
			RemoteID: at.String(), URL: b.permalink(account, h.Key), CreatedAt: there.created(),
			Differences: b.differences(h, submission, there),
		},
	}, nil
}

// differences compares a found record with the submission.
func (b *Bluesky) differences(h handle, submission network.Submission, there post) message.Messages {
	sent, err := b.record(h, submission)
	if err != nil {
		return nil
	}
	return compareRecords(sent, there, attachedCount(there.Embed))
}

func parentOf(r *reply) string {
	if r == nil {
		return ""
	}
	return r.Parent.URI
}
