package facebook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Stage uploads an attachment ahead of the post. A photo is uploaded unpublished,
// so that publishing only creates the post; its id identifies the post in
// listings.
// https://developers.facebook.com/docs/graph-api/reference/page/photos
func (f *Facebook) Stage(ctx context.Context, account network.Account, media network.Media) (network.Staged, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	if kind, ok := stagesReel(media); ok {
		return f.stageReel(ctx, account, media, kind, data)
	}
	if rules.IsVideoOrAudio(media.MediaInfo) {
		defer func() { _ = data.Close() }()
		return f.stageVideo(ctx, account, media, data)
	}
	fields := map[string]string{"published": "false"}
	if media.AltText != "" {
		fields["alt_text_custom"] = media.AltText
	}
	body, err := call.Multipart(fields, call.File{
		Field: "source", Name: nameOf(media), Type: media.MIMEType, Bytes: media.Bytes, Data: data,
	})
	if err != nil {
		_ = data.Close()
		return network.Staged{}, &network.Error{
			Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
		}
	}
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{
		Method: http.MethodPost, URL: "/" + url.PathEscape(account.RemoteID) + "/photos", Body: body,
		Timeout: f.options.UploadTimeout,
	})
	if err != nil {
		return network.Staged{}, err
	}
	id, err := graph.CreatedID(res)
	return network.Staged{RemoteID: id, Ready: err == nil, ExpiresAt: f.photoExpiresAt()}, err
}

func (f *Facebook) photoExpiresAt() time.Time {
	return time.Now().Add(time.Duration(f.options.PhotoHours) * time.Hour)
}

func nameOf(media network.Media) string {
	if media.FileName == "" {
		return "attachment"
	}
	return media.FileName
}

// A staged video is video:id:session. Its id is known before it is published.
func videoOf(staged string) (id, session string, ok bool) {
	rest, ok := strings.CutPrefix(staged, "video:")
	id, session, colon := strings.Cut(rest, ":")
	return id, session, ok && colon
}

// maxPart is the number of bytes of a video to hold in memory.
const maxPart = 16 << 20

// maxParts bounds an upload that makes no progress.
const maxParts = 10_000

// stageVideo starts an upload and sends all of the video; Publish finishes it.
// https://developers.facebook.com/docs/graph-api/reference/page/videos
// (upload_phase)
func (f *Facebook) stageVideo(
	ctx context.Context, account network.Account, media network.Media, data io.Reader,
) (network.Staged, error) {
	var begun struct {
		Session string `json:"upload_session_id"`
		Video   string `json:"video_id"`
		offsets
	}
	res, err := f.do(ctx, account, f.options.VideoHost, graph.Call{
		Method: http.MethodPost, URL: videos(account),
		Form: url.Values{"upload_phase": {"start"}, "file_size": {strconv.FormatInt(media.Bytes, 10)}},
	})
	if err != nil {
		return network.Staged{}, err
	}
	if err := res.Decode(&begun); err != nil {
		return network.Staged{}, err
	}
	if begun.Session == "" || begun.Video == "" {
		return network.Staged{}, res.MalformedError("it contains no video id or upload session")
	}
	part, sent := begun.offsets, int64(0)
	for n := 0; part.Start < part.End; n++ {
		size := min(part.End-part.Start, maxPart)
		if part.Start != sent || n == maxParts {
			return network.Staged{}, res.MalformedError("it requests a part of the video out of order")
		}
		held := make([]byte, size)
		if _, err := io.ReadFull(data, held); err != nil {
			return network.Staged{}, &network.Error{
				Class: network.NotSent, Code: "media_unreadable", Message: "The video could not be read from storage.",
				Err: err,
			}
		}
		if part, err = f.transfer(ctx, account, begun.Session, part.Start, media, held); err != nil {
			return network.Staged{}, err
		}
		sent += size
	}
	return network.Staged{
		RemoteID: "video:" + begun.Video + ":" + begun.Session, Ready: true,
		ExpiresAt: f.photoExpiresAt(),
	}, nil
}

func videos(account network.Account) string {
	return "/" + url.PathEscape(account.RemoteID) + "/videos"
}

// offsets is the byte range that Facebook expects next; the API returns it as
// text.
type offsets struct {
	Start int64 `json:"start_offset,string"`
	End   int64 `json:"end_offset,string"` // exclusive
}

const maxTransferAttempts = 3

// transfer sends one part. A part whose response was lost is sent again: Facebook
// identifies it by its offset, and responds with an error that names the expected
// offset if it already has it.
func (f *Facebook) transfer(
	ctx context.Context, account network.Account, session string, start int64, media network.Media, held []byte,
) (offsets, error) {
	for try := 1; ; try++ {
		body, err := call.Multipart(map[string]string{
			"upload_phase": "transfer", "upload_session_id": session, "start_offset": strconv.FormatInt(start, 10),
		}, call.File{
			Field: "video_file_chunk", Name: nameOf(media), Type: media.MIMEType, Bytes: int64(len(held)),
			Data: io.NopCloser(bytes.NewReader(held)),
		})
		if err != nil {
			return offsets{}, &network.Error{
				Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err,
			}
		}
		res, err := f.do(ctx, account, f.options.VideoHost, graph.Call{
			Method: http.MethodPost, URL: videos(account), Body: body, Timeout: f.options.UploadTimeout,
		})
		if err == nil {
			var next offsets
			return next, res.Decode(&next)
		}
		if next, ok := nextOffsets(res, start+int64(len(held))); ok {
			return next, nil
		}
		e := network.AsError(err)
		if try == maxTransferAttempts || ctx.Err() != nil || e.Class != network.Transient &&
			e.Class != network.NotSent {
			return offsets{}, err
		}
	}
}

// subcodeOffset is the subcode of the error that names the expected offset.
const subcodeOffset = 1363037

// nextOffsets parses a refusal of a part that was already received, which names
// the part that comes next.
func nextOffsets(res *call.Response, after int64) (offsets, bool) {
	var body struct {
		Error struct {
			Subcode int `json:"error_subcode"`
			Data    struct {
				Start int64 `json:"start_offset"`
				End   int64 `json:"end_offset"`
			} `json:"error_data"`
		} `json:"error"`
	}
	if res == nil || res.OK() {
		return offsets{}, false
	}
	probe := call.Response{Status: http.StatusOK, Body: res.Body}
	if probe.Decode(&body) != nil || body.Error.Subcode != subcodeOffset || body.Error.Data.Start != after {
		return offsets{}, false
	}
	return offsets{body.Error.Data.Start, body.Error.Data.End}, true
}

// StageStatus does not wait: photos are processed on upload, and videos after
// they are published. It reports whether Facebook still has them.
func (f *Facebook) StageStatus(
	ctx context.Context, account network.Account, staged network.Staged,
) (network.Staged, error) {
	id, _, ok := videoOf(staged.RemoteID)
	if !ok {
		id = strings.TrimPrefix(strings.TrimPrefix(staged.RemoteID, reelPrefix), storyPrefix)
	}
	var body struct {
		ID string `json:"id"`
	}
	_, err := f.get(ctx, account, "/"+url.PathEscape(id), url.Values{"fields": {"id"}}, &body)
	if isNotFound(err) {
		return staged, &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired, Message: "Facebook deleted the attachment.",
			Err: err,
		}
	}
	if err != nil {
		return staged, err
	}
	staged.Ready = true
	return staged, nil
}

// isNotFound reports whether an object does not exist (anymore).
func isNotFound(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Code == codeNotFound
}

// codeNotFound is Meta's code for objects that do not exist or are not visible.
const codeNotFound = "100/33"
