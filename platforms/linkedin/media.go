package linkedin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// stagedID returns the URN, followed by a space and the description, or the name of a
// document. LinkedIn takes both with the post: so every attempt sends the same.
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

func isDocument(id string) bool { return strings.HasPrefix(id, "urn:li:document:") }

func isVideo(id string) bool { return strings.HasPrefix(id, "urn:li:video:") }

// Stage uploads one attachment for the account (Images API, Videos API, Documents API).
func (l *LinkedIn) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	if rules.IsVideoOrAudio(media.MediaInfo) {
		defer func() { _ = data.Close() }()
		return l.stageVideo(ctx, account, media, data)
	}
	if rules.IsDocument(media.MediaInfo) {
		urn, err := l.upload(ctx, account, "documents", media, data)
		return network.Staged{
			RemoteID:   stagedID(urn, documentName(media.FileName)),
			CheckAfter: l.options.MediaPollInterval,
		}, err
	}
	urn, err := l.upload(ctx, account, "images", media, data)
	// Tokens of members cannot read images; posts accept images that are still
	// being processed.
	return network.Staged{
		RemoteID: stagedID(urn, media.AltText), CheckAfter: l.options.MediaPollInterval,
		Ready: !isOrganization(account),
	}, err
}

// documentName is the title of a document that was given none: posts require one.
func documentName(file string) string {
	name := strings.Join(strings.Fields(strings.TrimSuffix(file, path.Ext(file))), " ")
	if name == "" {
		return "PDF"
	}
	return name
}

// upload uploads a file in one request and returns its URN. kind is images or documents.
func (l *LinkedIn) upload(
	ctx context.Context, account network.Account, kind string, media network.Media, data io.ReadCloser,
) (urn string, err error) {
	var begun struct {
		Value struct {
			UploadURL string `json:"uploadUrl"`
			Image     string `json:"image"`
			Document  string `json:"document"`
		} `json:"value"`
	}
	err = l.action(ctx, account, "/rest/"+kind+"?action=initializeUpload", map[string]any{
		"initializeUploadRequest": map[string]any{"owner": account.RemoteID},
	}, &begun, func() bool {
		urn = begun.Value.Image + begun.Value.Document // it has one of them
		return urn != "" && begun.Value.UploadURL != ""
	})
	if err != nil {
		_ = data.Close()
		return "", err
	}
	length := media.Bytes
	if length <= 0 {
		length = -1
	}
	_, err = l.put(ctx, account, begun.Value.UploadURL, &call.Body{
		Type: media.MIMEType, Length: length, Reader: data, Closer: data,
	})
	return urn, err
}

// action makes a call that does not publish and can be repeated.
func (l *LinkedIn) action(
	ctx context.Context, account network.Account, address string, body, response any, complete func() bool,
) error {
	encoded, err := call.JSON(body)
	if err != nil {
		return &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	res, err := l.rest(ctx, account, address, call.Request{Method: http.MethodPost, Body: encoded})
	if err != nil {
		return err
	}
	if response == nil {
		return nil
	}
	if err := res.Decode(response); err != nil {
		return err
	}
	if !complete() {
		return res.MalformedError("it contains no upload address")
	}
	return nil
}

// put uploads bytes. The upload address is a secret and is redacted from errors.
func (l *LinkedIn) put(
	ctx context.Context, account network.Account, address string, body *call.Body,
) (*call.Response, error) {
	if err := l.uploadAddress(account.BaseURL, address); err != nil {
		if body.Closer != nil {
			_ = body.Closer.Close()
		}
		return nil, err
	}
	return l.do(ctx, call.Request{
		Method: http.MethodPut, URL: address, Token: account.Token, Body: body, Timeout: l.options.UploadTimeout,
	})
}

// maxPart is the number of bytes of a video to hold in memory; LinkedIn requests
// parts of 4 MiB.
const maxPart = 16 << 20

// maxPartAttempts is how often a part is sent, so that one lost connection does
// not fail a whole video.
const maxPartAttempts = 3

type instruction struct {
	UploadURL string `json:"uploadUrl"`
	FirstByte int64  `json:"firstByte"`
	LastByte  int64  `json:"lastByte"` // inclusive
}

// stageVideo uploads a video in the parts that LinkedIn requests, sequentially.
func (l *LinkedIn) stageVideo(
	ctx context.Context, account network.Account, media network.Media, data io.Reader,
) (network.Staged, error) {
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
	return network.Staged{RemoteID: begun.Value.Video, CheckAfter: l.options.MediaPollInterval}, nil
}

// putPart sends one part and returns its ETag, which finalizeUpload requires.
func (l *LinkedIn) putPart(
	ctx context.Context, account network.Account, part instruction, data io.Reader,
) (string, error) {
	size := part.LastByte - part.FirstByte + 1
	if size < 1 || size > maxPart {
		return "", &network.Error{
			Class: network.Transient, Code: "malformed_response",
			Message: "LinkedIn requested a part of the video with an invalid size.",
		}
	}
	held := make([]byte, size)
	if _, err := io.ReadFull(data, held); err != nil {
		return "", &network.Error{
			Class: network.NotSent, Code: "media_unreadable", Message: "The video could not be read from storage.",
			Err: err,
		}
	}
	for try := 1; ; try++ {
		res, err := l.put(ctx, account, part.UploadURL, &call.Body{
			Type: "application/octet-stream", Length: size, Reader: bytes.NewReader(held),
		})
		if err == nil {
			if tag := strings.Trim(res.Header.Get("Etag"), `"`); tag != "" {
				return tag, nil
			}
			return "", res.MalformedError("the part has no ETag")
		}
		e := network.AsError(err)
		if try == maxPartAttempts || ctx.Err() != nil || e.Class != network.Transient && e.Class != network.NotSent {
			return "", err
		}
	}
}

// StageStatus reads the processing state. For a token that cannot read it,
// LinkedIn refuses the post if the media is not ready.
func (l *LinkedIn) StageStatus(
	ctx context.Context, account network.Account, staged network.Staged,
) (network.Staged, error) {
	urn, _ := splitStaged(staged.RemoteID)
	kind := "images"
	switch {
	case isVideo(urn):
		kind = "videos"
	case isDocument(urn):
		kind = "documents"
	}
	res, err := l.rest(ctx, account, "/rest/"+kind+"/"+escape(urn), call.Request{Method: http.MethodGet})
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
	var response struct {
		Status  string `json:"status"`
		Failure string `json:"processingFailureReason"`
	}
	if err := res.Decode(&response); err != nil {
		return staged, err
	}
	staged.CheckAfter = l.options.MediaPollInterval
	switch response.Status {
	case "AVAILABLE":
		staged.Ready = true
		return staged, nil
	case "PROCESSING", "UPLOADING":
		return staged, nil
	case "WAITING_UPLOAD":
		return staged, res.NewError(network.Transient, network.CodeMediaExpired,
			"LinkedIn has not received the attachment.")
	case "PROCESSING_FAILED":
		return staged, res.NewError(network.Rejected, "processing_failed",
			strings.TrimSpace("LinkedIn cannot process the attachment. "+response.Failure))
	default:
		return staged, res.MalformedError("it contains no processing state")
	}
}
