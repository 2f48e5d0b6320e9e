// Package graphtest contains helpers for testing networks with containers:
// attachments that the network fetches, and Graph API errors.
package graphtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// NewImage returns a JPEG that is served over HTTP, and the number of times it
// was fetched.
func NewImage(t *testing.T, width, height int, altText string) (network.Media, *atomic.Int32) {
	t.Helper()
	var data bytes.Buffer
	if err := jpeg.Encode(&data, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return serveMedia(t, "image/jpeg", data.Bytes(), altText)
}

// NewVideo returns a file that only looks like a video by its first bytes.
func NewVideo(t *testing.T, size int) (network.Media, *atomic.Int32) {
	t.Helper()
	data := make([]byte, size)
	copy(data, "\x00\x00\x00\x18ftypmp42")
	for i := 16; i < size; i++ {
		data[i] = byte(i)
	}
	return serveMedia(t, "video/mp4", data, "")
}

func serveMedia(t *testing.T, kind string, data []byte, altText string) (network.Media, *atomic.Int32) {
	t.Helper()
	fetched := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: kind, Bytes: int64(len(data)), AltText: altText},
		FileName:  "file",
		Open:      func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		URL: func(context.Context, time.Duration) (string, error) {
			return server.URL + "/file?signature=hidden", nil
		},
	}, fetched
}

// NewSubmission returns a submission with attachments that go into a container.
func NewSubmission(text string, media ...network.Media) network.Submission {
	s := network.Submission{Key: rand.Text(), Text: text, Media: media}
	for range media {
		s.MediaIDs = append(s.MediaIDs, "with_container")
	}
	return s
}

// Prepare calls Prepare until it is ready.
func Prepare(t *testing.T, n network.Preparer, account network.Account, s network.Submission) network.Submission {
	t.Helper()
	for range 500 {
		ready, err := n.Prepare(t.Context(), account, s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Handle = ready.Handle; ready.Ready {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("Prepare is still not ready after 100 calls")
	return s
}

// Inject replaces the faults of a fake network.
func Inject(t *testing.T, server *fake.Server, faults ...fake.Fault) {
	t.Helper()
	server.ClearFaults()
	for _, f := range faults {
		if err := server.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(server.ClearFaults)
}

// ErrorFault returns a fault that responds with an error code.
func ErrorFault(path string, code, subcode int) fake.Fault {
	return fake.Fault{Kind: fake.Status, Status: 400, Method: http.MethodPost, Path: path, Body: fmt.Sprintf(
		`{"error":{"message":"words","type":"OAuthException","code":%d,"error_subcode":%d,"fbtrace_id":"trace"}}`, code,
		subcode)}
}

// WantClass checks the class of an error, and that it does not contain an
// attachment's address.
func WantClass(t *testing.T, err error, class network.Class, code string) *network.Error {
	t.Helper()
	e := network.AsError(err)
	if e == nil || e.Class != class || code != "" && e.Code != code {
		t.Fatalf("%v, want %s %s", err, class, code)
	}
	if strings.Contains(e.Error(), "signature") {
		t.Errorf("error contains the address of an attachment: %v", e)
	}
	return e
}
