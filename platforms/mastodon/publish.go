package mastodon

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// status contains the used fields of Mastodon's Status entity.
// https://docs.joinmastodon.org/entities/Status/
type status struct {
	ID        string    `json:"id"`
	URI       string    `json:"uri"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"created_at"`
	Content   string    `json:"content"`
	ReplyTo   string    `json:"in_reply_to_id"`
	Media     []struct {
		ID string `json:"id"`
	} `json:"media_attachments"`
	Visibility  string `json:"visibility"`
	Language    string `json:"language"`
	Sensitive   bool   `json:"sensitive"`
	SpoilerText string `json:"spoiler_text"`
	Poll        *struct {
		Options []struct {
			Title string `json:"title"`
		} `json:"options"`
	} `json:"poll"`
}

// receipt prefers the page for readers; some servers return a null url.
func (s status) receipt(requestID string) network.Receipt {
	link := s.URL
	if link == "" {
		link = s.URI
	}
	return network.Receipt{RemoteID: s.ID, URL: link, CreatedAt: s.CreatedAt, RequestID: requestID}
}

// statusRequest is the body of POST /api/v1/statuses.
type statusRequest struct {
	Status      string       `json:"status"`
	MediaIDs    []string     `json:"media_ids,omitempty"`
	ReplyTo     string       `json:"in_reply_to_id,omitempty"`
	Language    string       `json:"language,omitempty"`
	Visibility  string       `json:"visibility,omitempty"`
	SpoilerText string       `json:"spoiler_text,omitempty"`
	Sensitive   bool         `json:"sensitive,omitempty"`
	Poll        *pollRequest `json:"poll,omitempty"`
	QuotePolicy string       `json:"quote_approval_policy,omitempty"`
}

func requestOf(submission network.Submission) statusRequest {
	options, _ := submission.Options.(PostOptions)
	return statusRequest{
		submission.Text, submission.MediaIDs, submission.ReplyTo,
		cmp.Or(options.Language, submission.Language), options.Visibility,
		options.ContentWarning, options.Sensitive, options.Poll.request(), options.QuotePolicy,
	}
}

// body encodes the request. snac (2.94) reads a poll only from form fields, as Mastodon,
// GoToSocial and Hollo also do; Mitra (5.9.2) refuses some forms.
func (r statusRequest) body(server software) (*call.Body, error) {
	if r.Poll == nil || server.name == "mitra" {
		return call.JSON(r)
	}
	form := url.Values{
		"poll[options][]": r.Poll.Options, "poll[expires_in]": {strconv.Itoa(r.Poll.ExpiresIn)},
		"media_ids[]": r.MediaIDs,
	}
	for name, value := range map[string]string{
		"status": r.Status, "in_reply_to_id": r.ReplyTo, "language": r.Language,
		"visibility": r.Visibility, "spoiler_text": r.SpoilerText, "quote_approval_policy": r.QuotePolicy,
	} {
		if value != "" {
			form.Set(name, value)
		}
	}
	for name, on := range map[string]bool{
		"sensitive": r.Sensitive, "poll[multiple]": r.Poll.Multiple,
		"poll[hide_totals]": r.Poll.HideTotals,
	} {
		if on {
			form.Set(name, "true")
		}
	}
	return call.Form(form), nil
}

// visibilities are Mastodon's, from the widest to the narrowest.
func visibilities() []string { return []string{"public", "unlisted", "private", "direct"} }

// differences returns what a server made otherwise than the submission asked. sent is
// the time of the call by the server's clock; zero: not known. The policy for quotes is
// not compared: servers report it in different forms.
func (s status) differences(submission network.Submission, server software, sent time.Time) message.Messages {
	asked := requestOf(submission)
	var c matching.Comparison
	if server.rendersPlainText() {
		c.Text(normalize(asked.Status), normalize(htmlToText(s.Content)))
	} else {
		c.Wording(normalize(asked.Status), normalize(htmlToText(s.Content)))
	}
	if s.Media != nil {
		ids := make([]string, len(s.Media))
		for i, m := range s.Media {
			ids[i] = m.ID
		}
		c.MediaIDs(asked.MediaIDs, ids)
	}
	var choices []string
	if asked.Poll != nil {
		choices = asked.Poll.Options
	}
	c.Poll(choices, s.choices())
	c.Reply(asked.ReplyTo, s.ReplyTo)
	c.Visibility(asked.Visibility, s.Visibility, visibilities()...)
	c.Warning(asked.SpoilerText, htmlToText(s.SpoilerText))
	c.Hidden(asked.Sensitive && len(asked.MediaIDs) > 0, s.Sensitive)
	c.Language(asked.Language, s.Language)
	c.Time(sent, s.CreatedAt)
	return c.Differences()
}

// choices are those of the poll; nil: it has none.
func (s status) choices() []string {
	if s.Poll == nil {
		return nil
	}
	choices := make([]string, len(s.Poll.Options))
	for i, one := range s.Poll.Options {
		choices[i] = one.Title
	}
	return choices
}

// Publish posts a status (POST /api/v1/statuses) with the submission's key as
// Idempotency-Key. On servers that honor it (honorsIdempotencyKeys), the same key
// returns the same status for an hour. Older versions store the key after they
// create the status, so two concurrent calls create two statuses: never send
// while an earlier call may still be running.
func (m *Mastodon) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	base, err := m.base(account.BaseURL)
	if err != nil {
		return network.Receipt{}, err
	}
	server := m.knownSoftware(base)
	body, err := requestOf(submission).body(server)
	if err != nil {
		return network.Receipt{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := m.do(ctx, account.BaseURL, "/api/v1/statuses", call.Request{
		Method:         http.MethodPost,
		Token:          account.Token,
		Body:           body,
		Create:         true,
		IdempotencyKey: submission.Key,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	var created status
	if err := res.Decode(&created); err != nil {
		return network.Receipt{}, err
	}
	if created.ID == "" {
		return network.Receipt{}, res.MalformedError("it contains no status id")
	}
	receipt := created.receipt(res.RequestID)
	m.observeReplay(base, created, res)
	receipt.Differences = created.differences(submission, server, res.Sent.Add(res.ClockSkew()))
	receipt.SentAt = res.Sent
	receipt.Rates = rates(res, bucketStatuses)
	return receipt, nil
}

// Delete removes a status (DELETE /api/v1/statuses/:id).
func (m *Mastodon) Delete(ctx context.Context, account network.Account, remoteID string) error {
	_, err := m.do(ctx, account.BaseURL, "/api/v1/statuses/"+url.PathEscape(remoteID),
		call.Request{Method: http.MethodDelete, Token: account.Token})
	var e *network.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusGone) {
		return nil
	}
	return err
}
