package facebook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func respondWith(t *testing.T, status int, body string) (*facebook.Facebook, network.Account) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return facebook.New(server.Client(), facebook.Options{Sandbox: server.URL}), network.Account{
		BaseURL: server.URL, RemoteID: "7", Token: secret.NewText("t"),
	}
}

// newRecorder records the form of the last call.
func newRecorder(t *testing.T, form *url.Values) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = r.ParseForm()
			*form = r.PostForm
		}
		_, _ = io.WriteString(w, `{"id":"7_1"}`)
	}))
	t.Cleanup(server.Close)
	return server
}

// Codes that only Pages use; the others are tested in package graph.
func TestRefusals(t *testing.T) {
	failure := func(code, subcode int, message string) string {
		return fmt.Sprintf(
			`{"error":{"message":%q,"type":"OAuthException","code":%d,"error_subcode":%d,"fbtrace_id":"A1"}}`, message,
			code, subcode)
	}
	for name, row := range map[string]struct {
		body, code string
		class      network.Class
	}{
		"Duplicate":       {failure(506, 0, "Duplicate status message"), "506", network.Duplicate},
		"PhotosPosted":    {failure(100, 1366051, "Already Posted"), "100/1366051", network.Duplicate},
		"PhotosPosted2":   {failure(1366051, 0, "Already Posted"), "1366051", network.Duplicate},
		"Unavailable":     {failure(1363047, 0, "Temporarily unavailable"), "1363047", network.Ambiguous},
		"Authorization":   {failure(1404078, 0, "words"), "1404078", network.Rejected},
		"Scrape":          {failure(1609005, 0, "words"), "1609005", network.Rejected},
		"Abusive":         {failure(1346003, 0, "words"), "1346003", network.Rejected},
		"LostRole":        {failure(190, 492, "words"), "190/492", network.Auth},
		"TooFast":         {failure(368, 1390008, "words"), "368/1390008", network.Throttled},
		"PhotoGone":       {failure(100, 33, "Object with ID '55' does not exist"), "media_expired", network.Transient},
		"PageGone":        {failure(100, 33, "Object with ID '7' does not exist"), "100/33", network.Rejected},
		"UnreadableReply": {`{"success":true}`, "malformed_response", network.Ambiguous},
	} {
		t.Run(name, func(t *testing.T) {
			status := 400
			if name == "UnreadableReply" {
				status = 200
			}
			f, account := respondWith(t, status, row.body)
			_, err := f.Publish(t.Context(), account, network.Submission{Text: "t", MediaIDs: []string{"55"}})
			e := network.AsError(err)
			if e == nil || e.Class != row.class || e.Code != row.code || e.Message == "" {
				t.Errorf("%+v, want %s %s", e, row.class, row.code)
			}
		})
	}
}

func picture(altText string) network.Media {
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "image/png", Bytes: 8, AltText: altText},
		FileName:  "ảnh.png",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n")), nil
		},
	}
}

