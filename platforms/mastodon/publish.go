package mastodon

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"dateline/platforms/call"
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

// Publish posts a status (POST /api/v1/statuses) with the submission's key as
// Idempotency-Key. On servers that honor it (honorsIdempotencyKeys), the same key
// returns the same status for an hour. Older versions store the key after they
// create the status, so two concurrent calls create two statuses: never send
// while an earlier call may still be running.
func (m *Mastodon) Publish(ctx context.Context, account network.Account, submission network.Submission) (network.Receipt, error) {
	options, _ := submission.Options.(PostOptions)
	language := submission.Language
	if options.Language != "" {
		language = options.Language
	}
	body, err := call.JSON(struct {
		Status      string       `json:"status"`
		MediaIDs    []string     `json:"media_ids,omitempty"`
		ReplyTo     string       `json:"in_reply_to_id,omitempty"`
		Language    string       `json:"language,omitempty"`
		Visibility  string       `json:"visibility,omitempty"`
		SpoilerText string       `json:"spoiler_text,omitempty"`
		Sensitive   bool         `json:"sensitive,omitempty"`
		Poll        *pollRequest `json:"poll,omitempty"`
		QuotePolicy string       `json:"quote_approval_policy,omitempty"`
	}{submission.Text, submission.MediaIDs, submission.ReplyTo, language, options.Visibility,
		options.ContentWarning, options.Sensitive, options.Poll.request(), options.QuotePolicy})
	if err != nil {
		return network.Receipt{}, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
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
	if base, err := m.base(account.BaseURL); err == nil {
		m.observeReplay(base, created, res)
	}
	receipt := created.receipt(res.RequestID)
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
