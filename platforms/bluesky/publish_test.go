package bluesky_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"dateline/platforms/bluesky"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// The handle's values stay the same, and keys never repeat or go back.
func TestPrepare_HandleIsStable(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	sub := prepare(t, b, account, network.Submission{Key: rand.Text(), Text: "Chào @newsroom.test, @nobody.test"})
	if again := prepare(t, b, account, sub); again.Handle != sub.Handle {
		t.Errorf("prepared as %s, then as %s", sub.Handle, again.Handle)
	}
	var fixed struct {
		Key      string `json:"rkey"`
		Mentions map[string]string
	}
	if err := json.Unmarshal([]byte(sub.Handle), &fixed); err != nil {
		t.Fatal(err)
	}
	if len(fixed.Key) != 13 || len(fixed.Mentions) != 1 || fixed.Mentions["newsroom.test"] == "" {
		t.Errorf("fixed %+v", fixed)
	}
	receipt, err := b.Publish(t.Context(), account, sub)
	if err != nil || receipt.RemoteID != "at://"+account.RemoteID+"/app.bsky.feed.post/"+fixed.Key ||
		receipt.URL != account.BaseURL+"/profile/desk.test/post/"+fixed.Key {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
	if r := read(t, account.BaseURL, receipt.RemoteID); len(r.Value.Facets) != 1 ||
		r.Value.Facets[0].Features[0].DID != fixed.Mentions["newsroom.test"] {
		t.Errorf("facets %+v", r.Value.Facets)
	}
	if res, err := http.Get(receipt.URL); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the permalink: %v", err)
	} else {
		_ = res.Body.Close()
	}

	var mu sync.Mutex
	var wait sync.WaitGroup
	seen, last := map[string]bool{}, ""
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 200 {
				ready, err := b.Prepare(t.Context(), account, network.Submission{Text: "x"})
				var h struct {
					Key string `json:"rkey"`
				}
				if err != nil || json.Unmarshal([]byte(ready.Handle), &h) != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[h.Key[:11]] {
					t.Errorf("the time of key %s was used twice", h.Key)
				}
				seen[h.Key[:11]] = true
				mu.Unlock()
			}
		}()
	}
	wait.Wait()
	for range 100 {
		ready, err := b.Prepare(t.Context(), account, network.Submission{Text: "x"})
		if err != nil || ready.Handle <= last {
			t.Fatalf("key %s after %s, %v", ready.Handle, last, err)
		}
		last = ready.Handle
	}
}

// Because of the key, two sends result in one post.
func TestPublish_Twice(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	receipt, sub := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "Once"})
	_, err := b.Publish(t.Context(), account, sub)
	if e := wantClass(t, err, network.Ambiguous, ""); e.Status != http.StatusInternalServerError {
		t.Errorf("refused with %+v", e)
	}
	finding, err := b.Reconcile(t.Context(), account, sub, network.Window{From: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if !finding.Found {
		t.Errorf("finding %+v, %v; want %+v", finding, err, receipt)
	}
	if finding.Receipt.RemoteID != receipt.RemoteID {
		t.Errorf("finding.Receipt.RemoteID: got %v, want %v", finding.Receipt.RemoteID, receipt.RemoteID)
	}
	if finding.Receipt.URL != receipt.URL {
		t.Errorf("finding.Receipt.URL: got %v, want %v", finding.Receipt.URL, receipt.URL)
	}
	if !finding.Receipt.CreatedAt.Equal(receipt.CreatedAt) {
		t.Errorf("finding %+v, %v; want %+v", finding, err, receipt)
	}
	if posts := server.Posts(); len(posts) != 1 {
		t.Errorf("%d posts", len(posts))
	}
	// Another post under the same key, in case one is ever chosen twice.
	other := sub
	other.Text = "Another"
	if finding, err := b.Reconcile(t.Context(), account, other, network.Window{From: time.Now()}); err != nil ||
		finding.Found || finding.Conclusive {
		t.Errorf("finding %+v, %v", finding, err)
	}
}

// Without a key nothing is sent, so there is nothing to find.
func TestPublish_Unprepared(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	sub := network.Submission{Key: rand.Text(), Text: "No key"}
	_, err := b.Publish(t.Context(), account, sub)
	wantClass(t, err, network.Rejected, "")
	if finding, err := b.Reconcile(t.Context(), account, sub, network.Window{}); err != nil || finding.Found ||
		!finding.Conclusive {
		t.Errorf("finding %+v, %v", finding, err)
	}
}

// An unavailable server, or one that does not know the account, does not prove
// that the post is absent.
func TestReconcile_Outage(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	sub := prepare(t, b, account, network.Submission{Key: rand.Text(), Text: "?"})
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: 502,
		Path: "/bluesky/xrpc/com.atproto.repo.getRecord",
	}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Reconcile(t.Context(), account, sub, network.Window{})
	wantClass(t, err, network.Transient, "")
	moved := account
	moved.RemoteID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
	if _, err := b.Reconcile(t.Context(), moved, sub, network.Window{}); err == nil {
		t.Error("a server without the account reported that there is no post")
	}
}

