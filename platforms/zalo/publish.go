package zalo

import (
	"context"
	"net/url"
	"strings"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Publish shows the hidden article (article/update), unless somebody changed or removed it
// since. Repeating the call changes nothing.
//
// An article of the kind broadcast is then sent to the followers: this is its publishing
// call, after which a lost response stays ambiguous, because Zalo lists no broadcasts.
// Nothing is sent before the article is shown (awaitShown), and nothing later than
// Options.Finish after the start: another attempt, which finds the article hidden, begins
// after that. A worker that was suspended in between does not send it as well.
func (z *Zalo) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == "" {
		return network.Receipt{}, article.NotPrepared()
	}
	options, _ := submission.Options.(PostOptions)
	latest := time.Now().Round(0).Add(z.options.Finish) // by the clock on the wall, which is never suspended
	before, err := z.read(ctx, account, h.ID)
	var res *call.Response
	switch {
	case isRemoved(err):
		return network.Receipt{}, article.DeletedThere()
	case err != nil:
		return network.Receipt{}, err
	case before.Status == statusShown:
	case !strings.Contains(before.Title, h.Slug) && before.Title != z.articleOf(submission).Title:
		return network.Receipt{}, article.EditedThere()
	default:
		if res, err = z.show(ctx, account, submission, h.ID); options.Kind == kindBroadcast {
			err = z.awaitShown(ctx, account, h.ID, err)
		}
		if err != nil {
			return network.Receipt{}, err
		}
	}
	if options.Kind == kindBroadcast {
		if time.Now().Round(0).After(latest) {
			return network.Receipt{}, &network.Error{
				Class: network.Ambiguous, Code: "interrupted",
				Message: "The article was shown too late to send it to the followers without asking.",
			}
		}
		if res, err = z.broadcast(ctx, account, h.ID); err != nil {
			return network.Receipt{}, err
		}
	}
	return z.receipt(ctx, account, submission, h.ID, res), nil
}

// show makes an article public, and waits until Zalo has done it: the response only names a
// token. https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/UpdateNormalArticle.java
func (z *Zalo) show(
	ctx context.Context, account network.Account, submission network.Submission, id string,
) (*call.Response, error) {
	body, secrets, err := z.body(ctx, account, submission)
	if err != nil {
		return nil, err
	}
	body.ID, body.Status = id, statusShown
	token, res, err := z.write(ctx, account, "/update", body, secrets)
	if err != nil {
		return res, err
	}
	for start, wait := time.Now(), 100*time.Millisecond; ; wait = min(2*wait, processingDelay) {
		_, err := z.verify(ctx, account, token)
		switch e := network.AsError(err); {
		case err == nil:
			return res, nil
		case hasCode(err, codeMediaFailed): // the article stays as it was
			e.Class = network.Transient
			return res, e
		case !isProcessing(err) || time.Since(start) > z.options.Process || ctx.Err() != nil:
			e.Class, e.RetryAt = network.Ambiguous, time.Time{}
			return res, e
		}
		pause(ctx, wait)
	}
}

