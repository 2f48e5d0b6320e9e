package threads_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/network"
	"dateline/platforms/threads"
)

func TestPublish_WithoutPermalink(t *testing.T) {
	d := newFixture(t, fake.Options{})
	s := d.prepared(t, graphtest.NewSubmission("Out"))
	d.inject(t, fake.Fault{Kind: fake.Status, Status: 500, Method: http.MethodGet, Count: -1})
	receipt, err := d.Publish(t.Context(), d.account, s)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.RemoteID == "" {
		t.Error("receipt.RemoteID is empty")
	}
	if receipt.URL != "" {
		t.Errorf("receipt.URL: got %q, want %q", receipt.URL, "")
	}
	if receipt.SentAt.IsZero() {
		t.Errorf("%+v, %v", receipt, err)
	}
	if len(d.Posts()) != 1 {
		t.Fatalf("len(d.Posts()): got %v, want %v", len(d.Posts()), 1)
	}
}

func TestLimits_AccountQuotas(t *testing.T) {
	rates := map[string]map[string]fake.Rate{
		"threads": {"posts": {Requests: 1, Per: 24 * time.Hour}, "replies": {Requests: 7, Per: 24 * time.Hour}},
	}
	d := newFixture(t, fake.Options{NetworkRates: rates})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil || len(limits.Quotas) != 2 {
		t.Fatalf("%+v, %v", limits, err)
	}
	posts, replies := limits.Quotas[0], limits.Quotas[1]
	if posts.Requests != 1 {
		t.Errorf("posts.Requests: got %v, want %v", posts.Requests, 1)
	}
	if posts.Cost(network.CallPublish) != 1 {
		t.Errorf("posts.Cost(network.CallPublish): got %v, want %v", posts.Cost(network.CallPublish), 1)
	}
	if posts.Cost(network.CallReply) != 0 {
		t.Errorf("posts.Cost(network.CallReply): got %v, want %v", posts.Cost(network.CallReply), 0)
	}
	if replies.Requests != 7 {
		t.Errorf("replies.Requests: got %v, want %v", replies.Requests, 7)
	}
	if replies.Cost(network.CallPublish) != 0 {
		t.Errorf("replies.Cost(network.CallPublish): got %v, want %v", replies.Cost(network.CallPublish), 0)
	}
	if replies.Cost(network.CallReply) != 1 {
		t.Errorf("replies.Cost(network.CallReply): got %v, want %v", replies.Cost(network.CallReply), 1)
	}
	if replies.Per != 24*time.Hour {
		t.Errorf("replies.Per: got %v, want %v", replies.Per, 24*time.Hour)
	}
	root, err := d.Publish(t.Context(), d.account, d.prepared(t, graphtest.NewSubmission("Post")))
	if err != nil {
		t.Fatal(err)
	}
	reply := graphtest.NewSubmission("Reply")
	reply.ReplyTo = root.RemoteID
	ready, err := d.Prepare(t.Context(), d.account, reply)
	if err != nil || len(ready.Rates) != 1 || ready.Rates[0].Bucket != "replies" || ready.Rates[0].Remaining != 7 {
		t.Fatalf("%+v, %v", ready, err)
	}
	reply.Handle = ready.Handle
	if _, err := d.Publish(t.Context(), d.account, reply); err != nil {
		t.Fatal(err)
	}
	_, err = d.Publish(t.Context(), d.account, d.prepared(t, graphtest.NewSubmission("One too many")))
	if e := graphtest.WantClass(t, err, network.Throttled, "9/2207042"); e.Scope != network.ScopeAccount ||
		time.Until(e.RetryAt) < 50*time.Minute {
		t.Errorf("%+v", e)
	}
}

// A token can be refreshed when it is a day old, and a failed request does not
// disconnect the account.
func TestRefresh(t *testing.T) {
	graphtest.TestRefresh(t, threads.Name, "threads_content_publish", sandboxed)
}

