package x_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/x"
)

func publish(t *testing.T, n *x.X, account network.Account, submission network.Submission) network.Receipt {
	t.Helper()
	receipt, err := n.Publish(t.Context(), account, submission)
	if err != nil {
		t.Fatalf("publish %.60q: %v", submission.Text, err)
	}
	return receipt
}

// X shortens links, escapes characters, and truncates long posts.
func TestReconcile_FindsRewrittenPosts(t *testing.T) {
	server, n, account, _ := startFake(t, fake.Options{})
	premium := connected(t, server, n, fake.Account{Network: "x", Name: "longdesk", Kind: "premium"})
	window := network.Window{From: time.Now().Add(-time.Second)}
	for name, text := range map[string]string{
		"NoScheme":   "Đọc tại vnexpress.net/thoi-su/gia-xang và tuoitre.vn.",
		"Slash":      "https://tuoitre.vn/ and https://TuoiTre.vn/A/",
		"Escapes":    `<b>5 & 6</b> &amp; &lt; https://a.vn/?x=1&y=2 "quotes"`,
		"Unicode":    "https://báo.vn/tin-tức/hôm-nay?q=việt",
		"Spaces":     "  One\n\n\n two\t three  ",
		"Decomposed": "Ba\u0309n tin https://a.vn/\n",
		"SameTwice":  "https://a.vn https://a.vn",
	} {
		t.Run(name, func(t *testing.T) {
			sub := network.Submission{Key: name, Text: text}
			receipt := publish(t, n, account, sub)
			finding, err := n.Reconcile(t.Context(), account, sub, window)
			if err != nil || !finding.Found || finding.Receipt.RemoteID != receipt.RemoteID ||
				finding.Receipt.URL != receipt.URL {
				t.Errorf("finding %+v, %v, want %s", finding, err, receipt.RemoteID)
			}
			sub.Text += " and more"
			if finding, err := n.Reconcile(t.Context(), account, sub, window); err != nil || finding.Found ||
				finding.Conclusive {
				t.Errorf("a post with more words: got %+v, %v, want nothing found and nothing concluded", finding, err)
			}
			sub.Text = "Quite another matter: the harbour master retires in spring"
			if finding, err := n.Reconcile(t.Context(), account, sub, window); err != nil || finding.Found ||
				!finding.Conclusive {
				t.Errorf("a post with other words: got %+v, %v, want a conclusive absence", finding, err)
			}
		})
	}
	t.Run("Long", func(t *testing.T) {
		one := network.Submission{Key: "long", Text: strings.Repeat("Dài lắm. ", 100) + "https://a.vn/cuoi"}
		two := network.Submission{Key: "longer", Text: strings.Repeat("Dài lắm. ", 100) + "https://b.vn/cuoi"}
		receipt := publish(t, n, premium, one)
		publish(t, n, premium, two)
		finding, err := n.Reconcile(t.Context(), premium, one, window)
		if err != nil || finding.Receipt.RemoteID != receipt.RemoteID {
			t.Errorf("finding %+v, %v, want %s", finding, err, receipt.RemoteID)
		}
	})
}

func TestPublish_ThreadNotAllowed(t *testing.T) {
	server, n, account, _ := startFake(t, fake.Options{})
	first := publish(t, n, account, network.Submission{Key: "1", Text: "One of two"})
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: http.StatusForbidden,
		Path: "/x/2/tweets",
	}); err != nil {
		t.Fatal(err)
	}
	_, err := n.Publish(t.Context(), account, network.Submission{Key: "2", Text: "Two of two", ReplyTo: first.RemoteID})
	if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != x.CodeThreadNotAllowed ||
		!strings.Contains(e.Message, "thread ends there") {
		t.Errorf("%v", err)
	}
	if posts := server.Posts(); len(posts) != 1 {
		t.Errorf("published %+v", posts)
	}
}

// X can prefix a reply with the handle of the account that it replies to, which
// in a thread is the account itself.
func TestReconcile_IgnoresReplyPrefix(t *testing.T) {
	id := uint64(time.Now().UnixMilli()-1288834974657) << 22
	n, account := textIs(t, 200,
		fmt.Sprintf(
			`{"data":[{"id":"%d","text":"@Desk Two of two","referenced_tweets":[{"type":"replied_to","id":"9"}]}],"meta":{"result_count":1}}`, id))
	window := network.Window{From: time.Now().Add(-time.Minute)}
	finding, err := n.Reconcile(t.Context(), account, network.Submission{Text: "Two of two", ReplyTo: "9"}, window)
	if err != nil || !finding.Found {
		t.Errorf("finding %+v, %v", finding, err)
	}
}

func TestReconcile_ListingWithoutData(t *testing.T) {
	window := network.Window{From: time.Now().Add(-time.Minute)}
	for name, row := range map[string]struct {
		body       string
		class      network.Class
		conclusive bool
	}{
		"NoPosts": {`{"meta":{"result_count":0}}`, "", true},
		"Forbidden": {
			`{"errors":[{"type":"https://api.x.com/2/problems/not-authorized-for-resource","detail":"d"}],"meta":{"result_count":0}}`, network.Rejected, false,
		},
		"Internal": {
			`{"errors":[{"type":"https://api.x.com/2/problems/internal-error","detail":"d"}]}`,
			network.Transient, false,
		},
		"NoMeta":     {`{}`, network.Transient, false},
		"OddID":      {`{"data":[{"id":"x","text":""}],"meta":{}}`, network.Transient, false},
		"NoJSON":     {`<html>`, network.Transient, false},
		"NeverEnds":  {`{"meta":{"result_count":0,"next_token":"again"}}`, "", false},
		"OtherShape": {`[]`, network.Transient, false},
	} {
		t.Run(name, func(t *testing.T) {
			n, account := textIs(t, 200, row.body)
			finding, err := n.Reconcile(t.Context(), account, network.Submission{Text: "t"}, window)
			if row.class != "" {
				if e := network.AsError(err); e == nil || e.Class != row.class {
					t.Errorf("%v, want %s", err, row.class)
				}
				return
			}
			if err != nil || finding.Found || finding.Conclusive != row.conclusive || len(finding.Evidence) == 0 {
				t.Errorf("finding %+v, %v", finding, err)
			}
		})
	}
	n, account := textIs(t, 200, `{}`)
	account.RemoteID = ""
	if _, err := n.Reconcile(t.Context(), account, network.Submission{Text: "t"},
		window); network.AsError(err).Code != "unknown_account" {
		t.Errorf("an account without id: %v", err)
	}
}