// awaitShown returns nil if an article is shown after all, though the response to the call
// that shows it was lost. If it is hidden when that call can no longer act, the call is
// repeated: an article that is edited in the meantime does not appear twice.
func (z *Zalo) awaitShown(ctx context.Context, account network.Account, id string, lost error) error {
	e := network.AsError(lost)
	if e == nil {
		return nil
	}
	for end := time.Now().Add(z.options.Finish); e.Class == network.Ambiguous; pause(ctx, processingDelay/4) {
		now, err := z.read(ctx, account, id)
		switch late := time.Now().After(end); {
		case err == nil && now.Status == statusShown:
			return nil
		case err == nil && late:
			e.Class = network.Transient
		case late, ctx.Err() != nil:
			return e
		}
	}
	return e
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// broadcast sends an article to all followers, at most once.
// https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/v3/SendBroadcastMessage.java
func (z *Zalo) broadcast(ctx context.Context, account network.Account, id string) (*call.Response, error) {
	type object = map[string]any
	_, res, err := send[object](ctx, z, account, z.options.BroadcastPath, call.Request{Create: true}, object{
		"recipient": object{"target": object{"gender": "0"}}, // all
		"message": object{"attachment": object{"type": "template", "payload": object{
			"template_type": "media",
			"elements":      []object{{"media_type": "article", "attachment_id": id}},
		}}},
	})
	if e := network.AsError(err); e != nil && e.Class == network.Rejected {
		text, params := message.Format("The article is published, but Zalo did not send it to the followers. It said: "+
			"{answer}", e.Message)
		return res, &network.Error{
			Class: network.Rejected, Code: "broadcast_refused", Message: text, Params: params, Status: e.Status,
			RequestID: e.RequestID,
		}
	}
	return res, err
}

// read returns an article (article/getdetail).
func (z *Zalo) read(ctx context.Context, account network.Account, id string) (entity, error) {
	res, err := z.do(ctx, account, z.options.ArticlePath+"/getdetail?"+url.Values{"id": {id}}.Encode(), call.Request{})
	if err != nil {
		return entity{}, err
	}
	found, err := dataOf[entity](res)
	if err == nil && found.Status != statusShown && found.Status != statusHidden {
		err = res.MalformedError("it contains no status")
	}
	return found, err
}

// receipt describes a published article. The article is read again: that it cannot be, and
// that a list lags, changes nothing. res is the response to the publishing call; nil: it was
// published before.
func (z *Zalo) receipt(
	ctx context.Context, account network.Account, submission network.Submission, id string, res *call.Response,
) network.Receipt {
	receipt := network.Receipt{RemoteID: id}
	if res != nil {
		receipt.SentAt, receipt.RequestID, receipt.Rates = res.Sent, res.RequestID, rates(res)
	}
	if now, err := z.read(ctx, account, id); err == nil && now.Status == statusShown {
		receipt.Differences = z.differences(now, submission)
	}
	if found, err := z.find(ctx, account, id); err == nil {
		receipt.URL = found.Link
	}
	return receipt
}

// differences returns what Zalo made otherwise than asked.
func (z *Zalo) differences(now entity, submission network.Submission) message.Messages {
	options, _ := submission.Options.(PostOptions)
	written := z.articleOf(submission)
	asked, shown, images := written.Title, now.Title, 0
	var text strings.Builder
	for _, p := range now.Body {
		if p.Type == "image" && p.URL != "" {
			images++
		}
		text.WriteString(p.Content)
	}
	if now.Cover.URL != "" {
		images++
	}
	if written.HTML != "" {
		asked, shown = asked+"\n"+article.PlainText(written.HTML), shown+"\n"+article.PlainText(text.String())
	}
	var c matching.Comparison
	c.Text(asked, shown)
	c.Media(len(submission.Media), images)
	article.AddLost(&c, map[string]bool{
		"author":      options.Author != "" && options.Author != now.Author,
		"comments":    options.Comments == commentsClosed && now.Comment != statusHidden,
		"description": options.Description != "" && options.Description != now.Description,
	})
	return c.Differences()
}

// Reconcile reads the article by its id. Of a broadcast it only says what was not sent: the
// article is shown first.
func (z *Zalo) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok || h.ID == "" {
		return article.NeverMade(), nil
	}
	now, err := z.read(ctx, account, h.ID)
	state := article.State{ID: h.ID, Status: now.Status, IsRemoved: isRemoved(err), IsPosted: now.Status == statusShown}
	options, _ := submission.Options.(PostOptions)
	switch {
	case err != nil && !state.IsRemoved:
		return network.Finding{}, err
	case options.Kind == kindBroadcast && state.IsPosted:
		return network.Finding{Evidence: message.One("broadcast_unknown", "The article {id} is published. Zalo does "+
			"not say whether it was sent to the followers: look under Broadcast in OA Manager.", h.ID)}, nil
	case !state.IsPosted:
		return state.Finding(window, network.Receipt{}), nil
	default:
		return state.Finding(window, z.receipt(ctx, account, submission, h.ID, nil)), nil
	}
}

// Delete removes an article for good (article/remove). What was sent to followers stays
// with them. https://github.com/zaloplatform/zalo-java-sdk/blob/master/src/test/java/RemoveArticle.java
func (z *Zalo) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, _, err := send[any](ctx, z, account, z.options.ArticlePath+"/remove", call.Request{},
		map[string]string{"id": remoteID})
	if isRemoved(err) {
		return nil
	}
	return err
}
