package fake_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
)

// Bytes of a broken upload that are still being read must not overwrite the
// upload that came after it: the container would stay in progress forever.
func TestInstagramUpload_LateBytesDoNotUndoTheWholeUpload(t *testing.T) {
	m := startMeta(t, "instagram", fake.Options{})
	video := "\x00\x00\x00\x18ftypmp42" + strings.Repeat("v", 1000)
	id := m.expect(http.MethodPost, "/instagram/v25.0/"+m.id+"/media", "media_type=REELS&upload_type=resumable", "")
	upload := "/instagram/ig-api-upload/v25.0/" + id

	// The server requests the body after it has checked the offset.
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	body, first := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+upload, body)
	if err != nil {
		t.Fatal(err)
	}
	size := strconv.Itoa(len(video))
	for name, value := range map[string]string{
		"Authorization": "OAuth " + m.token, "Offset": "0", "File_size": size,
		"Expect": "100-continue",
	} {
		request.Header.Set(name, value)
	}
	late := make(chan *http.Response, 1)
	go func() {
		defer close(late)
		if res, err := transport.RoundTrip(request); err == nil {
			_ = res.Body.Close()
			late <- res
		}
	}()
	if _, err := io.WriteString(first, video[:100]); err != nil {
		t.Fatal(err)
	}

	res, response := m.call(http.MethodPost, upload, video, "Authorization", "OAuth "+m.token, "Offset", "0",
		"File_size", size)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the whole upload: got %s %s, want 200", res.Status, response)
	}
	_ = first.Close()
	if res := <-late; res == nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("the late upload: got %+v, want status 400", res)
	}
	if _, state := m.call(http.MethodGet, "/instagram/v25.0/"+id+"?fields=status_code", ""); !strings.Contains(state,
		`"FINISHED"`) {
		t.Errorf("after both uploads: got %s, want FINISHED", state)
	}
}
