package linkedin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// What Stage gives as RemoteID is the URN, and behind a space the description,
// which LinkedIn takes with the post: so every attempt at the post says the same.
func stagedID(urn, altText string) string {
	if altText == "" {
		return urn
	}
	return urn + " " + altText
}

func splitStaged(id string) (urn, altText string) {
	urn, altText, _ = strings.Cut(id, " ")
	return urn, altText
}

func isVideo(id string) bool { return strings.HasPrefix(id, "urn:li:video:") }

// Stage uploads one attachment in the name of the account (Images API, Videos
// API).
func (l *LinkedIn) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, &network.Error{Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err}
	}
	if rules.IsVideoOrAudio(media.MediaInfo) {
		defer func() { _ = data.Close() }()
		return l.stageVideo(ctx, account, media, data)
	}
	return l.stageImage(ctx, account, media, data)
}

func (l *LinkedIn) stageImage(ctx context.Context, account network.Account, media network.Media, data io.ReadCloser) (network.Staged, error) {
	var begun struct {
		Value struct {
			UploadURL string `json:"uploadUrl"`
			Image     string `json:"image"`
		} `json:"value"`
	}
	err := l.action(ctx, account, "/rest/images?action=initializeUpload", map[string]any{
		"initializeUploadRequest": map[string]any{"owner": account.RemoteID},
	}, &begun, func() bool { return begun.Value.Image != "" && begun.Value.UploadURL != "" })
	if err != nil {
		_ = data.Close()
		return network.Staged{}, err
	}
	length := media.Bytes
	if length <= 0 {
		length = -1
	}
	_, err = l.put(ctx, account, begun.Value.UploadURL, &call.Body{Type: media.MIMEType, Length: length, Reader: data, Closer: data})
	if err != nil {
		return network.Staged{}, err
	}
	staged := network.Staged{RemoteID: stagedID(begun.Value.Image, media.AltText), CheckAfter: l.options.CheckMedia}
	// Tokens of members may not read pictures; posts take them all the same
	// while they are processed.
	staged.Ready = !organization(account)
	return staged, nil
}

