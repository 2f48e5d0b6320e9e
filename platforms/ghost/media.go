package ghost

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"strings"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// maxFileName is the number of characters of a file name before its extension.
const maxFileName = 100

// Stage uploads an image (POST images/upload). Ghost has no list of files, so that one whose
// response was lost is uploaded again.
// https://docs.ghost.org/admin-api/images/uploading-an-image
func (g *Ghost) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	// Other characters become hyphens.
	name := cmp.Or(article.Words(strings.TrimSuffix(media.FileName, path.Ext(media.FileName))), "image")
	name = name[:min(len(name), maxFileName)] + extensions()[media.MIMEType]
	body, err := call.Multipart(map[string]string{"ref": name}, call.File{
		Field: "file", Name: name, Type: media.MIMEType, Bytes: media.Bytes, Data: data,
	})
	if err != nil {
		return network.Staged{}, article.Unreadable(media, err)
	}
	res, err := g.do(ctx, account, "/images/upload/", nil, call.Request{
		Method: http.MethodPost, Body: body, Timeout: g.options.UploadTimeout,
	})
	if err != nil {
		return network.Staged{}, err
	}
	made, err := one[struct {
		URL string `json:"url"`
	}](res, "images")
	if err == nil && made.URL == "" {
		err = res.MalformedError("it contains no address of the image")
	}
	return network.Staged{RemoteID: made.URL, Ready: err == nil}, err
}

// StageStatus returns the upload: Ghost processes images before it responds.
func (*Ghost) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	return staged, nil
}

// extensions are the file name extensions of the types that every Ghost accepts.
func extensions() map[string]string {
	return map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp"}
}
