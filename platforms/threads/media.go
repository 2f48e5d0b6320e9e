package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Stage verifies that Threads can reach an attachment. It makes no call: Threads
// has no uploads, it only fetches.
func (t *Threads) Stage(_ context.Context, account network.Account, media network.Media) (network.Staged, error) {
	if _, err := t.Service.Host(account.BaseURL, ""); err != nil {
		return network.Staged{}, err
	}
	if media.URL == nil {
		return network.Staged{}, graph.NotFetchableError(title, media, "it has no public address")
	}
	return network.Staged{RemoteID: container.StagedID, Ready: true}, nil
}

// builder creates the containers of one submission.
type builder struct {
	threads    *Threads
	account    network.Account
	submission network.Submission
}

var _ container.Builder = builder{}

// CreateItem creates the container of one attachment of a carousel.
func (m builder) CreateItem(ctx context.Context, i int) (string, bool, error) {
	id, err := m.createFromMedia(ctx, url.Values{"is_carousel_item": {"true"}}, i)
	return id, false, err
}

// CreateMain creates the container that is published. Posts without attachments
// have one too, so that only one call is left at the scheduled time.
// https://developers.facebook.com/docs/threads/reference/publishing
func (m builder) CreateMain(ctx context.Context, items []string) (string, bool, error) {
	form := url.Values{}
	for name, value := range map[string]string{"text": m.submission.Text, "reply_to_id": m.submission.ReplyTo} {
		if value != "" {
			form.Set(name, value)
		}
	}
	options, _ := m.submission.Options.(PostOptions)
	options.set(form, m.submission.Text, len(m.submission.Media))
	var id string
	var err error
	switch {
	case len(items) > 0:
		form.Set("media_type", "CAROUSEL")
		form.Set("children", strings.Join(items, ","))
		id, err = m.create(ctx, form, nil)
	case len(m.submission.Media) == 1:
		id, err = m.createFromMedia(ctx, form, 0)
	default:
		form.Set("media_type", "TEXT")
		id, err = m.create(ctx, form, nil)
	}
	return id, false, err
}

func (m builder) createFromMedia(ctx context.Context, form url.Values, i int) (string, error) {
	media := m.submission.Media[i]
	address, err := graph.FetchURL(ctx, title, m.account, media,
		time.Duration(m.threads.options.FetchSeconds)*time.Second)
	if err != nil {
		return "", err
	}
	if media.AltText != "" {
		form.Set("alt_text", media.AltText)
	}
	if rules.IsVideoOrAudio(media.MediaInfo) {
		form.Set("media_type", "VIDEO")
		form.Set("video_url", address)
	} else {
		form.Set("media_type", "IMAGE")
		form.Set("image_url", address)
	}
	// The address grants access to the attachment.
	return m.create(ctx, form, []secret.Text{secret.NewText(address)})
}

func (m builder) create(ctx context.Context, form url.Values, secrets []secret.Text) (string, error) {
	res, err := m.threads.do(ctx, m.account, graph.Call{Method: http.MethodPost, Form: form, Secrets: secrets},
		m.account.RemoteID, "threads")
	if err != nil {
		return "", err
	}
	return graph.CreatedID(res)
}

// Upload is never called: CreateItem and CreateMain need no uploads.
func (builder) Upload(context.Context, int, string) error { return nil }

// Status reads the state of a container.
func (m builder) Status(ctx context.Context, id string) (container.Status, error) {
	res, err := m.threads.get(ctx, m.account, "status,error_message", id)
	if err != nil {
		return container.Status{}, err
	}
	var body struct {
		Status  container.State `json:"status"`
		Message string          `json:"error_message"`
	}
	if err := res.Decode(&body); err != nil {
		return container.Status{}, err
	}
	if body.Status == "" {
		return container.Status{}, res.MalformedError("it contains no status")
	}
	return container.Status{State: body.Status, Detail: body.Message, Retryable: isRetryable(body.Message)}, nil
}
