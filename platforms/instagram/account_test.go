package instagram_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/instagram"
	"dateline/platforms/network"
)

// All segments are comments on the first post, and a lost one is found there.
func TestPublish_ThreadsAreComments(t *testing.T) {
	d := newFixture(t, fake.Options{})
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	root, err := d.Publish(t.Context(), d.account, d.prepared(t, graphtest.NewSubmission("First", pic)))
	if err != nil {
		t.Fatal(err)
	}
	second := graphtest.NewSubmission("Second")
	second.ReplyTo = root.RemoteID
	two, err := d.Publish(t.Context(), d.account, d.prepared(t, second))
	if err != nil {
		t.Fatal(err)
	}
	if two.URL != root.URL {
		t.Errorf("the comment is at %s, its post at %s", two.URL, root.URL)
	}
	third := graphtest.NewSubmission("Third")
	third.ReplyTo, third.RootID = two.RemoteID, root.RemoteID
	third = d.prepared(t, third)
	from := time.Now().Add(-time.Second)
	d.inject(t, fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPost, Path: "/instagram/v25.0/" + root.RemoteID +
		"/comments"})
	_, err = d.Publish(t.Context(), d.account, third)
	graphtest.WantClass(t, err, network.Ambiguous, "")
	finding, err := d.Reconcile(t.Context(), d.account, third, network.Window{From: from})
	posts := d.Posts()
	if err != nil {
		t.Fatal(err)
	}
	if !finding.Found {
		t.Errorf("%+v, %v; %+v", finding, err, posts)
	}
	if len(posts) != 3 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 3)
	}
	if finding.Receipt.RemoteID != posts[2].ID {
		t.Errorf("finding.Receipt.RemoteID: got %v, want %v", finding.Receipt.RemoteID, posts[2].ID)
	}
	if posts[2].ReplyTo != root.RemoteID {
		t.Errorf("posts[2].ReplyTo: got %v, want %v", posts[2].ReplyTo, root.RemoteID)
	}
	never := graphtest.NewSubmission("Never")
	never.ReplyTo = root.RemoteID
	if finding, err := d.Reconcile(t.Context(), d.account, never, network.Window{From: from}); err != nil ||
		finding.Found || finding.Conclusive {
		t.Errorf("a comment that is not listed: got %+v, %v, want nothing found and nothing concluded", finding, err)
	}
	illustrated := graphtest.NewSubmission("With an image", pic)
	illustrated.ReplyTo = root.RemoteID
	_, err = d.Prepare(t.Context(), d.account, illustrated)
	graphtest.WantClass(t, err, network.Rejected, "too_many_attachments")
	_, err = d.Publish(t.Context(), d.account, illustrated)
	graphtest.WantClass(t, err, network.Rejected, "too_many_attachments")
}