func TestPrepare_ReplyTargets(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	for name, target := range map[string]string{
		"Gone":      "at://" + account.RemoteID + "/app.bsky.feed.post/3n2tvwxvr322c",
		"NoAddress": "https://bsky.app/profile/x", "Account": "at://" + account.RemoteID,
	} {
		_, err := b.Prepare(t.Context(), account, network.Submission{Text: "x", ReplyTo: target})
		if e := network.AsError(err); e == nil || e.Class != network.Rejected {
			t.Errorf("%s: %v", name, e)
		}
	}
	if err := b.Delete(t.Context(), account,
		"at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/3n2tvwxvr322c"); network.AsError(
		err).Class != network.Rejected {
		t.Errorf("deleting another account's post: %v", err)
	}
}

// A handle that cannot be resolved does not fail the post.
func TestPrepare_MentionOutage(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: 502, Path: "/bluesky/xrpc/com.atproto.identity.",
		Count: -1,
	}); err != nil {
		t.Fatal(err)
	}
	receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "@newsroom.test"})
	if r := read(t, account.BaseURL, receipt.RemoteID); len(r.Value.Facets) != 0 {
		t.Errorf("facets %+v", r.Value.Facets)
	}
}

// The limit that a response reports is identified by its window.
func TestRates(t *testing.T) {
	for name, row := range map[string]struct {
		rate fake.Rate
		want network.RateStatus
	}{
		"calls": {fake.Rate{Requests: 50, Per: 5 * time.Minute}, network.RateStatus{
			Bucket: "calls", Scope: network.ScopeApp, Limit: 50, Remaining: 49, Per: 5 * time.Minute,
		}},
		"writes_hour": {fake.Rate{Requests: 30, Per: time.Hour}, network.RateStatus{
			Bucket: "writes_hour", Scope: network.ScopeAccount, Limit: 30, Remaining: 27, Per: time.Hour,
		}},
		"writes_day": {fake.Rate{Requests: 40, Per: 24 * time.Hour}, network.RateStatus{
			Bucket: "writes_day", Scope: network.ScopeAccount, Limit: 40, Remaining: 37, Per: 24 * time.Hour,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := startFake(t, fake.Options{
				NetworkRates: map[string]map[string]fake.Rate{"bluesky": {name: row.rate}},
			})
			b, account, _ := sandbox(t, server, bluesky.Options{})
			receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "x"})
			if len(receipt.Rates) != 1 || receipt.Rates[0].ResetAt.Before(time.Now()) {
				t.Fatalf("rates %+v", receipt.Rates)
			}
			receipt.Rates[0].ResetAt = time.Time{}
			if receipt.Rates[0] != row.want {
				t.Errorf("rate %+v, want %+v", receipt.Rates[0], row.want)
			}
			for range row.rate.Requests {
				_, err := b.Publish(t.Context(), account,
					prepare(t, b, account, network.Submission{Key: rand.Text(), Text: "x"}))
				if err == nil {
					continue
				}
				if e := wantClass(t, err, network.Throttled, ""); e.Scope != row.want.Scope ||
					e.RetryAt.Before(time.Now()) {
					t.Errorf("throttled %+v", e)
				}
				return
			}
			t.Error("never throttled")
		})
	}
}

// The video service processes a video, and recognizes it the second time.
func TestVideo(t *testing.T) {
	server := startFake(t, fake.Options{MediaDelay: 20 * time.Millisecond})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	staged, err := b.Stage(t.Context(), account, video(t))
	if err != nil || staged.Ready || staged.CheckAfter <= 0 {
		t.Fatalf("staged %+v, %v", staged, err)
	}
	for !staged.Ready {
		time.Sleep(5 * time.Millisecond)
		if staged, err = b.StageStatus(t.Context(), account, staged); err != nil {
			t.Fatal(err)
		}
	}
	if staged.ExpiresAt.Before(time.Now()) {
		t.Errorf("staged until %v", staged.ExpiresAt)
	}
	receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), MediaIDs: []string{staged.RemoteID}})
	var film struct {
		Type  string `json:"$type"`
		Alt   string
		Video struct{ MimeType string }
	}
	if embedded(t, read(t, account.BaseURL, receipt.RemoteID), &film); film.Type != "app.bsky.embed.video" ||
		film.Alt != "Một đoạn phim" || film.Video.MimeType != "video/mp4" {
		t.Errorf("video %+v", film)
	}
	// The same video is refused as a conflict, and found.
	again, err := b.Stage(t.Context(), account, video(t))
	if err != nil || again.Ready {
		t.Fatalf("staged again %+v, %v", again, err)
	}
	if again, err = b.StageStatus(t.Context(), account, again); err != nil || !again.Ready {
		t.Errorf("staged again %+v, %v", again, err)
	}
	// An error of the service about the account is not about the token.
	if err := server.Inject(fake.Fault{
		Kind: fake.Status, Status: 401, Path: "/bluesky/xrpc/app.bsky.video.uploadVideo",
		Body: `{"error":"Unauthorized","message":"unconfirmed email"}`,
	}); err != nil {
		t.Fatal(err)
	}
	_, err = b.Stage(t.Context(), account, video(t))
	wantClass(t, err, network.Rejected, "", account.Token.Reveal())
}
