package linkedin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// video returns a file of any size that starts like an MP4.
func video(size int64) network.Media {
	head := []byte("\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41")
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "video/mp4", Bytes: size, Duration: 10 * time.Second},
		FileName:  "clip.mp4",
		Open: func(context.Context) (io.ReadCloser, error) {
			rest := io.LimitReader(pattern{}, size-int64(len(head)))
			return io.NopCloser(io.MultiReader(bytes.NewReader(head), rest)), nil
		},
	}
}

type pattern struct{}

func (pattern) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}

func TestStage_VideoInParts(t *testing.T) {
	n := startFake(t, fake.Options{MediaDelay: 30 * time.Millisecond})
	l := n.adapter()
	// A lost connection costs one part, not the whole video.
	if err := n.server.Inject(fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPut, Nth: 2}); err != nil {
		t.Fatal(err)
	}
	const size = 9<<20 + 17
	for _, account := range []network.Account{n.member, n.organization} {
		staged, err := l.Stage(t.Context(), account, video(size))
		if err != nil || staged.Ready || staged.CheckAfter <= 0 {
			t.Fatalf("staged %+v, %v", staged, err)
		}
		for !staged.Ready {
			time.Sleep(staged.CheckAfter)
			if staged, err = l.StageStatus(t.Context(), account, staged); err != nil {
				t.Fatal(err)
			}
		}
		receipt, err := l.Publish(t.Context(), account, network.Submission{
			Text: "A clip", MediaIDs: []string{staged.RemoteID},
		})
		if err != nil || !strings.HasPrefix(receipt.RemoteID, "urn:li:ugcPost:") {
			t.Fatalf("%+v, %v", receipt, err)
		}
	}
	for _, p := range n.server.Posts() {
		if len(p.Media) != 1 || p.Media[0].Bytes != size || p.Media[0].MIMEType != "video/mp4" {
			t.Errorf("published %+v", p)
		}
	}
	broken := video(size)
	broken.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("short")), nil }
	if _, err := l.Stage(t.Context(), n.member, broken); network.AsError(err).Class != network.NotSent {
		t.Errorf("a video that cannot be read: %v", err)
	}
	broken.Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }
	if _, err := l.Stage(t.Context(), n.member, broken); network.AsError(err).Class != network.NotSent {
		t.Errorf("a video that is gone: %v", err)
	}
}

func TestPublish_SeveralImages(t *testing.T) {
	n := startFake(t, fake.Options{})
	l := n.adapter()
	var ids []string
	for i := range 3 {
		media := network.Media{MediaInfo: network.MediaInfo{
			MIMEType: "image/png", Bytes: 8,
			AltText: fmt.Sprintf("Ảnh %d", i),
		}, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n")), nil
		}}
		staged, err := l.Stage(t.Context(), n.member, media)
		if err != nil || !staged.Ready {
			t.Fatalf("%+v, %v", staged, err)
		}
		ids = append(ids, staged.RemoteID)
	}
	if _, err := l.Publish(t.Context(), n.member, network.Submission{MediaIDs: ids}); err != nil {
		t.Fatal(err)
	}
	var reported []string
	for _, m := range n.server.Posts()[0].Media {
		reported = append(reported, m.Description)
	}
	if !slices.Equal(reported, []string{"Ảnh 0", "Ảnh 1", "Ảnh 2"}) {
		t.Errorf("descriptions %q", reported)
	}
}

// The token is not sent to other hosts, whatever upload address a response
// contains.
func TestStage_SendsTokenToLinkedInOnly(t *testing.T) {
	for _, address := range []string{
		"https://evil.example/x", "http://169.254.169.254/x",
		"https://linkedin.com.evil.example/x", "https://evillinkedin.com/x", "::", "",
	} {
		l, account := respondWith(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				t.Errorf("uploaded to %s", r.URL)
			}
			_, _ = fmt.Fprintf(w, `{"value":{"image":"urn:li:image:1","uploadUrl":%q}}`, address)
		})
		media := network.Media{
			MediaInfo: network.MediaInfo{MIMEType: "image/png"},
			Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader("x")), nil
			},
		}
		if _, err := l.Stage(t.Context(), account, media); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}