func TestPublish_WithoutPermalink(t *testing.T) {
	d := newFixture(t, fake.Options{})
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	s := d.prepared(t, graphtest.NewSubmission("Out", pic))
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

func TestLimits_AccountQuota(t *testing.T) {
	rates := map[string]map[string]fake.Rate{"instagram": {"posts": {Requests: 2, Per: 24 * time.Hour}}}
	d := newFixture(t, fake.Options{NetworkRates: rates})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil || len(limits.Quotas) != 1 {
		t.Fatalf("%+v, %v", limits, err)
	}
	{
		q := limits.Quotas[0]
		if q.Requests != 2 {
			t.Errorf("q.Requests: got %v, want %v", q.Requests, 2)
		}
		if q.Per != 24*time.Hour {
			t.Errorf("q.Per: got %v, want %v", q.Per, 24*time.Hour)
		}
		if q.Default {
			t.Errorf("%+v", q)
		}
		if q.Cost(network.CallPublish) != 1 {
			t.Errorf("q.Cost(network.CallPublish): got %v, want %v", q.Cost(network.CallPublish), 1)
		}
		if q.Cost(network.CallReply) != 0 {
			t.Errorf("q.Cost(network.CallReply): got %v, want %v", q.Cost(network.CallReply), 0)
		}
	}
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	for left := 2; left > 0; left-- {
		s := graphtest.NewSubmission("Post", pic)
		ready, err := d.Prepare(t.Context(), d.account, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(ready.Rates) != 1 {
			t.Fatalf("len(ready.Rates): got %v, want %v", len(ready.Rates), 1)
		}
		if ready.Rates[0].Remaining != left {
			t.Fatalf("ready.Rates[0].Remaining: got %v, want %v", ready.Rates[0].Remaining, left)
		}
		if ready.Rates[0].Limit != 2 {
			t.Fatalf("ready.Rates[0].Limit: got %v, want %v", ready.Rates[0].Limit, 2)
		}
		if ready.Rates[0].Bucket != "posts" {
			t.Fatalf("ready.Rates[0].Bucket: got %q, want %q", ready.Rates[0].Bucket, "posts")
		}
		s.Handle = ready.Handle
		if _, err := d.Publish(t.Context(), d.account, s); err != nil {
			t.Fatal(err)
		}
	}
	s := d.prepared(t, graphtest.NewSubmission("One too many", pic))
	_, err = d.Publish(t.Context(), d.account, s)
	if e := graphtest.WantClass(t, err, network.Throttled, "9/2207042"); e.Scope != network.ScopeAccount ||
		time.Until(e.RetryAt) < 50*time.Minute {
		t.Errorf("%+v", e)
	}
	// The documented quota applies to an account without a reported one.
	silent := newFixture(t, fake.Options{})
	silent.inject(t, fake.Fault{Kind: fake.Status, Status: 400, Method: http.MethodGet, Count: -1})
	if limits, err := silent.Limits(t.Context(), silent.account); err != nil || limits.Quotas[0].Requests != 100 ||
		!limits.Quotas[0].Default {
		t.Errorf("%+v, %v", limits, err)
	}
}

// A token can be refreshed when it is a day old, and a failed request does not
// disconnect the account.
func TestRefresh(t *testing.T) {
	graphtest.TestRefresh(t, instagram.Name, "instagram_business_content_publish", sandboxed)
}

func TestCheck(t *testing.T) {
	d := newFixture(t, fake.Options{})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	jpeg := network.MediaInfo{MIMEType: "image/jpeg", Bytes: 1000, Width: 1080, Height: 1080}
	reel := network.MediaInfo{MIMEType: "video/mp4", Bytes: 1000, Duration: time.Minute}
	with := func(change func(*network.MediaInfo)) []network.MediaInfo {
		m := jpeg
		change(&m)
		return []network.MediaInfo{m}
	}
	for name, row := range map[string]struct {
		content network.Content
		code    string
	}{
		"Good":       {network.Content{Text: "#a @b", Media: []network.MediaInfo{jpeg, reel}}, ""},
		"WordsAlone": {network.Content{Text: "Words"}, "too_few_attachments"},
		"PNG": {
			network.Content{Media: with(func(m *network.MediaInfo) { m.MIMEType = "image/png" })},
			"unsupported_type",
		},
		"Tall": {
			network.Content{Media: with(func(m *network.MediaInfo) { m.Height = 1351 })},
			"unsupported_ratio",
		},
		"Tallest": {network.Content{Media: with(func(m *network.MediaInfo) { m.Height = 1350 })}, ""},
		"Wide": {
			network.Content{Media: with(func(m *network.MediaInfo) { m.Height = 560 })},
			"unsupported_ratio",
		},
		"Widest": {network.Content{Media: with(func(m *network.MediaInfo) { m.Height = 566 })}, ""},
		"ShortReel": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "video/mp4", Duration: 2 * time.Second}}},
			"too_short",
		},
		"LongReel": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "video/mp4", Duration: 16 * time.Minute}}},
			"too_long_video",
		},
		"30Tags": {network.Content{Text: strings.Repeat("#Hà_Nội", 30), Media: []network.MediaInfo{jpeg}}, ""},
		"31Tags": {
			network.Content{Text: strings.Repeat("#tin ", 31), Media: []network.MediaInfo{jpeg}},
			"too_many_hashtags",
		},
		"20Mentions": {
			network.Content{Text: strings.Repeat("@a.b, ", 20) + "me@mail.example", Media: []network.MediaInfo{jpeg}},
			"",
		},
		"21Mentions": {
			network.Content{Text: strings.Repeat("@a.b, ", 21), Media: []network.MediaInfo{jpeg}},
			"too_many_mentions",
		},
		"Comment": {network.Content{Text: "Words", Reply: true}, ""},
		"FullComment": {
			network.Content{Text: "Words", Reply: true, Media: []network.MediaInfo{jpeg}},
			"comment_attachments",
		},
		"NoComment": {network.Content{Reply: true}, "empty"},
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
	text := "Tin #HàNội#mưa cùng @desk.vn. Xem https://a.example/#top và me@a.example"
	p := d.Preview(network.Content{Text: text, Media: []network.MediaInfo{
		{MIMEType: "image/jpeg", Width: 3000},
		{MIMEType: "image/jpeg", Width: 100},
	}}, network.Limits{})
	var got []string
	for _, s := range p.Spans {
		got = append(got, string(s.Kind)+":"+s.Target)
		if text[s.Start+1:s.End] != s.Target {
			t.Errorf("span %+v is at %q", s, text[s.Start:s.End])
		}
	}
	if want := []string{"tag:HàNội", "tag:mưa", "mention:desk.vn"}; !slices.Equal(got, want) || p.Text != text ||
		p.FoldAt != 0 || p.Card != "" {
		t.Errorf("%v %+v, want %v", got, p, want)
	}
	notes := p.Notes.Text()
	for _, want := range []string{"cannot be clicked", "crops", "from 3000 down", "from 100 up"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note about %q in %q", want, notes)
		}
	}
	long := strings.Repeat("ữ", 126)
	if p := d.Preview(network.Content{Text: long}, network.Limits{}); p.FoldAt != 125*len("ữ") {
		t.Errorf("folds at %d", p.FoldAt)
	}
	p = d.Preview(network.Content{Text: long, Reply: true}, network.Limits{})
	if p.FoldAt != 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0].Text, "comment") {
		t.Errorf("%+v", p)
	}
}

func FuzzPreview(f *testing.F) {
	for _, s := range []string{"", "#a#b @c.", "@#", "\xff#\xff", "#é̂ @a@b"} {
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
