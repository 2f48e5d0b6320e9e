package fake_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/platforms/fake"
)

// testClock is a clock that a test sets.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

// The network's resolution is milliseconds.
func newTestClock() *testClock { return &testClock{now: time.Now().Truncate(time.Millisecond)} }

func (h *testClock) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *testClock) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// upload uploads an image and returns the response's status and the media's id.
func (s sandbox) upload() (status int, id string) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "a.png")
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = part.Write([]byte("\x89PNG\r\n\x1a\nrest"))
	_ = form.Close()
	res, response := s.call(http.MethodPost, "/api/v2/media", body.String(), "Content-Type", form.FormDataContentType())
	var media struct{ ID string }
	if err := json.Unmarshal([]byte(response), &media); err != nil {
		s.t.Fatalf("%s: %s", res.Status, response)
	}
	return res.StatusCode, media.ID
}

// attach posts an upload and returns the status and the error.
func (s sandbox) attach(id string) (int, string) {
	res, body := s.call(http.MethodPost, "/api/v1/statuses", fmt.Sprintf(`{"status":"with media","media_ids":[%q]}`,
		id))
	return res.StatusCode, body
}

func TestFaults_MediaProcessing(t *testing.T) {
	for kind, want := range map[fake.FaultKind]struct {
		then    int
		attach  int
		message string
	}{
		fake.MediaFinished: {200, 200, "with media"},
		fake.MediaError:    {422, 422, "have not finished processing"},
		fake.MediaExpired:  {404, 422, "not found or already attached"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			clock := newTestClock()
			s := start(t, fake.Options{Clock: clock.Now})
			if err := s.Inject(fake.Fault{
				Kind: kind, For: time.Minute, Method: http.MethodPost, Path: "/api/v2/media",
				Account: "desk",
			}); err != nil {
				t.Fatal(err)
			}
			status, id := s.upload()
			if res, _ := s.call(http.MethodGet, "/api/v1/media/"+id, ""); status != http.StatusAccepted ||
				res.StatusCode != http.StatusPartialContent {
				t.Errorf("at first: %d, then %d", status, res.StatusCode)
			}
			if status, message := s.attach(id); status != 422 ||
				!strings.Contains(message, "have not finished processing") {
				t.Errorf("attached during processing: %d %s", status, message)
			}
			clock.advance(time.Minute)
			if res, message := s.call(http.MethodGet, "/api/v1/media/"+id, ""); res.StatusCode != want.then {
				t.Errorf("processed: %s %s, want %d", res.Status, message, want.then)
			}
			if status, message := s.attach(id); status != want.attach || !strings.Contains(message, want.message) {
				t.Errorf("attached: %d %s, want %d %s", status, message, want.attach, want.message)
			}
			// The next upload is not affected.
			if status, id := s.upload(); status != 200 {
				t.Errorf("the next one: %d", status)
			} else if status, message := s.attach(id); status != 200 {
				t.Errorf("the next one: %d %s", status, message)
			}
		})
	}
}

func TestMedia_ExpiresWithoutPost(t *testing.T) {
	clock := newTestClock()
	s := start(t, fake.Options{Clock: clock.Now})
	if err := s.Inject(fake.Fault{
		Kind: fake.MediaTTL, For: time.Hour, Method: http.MethodPost,
		Path: "/api/v2/media",
	}); err != nil {
		t.Fatal(err)
	}
	_, short := s.upload()
	_, long := s.upload()
	_, taken := s.upload()
	if status, message := s.attach(taken); status != 200 {
		t.Fatal(message)
	}
	clock.advance(time.Hour)
	if status, message := s.attach(short); status != 422 || !strings.Contains(message, "Media "+short+" not found") {
		t.Errorf("after its hour: %d %s", status, message)
	}
	clock.advance(24 * time.Hour)
	if status, _ := s.attach(long); status != 422 {
		t.Errorf("after a day: %d", status)
	}
	if res, _ := s.call(http.MethodGet, "/media/"+taken, ""); res.StatusCode != http.StatusOK {
		t.Errorf("that of a post: %s", res.Status)
	}
}
