package instagram_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/graph"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/instagram"
	"dateline/platforms/network"
)

func TestPublish_ErrorCodes(t *testing.T) {
	d := newFixture(t, fake.Options{})
	account := "/instagram/v25.0/" + d.account.RemoteID
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	for _, row := range []struct {
		code, subcode    int
		prepare, publish network.Class
		mediaExpired     bool // CodeMediaExpired
	}{
		{-2, 2207003, network.Transient, network.Ambiguous, false},
		{-2, 2207020, network.Transient, network.Transient, true},
		{-1, 2207001, network.Transient, network.Ambiguous, false},
		{-1, 2207032, network.Transient, network.Ambiguous, false},
		{-1, 2207053, network.Transient, network.Ambiguous, false},
		{4, 2207051, network.Rejected, network.Ambiguous, false},
		{9, 2207042, network.Throttled, network.Throttled, false},
		{24, 2207006, network.Rejected, network.Transient, false}, // the container exists, but is not ready
		{24, 2207008, network.Transient, network.Transient, false},
		{25, 2207050, network.Rejected, network.Rejected, false},
		{352, 2207026, network.Rejected, network.Rejected, false},
		{9004, 2207052, network.Rejected, network.Rejected, false},
		{9007, 2207027, network.Transient, network.Transient, false},
		{36003, 2207009, network.Rejected, network.Rejected, false},
	} {
		t.Run(fmt.Sprintf("%d_%d", row.code, row.subcode), func(t *testing.T) {
			code := ""
			if row.mediaExpired {
				code = network.CodeMediaExpired
			}
			s := graphtest.NewSubmission("Codes "+rand.Text(), pic)
			d.inject(t, graphtest.ErrorFault(account+"/media", row.code, row.subcode))
			_, err := d.Prepare(t.Context(), d.account, s)
			graphtest.WantClass(t, err, row.prepare, code)
			d.ClearFaults()
			s = d.prepared(t, s)
			from := time.Now().Add(-time.Second)
			d.inject(t, graphtest.ErrorFault(account+"/media_publish", row.code, row.subcode))
			_, err = d.Publish(t.Context(), d.account, s)
			e := graphtest.WantClass(t, err, row.publish, code)
			if e.RequestID != "trace" || e.Class == network.Throttled && e.RetryAt.IsZero() {
				t.Errorf("%+v", e)
			}
			finding, err := d.Reconcile(t.Context(), d.account, s, network.Window{From: from})
			if err != nil || finding.Found || !finding.Conclusive {
				t.Errorf("%+v, %v", finding, err)
			}
		})
	}
}

// A second call with the same container creates no second post, and its error
// does not allow a new container.
func TestPublish_ContainerOnce(t *testing.T) {
	d := newFixture(t, fake.Options{})
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	s := d.prepared(t, graphtest.NewSubmission("Once", pic))
	from := time.Now().Add(-time.Second)
	receipt, err := d.Publish(t.Context(), d.account, s)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Publish(t.Context(), d.account, s)
	graphtest.WantClass(t, err, network.Ambiguous, "")
	finding, err := d.Reconcile(t.Context(), d.account, s, network.Window{From: from})
	if err != nil || finding.Receipt.RemoteID != receipt.RemoteID || len(d.Posts()) != 1 {
		t.Errorf("%+v, %v; %d posts", finding, err, len(d.Posts()))
	}
	// Published, but not listed: it exists, so it is not absent.
	finding, err = d.Reconcile(t.Context(), d.account, s, network.Window{
		From: from, Known: map[string]bool{receipt.RemoteID: true},
	})
	if err != nil || finding.Found || finding.Conclusive {
		t.Errorf("%+v, %v", finding, err)
	}
}

func TestCarousel(t *testing.T) {
	d := newFixture(t, fake.Options{MediaDelay: 50 * time.Millisecond})
	one, fetchedOne := graphtest.NewImage(t, 640, 640, "the first")
	two, fetchedTwo := graphtest.NewVideo(t, 4000)
	three, _ := graphtest.NewImage(t, 800, 640, "the third")
	s := graphtest.NewSubmission("Three", one, two, three)
	// Containers created before an error are kept and not created again.
	media := "/instagram/v25.0/" + d.account.RemoteID + "/media"
	d.inject(t, fake.Fault{Kind: fake.Status, Status: 503, Method: http.MethodPost, Path: media, Nth: 3})
	ready, err := d.Prepare(t.Context(), d.account, s)
	if err != nil || ready.Ready || ready.CheckAfter <= 0 || ready.ExpiresAt.Before(time.Now().Add(22*time.Hour)) {
		t.Fatalf("%+v, %v", ready, err)
	}
	s.Handle = ready.Handle
	s = d.prepared(t, s)
	if _, err := d.Publish(t.Context(), d.account, s); err != nil {
		t.Fatal(err)
	}
	posts := d.Posts()
	if len(posts) != 1 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 1)
	}
	if len(posts[0].Media) != 3 {
		t.Fatalf("len(posts[0].Media): got %v, want %v", len(posts[0].Media), 3)
	}
	if posts[0].Text != "Three" {
		t.Errorf("posts[0].Text: got %q, want %q", posts[0].Text, "Three")
	}
	if posts[0].Media[0].Description != "the first" {
		t.Errorf("posts[0].Media[0].Description: got %q, want %q", posts[0].Media[0].Description, "the first")
	}
	if posts[0].Media[1].MIMEType != "video/mp4" {
		t.Errorf("posts[0].Media[1].MIMEType: got %q, want %q", posts[0].Media[1].MIMEType, "video/mp4")
	}
	if posts[0].Media[2].Description != "the third" {
		t.Errorf("posts[0].Media[2].Description: got %q, want %q", posts[0].Media[2].Description, "the third")
	}
	if fetchedOne.Load() != 1 || fetchedTwo.Load() != 1 {
		t.Errorf("fetched %d and %d times", fetchedOne.Load(), fetchedTwo.Load())
	}
}