// After a lost response, the post is found by its photos even if other posts have
// the same text, and a second send is refused.
func TestReconcile_PhotosAreProof(t *testing.T) {
	n := startFake(t, fake.Options{})
	f := n.adapter()
	sub := network.Submission{Text: "Ba ảnh"}
	for i := range 3 {
		staged, err := f.Stage(t.Context(), n.page, picture(fmt.Sprintf("Ảnh %d", i)))
		if err != nil || !staged.Ready || time.Until(staged.ExpiresAt) > 24*time.Hour {
			t.Fatalf("%+v, %v", staged, err)
		}
		if staged, err = f.StageStatus(t.Context(), n.page, staged); err != nil || !staged.Ready {
			t.Fatalf("%+v, %v", staged, err)
		}
		sub.MediaIDs = append(sub.MediaIDs, staged.RemoteID)
	}
	from := time.Now().Add(-time.Second)
	finding, err := f.Reconcile(t.Context(), n.page, sub, network.Window{From: from})
	if err != nil || finding.Found || !finding.Conclusive {
		t.Fatalf("before: %+v, %v", finding, err)
	}
	if err := n.server.Inject(fake.Fault{
		Kind: fake.ActThenReset, Method: http.MethodPost,
		Path: "/facebook/v25.0/" + n.page.RemoteID + "/feed",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Publish(t.Context(), n.page, sub); network.AsError(err).Class != network.Ambiguous {
		t.Fatalf("%v", err)
	}
	if _, err := f.Publish(t.Context(), n.page, network.Submission{Text: sub.Text}); err != nil {
		t.Fatal(err)
	}
	posts := n.server.Posts()
	finding, err = f.Reconcile(t.Context(), n.page, sub, network.Window{From: from})
	if err != nil {
		t.Fatal(err)
	}
	if !finding.Found {
		t.Errorf("finding %+v, %v", finding, err)
	}
	if finding.Receipt.RemoteID != posts[0].ID {
		t.Errorf("finding.Receipt.RemoteID: got %v, want %v", finding.Receipt.RemoteID, posts[0].ID)
	}
	if finding.Receipt.URL != posts[0].URL {
		t.Errorf("finding.Receipt.URL: got %v, want %v", finding.Receipt.URL, posts[0].URL)
	}
	if !strings.Contains(finding.Evidence.Text(), "attachment that was uploaded") {
		t.Errorf("finding %+v, %v", finding, err)
	}
	if _, err = f.Publish(t.Context(), n.page, sub); network.AsError(err).Class != network.Duplicate {
		t.Errorf("sent again: %v", err)
	}
	var reported []string
	for _, m := range posts[0].Media {
		reported = append(reported, m.Description)
	}
	if len(n.server.Posts()) != 2 || !slices.Equal(reported, []string{"Ảnh 0", "Ảnh 1", "Ảnh 2"}) {
		t.Errorf("published %+v", n.server.Posts())
	}
}

func TestStage_RejectsInvalidPhoto(t *testing.T) {
	n := startFake(t, fake.Options{})
	f := n.adapter()
	broken := picture("")
	broken.Open = func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("not a picture")), nil
	}
	broken.Bytes = int64(len("not a picture"))
	if _, err := f.Stage(t.Context(), n.page, broken); network.AsError(err).Class != network.Rejected {
		t.Errorf("%v", err)
	}
	broken.Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }
	if _, err := f.Stage(t.Context(), n.page, broken); network.AsError(err).Class != network.NotSent {
		t.Errorf("%v", err)
	}
	_, err := f.StageStatus(t.Context(), n.page, network.Staged{RemoteID: "123"})
	if e := network.AsError(err); e == nil || e.Class != network.Transient || e.Code != network.CodeMediaExpired {
		t.Errorf("%v", err)
	}
}

func video(size int64) network.Media {
	head := []byte("\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41")
	return network.Media{
		MediaInfo: network.MediaInfo{MIMEType: "video/mp4", Bytes: size}, FileName: "clip.mp4",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(head),
				bytes.NewReader(make([]byte, size-int64(len(head)))))), nil
		},
	}
}

