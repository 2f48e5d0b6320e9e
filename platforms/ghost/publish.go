package ghost

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/infra/message"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Publish makes the draft public (PUT posts/ID), unless an editor changed or removed it
// since. Only the status is sent, with the time of the last change that Dateline knows:
// Ghost refuses the call after another one, but its times have whole seconds and it does not
// compare all fields. Repeating the call changes nothing and sends no email.
// https://docs.ghost.org/admin-api/posts/publishing-a-post
func (g *Ghost) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == "" {
		return network.Receipt{}, article.NotPrepared()
	}
	before, err := g.read(ctx, account, h.ID)
	switch {
	case isRemoved(err):
		return network.Receipt{}, article.DeletedThere()
	case err != nil:
		return network.Receipt{}, err
	case before.Status == statusPublished:
		return before.receipt(h, submission, nil), nil
	case before.Status == statusScheduled:
		return network.Receipt{}, article.ScheduledThere()
	case before.Updated != h.Updated || before.Status != statusDraft:
		return network.Receipt{}, article.EditedThere()
	}
	after, res, err := write[post](ctx, g, account, postPath(h.ID), call.Request{
		Method: http.MethodPut, Create: true,
	}, posts, map[string]string{"status": statusPublished, "updated_at": h.Updated})
	switch {
	case isRemoved(err):
		return network.Receipt{}, article.DeletedThere()
	case isCollision(err):
		// Refused. An editor published it in between, or is working on it.
		now, err := g.read(ctx, account, h.ID)
		switch {
		case err != nil:
			return network.Receipt{}, err
		case now.Status == statusPublished:
			return now.receipt(h, submission, nil), nil
		default:
			return network.Receipt{}, article.EditedThere()
		}
	case err != nil:
		return network.Receipt{}, err
	case after.ID == "" || after.Status != statusPublished:
		return network.Receipt{}, res.MalformedError("it contains no published post")
	default:
		return after.receipt(h, submission, res), nil
	}
}

// read returns a post.
func (g *Ghost) read(ctx context.Context, account network.Account, id string) (post, error) {
	res, err := g.do(ctx, account, postPath(id), url.Values{"formats": {"html"}}, call.Request{})
	if err != nil {
		return post{}, err
	}
	return one[post](res, posts)
}

func postPath(id string) string { return "/posts/" + url.PathEscape(id) + "/" }

// receipt describes a published article; res is the response to the call that published it,
// nil: it was published before.
func (p post) receipt(h handle, submission network.Submission, res *call.Response) network.Receipt {
	receipt := network.Receipt{RemoteID: p.ID, URL: p.URL, CreatedAt: p.Published}
	if res != nil {
		receipt.SentAt, receipt.RequestID = res.Sent, res.RequestID
	}
	receipt.Differences = p.differences(h, submission)
	return receipt
}

// differences returns what Ghost made otherwise than asked. It rewrites HTML, so that
// only the text and the images in it are compared.
func (p post) differences(h handle, submission network.Submission) message.Messages {
	options, _ := submission.Options.(PostOptions)
	asked, above := articleOf(submission, options), featured(submission, options)
	var c matching.Comparison
	c.Text(asked.Title+"\n"+article.PlainText(asked.HTML), p.Title+"\n"+article.PlainText(p.HTML))
	shown := 0
	for i, address := range submission.MediaIDs {
		if i == above && p.Image == address || i != above && strings.Contains(p.HTML, address) {
			shown++
		}
	}
	c.Media(len(submission.MediaIDs), shown)
	c.Visibility(options.Visibility, p.Visibility, visibilities()...)
	article.AddLost(&c, map[string]bool{
		"authors":       !article.ContainsAll(idsOf(p.Authors), h.Authors),
		"canonical_url": options.CanonicalURL != "" && options.CanonicalURL != p.Canonical,
		"excerpt":       options.Excerpt != "" && strings.TrimSpace(p.Excerpt) == "",
		"featured":      options.Featured && !p.Featured,
		"slug":          options.Slug != "" && options.Slug != p.Slug,
		"tags":          !article.ContainsAll(idsOf(p.Tags), h.Tags),
	})
	return c.Differences()
}

// Reconcile reads the draft by its id.
func (g *Ghost) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == "" {
		return article.NeverMade(), nil
	}
	p, err := g.read(ctx, account, h.ID)
	state := article.State{ID: h.ID, Status: p.Status, IsRemoved: isRemoved(err), IsPosted: p.Status == statusPublished}
	switch {
	case err != nil && !state.IsRemoved:
		return network.Finding{}, err
	case !state.IsPosted:
		return state.Finding(window, network.Receipt{}), nil
	default:
		return state.Finding(window, p.receipt(h, submission, nil)), nil
	}
}

// Delete deletes an article for good (DELETE posts/ID): Ghost has no trash.
func (g *Ghost) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := g.do(ctx, account, postPath(remoteID), nil, call.Request{Method: http.MethodDelete})
	if isRemoved(err) {
		return nil
	}
	return err
}
