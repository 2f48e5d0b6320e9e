package x

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dateline/internal/infra/retry"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	maxSegments        = 1000 // segment_index is at most 999
	maxSegmentAttempts = 3
)

// appendAll uploads the bytes of an attachment (POST /2/media/upload/:id/append).
func (x *X) appendAll(
	ctx context.Context, account network.Account, id string, media network.Media, data io.Reader,
) error {
	size := max(x.options.SegmentBytes, (media.Bytes+maxSegments-1)/maxSegments)
	for index := 0; int64(index)*size < media.Bytes; index++ {
		// Each segment has its own buffer: net/http may still read the previous
		// one after a call ended early.
		segment := make([]byte, min(size, media.Bytes-int64(index)*size))
		if _, err := io.ReadFull(data, segment); err != nil {
			return unreadable(media, err)
		}
		if err := x.appendOne(ctx, account, id, index, segment); err != nil {
			return asMediaExpired(err)
		}
	}
	return nil
}

// appendOne uploads a segment, and repeats it if the response is lost: a segment
// with the same index replaces the earlier one.
func (x *X) appendOne(ctx context.Context, account network.Account, id string, index int, segment []byte) error {
	for try := 1; ; try++ {
		body, err := call.Multipart(map[string]string{"segment_index": strconv.Itoa(index)}, call.File{
			Field: "media", Name: "segment", Type: "application/octet-stream",
			Bytes: int64(len(segment)), Data: io.NopCloser(bytes.NewReader(segment)),
		})
		if err != nil {
			return &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
		}
		_, err = x.do(ctx, account.BaseURL, "/media/upload/"+url.PathEscape(id)+"/append", call.Request{
			Method: http.MethodPost, Token: account.Token, Body: body, Timeout: x.options.UploadTimeout,
		})
		var e *network.Error
		again := errors.As(err, &e) && (e.Class == network.Transient || e.Class == network.NotSent)
		if !again || try == maxSegmentAttempts ||
			retry.Sleep(ctx, time.Duration(try)*x.options.SegmentRetryDelay) != nil {
			return err
		}
	}
}
