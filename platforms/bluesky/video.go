package bluesky

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// pollInterval is the time between requests for the state of a video.
const pollInterval = 2 * time.Second

// uploadTTL is how long the video service may write to the account's server.
const uploadTTL = 30 * time.Minute

// The final states of a job.
const (
	jobCompleted = "JOB_STATE_COMPLETED"
	jobFailed    = "JOB_STATE_FAILED"
)

// job is the state of a video at the service. Unknown states count as in
// progress.
// https://docs.bsky.app/docs/api/app-bsky-video-get-job-status
type job struct {
	ID      string `json:"jobId"`
	State   string `json:"state"`
	Blob    *blob  `json:"blob"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// stageVideo uploads a video to the service, which transcodes it and stores it on
// the account's server on behalf of the account.
// https://docs.bsky.app/docs/tutorials/video
func (b *Bluesky) stageVideo(
	ctx context.Context, account network.Account, media network.Media, u upload,
) (network.Staged, error) {
	serviceAuth, err := b.serviceToken(ctx, account)
	if err != nil {
		return network.Staged{}, err
	}
	data, err := openMedia(ctx, media)
	if err != nil {
		return network.Staged{}, err
	}
	name := media.FileName
	if name == "" {
		name = "video.mp4"
	}
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodPost, Token: serviceAuth, Timeout: b.options.UploadTimeout, Secrets: []secret.Text{
			account.Token,
		},
		URL: b.videoService(account) + "/xrpc/app.bsky.video.uploadVideo?" + url.Values{
			"did":  {account.RemoteID},
			"name": {name},
		}.Encode(),
		Body: &call.Body{Type: media.MIMEType, Length: lengthOf(media), Reader: data, Closer: data},
	})
	if err != nil {
		return network.Staged{}, err
	}
	state, ok := readJob(res)
	// A video that the service already has is refused as a conflict, and the
	// refusal names its job.
	if !res.OK() && (!ok || state.ID == "") {
		return network.Staged{}, videoRefusal(res)
	}
	if !ok {
		return network.Staged{}, res.MalformedError("it contains no job")
	}
	u.Job = state.ID
	if state.State == jobCompleted && state.Blob == nil {
		state.State = "" // only the status call returns the blob
	}
	return b.videoState(res, state, u, time.Time{})
}

// StageStatus reads the state of a video (app.bsky.video.getJobStatus). Images
// are ready immediately.
func (b *Bluesky) StageStatus(
	ctx context.Context, account network.Account, staged network.Staged,
) (network.Staged, error) {
	var u upload
	if err := json.Unmarshal([]byte(staged.RemoteID), &u); err != nil || u.Blob == nil && u.Job == "" {
		return staged, &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired, Message: "The upload has expired.", Err: err,
		}
	}
	if u.Blob != nil {
		staged.Ready, staged.CheckAfter = true, 0
		return staged, nil
	}
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodGet, Timeout: b.options.ReadTimeout,
		URL: b.videoService(account) + "/xrpc/app.bsky.video.getJobStatus?" + url.Values{"jobId": {u.Job}}.Encode(),
	})
	if err != nil {
		return staged, err
	}
	if !res.OK() {
		e := videoRefusal(res)
		if res.Status == http.StatusNotFound || res.Status == http.StatusBadRequest {
			e.Class, e.Code, e.Message = network.Transient, network.CodeMediaExpired,
				"The video service no longer has the upload."
		}
		return staged, e
	}
	state, ok := readJob(res)
	if !ok {
		return staged, res.MalformedError("it contains no job")
	}
	return b.videoState(res, state, u, staged.ExpiresAt)
}

func (b *Bluesky) videoState(res *call.Response, state job, u upload, expires time.Time) (network.Staged, error) {
	switch {
	case state.Blob != nil && state.Blob.Ref.Link != "":
		u.Blob, u.Job = state.Blob, ""
		return u.staged(0, b.blobExpiry())
	case state.State == jobFailed || state.State == jobCompleted:
		why := state.Message
		if why == "" {
			why = state.Error
		}
		return network.Staged{},
			res.NewError(network.Rejected, "video_failed",
				strings.TrimSpace("Bluesky could not process the video. "+why))
	default:
		return u.staged(pollInterval, expires)
	}
}

// readJob parses a job. The lexicon wraps it in jobStatus; the service does not
// always.
func readJob(res *call.Response) (job, bool) {
	var body struct {
		job
		Wrapped *job `json:"jobStatus"`
	}
	if json.Unmarshal(res.Body, &body) != nil {
		return job{}, false
	}
	if body.Wrapped != nil {
		body.job = *body.Wrapped
	}
	return body.job, body.ID != ""
}

// videoRefusal is about the video: it does not mean that the account's own token
// is invalid.
func videoRefusal(res *call.Response) *network.Error {
	e := refusal(res, "")
	if e.Class == network.Auth {
		e.Class = network.Rejected
		e.Message = "The video service does not accept videos of this account: " + e.Message
	}
	return e
}

func (b *Bluesky) videoService(account network.Account) string {
	if b.isSandbox(account.BaseURL) {
		return account.BaseURL
	}
	return b.options.Video
}

// serviceToken allows the video service to write to the account's server
// (com.atproto.server.getServiceAuth), whose identity is derived from its host.
func (b *Bluesky) serviceToken(ctx context.Context, account network.Account) (secret.Text, error) {
	host := strings.ReplaceAll(hostOf(account.BaseURL), ":", "%3A")
	res, err := b.do(ctx, account.BaseURL, "com.atproto.server.getServiceAuth", url.Values{
		"aud": {"did:web:" + host}, "lxm": {methodUpload}, "exp": {
			strconv.FormatInt(time.Now().Add(uploadTTL).Unix(), 10),
		},
	}, call.Request{Token: account.Token})
	if err != nil {
		return secret.Text{}, err
	}
	var body struct {
		Token string `json:"token"`
	}
	if err := res.Decode(&body); err != nil {
		return secret.Text{}, err
	}
	if body.Token == "" {
		return secret.Text{}, res.MalformedError("it contains no token")
	}
	return secret.NewText(body.Token), nil
}
