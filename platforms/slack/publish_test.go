package slack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/slack"
)

func (f fixture) publish(t *testing.T, account network.Account, s network.Submission) network.Receipt {
	t.Helper()
	receipt, err := f.network.Publish(t.Context(), account, s)
	if err != nil {
		t.Fatalf("Publish: %v", err)
	}
	if len(receipt.Differences) > 0 {
		t.Errorf("differences: got %+v, want none", receipt.Differences)
	}
	return receipt
}

func (f fixture) stage(t *testing.T, account network.Account, media network.Media) network.Staged {
	t.Helper()
	staged, err := f.network.Stage(t.Context(), account, media)
	for range 100 {
		if err != nil || staged.Ready {
			break
		}
		staged, err = f.network.StageStatus(t.Context(), account, staged)
	}
	if err != nil || !staged.Ready {
		t.Fatalf("Stage: got %+v and %v, want a ready picture", staged, err)
	}
	return staged
}

// What a text says is shown, and nothing in it is a mention or a link of Slack's own.
func TestPublish_TextIsLiteral(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	picture := platformtest.NewImage(t, "image/png")
	for i, text := range []string{
		"<!channel> <!here> <@U0DATELINE> <#C123|tin> <https://evil.example|https://news.example>", "@channel @here",
		"&lt;!channel&gt; &amp;amp;", "R&D < 5 > 3", "👍🏽 👨‍👩‍👧 🇻🇳 1️⃣ ‼️ ℹ️ ©️ ☀️ → ½", "Giờ 12:30:45, :+1: và :không-phải:",
		"Xem https://news.example/a?b=1&c=2#d, http://x.example.", strings.Repeat("Bão số 9 & gió. ", 140), "a\r\nb\n\n\nc",
	} {
		for _, pictures := range []int{0, 1} {
			s := network.Submission{Key: fmt.Sprint(i, pictures), Text: text}
			if pictures > 0 {
				s.MediaIDs, s.Media = []string{f.stage(t, account, picture).RemoteID}, []network.Media{picture}
			}
			receipt := f.publish(t, account, s)
			posts := f.fake.Posts()
			if last := posts[len(posts)-1]; last.ID != receipt.RemoteID || last.Text != text ||
				len(last.Media) != pictures || last.Options["notifies"] != nil {
				t.Errorf("%q: the network has %q with %d pictures, %v", text, last.Text, len(last.Media), last.Options)
			}
		}
	}
}

