package threads_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/graph"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/network"
	"dateline/platforms/threads"
)

func TestPublish_ErrorCodes(t *testing.T) {
	d := newFixture(t, fake.Options{})
	account := "/threads/v1.0/" + d.account.RemoteID
	for _, row := range []struct {
		code, subcode    int
		prepare, publish network.Class
	}{
		{24, 4279009, network.Transient, network.Transient},
		{24, 4279013, network.Rejected, network.Rejected},
		{4, 2207051, network.Rejected, network.Ambiguous},
		{9, 2207042, network.Throttled, network.Throttled},
		{9004, 2207052, network.Rejected, network.Rejected},
		{1, 0, network.Transient, network.Ambiguous},
		{10, 0, network.Rejected, network.Rejected},
	} {
		t.Run(fmt.Sprintf("%d_%d", row.code, row.subcode), func(t *testing.T) {
			s := graphtest.NewSubmission("Codes " + rand.Text())
			d.inject(t, graphtest.ErrorFault(account+"/threads", row.code, row.subcode))
			_, err := d.Prepare(t.Context(), d.account, s)
			graphtest.WantClass(t, err, row.prepare, "")
			d.ClearFaults()
			s = d.prepared(t, s)
			from := time.Now().Add(-time.Second)
			d.inject(t, graphtest.ErrorFault(account+"/threads_publish", row.code, row.subcode))
			_, err = d.Publish(t.Context(), d.account, s)
			e := graphtest.WantClass(t, err, row.publish, "")
			if e.RequestID != "trace" || row.subcode != 0 &&
				(e.Class == network.Throttled || e.Class == network.Transient) && e.RetryAt.IsZero() {
				t.Errorf("%+v", e)
			}
			finding, err := d.Reconcile(t.Context(), d.account, s, network.Window{From: from})
			if err != nil || finding.Found || !finding.Conclusive {
				t.Errorf("%+v, %v", finding, err)
			}
			if e.Class != network.Transient {
				return
			}
			// The same container, later.
			if _, err := d.Publish(t.Context(), d.account, s); err != nil {
				t.Error(err)
			}
		})
	}
}

// "Media not found" is returned for containers that are too new, published, and
// expired, and each needs a different reaction.
func TestPublish_ResolvesNotFound(t *testing.T) {
	var ahead atomic.Int64
	d := newFixture(t, fake.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	from := time.Now().Add(-time.Second)
	s := d.prepared(t, graphtest.NewSubmission("Once"))
	receipt, err := d.Publish(t.Context(), d.account, s)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Publish(t.Context(), d.account, s)
	graphtest.WantClass(t, err, network.Ambiguous, "24/4279009")
	finding, err := d.Reconcile(t.Context(), d.account, s, network.Window{From: from})
	if err != nil || finding.Receipt.RemoteID != receipt.RemoteID || len(d.Posts()) != 1 {
		t.Errorf("%+v, %v; %d posts", finding, err, len(d.Posts()))
	}
	s = d.prepared(t, graphtest.NewSubmission("Late"))
	ahead.Store(int64(25 * time.Hour))
	_, err = d.Publish(t.Context(), d.account, s)
	graphtest.WantClass(t, err, network.Transient, network.CodeMediaExpired)
	unknown := s
	unknown.Handle = `{"main":{"id":"1"},"created_at":"2026-11-21T00:00:00Z"}`
	_, err = d.Publish(t.Context(), d.account, unknown)
	graphtest.WantClass(t, err, network.Ambiguous, "")
}

func TestPublish_CarouselReply(t *testing.T) {
	d := newFixture(t, fake.Options{MediaDelay: 30 * time.Millisecond})
	root, err := d.Publish(t.Context(), d.account, d.prepared(t, graphtest.NewSubmission("First")))
	if err != nil {
		t.Fatal(err)
	}
	one, fetched := graphtest.NewImage(t, 640, 640, "the first")
	two, _ := graphtest.NewVideo(t, 4000)
	s := graphtest.NewSubmission("Second", one, two)
	s.ReplyTo = root.RemoteID
	s = d.prepared(t, s)
	from := time.Now().Add(-time.Second)
	d.inject(t, fake.Fault{Kind: fake.ActThen500, Method: http.MethodPost, Path: "/threads/v1.0/" + d.account.RemoteID +
		"/threads_publish"})
	_, err = d.Publish(t.Context(), d.account, s)
	graphtest.WantClass(t, err, network.Ambiguous, "")
	finding, err := d.Reconcile(t.Context(), d.account, s, network.Window{From: from})
	posts := d.Posts()
	if err != nil {
		t.Fatal(err)
	}
	if len(posts) != 2 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 2)
	}
	if finding.Receipt.RemoteID != posts[1].ID {
		t.Errorf("finding.Receipt.RemoteID: got %v, want %v", finding.Receipt.RemoteID, posts[1].ID)
	}
	if posts[1].ReplyTo != root.RemoteID {
		t.Errorf("posts[1].ReplyTo: got %v, want %v", posts[1].ReplyTo, root.RemoteID)
	}
	if len(posts[1].Media) != 2 {
		t.Fatalf("len(posts[1].Media): got %v, want %v", len(posts[1].Media), 2)
	}
	if posts[1].Media[0].Description != "the first" {
		t.Errorf("posts[1].Media[0].Description: got %q, want %q", posts[1].Media[0].Description, "the first")
	}
	if fetched.Load() != 1 {
		t.Errorf("fetched.Load(): got %v, want %v", fetched.Load(), 1)
	}
}

