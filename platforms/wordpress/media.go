package wordpress

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the checksum of Content-MD5
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// attachment is a file in the site's media library.
type attachment struct {
	ID  int64  `json:"id"`
	URL string `json:"source_url"`
}

// String is Staged.RemoteID.
func (a attachment) String() string { return fmt.Sprintf("%d %s", a.ID, a.URL) }

func parseAttachment(remoteID string) attachment {
	id, address, _ := strings.Cut(remoteID, " ")
	n, _ := strconv.ParseInt(id, 10, 64)
	return attachment{n, address}
}

// Stage uploads a file (POST media). Its slug contains a checksum of the file and its
// description, so that a file that is already there is found, also after a lost response.
// https://developer.wordpress.org/rest-api/reference/media/#create-a-media-item
func (w *WordPress) Stage(
	ctx context.Context, account network.Account, media network.Media,
) (network.Staged, error) {
	sum, err := checksum(ctx, media)
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	name := strings.TrimSuffix(media.FileName, path.Ext(media.FileName))
	slug := article.Slug(name, 100, sum, media.AltText)
	switch found, err := w.library(ctx, account, url.Values{"slug": {slug}}); {
	case err != nil:
		return network.Staged{}, err
	case len(found) > 0:
		return network.Staged{RemoteID: found[0].String(), Ready: true}, nil
	}
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	// Names that are not ASCII, or have a quote or a semicolon, are changed or refused.
	fileName := slug + extensions()[media.MIMEType]
	res, err := w.do(ctx, account, "/wp/v2/media",
		url.Values{"slug": {slug}, "title": {name}, "alt_text": {media.AltText}},
		call.Request{
			Method: http.MethodPost, Timeout: w.options.UploadTimeout,
			Body: &call.Body{Type: media.MIMEType, Length: cmp.Or(media.Bytes, -1), Reader: data, Closer: data},
			Header: http.Header{
				"Content-Disposition": {`attachment; filename="` + fileName + `"`},
				"Content-MD5":         {sum},
			},
		})
	if err != nil {
		return network.Staged{}, err
	}
	var made attachment
	if err := decode(res, &made); err != nil || made.ID == 0 {
		return network.Staged{}, res.MalformedError("it contains no media id") // found at the next attempt
	}
	return network.Staged{RemoteID: made.String(), Ready: true}, nil
}

// library searches the site's media library.
func (w *WordPress) library(
	ctx context.Context, account network.Account, query url.Values,
) (found []attachment, err error) {
	query.Set("context", "edit")
	query.Set("per_page", "100")
	res, err := w.do(ctx, account, "/wp/v2/media", query, call.Request{})
	if err == nil {
		err = decode(res, &found)
	}
	return found, err
}

// hasMedia reports whether the files of a submission are in the media library.
func (w *WordPress) hasMedia(
	ctx context.Context, account network.Account, submission network.Submission,
) (bool, error) {
	ids := map[string]bool{}
	for _, remoteID := range submission.MediaIDs {
		ids[idText(parseAttachment(remoteID).ID)] = true
	}
	if len(ids) == 0 {
		return true, nil
	}
	found, err := w.library(ctx, account, url.Values{
		"include": {strings.Join(slices.Sorted(maps.Keys(ids)), ",")},
	})
	return len(found) >= len(ids), err
}

// StageStatus returns the upload: WordPress processes files before it responds.
func (*WordPress) StageStatus(
	_ context.Context, _ network.Account, staged network.Staged,
) (network.Staged, error) {
	return staged, nil
}

func checksum(ctx context.Context, media network.Media) (string, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = data.Close() }()
	sum := md5.New() //nolint:gosec // see the import
	_, err = io.Copy(sum, data)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// extensions are the file name extensions of the accepted types: WordPress refuses a file
// whose name has another one.
func extensions() map[string]string {
	return map[string]string{
		"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "video/mp4": ".mp4",
		"video/webm": ".webm", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf",
	}
}
