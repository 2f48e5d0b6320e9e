package scheduling

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// networkContent returns a segment in the form that adapters take, with converted
// attachments.
func (c *check) networkContent(
	p post.Post, i int, s post.Segment, options network.PostOptions, limits network.Limits,
) network.Content {
	return network.Content{Text: s.Content, Options: SegmentOptions(options, i), Reply: i > 0 ||
		p.ThreadParentID != nil, Media: MediaInfos(ConvertedItems(c.items(s.AttachmentIDs), limits))}
}

// price sums the prices that networks charge for unpublished segments.
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
	return post.Price{MicroUSD: found.MicroUSD, Reasons: found.Reasons}
}

// loadMissing loads the files of a post that the request has not loaded yet.
func (c *check) loadMissing(ctx context.Context, p post.Post) error {
	for _, id := range p.MediaIDs() {
		if _, ok := c.files[id]; !ok {
			return c.loadFiles(ctx, p)
		}
	}
	return nil
}

// withWarnings adds warnings and prices to a post.
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

// previewPost returns a new post as it would be read after storing it.
func previewPost(n post.NewPost, accounts map[uuid.UUID]account.Account) post.Post {
	p := n.Post
	for _, id := range n.AccountIDs {
		a := accounts[id]
		p.Targets = append(p.Targets, post.Target{
			AccountID: id, Network: a.Network, Handle: a.Handle, Status: post.TargetScheduled,
			Override: n.Overrides[id],
		})
	}
	return p
}
