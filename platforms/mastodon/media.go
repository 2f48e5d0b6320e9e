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

// unattachedMediaTTL is an hour less than the time for which Mastodon stores
// media without a status (app/lib/vacuum/media_attachments_vacuum.rb: 1 day).
const unattachedMediaTTL = 23 * time.Hour

// pollInterval is the time between requests for the processing state.
const pollInterval = 2 * time.Second

// Stage uploads one attachment (POST /api/v2/media): 200 is ready, 202 is still
// being processed.
// https://docs.joinmastodon.org/methods/media/
func (m *Mastodon) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	fields := map[string]string{}
	if media.AltText != "" {
		fields["description"] = media.AltText
	}
	name := media.FileName
	if name == "" {
		name = "attachment"
	}
	body, err := call.Multipart(fields, call.File{
		Field: "file", Name: name, Type: media.MIMEType, Bytes: media.Bytes, Data: data,
	})
	if err != nil {
		_ = data.Close()
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := m.do(ctx, account.BaseURL, "/api/v2/media", call.Request{
		Method: http.MethodPost, Token: account.Token, Body: body, Timeout: m.options.UploadTimeout,
	})
	if err != nil {
		return network.Staged{}, err
	}
	staged, err := stagedFrom(res)
	staged.ExpiresAt = time.Now().Add(unattachedMediaTTL)
	staged.Rates = rates(res, bucketMedia)
	return staged, err
}

// StageStatus reads the state of an upload (GET /api/v1/media/:id): 206 is
// processing, 200 is ready, 422 has failed, 404 has expired. Only the upload is
// lost then.
func (m *Mastodon) StageStatus(
	ctx context.Context, account network.Account, staged network.Staged,
) (network.Staged, error) {
	res, err := m.do(ctx, account.BaseURL, "/api/v1/media/"+url.PathEscape(staged.RemoteID),
		call.Request{Method: http.MethodGet, Token: account.Token})
	var e *network.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	if err != nil {
		return staged, err
	}
	now, err := stagedFrom(res)
	if err != nil {
		return staged, err
	}
	now.ExpiresAt = staged.ExpiresAt
	return now, nil
}

func stagedFrom(res *call.Response) (network.Staged, error) {
	var body struct {
		ID string `json:"id"`
	}
	if err := res.Decode(&body); err != nil {
		return network.Staged{}, err
	}
	if body.ID == "" {
		return network.Staged{}, res.MalformedError("it contains no media id")
	}
	staged := network.Staged{RemoteID: body.ID, Ready: res.Status == http.StatusOK}
	if !staged.Ready {
		staged.CheckAfter = pollInterval
	}
	return staged, nil
}