func TestStage_RequiresPublicAddress(t *testing.T) {
	d := newFixture(t, fake.Options{})
	clip, _ := graphtest.NewVideo(t, 4000)
	none := clip
	none.URL = nil
	_, err := d.Stage(t.Context(), d.account, none)
	if e := graphtest.WantClass(t, err, network.Rejected, graph.CodeNotFetchable); !strings.Contains(e.Message,
		"S3_PUBLIC_ENDPOINT") {
		t.Errorf("says %q", e.Message)
	}
	real := network.Account{RemoteID: "17", Token: secret.NewText("t")}
	_, err = d.Prepare(t.Context(), real, graphtest.NewSubmission("Private", clip))
	graphtest.WantClass(t, err, network.Rejected, graph.CodeNotFetchable)
	short := graphtest.NewSubmission("Lost", clip)
	short.Media = nil
	_, err = d.Prepare(t.Context(), d.account, short)
	graphtest.WantClass(t, err, network.Rejected, "missing_attachments")
	_, err = d.Publish(t.Context(), d.account, graphtest.NewSubmission("Not prepared"))
	graphtest.WantClass(t, err, network.NotSent, "not_prepared")
}

func TestAddresses(t *testing.T) {
	d := newFixture(t, fake.Options{})
	elsewhere := d.account
	elsewhere.BaseURL = "https://evil.example"
	_, err := d.Prepare(t.Context(), elsewhere, graphtest.NewSubmission("x"))
	graphtest.WantClass(t, err, network.Rejected, "bad_address")
	_, err = d.Register(t.Context(), "", graphtest.RedirectURI)
	graphtest.WantClass(t, err, network.Rejected, network.CodeNotConfigured)
	real := threads.New(http.DefaultClient, threads.Options{ClientID: "id", ClientSecret: secret.NewText("s")})
	app, err := real.Register(t.Context(), "", graphtest.RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	if got := real.AuthorizeURL(app, "s t", "challenge"); !strings.HasPrefix(got,
		"https://threads.net/oauth/authorize?client_id=id&") ||
		!strings.Contains(got, "state=s+t") || !strings.Contains(got, "threads_content_publish") ||
		strings.Contains(got, "challenge") {
		t.Errorf("authorize at %s", got)
	}
}

// The documentation sends the token as a parameter.
func TestOptions_TokenParameter(t *testing.T) {
	d := newFixture(t, fake.Options{})
	d.Threads = threads.New(d.client, threads.Options{Sandbox: d.account.BaseURL, TokenParameter: true})
	receipt, err := d.Publish(t.Context(), d.account, d.prepared(t, graphtest.NewSubmission("As a parameter")))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), d.account, receipt.RemoteID); err != nil || !d.Posts()[0].Deleted {
		t.Errorf("%v", err)
	}
}
