package bluesky

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Publish creates the record (com.atproto.repo.createRecord) under the key that
// Prepare chose. A server refuses a second record under the same key (the
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
	body, err := call.JSON(map[string]any{"repo": account.RemoteID, "collection": postCollection, "rkey": h.Key, "record": record})
	if err != nil {
		return network.Receipt{}, notSent(err)
	}
	res, err := b.do(ctx, account.BaseURL, methodCreate, nil, call.Request{Method: http.MethodPost, Token: account.Token, Body: body, Create: true})
	if err != nil {
		return network.Receipt{}, err
	}
	var created ref
	if err := res.Decode(&created); err != nil {
		return network.Receipt{}, err
	}
	if want := (recordAt{account.RemoteID, postCollection, h.Key}); created.URI != want.String() {
		return network.Receipt{}, res.MalformedError("it does not name the created record")
	}
	return network.Receipt{
		RemoteID:  created.URI,
		URL:       b.permalink(account, h.Key),
		CreatedAt: record.created(),
		SentAt:    res.Sent,
		RequestID: res.RequestID,
		Rates:     rates(res, methodCreate),
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
	if submission.Language != "" {
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
