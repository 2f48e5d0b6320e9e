package x_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/x"
)

// newVideo returns a file with the header of an MP4 file, with the requested length.
func newVideo(length int, mimeType string) network.Media {
	head := "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"
	if mimeType == "image/gif" {
		head = "GIF89a"
	}
	data := append([]byte(head), bytes.Repeat([]byte{7}, length-len(head))...)
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: mimeType, Bytes: int64(length)}, FileName: "film",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

// processed stages an attachment and waits until it is processed.
func processed(t *testing.T, n *x.X, account network.Account, media network.Media) (network.Staged, error) {
	t.Helper()
	staged, err := n.Stage(t.Context(), account, media)
	for tries := 0; err == nil && !staged.Ready && tries < 200; tries++ {
		if staged.CheckAfter <= 0 {
			t.Fatal("not ready, and no time to check again")
		}
		time.Sleep(10 * time.Millisecond)
		staged, err = n.StageStatus(t.Context(), account, staged)
	}
	return staged, err
}

func TestStage_VideoInSegments(t *testing.T) {
	server, n, account, _ := startFake(t, fake.Options{MediaDelay: 50 * time.Millisecond})
	const length = 10<<10 + 123 // ten segments of 1 KiB and a little
	// The response to the third segment is lost; it is sent again.
	if err := server.Inject(fake.Fault{
		Kind: fake.ActThenReset, Path: "/x/2/media/upload/", Method: http.MethodPost,
		Nth: 4,
	}); err != nil {
		t.Fatal(err)
	}
	staged, err := processed(t, n, account, newVideo(length, "video/mp4"))
	if err != nil || !staged.Ready {
		t.Fatalf("%+v, %v", staged, err)
	}
	if ttl := time.Until(staged.ExpiresAt); ttl < 23*time.Hour || ttl > 24*time.Hour {
		t.Errorf("lives for %v", ttl)
	}
	if _, err := n.Publish(t.Context(), account,
		network.Submission{Key: "k", Text: "A film", MediaIDs: []string{staged.RemoteID}}); err != nil {
		t.Fatal(err)
	}
	posts := server.Posts()
	if len(posts) != 1 || len(posts[0].Media) != 1 || posts[0].Media[0].Bytes != length ||
		posts[0].Media[0].MIMEType != "video/mp4" {
		t.Errorf("published %+v", posts)
	}
	res, err := http.Get(server.URL() + "/media/" + staged.RemoteID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	data, _ := newVideo(length, "video/mp4").Open(t.Context())
	want, _ := io.ReadAll(data)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived in another order", len(got))
	}
}

// No more than one segment is read ahead of what was sent.
func TestStage_BuffersOneSegment(t *testing.T) {
	const length, segment = 64 << 10, 1 << 10
	sent, read := int64(0), &counting{}
	_, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/append"):
			if ahead := read.n - sent; ahead > segment {
				t.Errorf("%d bytes were read ahead", ahead)
			}
			file, header, err := r.FormFile("media")
			if err != nil {
				t.Error(err)
				return
			}
			_ = file.Close()
			if index := r.FormValue("segment_index"); index != strconv.FormatInt(sent/segment, 10) {
				t.Errorf("segment %s after %d bytes", index, sent)
			}
			sent += header.Size
			_, _ = io.WriteString(w, `{"data":{}}`)
		default:
			_, _ = io.WriteString(w, `{"data":{"id":"5","expires_after_secs":86400}}`)
		}
	})
	n := x.New(http.DefaultClient, x.Options{Sandbox: account.BaseURL, SegmentBytes: segment})
	media := newVideo(length, "video/mp4")
	open := media.Open
	media.Open = func(ctx context.Context) (io.ReadCloser, error) {
		data, err := open(ctx)
		read.Reader = data
		return io.NopCloser(read), err
	}
	if _, err := n.Stage(t.Context(), account, media); err != nil {
		t.Fatal(err)
	}
	if sent != length {
		t.Errorf("sent %d bytes", sent)
	}
}

