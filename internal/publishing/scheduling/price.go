package scheduling

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// networkContent is a segment of a post as its network is asked about it: with its
// attachments as they will be handed over.
func (c *check) networkContent(p post.Post, i int, s post.Segment, options network.PostOptions, limits network.Limits) network.Content {
	return network.Content{Text: s.Content, Options: SegmentOptions(options, i), Reply: i > 0 || p.ThreadParentID != nil, Media: MediaInfos(ConvertedItems(c.items(s.AttachmentIDs), limits))}
}

// price adds up what the networks bill for what is still to go out.
func (c *check) price(ctx context.Context, p post.Post) (sum post.Price) {
	priced := false
	for _, t := range p.Targets {
		adapter, _ := c.scheduler.Networks.Get(t.Network)
		pricer, ok := adapter.(network.Pricer)
		if !ok || !t.Status.IsOpen() {
			continue
		}
		if !priced && c.loadMissing(ctx, p) != nil {
			return post.Price{}
		}
		priced = true
		options, _ := ParseOptions(adapter, p.OptionsFor(t))
		for i, s := range p.Segments(t) {
			sum.Add(priceOf(pricer, c.networkContent(p, i, s, options, network.Limits{})))
		}
	}
	return sum
}

func priceOf(pricer network.Pricer, content network.Content) post.Price {
	found := pricer.Price(content)
	if found.MicroUSD == 0 {
		return post.Price{}
	}
	return post.Price{MicroUSD: found.MicroUSD, Reasons: []string{found.Reason}}
}

// loadMissing reads the files of a post that this request has not looked up.
func (c *check) loadMissing(ctx context.Context, p post.Post) error {
	for _, id := range p.MediaIDs() {
		if _, ok := c.files[id]; !ok {
			return c.loadFiles(ctx, p)
		}
	}
	return nil
}

// withWarnings adds to a post what its author is told besides.
func (c *check) withWarnings(ctx context.Context, p post.Post) post.Post {
	if p.Status.IsFinal() {
		return p
	}
	if err := c.loadMissing(ctx, p); err != nil {
		c.scheduler.Log.WarnContext(ctx, "files of a post are not looked at", "post_id", p.ID, "error", err)
	}
	p.Warnings, p.Price = c.warnings(ctx, p), c.price(ctx, p)
	return p
}

// previewPost is a post that is about to be stored as it will be read back.
func previewPost(n post.NewPost, accounts map[uuid.UUID]account.Account) post.Post {
	p := n.Post
	for _, id := range n.AccountIDs {
		a := accounts[id]
		p.Targets = append(p.Targets, post.Target{AccountID: id, Network: a.Network, Handle: a.Handle, Status: post.TargetScheduled, Override: n.Overrides[id]})
	}
	return p
}
