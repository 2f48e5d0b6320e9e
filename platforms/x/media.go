package x

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// pollInterval is the time between requests for the processing state if X does
// not specify one.
const pollInterval = 2 * time.Second

// expiryMargin is how long before its expiry an upload is treated as expired.
const expiryMargin = 5 * time.Minute

// upload contains the used fields of X's responses about an attachment.
// https://docs.x.com/x-api/media/quickstart/media-upload-chunked
type upload struct {
	Data struct {
		ID               string `json:"id"`
		ExpiresAfterSecs int64  `json:"expires_after_secs"`
		Processing       *struct {
			State          string `json:"state"`
			CheckAfterSecs int64  `json:"check_after_secs"`
			Error          struct {
				Name    string `json:"name"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"processing_info"`
	} `json:"data"`
}

// category returns X's media category. X processes GIFs and videos after the
// upload.
func category(mimeType string) string {
	switch {
	case strings.HasPrefix(mimeType, "video/"):
		return "tweet_video"
	case mimeType == gif:
		return "tweet_gif"
	default:
		return "tweet_image"
	}
}

// Stage uploads one attachment in segments, of which one is held in memory, and
// sets its description.
func (x *X) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, unreadable(media, err)
	}
	defer func() { _ = data.Close() }()
	id, reported, err := x.initialize(ctx, account, media)
	if err != nil {
		return network.Staged{}, err
	}
	if err := x.appendAll(ctx, account, id, media, data); err != nil {
		return network.Staged{}, err
	}
	staged, err := x.finalize(ctx, account, id)
	if err == nil && media.AltText != "" {
		err = x.describe(ctx, account, id, media.AltText)
	}
	staged.Rates = reported
	return staged, asMediaExpired(err)
}

func unreadable(media network.Media, err error) *network.Error {
	return &network.Error{
		Class: network.NotSent, Code: "media_unreadable",
		Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
	}
}

// initialize starts an upload (POST /2/media/upload/initialize).
func (x *X) initialize(
	ctx context.Context, account network.Account, media network.Media,
) (string, []network.RateStatus, error) {
	res, err := x.post(ctx, account, "/media/upload/initialize", map[string]any{
		"media_type": media.MIMEType, "total_bytes": media.Bytes, "media_category": category(media.MIMEType),
	})
	if err != nil {
		return "", nil, err
	}
	var body upload
	if err := res.Decode(&body); err != nil {
		return "", nil, err
	}
	if body.Data.ID == "" {
		return "", nil, partialError(res, "media id")
	}
	return body.Data.ID, rates(res, bucketUploads), nil
}

// finalize completes an upload (POST /2/media/upload/:id/finalize).
func (x *X) finalize(ctx context.Context, account network.Account, id string) (network.Staged, error) {
	res, err := x.do(ctx, account.BaseURL, "/media/upload/"+url.PathEscape(id)+"/finalize",
		call.Request{Method: http.MethodPost, Token: account.Token, Timeout: x.options.UploadTimeout})
	if err != nil {
		return network.Staged{}, err
	}
	return stagedFrom(res)
}

// describe sets an attachment's description (POST /2/media/metadata).
func (x *X) describe(ctx context.Context, account network.Account, id, text string) error {
	_, err := x.post(ctx, account, "/media/metadata", map[string]any{
		"id": id, "metadata": map[string]any{"alt_text": map[string]any{"text": text}},
	})
	return err
}

// StageStatus reads the processing state (GET /2/media/upload?command=STATUS).
func (x *X) StageStatus(ctx context.Context, account network.Account, staged network.Staged) (network.Staged, error) {
	query := url.Values{"command": {"STATUS"}, "media_id": {staged.RemoteID}}
	res, err := x.do(ctx, account.BaseURL, "/media/upload?"+query.Encode(), call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
	if err != nil {
		return staged, asMediaExpired(err)
	}
	now, err := stagedFrom(res)
	if err != nil {
		return staged, err
	}
	if now.ExpiresAt.IsZero() {
		now.ExpiresAt = staged.ExpiresAt
	}
	return now, nil
}

// asMediaExpired converts the error for an unknown upload: it can be uploaded
// again.
func asMediaExpired(err error) error {
	var e *network.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	return err
}

// post sends JSON in a call that can be repeated.
func (x *X) post(ctx context.Context, account network.Account, path string, value any) (*call.Response, error) {
	body, err := call.JSON(value)
	if err != nil {
		return nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	return x.do(ctx, account.BaseURL, path, call.Request{Method: http.MethodPost, Token: account.Token, Body: body})
}

func stagedFrom(res *call.Response) (network.Staged, error) {
	var body upload
	if err := res.Decode(&body); err != nil {
		return network.Staged{}, err
	}
	if body.Data.ID == "" {
		return network.Staged{}, asMediaExpired(partialMediaError(res))
	}
	staged := network.Staged{RemoteID: body.Data.ID, Ready: true}
	if ttl := time.Duration(body.Data.ExpiresAfterSecs) * time.Second; ttl > 0 {
		staged.ExpiresAt = res.Received.Add(max(ttl-expiryMargin, ttl/2))
	}
	processing := body.Data.Processing
	if processing == nil {
		return staged, nil
	}
	switch processing.State {
	case "succeeded":
	case "failed":
		why := processing.Error.Message
		if why == "" {
			why = processing.Error.Name
		}
		if why == "" {
			why = "no reason was reported"
		}
		return staged, res.NewError(network.Rejected, "media_failed", "X could not process the attachment: "+why+".")
	default:
		staged.Ready, staged.CheckAfter = false, pollInterval
		if processing.CheckAfterSecs > 0 {
			staged.CheckAfter = time.Duration(processing.CheckAfterSecs) * time.Second
		}
	}
	return staged, nil
}

// partialMediaError is partialError for uploads: X reports an upload that is not
// found by its status.
func partialMediaError(res *call.Response) error {
	e := partialError(res, "media id")
	if e.Code == "resource-not-found" {
		e.Status = http.StatusNotFound
	}
	return e
}
