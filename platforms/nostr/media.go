package nostr

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// file is an uploaded file.
type file struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"` // hex
}

const maxAddress = 250 // bytes

// uploadFor is how long an upload is allowed to take after it was signed.
const uploadFor = 30 * time.Minute

// Stage uploads a file to the account's Blossom server (PUT /upload). Uploading the same bytes
// again changes nothing.
// https://github.com/hzrd149/blossom/blob/master/buds/02.md
func (n *Nostr) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	server, err := n.mediaServerOf(account)
	if err != nil {
		return network.Staged{}, err
	}
	s, err := n.signerOf(account)
	if err != nil {
		return network.Staged{}, err
	}
	sum, err := digest(ctx, media)
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	until := strconv.FormatInt(time.Now().Add(uploadFor).Unix(), 10)
	login := event{
		Kind: kindUpload, CreatedAt: time.Now().Unix(), Content: "Upload",
		Tags: [][]string{{"t", "upload"}, {"x", sum}, {"expiration", until}},
	}
	if err := s.sign(ctx, &login); err != nil {
		return network.Staged{}, err
	}
	reader, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	res, err := n.calls.Do(ctx, call.Request{
		Method: http.MethodPut, URL: server + "/upload", Timeout: n.options.UploadTimeout,
		Secrets: []secret.Text{account.Token},
		Body:    &call.Body{Type: media.MIMEType, Length: media.Bytes, Reader: reader, Closer: reader},
		Header: http.Header{
			"Authorization": {"Nostr " + base64.StdEncoding.EncodeToString(rawJSON(login))}, "X-SHA-256": {sum},
		},
	})
	if err != nil {
		return network.Staged{}, err
	}
	if !res.OK() {
		return network.Staged{}, uploadRefusal(res)
	}
	var stored file
	if err := res.Decode(&stored); err != nil {
		return network.Staged{}, err
	}
	if !strings.EqualFold(stored.SHA256, sum) || !strings.HasPrefix(stored.URL, "http") ||
		len(stored.URL) > maxAddress || clean(stored.URL) != stored.URL || strings.ContainsAny(stored.URL, " \n\t") {
		return network.Staged{}, res.MalformedError("it does not name the uploaded file")
	}
	return network.Staged{RemoteID: string(rawJSON(stored)), Ready: true}, nil
}

// StageStatus returns what Stage returned: media servers process nothing.
func (*Nostr) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	return staged, nil
}

func digest(ctx context.Context, media network.Media) (sum string, err error) {
	reader, err := media.Open(ctx)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, reader)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, reader.Close())
}

// uploadRefusal adds the server's reason, which is in a header. An expired login is answered
// with 404.
func uploadRefusal(res *call.Response) *network.Error {
	e := res.StatusError("", cut(res.Header.Get("X-Reason")))
	if res.Status == http.StatusNotFound {
		e.Class = network.Transient
	}
	return e
}

// filesOf returns the uploaded files of a post.
func filesOf(submission network.Submission) ([]file, error) {
	files := make([]file, len(submission.MediaIDs))
	for i, id := range submission.MediaIDs {
		if json.Unmarshal([]byte(id), &files[i]) != nil || i >= len(submission.Media) {
			return nil, notSigned(errors.New("an attachment has no upload"))
		}
	}
	return files, nil
}

// tag describes a file to clients.
// https://github.com/nostr-protocol/nips/blob/master/92.md
func (f file) tag(media network.Media) []string {
	tag := []string{"imeta", "url " + f.URL, "m " + media.MIMEType, "x " + f.SHA256, fmt.Sprint("size ", media.Bytes)}
	if media.Width > 0 && media.Height > 0 {
		tag = append(tag, fmt.Sprintf("dim %dx%d", media.Width, media.Height))
	}
	if media.AltText != "" {
		tag = append(tag, "alt "+clean(media.AltText))
	}
	return tag
}