type counting struct {
	io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func TestStage_TooManySegments(t *testing.T) {
	limit := 0
	_, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
		if index, err := strconv.Atoi(r.FormValue("segment_index")); err == nil {
			limit = max(limit, index)
		}
		_, _ = io.WriteString(w, `{"data":{"id":"5"}}`)
	})
	n := x.New(http.DefaultClient, x.Options{Sandbox: account.BaseURL, SegmentBytes: 1})
	if _, err := n.Stage(t.Context(), account, newVideo(2500, "video/mp4")); err != nil {
		t.Fatal(err)
	}
	if limit != 833 { // 834 segments of three bytes
		t.Errorf("the last segment is %d", limit)
	}
}

func TestStage_GIFWithDescription(t *testing.T) {
	server, n, account, _ := startFake(t, fake.Options{MediaDelay: 10 * time.Millisecond})
	media := newVideo(2<<10, "image/gif")
	media.AltText = "Trời mưa"
	staged, err := processed(t, n, account, media)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Publish(t.Context(), account,
		network.Submission{Key: "k", MediaIDs: []string{staged.RemoteID}}); err != nil {
		t.Fatal(err)
	}
	if m := server.Posts()[0].Media[0]; m.MIMEType != "image/gif" || m.Description != "Trời mưa" {
		t.Errorf("published %+v", m)
	}
}

func TestStage_FailedUploads(t *testing.T) {
	server, n, account, _ := startFake(t, fake.Options{})
	wants := func(name string, err error, class network.Class, code string) {
		t.Helper()
		if e := network.AsError(err); e == nil || e.Class != class || e.Code != code {
			t.Errorf("%s: %v, want %s %s", name, err, class, code)
		}
	}
	broken := newVideo(100, "video/mp4")
	broken.Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("storage is down") }
	_, err := n.Stage(t.Context(), account, broken)
	wants("storage", err, network.NotSent, "media_unreadable")

	text := newVideo(100, "image/png") // it is not an image
	_, err = n.Stage(t.Context(), account, text)
	wants("no picture", err, network.Rejected, "invalid-request")

	short := newVideo(100, "video/mp4")
	short.Bytes = 200
	_, err = n.Stage(t.Context(), account, short)
	wants("shorter than declared", err, network.NotSent, "media_unreadable")

	_, err = n.StageStatus(t.Context(), account, network.Staged{RemoteID: "404"})
	wants("unknown", err, network.Transient, network.CodeMediaExpired)

	// Every attempt to send a segment fails.
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: 503, Path: "/x/2/media/upload/", Nth: 2,
		Count: -1,
	}); err != nil {
		t.Fatal(err)
	}
	_, err = n.Stage(t.Context(), account, newVideo(100, "video/mp4"))
	wants("segments", err, network.Transient, "http_503")
	server.ClearFaults()
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: 429, For: time.Minute, Path: "/x/2/media/upload/",
		Nth: 2, Count: -1,
	}); err != nil {
		t.Fatal(err)
	}
	_, err = n.Stage(t.Context(), account, newVideo(100, "video/mp4"))
	if e := network.AsError(err); e == nil || e.Class != network.Throttled || time.Until(e.RetryAt) < 50*time.Second {
		t.Errorf("throttled: %v", err)
	}
	if len(server.Posts()) != 0 {
		t.Errorf("published %+v", server.Posts())
	}

	failed, account := textIs(t, 200,
		`{"data":{"id":"1","processing_info":{"state":"failed","error":{"name":"InvalidMedia","message":"Unsupported codec"}}}}`)
	_, err = failed.StageStatus(t.Context(), account, network.Staged{RemoteID: "1"})
	wants("processing", err, network.Rejected, "media_failed")
	if !strings.Contains(err.Error(), "Unsupported codec") {
		t.Errorf("no reason was reported: %v", err)
	}
	missing, account := textIs(t, 200,
		`{"errors":[{"type":"https://api.x.com/2/problems/resource-not-found","detail":"d"}]}`)
	_, err = missing.StageStatus(t.Context(), account, network.Staged{RemoteID: "1"})
	wants("gone", err, network.Transient, network.CodeMediaExpired)
}
