package instagram

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Stage verifies that Instagram can reach an attachment. It makes no call.
func (i *Instagram) Stage(_ context.Context, account network.Account, media network.Media) (network.Staged, error) {
	if _, err := i.Service.Host(account.BaseURL, ""); err != nil {
		return network.Staged{}, err
	}
	if media.URL == nil && !rules.IsVideoOrAudio(media.MediaInfo) {
		return network.Staged{}, graph.NotFetchableError(title, media, "it has no public address")
	}
	return network.Staged{RemoteID: container.StagedID, Ready: true}, nil
}

// builder creates the containers of one submission.
type builder struct {
	instagram  *Instagram
	account    network.Account
	submission network.Submission
}

var _ container.Builder = builder{}

// CreateItem creates the container of one attachment of a carousel.
func (m builder) CreateItem(ctx context.Context, i int) (string, bool, error) {
	form := url.Values{"is_carousel_item": {"true"}}
	if rules.IsVideoOrAudio(m.submission.Media[i].MediaInfo) {
		form.Set("media_type", "VIDEO")
	}
	return m.createFromMedia(ctx, form, i)
}

// CreateMain creates the container that is published: an image, a reel, a
// carousel.
func (m builder) CreateMain(ctx context.Context, items []string) (string, bool, error) {
	form := url.Values{}
	options, _ := m.submission.Options.(PostOptions)
	if m.submission.Text != "" {
		form.Set("caption", m.submission.Text)
	}
	if len(items) > 0 {
		form.Set("media_type", "CAROUSEL")
		form["children"] = []string{join(items)}
		options.set(form)
		id, err := m.create(ctx, form, nil)
		return id, false, err
	}
	if rules.IsVideoOrAudio(m.submission.Media[0].MediaInfo) {
		form.Set("media_type", "REELS")
		form.Set("share_to_feed", "true")
	}
	options.set(form)
	return m.createFromMedia(ctx, form, 0)
}

// createFromMedia creates the container of one attachment, by its address, or for
// an upload if a video has none. Images cannot be uploaded.
// https://developers.facebook.com/docs/instagram-platform/content-publishing/resumable-uploads
func (m builder) createFromMedia(ctx context.Context, form url.Values, i int) (id string, upload bool, err error) {
	media := m.submission.Media[i]
	video := rules.IsVideoOrAudio(media.MediaInfo)
	if !video && media.AltText != "" {
		form.Set("alt_text", media.AltText)
	}
	ttl := time.Duration(m.instagram.options.FetchSeconds) * time.Second
	address, err := graph.FetchURL(ctx, title, m.account, media, ttl)
	switch {
	case video && err != nil && network.AsError(err).Code == graph.CodeNotFetchable:
		form.Set("upload_type", "resumable")
		id, err := m.create(ctx, form, nil)
		return id, true, err
	case err != nil:
		return "", false, err
	case video:
		form.Set("video_url", address)
	default:
		form.Set("image_url", address)
	}
	// The address grants access to the attachment.
	id, err = m.create(ctx, form, []secret.Text{secret.NewText(address)})
	return id, false, err
}

func (m builder) create(ctx context.Context, form url.Values, secrets []secret.Text) (string, error) {
	address, err := m.instagram.address(m.account, m.account.RemoteID, "media")
	if err != nil {
		return "", err
	}
	res, err := m.instagram.API.Do(ctx, graph.Call{
		Method: http.MethodPost, URL: address, Form: form, Token: m.account.Token, Secrets: secrets,
	})
	if err != nil {
		return "", err
	}
	return graph.CreatedID(res)
}

// Status reads the state of a container.
func (m builder) Status(ctx context.Context, id string) (container.Status, error) {
	res, err := m.instagram.get(ctx, m.account, url.Values{"fields": {"status_code,status"}}, id)
	if err != nil {
		return container.Status{}, err
	}
	var body struct {
		Code   container.State `json:"status_code"`
		Status string          `json:"status"`
	}
	if err := res.Decode(&body); err != nil {
		return container.Status{}, err
	}
	if body.Code == "" {
		return container.Status{}, res.MalformedError("it contains no status")
	}
	return container.Status{State: body.Code, Detail: body.Status, Retryable: isRetryable(body.Status)}, nil
}

// maxUploadAttempts is how often an upload is resumed.
const maxUploadAttempts = 4

// Upload sends the bytes of a video, starting where an earlier attempt ended.
// They are streamed, so that a large video needs no memory.
func (m builder) Upload(ctx context.Context, i int, id string) error {
	media := m.submission.Media[i]
	offset, err := m.uploadedBytes(ctx, id)
	for n := 0; err == nil && offset < media.Bytes; n++ {
		if err = m.uploadFrom(ctx, media, id, offset); err == nil {
			return nil
		}
		// The rest of a broken upload may have arrived since the offset was read.
		if e := network.AsError(err); e.Status != http.StatusBadRequest || n == maxUploadAttempts {
			return err
		}
		now, offsetErr := m.uploadedBytes(ctx, id)
		if offsetErr != nil || now == offset {
			return err
		}
		offset, err = now, nil
	}
	return err
}

func (m builder) uploadFrom(ctx context.Context, media network.Media, id string, offset int64) error {
	data, err := media.Open(ctx)
	if err == nil {
		_, err = io.CopyN(io.Discard, data, offset)
	}
	if err != nil {
		if data != nil {
			_ = data.Close()
		}
		return &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	host, err := m.instagram.Service.Host(m.account.BaseURL, m.instagram.options.UploadHost)
	if err != nil {
		_ = data.Close()
		return err
	}
	_, err = m.instagram.API.Do(ctx, graph.Call{
		Method: http.MethodPost, Token: m.account.Token, Scheme: "OAuth", Timeout: m.instagram.options.UploadTimeout,
		URL: fmt.Sprintf("%s/ig-api-upload/%s/%s", host, m.instagram.options.Version, url.PathEscape(id)),
		Header: http.Header{"Offset": {strconv.FormatInt(offset, 10)}, "File_size": {
			strconv.FormatInt(media.Bytes, 10),
		}},
		Body: &call.Body{Type: "application/octet-stream", Length: media.Bytes - offset, Reader: data, Closer: data},
	})
	return err
}

// uploadedBytes returns how many bytes of an upload Instagram has.
func (m builder) uploadedBytes(ctx context.Context, id string) (int64, error) {
	res, err := m.instagram.get(ctx, m.account, url.Values{"fields": {"video_status"}}, id)
	if err != nil {
		return 0, err
	}
	var body struct {
		Video struct {
			Uploading struct {
				Bytes int64 `json:"bytes_transferred"`
			} `json:"uploading_phase"`
		} `json:"video_status"`
	}
	if err := res.Decode(&body); err != nil {
		return 0, err
	}
	return max(body.Video.Uploading.Bytes, 0), nil
}
