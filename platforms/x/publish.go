package x

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// Publish creates a post (POST /2/tweets). X has no idempotency key: Reconcile
// searches for a post whose response was lost, and X refuses a text that was
// posted recently as a duplicate.
func (x *X) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	type media struct {
		IDs []string `json:"media_ids"`
	}
	type reply struct {
		To string `json:"in_reply_to_tweet_id"`
	}
	type poll struct {
		Options         []string `json:"options"`
		DurationMinutes int      `json:"duration_minutes"`
	}
	options, _ := submission.Options.(PostOptions)
	content := struct {
		Text            string `json:"text"` // required by X even if it is empty
		Media           *media `json:"media,omitempty"`
		Reply           *reply `json:"reply,omitempty"`
		ReplySettings   string `json:"reply_settings,omitempty"`
		Poll            *poll  `json:"poll,omitempty"`
		MadeWithAI      bool   `json:"made_with_ai,omitempty"`
		PaidPartnership bool   `json:"paid_partnership,omitempty"`
	}{
		Text: submission.Text, ReplySettings: options.replySettings(), MadeWithAI: options.MadeWithAI,
		PaidPartnership: options.PaidPartnership,
	}
	if options.Poll != nil {
		content.Poll = &poll{options.Poll.Choices, options.Poll.DurationMinutes}
	}
	if len(submission.MediaIDs) > 0 {
		content.Media = &media{submission.MediaIDs}
	}
	if submission.ReplyTo != "" {
		content.Reply = &reply{submission.ReplyTo}
	}
	body, err := call.JSON(content)
	if err != nil {
		return network.Receipt{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := x.do(ctx, account.BaseURL, "/tweets", call.Request{
		Method: http.MethodPost, Token: account.Token, Body: body, Create: true,
	})
	if e := network.AsError(err); e != nil {
		if submission.ReplyTo != "" && isThreadRefusal(e) {
			e.Code = CodeThreadNotAllowed
			e.Message = "X does not allow this application to reply to the previous post, so the thread ends there. " +
				"Combine the text into one post, or publish the rest manually. X's message: " + e.Message
		}
		return network.Receipt{}, e
	}
	var response struct {
		Data struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		} `json:"data"`
	}
	if err := res.Decode(&response); err != nil {
		return network.Receipt{}, err
	}
	id, err := strconv.ParseUint(response.Data.ID, 10, 64)
	if err != nil {
		return network.Receipt{}, partialError(res, "post id")
	}
	return network.Receipt{
		RemoteID: response.Data.ID, URL: x.permalink(account, response.Data.ID), CreatedAt: timeOf(id),
		SentAt: res.Sent, RequestID: res.RequestID, Rates: rates(res, bucketPosts),
		Differences: x.differences(submission, account, response.Data.Text),
	}, nil
}

// differences compares the text in the response, which is all that X returns without a
// charge. Its links are shortened, and long posts are cut in it, so that those are not
// compared.
func (x *X) differences(submission network.Submission, account network.Account, shown string) message.Messages {
	if shown == "" || x.Count(submission.Text, network.Limits{}) > x.options.MaxCharacters {
		return nil
	}
	// X can prefix a reply with the handle that it replies to.
	if name, rest, _ := strings.Cut(shown, " "); submission.ReplyTo != "" && strings.EqualFold(name, account.Handle) {
		shown = rest
	}
	var c matching.Comparison
	c.Wording(withoutLinks(submission.Text), shown) // also links without a scheme
	return c.Differences()
}

// permalink returns the page of a post. X finds it by its id; the name is
// ignored.
func (x *X) permalink(account network.Account, id string) string {
	_, web, err := x.hosts(account.BaseURL)
	if err != nil {
		web = x.options.Web
	}
	name := strings.TrimPrefix(account.Handle, "@")
	if name == "" {
		name = "i"
	}
	return strings.TrimSuffix(web, "/") + "/" + url.PathEscape(name) + "/status/" + url.PathEscape(id)
}

// Delete removes a post (DELETE /2/tweets/:id).
func (x *X) Delete(ctx context.Context, account network.Account, remoteID string) error {
	res, err := x.do(ctx, account.BaseURL, "/tweets/"+url.PathEscape(remoteID), call.Request{
		Method: http.MethodDelete, Token: account.Token,
	})
	if e := network.AsError(err); e != nil {
		if e.Status == http.StatusNotFound {
			return nil
		}
		return e
	}
	var body struct {
		Data struct {
			Deleted bool `json:"deleted"`
		} `json:"data"`
	}
	if err := res.Decode(&body); err != nil {
		return err
	}
	if body.Data.Deleted {
		return nil
	}
	e := partialError(res, "confirmation of the deletion")
	if e.Code == "resource-not-found" {
		return nil
	}
	return e
}