// The upload continues where a broken upload ended.
func TestPrepare_UploadsReel(t *testing.T) {
	d := newFixture(t, fake.Options{})
	reel, fetched := graphtest.NewVideo(t, 300_000)
	reel.URL = nil
	whole, opened := reel.Open, 0
	reel.Open = func(ctx context.Context) (io.ReadCloser, error) {
		data, err := whole(ctx)
		if opened++; opened == 1 {
			return struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(data, 100_000), broken{}), data}, err
		}
		return data, err
	}
	if staged, err := d.Stage(t.Context(), d.account, reel); err != nil || !staged.Ready {
		t.Fatalf("%+v, %v", staged, err)
	}
	s := graphtest.NewSubmission("Reel", reel)
	ready, err := d.Prepare(t.Context(), d.account, s)
	if err != nil || ready.Ready { // the container was created
		t.Fatalf("%+v, %v", ready, err)
	}
	s.Handle = ready.Handle
	s = d.prepared(t, s)
	if _, err := d.Publish(t.Context(), d.account, s); err != nil {
		t.Fatal(err)
	}
	if posts := d.Posts(); len(posts) != 1 || len(posts[0].Media) != 1 || posts[0].Media[0].Bytes != 300_000 ||
		fetched.Load() != 0 {
		t.Errorf("%+v, fetched %d times", posts, fetched.Load())
	}
	// Again with the rest of the broken upload arriving late.
	if opened < 2 {
		t.Errorf("opened %d times", opened)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestStage_ImagesRequirePublicAddress(t *testing.T) {
	d := newFixture(t, fake.Options{})
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	none := pic
	none.URL = nil
	_, err := d.Stage(t.Context(), d.account, none)
	if e := graphtest.WantClass(t, err, network.Rejected, graph.CodeNotFetchable); !strings.Contains(e.Message,
		"S3_PUBLIC_ENDPOINT") {
		t.Errorf("says %q", e.Message)
	}
	// Instagram cannot reach this machine, the fake network can.
	real := network.Account{RemoteID: "17", Token: secret.NewText("t")}
	_, err = d.Prepare(t.Context(), real, graphtest.NewSubmission("Private", pic))
	graphtest.WantClass(t, err, network.Rejected, graph.CodeNotFetchable)
	missing, _ := graphtest.NewImage(t, 640, 640, "")
	missing.URL = func(context.Context, time.Duration) (string, error) {
		return "http://127.0.0.1:1/gone?signature=hidden", nil
	}
	_, err = d.Prepare(t.Context(), d.account, graphtest.NewSubmission("Gone", missing))
	if e := graphtest.WantClass(t, err, network.Rejected, graph.CodeNotFetchable); !strings.Contains(e.Message,
		"S3_PUBLIC_ENDPOINT") {
		t.Errorf("says %q", e.Message)
	}
	_, err = d.Prepare(t.Context(), d.account, graphtest.NewSubmission("Words alone"))
	graphtest.WantClass(t, err, network.Rejected, "too_few_attachments")
	bad := graphtest.NewSubmission("Bad", pic)
	bad.Handle = "nonsense"
	_, err = d.Prepare(t.Context(), d.account, bad)
	graphtest.WantClass(t, err, network.Rejected, "bad_handle")
	_, err = d.Publish(t.Context(), d.account, graphtest.NewSubmission("Not prepared", pic))
	graphtest.WantClass(t, err, network.NotSent, "not_prepared")
}

func TestAddresses(t *testing.T) {
	d := newFixture(t, fake.Options{})
	elsewhere := d.account
	elsewhere.BaseURL = "https://evil.example"
	pic, _ := graphtest.NewImage(t, 640, 640, "")
	_, err := d.Stage(t.Context(), elsewhere, pic)
	graphtest.WantClass(t, err, network.Rejected, "bad_address")
	_, err = d.Limits(t.Context(), elsewhere)
	graphtest.WantClass(t, err, network.Rejected, "bad_address")
	_, err = d.Register(t.Context(), "", graphtest.RedirectURI)
	graphtest.WantClass(t, err, network.Rejected, network.CodeNotConfigured)
	real := instagram.New(http.DefaultClient, instagram.Options{ClientID: "id", ClientSecret: secret.NewText("s")})
	app, err := real.Register(t.Context(), "", graphtest.RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	if got := real.AuthorizeURL(app, "s t", "challenge"); !strings.HasPrefix(got,
		"https://www.instagram.com/oauth/authorize?client_id=id&") ||
		!strings.Contains(got, "state=s+t") || !strings.Contains(got, "instagram_business_content_publish") ||
		strings.Contains(got, "challenge") {
		t.Errorf("authorize at %s", got)
	}
}
