package slack

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Stage uploads a picture that only the bot can see until a message shows it: without a
// channel, completing an upload shares nothing. An upload that was lost halfway is repeated
// as another file. https://docs.slack.dev/messaging/working-with-files#upload
func (s *Slack) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	name := cmp.Or(media.FileName, "picture")
	form := url.Values{
		"filename": {name}, "length": {strconv.FormatInt(media.Bytes, 10)}, "alt_txt": {media.AltText},
	}
	var target struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	request := call.Request{Method: http.MethodPost, Body: call.Form(form)}
	res, err := s.do(ctx, account, "files.getUploadURLExternal", request, &target)
	if err != nil {
		return network.Staged{}, err
	}
	if target.ID == "" || !strings.HasPrefix(target.URL, cmp.Or(account.BaseURL, "https:")+"/") {
		return network.Staged{}, res.MalformedError("it contains no address for the upload")
	}
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	// The address is valid by itself, without the token.
	res, err = s.calls.Do(ctx, call.Request{
		Method: http.MethodPost, URL: target.URL, Timeout: s.options.UploadTimeout,
		Body:    &call.Body{Type: media.MIMEType, Length: media.Bytes, Reader: data, Closer: data},
		Secrets: []secret.Text{secret.NewText(target.URL)},
	})
	if err != nil {
		return network.Staged{}, err
	}
	if !res.OK() {
		return network.Staged{}, res.StatusError("", "")
	}
	params := map[string]any{"files": []map[string]string{{"id": target.ID, "title": name}}}
	if _, err := s.post(ctx, account, "files.completeUploadExternal", params, false, &struct{}{}); err != nil {
		return network.Staged{}, expired(err)
	}
	return network.Staged{RemoteID: target.ID, CheckAfter: time.Second}, nil
}

// StageStatus reads the file. Slack scans it and detects its type after the upload, and no
// message can show it before. https://docs.slack.dev/reference/methods/files.info
func (s *Slack) StageStatus(
	ctx context.Context, account network.Account, staged network.Staged,
) (network.Staged, error) {
	var got struct {
		File struct {
			MIMEType string `json:"mimetype"`
		} `json:"file"`
	}
	if _, err := s.get(ctx, account, "files.info", url.Values{"file": {staged.RemoteID}}, &got); err != nil {
		return staged, expired(err)
	}
	if kind := got.File.MIMEType; kind != "" && !strings.HasPrefix(kind, "image/") {
		return staged, refused("", "not_a_picture", "Slack does not recognize the attachment as a picture.")
	}
	staged.Ready, staged.CheckAfter = got.File.MIMEType != "", time.Second
	return staged, nil
}

// expired is the error about a file that no longer exists.
func expired(err error) error {
	if !hasCode(err, "file_not_found", "file_deleted") {
		return err
	}
	e := network.AsError(err)
	e.Class, e.Code, e.Message = network.Transient, network.CodeMediaExpired, "Slack no longer has the picture."
	return e
}
