package wordpress

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Publish makes the draft public (POST posts/ID), unless an editor changed or removed it
// since. Only the status is sent: WordPress has no check of versions, the last writer wins.
// Repeating the call changes nothing.
func (w *WordPress) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == 0 {
		return network.Receipt{}, article.NotPrepared()
	}
	options, _ := submission.Options.(PostOptions)
	before, err := w.read(ctx, account, h.ID)
	switch {
	case isRemoved(err), err == nil && before.Status == statusTrash:
		return network.Receipt{}, article.DeletedThere()
	case err != nil:
		return network.Receipt{}, err
	case before.isPosted(options):
		return w.receipt(before, h, submission, nil), nil
	case before.Status == statusFuture:
		return network.Receipt{}, article.ScheduledThere()
	case before.Modified != h.Modified || before.Status != statusDraft:
		return network.Receipt{}, article.EditedThere()
	}
	switch complete, err := w.hasMedia(ctx, account, submission); {
	case err != nil:
		return network.Receipt{}, err
	case !complete:
		return network.Receipt{}, &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired,
			Message: "Somebody deleted an attachment in WordPress. It has to be uploaded again.",
		}
	}
	res, err := w.send(ctx, account, postPath(h.ID), true, map[string]string{
		"status": options.status(),
	})
	if isRemoved(err) {
		return network.Receipt{}, article.DeletedThere()
	}
	if err != nil {
		return network.Receipt{}, err
	}
	var after wpPost
	switch err := decode(res, &after); {
	case err != nil || after.ID == 0:
		return network.Receipt{}, res.MalformedError("it contains no post")
	case after.isPosted(options):
		return w.receipt(after, h, submission, res), nil
	case after.Status == statusFuture:
		return network.Receipt{}, article.ScheduledThere()
	default:
		return network.Receipt{}, rejected("", "not_published", "WordPress did not publish the article: a plugin left "+
			"it with the status “"+after.Status+"”. Publish it there and try again, which records it here.")
	}
}

// isPosted reports whether the article is published, at least as widely as asked for.
func (p wpPost) isPosted(options PostOptions) bool {
	return p.Status == statusPublished || p.Status == options.status()
}

// read returns a post.
func (w *WordPress) read(ctx context.Context, account network.Account, id int64) (p wpPost, err error) {
	res, err := w.do(ctx, account, postPath(id), url.Values{"context": {"edit"}}, call.Request{})
	if err == nil {
		err = decode(res, &p)
	}
	return p, err
}

func postPath(id int64) string { return "/wp/v2/posts/" + idText(id) }

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// receipt describes a published article; res is the response to the call that published it,
// nil: it was published before.
func (w *WordPress) receipt(
	p wpPost, h handle, submission network.Submission, res *call.Response,
) network.Receipt {
	created, _ := time.Parse("2006-01-02T15:04:05", p.Date) // zero if a plugin changed it
	receipt := network.Receipt{RemoteID: idText(p.ID), URL: p.Link, CreatedAt: created}
	if res != nil {
		receipt.SentAt, receipt.RequestID = res.Sent, res.RequestID
	}
	receipt.Differences = p.differences(h, submission)
	return receipt
}

// differences returns what WordPress made otherwise than asked. It leaves out unknown
// categories, tags and files with a success, and HTML that the user's role may not use.
func (p wpPost) differences(h handle, submission network.Submission) message.Messages {
	options, _ := submission.Options.(PostOptions)
	asked, above := articleOf(submission, options), featured(submission, options)
	var c matching.Comparison
	c.Text(asked.Title+"\n"+article.PlainText(asked.HTML),
		html.UnescapeString(p.Title.Raw)+"\n"+article.PlainText(p.Content.Raw))
	shown := 0
	for _, remoteID := range submission.MediaIDs {
		file := parseAttachment(remoteID)
		if file.ID == above && p.Featured == above || file.ID != above && strings.Contains(p.Content.Raw, file.URL) {
			shown++
		}
	}
	c.Media(len(submission.MediaIDs), shown)
	order := []string{visibilityPublic, visibilityPrivate}
	visibility := func(status string) string {
		return order[map[bool]int{true: 1}[status == statusPrivate]]
	}
	c.Visibility(visibility(options.status()), visibility(p.Status), order...)
	article.AddLost(&c, map[string]bool{
		"categories": !article.ContainsAll(p.Categories, h.Categories), "tags": !article.ContainsAll(p.Tags, h.Tags),
		"comments": options.Comments != "" && options.Comments != p.Comments,
		"excerpt":  options.Excerpt != "" && strings.TrimSpace(p.Excerpt.Raw) == "",
		"format":   options.Format != "" && options.Format != p.Format,
		"slug":     options.Slug != "" && options.Slug != p.Slug,
		"sticky":   options.Sticky && !p.Sticky,
	})
	return c.Differences()
}

// Reconcile reads the draft by its id. Its status says whether a send acted: all sends of an
// operation are for the same draft.
func (w *WordPress) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == 0 {
		return article.NeverMade(), nil
	}
	options, _ := submission.Options.(PostOptions)
	p, err := w.read(ctx, account, h.ID)
	state := article.State{ID: idText(h.ID), Status: p.Status, IsRemoved: isRemoved(err), IsPosted: p.isPosted(options)}
	switch {
	case err != nil && !state.IsRemoved:
		return network.Finding{}, err
	case !state.IsPosted:
		return state.Finding(window, network.Receipt{}), nil
	default:
		return state.Finding(window, w.receipt(p, h, submission, nil)), nil
	}
}

// Delete moves an article to the trash (DELETE posts/ID), from which editors can restore it.
func (w *WordPress) Delete(ctx context.Context, account network.Account, remoteID string) error {
	path := "/wp/v2/posts/" + url.PathEscape(remoteID)
	_, err := w.do(ctx, account, path, nil, call.Request{Method: http.MethodDelete})
	if e := network.AsError(err); e != nil && e.Code == "rest_trash_not_supported" { // EMPTY_TRASH_DAYS is 0
		_, err = w.do(ctx, account, path, url.Values{"force": {"true"}}, call.Request{Method: http.MethodDelete})
	}
	if e := network.AsError(err); e != nil && !isRemoved(err) && e.Code != "rest_already_trashed" {
		return e
	}
	return nil
}