func TestCheck_TextNextToPicturesIsShorter(t *testing.T) {
	f := newFixture(t, fake.Options{})
	limits, err := f.network.Limits(t.Context(), f.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	picture := []network.MediaInfo{{MIMEType: "image/gif", Bytes: 10, Width: 10, Height: 10}}
	for name, row := range map[string]struct {
		content network.Content
		code    string
	}{
		"Longest":                {network.Content{Text: strings.Repeat("x", 4000)}, ""},
		"Longer":                 {network.Content{Text: strings.Repeat("x", 4001)}, "too_long"},
		"LongestWithPicture":     {network.Content{Text: strings.Repeat("x", 3000), Media: picture}, ""},
		"LongestLinkWithPicture": {network.Content{Text: strings.Repeat("x", 2986) + " https://a.vn", Media: picture}, "too_long"},
		"LinkWithPicture":        {network.Content{Text: strings.Repeat("x", 2985) + " https://a.vn", Media: picture}, ""},
		"LongerWithPicture":      {network.Content{Text: strings.Repeat("x", 3001), Media: picture}, "too_long"},
		"Escaped":                {network.Content{Text: strings.Repeat("&", 801)}, "too_long"},
		"Video":                  {network.Content{Media: []network.MediaInfo{{MIMEType: "video/mp4", Bytes: 10}}}, "unsupported_type"},
		"WebP":                   {network.Content{Media: []network.MediaInfo{{MIMEType: "image/webp", Bytes: 10}}}, "unsupported_type"},
	} {
		problems := f.network.Check(row.content, limits)
		if row.code == "" && len(problems) > 0 || row.code != "" && (len(problems) != 1 || problems[0].Code != row.code) {
			t.Errorf("%s: got %+v, want %q", name, problems, row.code)
		}
	}
}

func TestReply_ToAReplyIsInTheSameThread(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	first := f.publish(t, account, network.Submission{Key: "1", Text: "Một"})
	second := f.publish(t, account, network.Submission{Key: "2", Text: "Hai", ReplyTo: first.RemoteID})
	third := f.publish(t, account, network.Submission{Key: "3", Text: "Ba", ReplyTo: second.RemoteID})
	fourth := f.publish(t, account, network.Submission{
		Key: "4", Text: "Bốn", ReplyTo: third.RemoteID, RootID: first.RemoteID,
	})
	for i, p := range f.fake.Posts()[1:] {
		if p.ReplyTo != first.RemoteID || !strings.Contains(p.URL, "?thread_ts="+first.RemoteID) {
			t.Errorf("message %d: got a reply to %q at %s, want one to %s", i+2, p.ReplyTo, p.URL, first.RemoteID)
		}
	}
	if err := f.network.Delete(t.Context(), account, fourth.RemoteID); err != nil {
		t.Fatal(err)
	}
	got, err := f.network.Measure(t.Context(), account, network.MeasureRequest{Posts: []network.PostRef{
		{RemoteID: first.RemoteID}, {RemoteID: third.RemoteID, IsReply: true}, {RemoteID: fourth.RemoteID, IsReply: true},
	}})
	if err != nil || got.Posts[first.RemoteID].Values[network.MetricReplies] < 2 ||
		got.Posts[third.RemoteID].State != network.PostMeasured || got.Posts[fourth.RemoteID].State != network.PostMissing {
		t.Errorf("Measure: got %+v and %v", got, err)
	}
	if ok, err := f.fake.DeletePost(first.RemoteID); err != nil || !ok {
		t.Fatal(ok, err)
	}
	_, err = f.network.Publish(t.Context(), account, network.Submission{Key: "5", Text: "Năm", ReplyTo: first.RemoteID})
	if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != "thread_not_found" {
		t.Errorf("a reply to a deleted message: got %v, want thread_not_found", err)
	}
	_, err = f.network.Publish(t.Context(), account, network.Submission{Key: "6", Text: "Sáu", ReplyTo: "elsewhere"})
	if e := network.AsError(err); e == nil || e.Code != "bad_reply_target" {
		t.Errorf("a reply to another network: got %v, want bad_reply_target", err)
	}
}

// The key decides, whatever the texts are.
func TestReconcile_FindsByTheKeyOnly(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	window := network.Window{From: time.Now().Add(-time.Second)}
	sent := network.Submission{Key: "lost", Text: "Giá xăng tăng từ 15 giờ"}
	other := network.Submission{Key: "other", Text: sent.Text}
	receipt := f.publish(t, account, other)
	got, err := f.network.Reconcile(t.Context(), account, sent, window)
	if err != nil || got.Found || !got.Conclusive {
		t.Errorf("another message with the same text: got %+v and %v, want it to be absent", got, err)
	}
	edited := network.Submission{Key: "other", Text: "Somebody has edited it since then"}
	got, err = f.network.Reconcile(t.Context(), account, edited, window)
	if err != nil || !got.Found || got.Receipt.RemoteID != receipt.RemoteID {
		t.Errorf("a text that was edited: got %+v and %v, want %s", got, err, receipt.RemoteID)
	}
	got, err = f.network.Reconcile(t.Context(), account, network.Submission{Key: "other", ReplyTo: receipt.RemoteID}, window)
	if err != nil || got.Found {
		t.Errorf("a reply: got %+v and %v, want no message of the channel", got, err)
	}
}

// Unless the operator says that Slack lists messages at once, a lost message that is not
// listed may exist.
func TestReconcile_AbsenceProvesNothingByDefault(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	s := slack.New(f.client, slack.Options{Sandbox: f.fake.NetworkURL("slack")})
	window := network.Window{From: time.Now().Add(-time.Second)}
	got, err := s.Reconcile(t.Context(), account, network.Submission{Key: "k", Text: "Tin"}, window)
	if err != nil || got.Found || got.Conclusive || got.Evidence[len(got.Evidence)-1].Code != "listed_late_slack" {
		t.Errorf("got %+v and %v, want an inconclusive finding that says why", got, err)
	}
	receipt := f.publish(t, account, network.Submission{Key: "k", Text: "Tin"})
	got, err = s.Reconcile(t.Context(), account, network.Submission{Key: "k", Text: "Tin"}, window)
	if err != nil || !got.Conclusive || got.Receipt.RemoteID != receipt.RemoteID {
		t.Errorf("got %+v and %v, want the message", got, err)
	}
}

func TestReconcile_FollowsPages(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	window := network.Window{From: time.Now().Add(-time.Second)}
	first := f.publish(t, account, network.Submission{Key: "first", Text: "Tin 0"})
	for i := range 450 {
		f.publish(t, account, network.Submission{Key: fmt.Sprint(i), Text: fmt.Sprint("Tin ", i+1)})
	}
	got, err := f.network.Reconcile(t.Context(), account, network.Submission{Key: "first", Text: "Tin 0"}, window)
	if err != nil || got.Receipt.RemoteID != first.RemoteID {
		t.Errorf("on the last page: got %+v and %v, want %s", got, err, first.RemoteID)
	}
	got, err = f.network.Reconcile(t.Context(), account, network.Submission{Key: "never", Text: "Không"}, window)
	if err != nil || got.Found || !got.Conclusive {
		t.Errorf("nowhere: got %+v and %v, want it to be absent", got, err)
	}
}

// A list that continues without a cursor proves nothing.
func TestReconcile_AnIncompleteListIsInconclusive(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	f.inject(t, fake.Fault{
		Kind: fake.Status, Status: http.StatusOK, Path: "/slack/api/conversations.history",
		Body: `{"ok":true,"messages":[],"has_more":true}`,
	})
	window := network.Window{From: time.Now().Add(-time.Second)}
	got, err := f.network.Reconcile(t.Context(), account, network.Submission{Key: "k", Text: "Tin"}, window)
	if err != nil || got.Found || got.Conclusive || got.Evidence[len(got.Evidence)-1].Code != "more_posts" {
		t.Errorf("got %+v and %v, want an inconclusive finding", got, err)
	}
}

// counting counts the calls of a method.
type counting struct {
	http.RoundTripper

	method string
	calls  atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/"+c.method) {
		c.calls.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// The address of the workspace is only read for the message that is found, however many
// messages there are.
func TestReconcile_ReadsNothingAboutOtherMessages(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	window := network.Window{From: time.Now().Add(-time.Second)}
	for i := range 5 {
		f.publish(t, account, network.Submission{Key: fmt.Sprint(i), Text: "Tin"})
	}
	seen := &counting{RoundTripper: f.client.Transport, method: "auth.test"}
	s := slack.New(&http.Client{Transport: seen}, slack.Options{Sandbox: f.fake.NetworkURL("slack")})
	f.inject(t, fake.Fault{Kind: fake.Status, Status: 503, Path: "/slack/api/auth.test", Nth: 2, Count: -1})
	got, err := s.Reconcile(t.Context(), account, network.Submission{Key: "never", Text: "Tin"}, window)
	if err != nil || got.Found || seen.calls.Load() != 1 {
		t.Errorf("got %+v and %v after %d calls of auth.test, want one", got, err, seen.calls.Load())
	}
}

// An upload may last longer than other calls.
func TestStage_HasItsOwnTimeout(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	f.inject(t, fake.Fault{Kind: fake.Latency, Path: "/slack/upload/", For: 900 * time.Millisecond})
	f.stage(t, account, platformtest.NewImage(t, "image/png")) // CreateTimeout is 700 ms
	s := slack.New(f.client, slack.Options{
		Sandbox: f.fake.NetworkURL("slack"), UploadTimeout: 100 * time.Millisecond,
	})
	f.inject(t, fake.Fault{Kind: fake.Latency, Path: "/slack/upload/", For: 900 * time.Millisecond})
	_, err := s.Stage(t.Context(), account, platformtest.NewImage(t, "image/png"))
	if e := network.AsError(err); e == nil || e.Class != network.Transient || e.Code != "timeout" {
		t.Errorf("got %v, want a timeout that can be repeated", err)
	}
}

// Apps that are sold outside of the Marketplace list 15 messages a minute.
func TestReconcile_WaitsForTheLimitOfListings(t *testing.T) {
	f := newFixture(t, fake.Options{NetworkRates: map[string]map[string]fake.Rate{
		"slack": {"conversations.history": {Requests: 1, Per: time.Minute}},
	}})
	account := f.connect(t)
	window := network.Window{From: time.Now().Add(-time.Second)}
	for i := range 20 {
		f.publish(t, account, network.Submission{Key: fmt.Sprint(i), Text: fmt.Sprint("Tin ", i)})
	}
	got, err := f.network.Reconcile(t.Context(), account, network.Submission{Key: "19", Text: "Tin 19"}, window)
	if err != nil || !got.Found {
		t.Errorf("on the first page: got %+v and %v, want it found", got, err)
	}
	_, err = f.network.Reconcile(t.Context(), account, network.Submission{Key: "0", Text: "Tin 0"}, window)
	if e := network.AsError(err); e == nil || e.Class != network.Throttled || time.Until(e.RetryAt) > time.Minute ||
		time.Until(e.RetryAt) < 0 {
		t.Errorf("on the second page: got %v, want to wait for at most a minute", err)
	}
}

func TestStage_IsRepeatedAfterEveryLostResponse(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	picture := platformtest.NewImage(t, "image/jpeg")
	picture.AltText = "Một tấm ảnh"
	for _, path := range []string{
		"/slack/api/files.getUploadURLExternal", "/slack/upload/", "/slack/api/files.completeUploadExternal",
	} {
		for _, kind := range []fake.FaultKind{fake.ActThenReset, fake.ActThen500, fake.ResetBefore} {
			f.fake.ClearFaults()
			f.inject(t, fake.Fault{Kind: kind, Path: path, Count: 3})
			_, err := f.network.Stage(t.Context(), account, picture)
			if e := network.AsError(err); e == nil || e.Class != network.Transient {
				t.Errorf("%s of %s: got %v, want a transient error", kind, path, err)
			}
		}
	}
	f.fake.ClearFaults()
	staged := f.stage(t, account, picture)
	f.publish(t, account, network.Submission{Key: "k", MediaIDs: []string{staged.RemoteID}, Media: []network.Media{picture}})
	if posts := f.fake.Posts(); len(posts) != 1 || len(posts[0].Media) != 1 || posts[0].Media[0].Description != "Một tấm ảnh" {
		t.Errorf("got %+v, want one message with one picture", posts)
	}
}

func TestStage_RefusesWhatItCannotSend(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	picture := platformtest.NewImage(t, "image/png")
	for name, row := range map[string]struct {
		body string // of the response with the address
		open func(context.Context) (io.ReadCloser, error)
		code string
	}{
		"Unreadable": {open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }, code: "media_unreadable"},
		"NoAddress":  {body: `{"ok":true,"file_id":"F1"}`, code: "malformed_response"},
		"Elsewhere":  {body: `{"ok":true,"file_id":"F1","upload_url":"http://10.0.0.1/x"}`, code: "malformed_response"},
		"NoID":       {body: `{"ok":true,"upload_url":"https://files.slack.com/x"}`, code: "malformed_response"},
	} {
		f.fake.ClearFaults()
		media := picture
		if row.open != nil {
			media.Open = row.open
		}
		if row.body != "" {
			f.inject(t, fake.Fault{
				Kind: fake.Status, Status: http.StatusOK, Path: "/slack/api/files.getUploadURLExternal", Body: row.body,
			})
		}
		if _, err := f.network.Stage(t.Context(), account, media); network.AsError(err) == nil || network.AsError(err).Code != row.code {
			t.Errorf("%s: got %v, want %s", name, err, row.code)
		}
	}
}

func TestPreview(t *testing.T) {
	f := newFixture(t, fake.Options{})
	text := "*Nóng* https://báo.vn/a. @channel"
	for name, row := range map[string]struct {
		options slack.PostOptions
		card    string
		notes   []string
	}{
		"Usual":      {slack.PostOptions{}, "https://báo.vn/a", []string{"slack_formatting", "mentions_not_notified"}},
		"PlainText":  {slack.PostOptions{PlainText: true}, "https://báo.vn/a", []string{"mentions_not_notified"}},
		"NoPreviews": {slack.PostOptions{SuppressPreviews: true}, "", []string{"slack_formatting", "mentions_not_notified"}},
	} {
		p := f.network.Preview(network.Content{Text: text, Options: row.options}, network.Limits{})
		var notes []string
		for _, n := range p.Notes {
			notes = append(notes, n.Code)
		}
		if p.Text != text || p.Card != row.card || len(p.Spans) != 1 || fmt.Sprint(notes) != fmt.Sprint(row.notes) {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

// The permalink of a message opens its channel while the workspace cannot be read.
func TestPublish_PermalinkWithoutTheWorkspace(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	f.inject(t, fake.Fault{Kind: fake.Status, Status: 503, Path: "/slack/api/auth.test", Count: -1})
	receipt := f.publish(t, account, network.Submission{Key: "k", Text: "Tin"})
	if want := "https://slack.com/app_redirect?channel=" + account.RemoteID; receipt.URL != want {
		t.Errorf("got %s, want %s", receipt.URL, want)
	}
}