func TestCheck(t *testing.T) {
	d := newFixture(t, fake.Options{})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	png := network.MediaInfo{MIMEType: "image/png", Bytes: 1000, Width: 1000, Height: 1000}
	for name, row := range map[string]struct {
		content network.Content
		code    string
	}{
		"Mixed": {
			network.Content{Media: []network.MediaInfo{png, {MIMEType: "video/mp4", Duration: time.Minute}}}, "",
		},
		"WebP": {network.Content{Media: []network.MediaInfo{{MIMEType: "image/webp"}}}, "unsupported_type"},
		"Strip": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "image/png", Width: 1001, Height: 100}}},
			"unsupported_ratio",
		},
		"Long": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "video/mp4", Duration: 6 * time.Minute}}},
			"too_long_video",
		},
		"Emoji":   {network.Content{Text: strings.Repeat("😀", 125)}, ""},
		"OneMore": {network.Content{Text: strings.Repeat("😀", 125) + "!"}, "too_long"},
		"FiveLinks": {
			network.Content{Text: "https://a.example https://b.example, www.c.example (http://d.example) " +
				"https://e.example. https://a.example"}, "",
		},
		"SixLinks": {
			network.Content{Text: "https://a.example https://b.example www.c.example http://d.example " +
				"https://e.example https://a.example/2"}, "too_many_links",
		},
		"NoLinkAtAll": {
			network.Content{Text: "xhttps://a.example awww.b.example https:// www. @www. a.b c.d e.f g.h i.j k.l"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems := d.Check(row.content, limits)
			if row.code == "" && len(problems) == 0 {
				return
			}
			if !slices.ContainsFunc(problems,
				func(p network.Violation) bool { return p.Code == row.code && p.Message != "" }) {
				t.Errorf("%+v, want %q", problems, row.code)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	d := newFixture(t, fake.Options{})
	text := "Tin #mưa #nắng của @desk.vn. (www.a.example/x_(y)) https://b.example/#top, me@c.example"
	p := d.Preview(network.Content{Text: text}, network.Limits{})
	var got []string
	for _, s := range p.Spans {
		got = append(got, string(s.Kind)+":"+s.Target)
	}
	want := []string{"tag:mưa", "mention:desk.vn", "link:https://www.a.example/x_(y)", "link:https://b.example/#top"}
	if !slices.Equal(got, want) || p.Card != "https://www.a.example/x_(y)" || p.Text != text || len(p.Notes) != 1 {
		t.Errorf("%v, want %v; %+v", got, want, p)
	}
	p = d.Preview(network.Content{Text: text, Media: []network.MediaInfo{{MIMEType: "image/png", Width: 2000}}},
		network.Limits{})
	if p.Card != "" || len(p.Notes) != 2 {
		t.Errorf("%+v", p)
	}
}

func FuzzPreview(f *testing.F) {
	for _, s := range []string{"", "#a#b @c.", "@#", "\xff#\xff", "https://", "www.a)))", "http://(x"} {
		f.Add(s)
	}
	d := fixture{}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range d.Preview(network.Content{Text: text}, network.Limits{}).Spans {
			if s.Start < at || s.End <= s.Start || s.End > len(text) || s.Target == "" {
				t.Fatalf("%+v in %q", s, text)
			}
			at = s.End
		}
	})
}

// The fake counts with its own code. Each text is extended up to the limit and
// beyond.
func TestCount_MatchesFake(t *testing.T) {
	d := newFixture(t, fake.Options{})
	for _, row := range counts(t) {
		full := row.Text + " " + strings.Repeat("x", 499-row.Want)
		if _, err := d.Prepare(t.Context(), d.account, graphtest.NewSubmission(full)); err != nil {
			t.Errorf("%s: %v", row.Name, err)
		}
		_, err := d.Prepare(t.Context(), d.account, graphtest.NewSubmission(full+"x"))
		if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != "100" {
			t.Errorf("%s: one more was accepted: %v", row.Name, err)
		}
	}
}
