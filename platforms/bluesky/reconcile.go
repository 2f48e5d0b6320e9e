package bluesky

import (
	"context"

	"dateline/platforms/network"
)

// Reconcile reads the post's record key. An existing record was created by one of
// the post's sends; if there is none, none of them acted: the account's own
// server is consistent. The text is compared anyway, because record keys are only
// very likely to be unique.
func (b *Bluesky) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		return network.Finding{Conclusive: true, Evidence: "The post has no record key, so it was never sent."}, nil
	}
	at := recordAt{account.RemoteID, postCollection, h.Key}
	var there post
	found, err := b.getRecord(ctx, account, at, 0, &there)
	switch {
	case isNotFound(err):
		return network.Finding{Conclusive: true, Evidence: "The account's server has no record " + h.Key + "."}, nil
	case err != nil:
		return network.Finding{}, err
	case window.Known[found.URI] || window.SinceID == found.URI:
		return network.Finding{Evidence: "The record " + h.Key + " belongs to another post of ours."}, nil
	case there.Text != submission.Text || parentOf(there.Reply) != parentOf(h.Reply):
		return network.Finding{Evidence: "The record " + h.Key + " has a different text or reply target."}, nil
	}
	return network.Finding{Found: true, Conclusive: true, Evidence: "The account's server has the record " + h.Key + " with this text.",
		Receipt: network.Receipt{RemoteID: at.String(), URL: b.permalink(account, h.Key), CreatedAt: there.created()}}, nil
}

func parentOf(r *reply) string {
	if r == nil {
		return ""
	}
	return r.Parent.URI
}
