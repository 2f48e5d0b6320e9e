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

// stagedWithContainer stands for an attachment in Submission.MediaIDs: it goes into a
// container together with the text (Prepare), so there is nothing to hand over
// before.
const stagedWithContainer = "with_container"

// Stage makes sure that Threads can get at an attachment. It makes no call:
// Threads has no uploads, it only fetches.
func (t *Threads) Stage(_ context.Context, account network.Account, media network.Media) (network.Staged, error) {
	if _, err := t.Service.Host(account.BaseURL, ""); err != nil {
		return network.Staged{}, err
	}
	if media.URL == nil {
		return network.Staged{}, graph.NotFetchableError(title, media, "it has no address on the internet")
	}
	return network.Staged{RemoteID: stagedWithContainer, Ready: true}, nil
}

// StageStatus has nothing to ask.
func (*Threads) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	staged.Ready = true
	return staged, nil
}

// builder makes the containers of one submission.
type builder struct {
	threads    *Threads
	account    network.Account
	submission network.Submission
}

var _ container.Builder = builder{}

// CreateItem makes the container of one attachment of a carousel.
func (m builder) CreateItem(ctx context.Context, i int) (string, bool, error) {
	id, err := m.createFromMedia(ctx, url.Values{"is_carousel_item": {"true"}}, i)
	return id, false, err
}

// CreateMain makes the container that is published. Texts alone have one too, so that
// nothing but one call is left for their time.
// https://developers.facebook.com/docs/threads/reference/publishing
func (m builder) CreateMain(ctx context.Context, items []string) (string, bool, error) {
	form := url.Values{}
	for name, value := range map[string]string{"text": m.submission.Text, "reply_to_id": m.submission.ReplyTo} {
		if value != "" {
			form.Set(name, value)
		}
	}
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
	address, err := graph.FetchURL(ctx, title, m.account, media, time.Duration(m.threads.options.FetchSeconds)*time.Second)
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
	// Whoever has the address may fetch the attachment.
	return m.create(ctx, form, []secret.Text{secret.NewText(address)})
}

func (m builder) create(ctx context.Context, form url.Values, secrets []secret.Text) (string, error) {
	res, err := m.threads.do(ctx, m.account, graph.Call{Method: http.MethodPost, Form: form, Secrets: secrets}, m.account.RemoteID, "threads")
	if err != nil {
		return "", err
	}
	return graph.CreatedID(res)
}

// Upload is never asked for.
func (builder) Upload(context.Context, int, string) error { return nil }

// Status asks how far a container is.
func (m builder) Status(ctx context.Context, id string) (container.Status, error) {
	res, err := m.threads.get(ctx, m.account, "status,error_message", id)
	if err != nil {
		return container.Status{}, err
	}
	var answer struct {
		Status  container.State `json:"status"`
		Message string          `json:"error_message"`
	}
	if err := res.Decode(&answer); err != nil {
		return container.Status{}, err
	}
	if answer.Status == "" {
		return container.Status{}, res.MalformedError("it has no status")
	}
	return container.Status{State: answer.Status, Detail: answer.Message, Retryable: isRetryable(answer.Message)}, nil
}
