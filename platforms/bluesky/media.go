package bluesky

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// blob is an upload in the form in which records refer to it.
// https://atproto.com/specs/data-model#blob-type
type blob struct {
	Type string `json:"$type"`
	Ref  struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

// upload is the content of Staged.RemoteID: an attachment in the form of a
// record, or the job of a video that is still being processed.
type upload struct {
	Blob  *blob  `json:"blob,omitempty"`
	Job   string `json:"job,omitempty"`
	Video bool   `json:"video,omitempty"`
	Alt   string `json:"alt,omitempty"`
	Ratio *ratio `json:"ratio,omitempty"`
}

// ratio is part of the lexicon app.bsky.embed.defs.
type ratio struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

func (u upload) staged(checkAfter time.Duration, expires time.Time) (network.Staged, error) {
	text, err := json.Marshal(u)
	if err != nil {
		return network.Staged{}, notSent(err)
	}
	return network.Staged{RemoteID: string(text), Ready: u.Blob != nil, CheckAfter: checkAfter, ExpiresAt: expires}, nil
}

// Stage uploads one attachment: an image to the account's server
// (com.atproto.repo.uploadBlob), a video to the video service.
func (b *Bluesky) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	u := upload{Video: rules.IsVideoOrAudio(media.MediaInfo), Alt: media.AltText}
	if media.Width > 0 && media.Height > 0 {
		u.Ratio = &ratio{media.Width, media.Height}
	}
	if u.Video && !b.options.VideoDirect {
		return b.stageVideo(ctx, account, media, u)
	}
	data, err := openMedia(ctx, media)
	if err != nil {
		return network.Staged{}, err
	}
	uploaded, reported, err := b.uploadBlob(ctx, account, &call.Body{
		Type: media.MIMEType, Length: lengthOf(media),
		Reader: data, Closer: data,
	}, b.options.UploadTimeout)
	if err != nil {
		return network.Staged{}, err
	}
	u.Blob = &uploaded
	staged, err := u.staged(0, b.blobExpiry())
	staged.Rates = reported
	return staged, err
}

// blobExpiresAt returns until when a new upload is guaranteed to be stored
// without a post.
func (b *Bluesky) blobExpiry() time.Time {
	return time.Now().Add(time.Duration(b.options.BlobSeconds) * time.Second)
}

func openMedia(ctx context.Context, media network.Media) (io.ReadCloser, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return nil, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	return data, nil
}

func lengthOf(media network.Media) int64 {
	if media.Bytes > 0 {
		return media.Bytes
	}
	return -1
}

func (b *Bluesky) uploadBlob(
	ctx context.Context, account network.Account, body *call.Body, timeout time.Duration,
) (blob, []network.RateStatus, error) {
	res, err := b.do(ctx, account.BaseURL, methodUpload, nil, call.Request{
		Method: http.MethodPost, Token: account.Token, Body: body, Timeout: timeout,
	})
	if err != nil {
		return blob{}, nil, err
	}
	var response struct {
		Blob blob `json:"blob"`
	}
	if err := res.Decode(&response); err != nil {
		return blob{}, nil, err
	}
	if response.Blob.Ref.Link == "" {
		return blob{}, nil, res.MalformedError("it contains no blob")
	}
	return response.Blob, rates(res, methodUpload), nil
}

type imagesEmbed struct {
	Type   string       `json:"$type"`
	Images []imageEmbed `json:"images"`
}

// galleryEmbedType is the embed of more images than app.bsky.embed.images takes: at most
// 20 items, of which clients show 10. The same lexicon's #image has only required fields
// (lexicons/app/bsky/embed/gallery.json, 2026).
const galleryEmbedType = "app.bsky.embed.gallery"

const (
	maxImagesEmbed = 4 // lexicons/app/bsky/embed/images.json
	maxGallery     = 20
)

type galleryEmbed struct {
	Type  string       `json:"$type"`
	Items []imageEmbed `json:"items"`
}

type imageEmbed struct {
	Type  string `json:"$type,omitempty"` // in a gallery
	Image blob   `json:"image"`
	Alt   string `json:"alt"` // required, even if empty
	Ratio *ratio `json:"aspectRatio,omitempty"`
}

type videoEmbed struct {
	Type  string `json:"$type"`
	Video blob   `json:"video"`
	Alt   string `json:"alt,omitempty"`
	Ratio *ratio `json:"aspectRatio,omitempty"`
}

// embedMedia encodes staged attachments as app.bsky.embed.images or
// app.bsky.embed.video; nil: none.
func embedMedia(staged []string) (any, error) {
	var images []imageEmbed
	for _, text := range staged {
		var u upload
		if err := json.Unmarshal([]byte(text), &u); err != nil || u.Blob == nil {
			return nil, &network.Error{
				Class: network.Rejected, Code: "media_not_ready", Message: "An attachment is not ready at Bluesky.",
				Err: err,
			}
		}
		if u.Video {
			return videoEmbed{Type: "app.bsky.embed.video", Video: *u.Blob, Alt: u.Alt, Ratio: u.Ratio}, nil
		}
		images = append(images, imageEmbed{Image: *u.Blob, Alt: u.Alt, Ratio: u.Ratio})
	}
	switch {
	case len(images) == 0:
		return nil, nil
	case len(images) <= maxImagesEmbed:
		return imagesEmbed{Type: "app.bsky.embed.images", Images: images}, nil
	}
	for i := range images {
		images[i].Type = galleryEmbedType + "#image"
		if images[i].Ratio == nil { // required here
			images[i].Ratio = &ratio{Width: 1, Height: 1}
		}
	}
	return galleryEmbed{Type: galleryEmbedType, Items: images}, nil
}

// attachedCount returns the number of attachments of a record that was read.
func attachedCount(embed any) int {
	raw, err := json.Marshal(embed)
	if err != nil {
		return 0
	}
	var shown attachedEmbed
	if json.Unmarshal(raw, &shown) != nil {
		return 0
	}
	if shown.Media != nil { // beside a quoted post
		shown = *shown.Media
	}
	n := len(shown.Images) + len(shown.Items)
	if len(shown.Video) > 0 {
		n++
	}
	return n
}

type attachedEmbed struct {
	Type   string            `json:"$type"`
	Images []json.RawMessage `json:"images"`
	Items  []json.RawMessage `json:"items"`
	Video  json.RawMessage   `json:"video"`
	Media  *attachedEmbed    `json:"media"`
}