// A lost response costs at most one part and leaves no doubt.
func TestVideo_UploadedAheadAndFoundByID(t *testing.T) {
	n := startFake(t, fake.Options{})
	f := n.adapter()
	const size = 3<<20 + 17
	for _, fault := range []fake.FaultKind{fake.ActThenReset, fake.ResetBefore} { // of the second part
		n.server.ClearFaults()
		if err := n.server.Inject(fake.Fault{Kind: fault, Method: http.MethodPost, Nth: 3}); err != nil {
			t.Fatal(err)
		}
		staged, err := f.Stage(t.Context(), n.page, video(size))
		if err != nil || !staged.Ready {
			t.Fatalf("%s: staged %+v, %v", fault, staged, err)
		}
		sub := network.Submission{Text: "Đoạn phim " + string(fault), MediaIDs: []string{staged.RemoteID}}
		from := time.Now().Add(-time.Second)
		before := len(n.server.Posts())
		if finding, err := f.Reconcile(t.Context(), n.page, sub, network.Window{From: from}); err != nil ||
			finding.Found || !finding.Conclusive {
			t.Errorf("before: %+v, %v", finding, err)
		}
		if again, err := f.StageStatus(t.Context(), n.page, staged); err != nil || !again.Ready {
			t.Errorf("%+v, %v", again, err)
		}
		if err := n.server.Inject(fake.Fault{Kind: fake.ActThen500, Method: http.MethodPost}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Publish(t.Context(), n.page, sub); network.AsError(err).Class != network.Ambiguous {
			t.Fatalf("%v", err)
		}
		posts := n.server.Posts()
		if len(posts) != before+1 || posts[before].Text != sub.Text || posts[before].Media[0].Bytes != size ||
			posts[before].Media[0].MIMEType != "video/mp4" {
			t.Fatalf("published %+v", posts)
		}
		finding, err := f.Reconcile(t.Context(), n.page, sub, network.Window{From: from})
		if err != nil || !finding.Found || finding.Receipt.RemoteID != posts[before].ID ||
			finding.Receipt.URL != posts[before].URL {
			t.Errorf("finding %+v, %v", finding, err)
		}
		if err := f.Delete(t.Context(), n.page, finding.Receipt.RemoteID); err != nil {
			t.Error(err)
		}
	}
	staged, err := f.Stage(t.Context(), n.page, video(size))
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := f.Publish(t.Context(), n.page, network.Submission{MediaIDs: []string{staged.RemoteID}})
	if last := n.server.Posts()[2]; err != nil || receipt.RemoteID != last.ID || receipt.URL != last.URL {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
}

func TestPublish_ThreadsAreComments(t *testing.T) {
	n := startFake(t, fake.Options{})
	f := n.adapter()
	first, err := f.Publish(t.Context(), n.page, network.Submission{Text: "First"})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := f.Stage(t.Context(), n.page, picture(""))
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.Publish(t.Context(), n.page, network.Submission{
		Text: "Second", ReplyTo: first.RemoteID, MediaIDs: []string{staged.RemoteID},
	})
	if err != nil {
		t.Fatal(err)
	}
	third := network.Submission{Text: "Third", ReplyTo: second.RemoteID, RootID: first.RemoteID}
	from := time.Now().Add(-time.Second)
	if err := n.server.Inject(fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPost}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Publish(t.Context(), n.page, third); network.AsError(err).Class != network.Ambiguous {
		t.Fatalf("%v", err)
	}
	posts := n.server.Posts()
	if len(posts) != 3 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 3)
	}
	if posts[1].ReplyTo != first.RemoteID {
		t.Fatalf("posts[1].ReplyTo: got %v, want %v", posts[1].ReplyTo, first.RemoteID)
	}
	if posts[2].ReplyTo != first.RemoteID {
		t.Fatalf("posts[2].ReplyTo: got %v, want %v", posts[2].ReplyTo, first.RemoteID)
	}
	if len(posts[1].Media) != 1 {
		t.Fatalf("len(posts[1].Media): got %v, want %v", len(posts[1].Media), 1)
	}
	if second.URL != posts[1].URL {
		t.Fatalf("second.URL: got %v, want %v", second.URL, posts[1].URL)
	}
	finding, err := f.Reconcile(t.Context(), n.page, third, network.Window{From: from})
	if err != nil || !finding.Found || finding.Receipt.RemoteID != posts[2].ID || finding.Receipt.URL != posts[2].URL {
		t.Errorf("finding %+v, %v", finding, err)
	}
	// A reply to a comment whose post is not known.
	fourth, err := f.Publish(t.Context(), n.page, network.Submission{Text: "Fourth", ReplyTo: second.RemoteID})
	if last := n.server.Posts()[3]; err != nil || last.ReplyTo != second.RemoteID || fourth.RemoteID != last.ID ||
		fourth.URL != last.URL {
		t.Errorf("%+v of %+v, %v", fourth, last, err)
	}
}
