package bluesky

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Publish creates the record (com.atproto.repo.createRecord, or applyWrites with
// the gates beside it) under the key that Prepare chose. A server refuses a second record under the same key (the
// reference server with a bare 500), so that two sends result in one post.
func (b *Bluesky) Publish(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		return network.Receipt{}, &network.Error{Class: network.Rejected, Code: "not_prepared", Message: "The post has no record key: it must be prepared first."}
	}
	record, err := b.record(h, submission)
	if err != nil {
		return network.Receipt{}, err
	}
	at := recordAt{account.RemoteID, postCollection, h.Key}
	options, _ := submission.Options.(PostOptions)
	method, input := methodCreate, map[string]any{"repo": account.RemoteID, "collection": postCollection, "rkey": h.Key, "record": record}
	if gates := options.gates(at, record.CreatedAt); len(gates) > 0 {
		method, input = methodApply, map[string]any{"repo": account.RemoteID, "writes": append([]write{createWrite(postCollection, h.Key, record)}, gates...)}
	}
	body, err := call.JSON(input)
	if err != nil {
		return network.Receipt{}, notSent(err)
	}
	res, err := b.do(ctx, account.BaseURL, method, nil, call.Request{Method: http.MethodPost, Token: account.Token, Body: body, Create: true})
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
		RemoteID:  created.URI,
		URL:       b.permalink(account, h.Key),
		CreatedAt: record.created(),
		SentAt:    res.Sent,
		RequestID: res.RequestID,
		Rates:     rates(res, method),
	}, nil
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
	_, err = b.do(ctx, account.BaseURL, "com.atproto.repo.deleteRecord", nil, call.Request{Method: http.MethodPost, Token: account.Token, Body: body})
	return err
}

// Reconcile reads the post's record key. An existing record was created by one of
// the post's sends; if there is none, none of them acted: the account's own
// server is consistent. The text is compared anyway, because record keys are only
// very likely to be unique.
func (b *Bluesky) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		return network.Finding{Conclusive: true, Evidence: message.One("no_record_key", "The post has no record key, so it was never sent.")}, nil
	}
	at := recordAt{account.RemoteID, postCollection, h.Key}
	var there post
	found, err := b.getRecord(ctx, account, at, 0, &there)
	switch {
	case isNotFound(err):
		return network.Finding{Conclusive: true, Evidence: message.One("no_record", "The account's server has no record {key}.", h.Key)}, nil
	case err != nil:
		return network.Finding{}, err
	case window.Known[found.URI] || window.SinceID == found.URI:
		return network.Finding{Evidence: message.One("record_of_other_post", "The record {key} belongs to another post of Dateline.", h.Key)}, nil
	case there.Text != submission.Text || parentOf(there.Reply) != parentOf(h.Reply):
		return network.Finding{Evidence: message.One("record_differs", "The record {key} has a different text or reply target.", h.Key)}, nil
	}
	return network.Finding{Found: true, Conclusive: true, Evidence: message.One("record_found", "The account's server has the record {key} with this text.", h.Key),
		Receipt: network.Receipt{RemoteID: at.String(), URL: b.permalink(account, h.Key), CreatedAt: there.created()}}, nil
}

func parentOf(r *reply) string {
	if r == nil {
		return ""
	}
	return r.Parent.URI
}