// action makes a call that is not the publishing one and may be repeated.
func (l *LinkedIn) action(ctx context.Context, account network.Account, path string, body, answer any, complete func() bool) error {
	encoded, err := call.JSON(body)
	if err != nil {
		return &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	res, err := l.rest(ctx, account, path, call.Request{Method: http.MethodPost, Body: encoded})
	if err != nil {
		return err
	}
	if answer == nil {
		return nil
	}
	if err := res.Decode(answer); err != nil {
		return err
	}
	if !complete() {
		return res.MalformedError("it has no upload address")
	}
	return nil
}

// put uploads bytes. The address is a secret of its own and stays out of errors.
func (l *LinkedIn) put(ctx context.Context, account network.Account, address string, body *call.Body) (*call.Response, error) {
	if err := l.uploadAddress(account.BaseURL, address); err != nil {
		if body.Closer != nil {
			_ = body.Closer.Close()
		}
		return nil, err
	}
	return l.do(ctx, call.Request{Method: http.MethodPut, URL: address, Token: account.Token, Body: body, Timeout: l.options.UploadTimeout})
}

// maxPart bounds what is held in memory of a video; LinkedIn asks for parts of
// 4 MiB.
const maxPart = 16 << 20

// partTries is how often a part is sent, so that one lost connection does not
// cost a whole video.
const partTries = 3

type instruction struct {
	UploadURL string `json:"uploadUrl"`
	FirstByte int64  `json:"firstByte"`
	LastByte  int64  `json:"lastByte"` // the last one that belongs to it
}

// stageVideo uploads a video in the parts that LinkedIn asks for, one after the
// other.
func (l *LinkedIn) stageVideo(ctx context.Context, account network.Account, media network.Media, data io.Reader) (network.Staged, error) {
	var begun struct {
		Value struct {
			Video        string        `json:"video"`
			UploadToken  string        `json:"uploadToken"`
			Instructions []instruction `json:"uploadInstructions"`
		} `json:"value"`
	}
	err := l.action(ctx, account, "/rest/videos?action=initializeUpload", map[string]any{
		"initializeUploadRequest": map[string]any{
			"owner": account.RemoteID, "fileSizeBytes": media.Bytes, "uploadCaptions": false, "uploadThumbnail": false,
		},
	}, &begun, func() bool { return begun.Value.Video != "" && len(begun.Value.Instructions) > 0 })
	if err != nil {
		return network.Staged{}, err
	}
	parts := make([]string, len(begun.Value.Instructions))
	for i, part := range begun.Value.Instructions {
		if parts[i], err = l.putPart(ctx, account, part, data); err != nil {
			return network.Staged{}, err
		}
	}
	err = l.action(ctx, account, "/rest/videos?action=finalizeUpload", map[string]any{
		"finalizeUploadRequest": map[string]any{
			"video": begun.Value.Video, "uploadToken": begun.Value.UploadToken, "uploadedPartIds": parts,
		},
	}, nil, nil)
	if err != nil {
		return network.Staged{}, err
	}
	return network.Staged{RemoteID: begun.Value.Video, CheckAfter: l.options.CheckMedia}, nil
}

// putPart sends one part and gives its ETag, by which finalizeUpload knows it.
func (l *LinkedIn) putPart(ctx context.Context, account network.Account, part instruction, data io.Reader) (string, error) {
	size := part.LastByte - part.FirstByte + 1
	if size < 1 || size > maxPart {
		return "", &network.Error{Class: network.Transient, Code: "malformed_response", Message: "LinkedIn asks for a part of the video that has no sensible size."}
	}
	held := make([]byte, size)
	if _, err := io.ReadFull(data, held); err != nil {
		return "", &network.Error{Class: network.NotSent, Code: "media_unreadable", Message: "The video could not be read from storage.", Err: err}
	}
	for try := 1; ; try++ {
		res, err := l.put(ctx, account, part.UploadURL, &call.Body{Type: "application/octet-stream", Length: size, Reader: bytes.NewReader(held)})
		if err == nil {
			if tag := strings.Trim(res.Header.Get("Etag"), `"`); tag != "" {
				return tag, nil
			}
			return "", res.MalformedError("the part has no ETag")
		}
		e := network.AsError(err)
		if try == partTries || ctx.Err() != nil || e.Class != network.Transient && e.Class != network.NotSent {
			return "", err
		}
	}
}

// StageStatus asks how the processing goes. A token that may not ask learns it
// when the post is sent: LinkedIn then refuses what is not ready.
func (l *LinkedIn) StageStatus(ctx context.Context, account network.Account, staged network.Staged) (network.Staged, error) {
	urn, _ := splitStaged(staged.RemoteID)
	path := "/rest/images/"
	if isVideo(urn) {
		path = "/rest/videos/"
	}
	res, err := l.rest(ctx, account, path+escape(urn), call.Request{Method: http.MethodGet})
	var e *network.Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusForbidden:
			staged.Ready = true
			return staged, nil
		case http.StatusNotFound:
			e.Class, e.Code = network.Transient, network.CodeMediaExpired
		}
	}
	if err != nil {
		return staged, err
	}
	var answer struct {
		Status  string `json:"status"`
		Failure string `json:"processingFailureReason"`
	}
	if err := res.Decode(&answer); err != nil {
		return staged, err
	}
	staged.CheckAfter = l.options.CheckMedia
	switch answer.Status {
	case "AVAILABLE":
		staged.Ready = true
		return staged, nil
	case "PROCESSING", "UPLOADING":
		return staged, nil
	case "WAITING_UPLOAD":
		return staged, res.NewError(network.Transient, network.CodeMediaExpired, "LinkedIn has not received the attachment.")
	case "PROCESSING_FAILED":
		return staged, res.NewError(network.Rejected, "processing_failed", strings.TrimSpace("LinkedIn cannot process the attachment. "+answer.Failure))
	default:
		return staged, res.MalformedError("it does not say how the processing goes")
	}
}
