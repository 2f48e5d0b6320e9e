package platformtest

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

func testLimits(t *testing.T, s Subject) {
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range limits.Quotas {
		known := q.Requests > 0 && q.Per > 0
		if q.Bucket == "" {
			t.Error("q.Bucket is empty")
		}
		if q.Bucket != strings.ToLower(q.Bucket) {
			t.Errorf("q.Bucket: got %v, want %v", q.Bucket, strings.ToLower(q.Bucket))
		}
		if q.Scope != network.ScopeAccount && q.Scope != network.ScopeApp {
			t.Errorf("a quota without bucket, scope, costs or numbers: %+v", q)
		}
		if len(q.Costs) == 0 {
			t.Error("len(q.Costs) is empty")
		}
		if !known && (q.Requests != 0 || q.Default) {
			t.Errorf("a quota without bucket, scope, costs or numbers: %+v", q)
		}
	}
	if limits.AllowedBy == "" || limits.MaxCharacters < 1 || limits.MaxMedia < 1 {
		t.Errorf("limits without name, characters or attachments: %+v", limits)
	}
}

func testPublish(t *testing.T, s Subject) {
	sub := submission(t, s, "Giá xăng tăng từ 15 giờ hôm nay. "+
		"https://example.com/a/very/long/path/to/an/article?ref=desk\n\nSecond paragraph & <tag>")
	sub.Language = "vi"
	before := time.Now().Add(-5 * time.Minute)
	receipt := publish(t, s, sub)
	if receipt.RemoteID == "" {
		t.Error("receipt without remote id")
	}
	if u, err := url.Parse(receipt.URL); err != nil || u.Host == "" {
		t.Errorf("permalink %q is not a URL", receipt.URL)
	}
	if !receipt.CreatedAt.IsZero() &&
		(receipt.CreatedAt.Before(before) || receipt.CreatedAt.After(time.Now().Add(5*time.Minute))) {
		t.Errorf("created at %v, which is not now", receipt.CreatedAt)
	}
	if s.Fake != nil {
		posts := published(s, sub)
		if len(posts) != 1 {
			t.Fatalf("%d posts, want 1", len(posts))
		}
		if posts[0].ID != receipt.RemoteID || posts[0].URL != receipt.URL || !s.NoLanguage &&
			posts[0].Language != "vi" || !receipt.CreatedAt.IsZero() &&
			posts[0].CreatedAt.Sub(receipt.CreatedAt).Abs() >= time.Second {
			t.Errorf("receipt %+v does not describe %+v", receipt, posts[0])
		}
		if receipt.RequestID == "" && !s.NoRequestID {
			t.Error("receipt without the network's request id")
		}
		wantRates(t, s, network.CallPublish, receipt.Rates, 1)
	}
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	if limits.IdempotencyWindow == 0 {
		return
	}
	again, err := s.Network.Publish(t.Context(), s.Account, prepare(t, s, sub))
	if e := network.AsError(err); e != nil && e.Class == network.Duplicate && e.Existing != nil {
		again = *e.Existing
	} else if err != nil {
		t.Fatal(err)
	}
	if again.RemoteID != receipt.RemoteID {
		t.Errorf("the same key made %s after %s", again.RemoteID, receipt.RemoteID)
	}
}

// wantRates checks the rate limits that a response reported, if the network
// reports any: every bucket must be declared in Limits.Quotas, because delivery
// acquires tokens from those only.
func wantRates(t *testing.T, s Subject, use network.CallKind, rates []network.RateStatus, atLeast int) {
	t.Helper()
	if s.ReportsRates && len(rates) == 0 {
		t.Error("the receipt lacks the reported rate limits")
	}
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates {
		if r.Limit < 1 || r.Remaining < atLeast || r.Remaining > r.Limit || !r.ResetAt.IsZero() &&
			time.Until(r.ResetAt) < -time.Minute {
			t.Errorf("rate %+v", r)
		}
		if !slices.ContainsFunc(limits.Quotas, func(q network.Quota) bool {
			return q.Bucket == r.Bucket && q.Scope == r.Scope && q.Cost(use) > 0
		}) {
			t.Errorf("the bucket of %+v is not declared for %s", r, use)
		}
	}
}

func testMedia(t *testing.T, s Subject) {
	plain := s
	plain.NeedsMedia = false
	sub := submission(t, plain, "With an image")
	attach(t, s, &sub, "Một tấm ảnh: a diagonal line")
	if sub.MediaIDs[0] == "" && !s.MediaWithPost {
		t.Fatal("staged without remote id")
	}
	publish(t, s, sub)
	if s.Fake == nil {
		return
	}
	posts := published(s, sub)
	if len(posts) != 1 || len(posts[0].Media) != 1 {
		t.Fatalf("published %+v, want one post with one attachment", posts)
	}
	if m := posts[0].Media[0]; !s.NoAltText && m.Description != "Một tấm ảnh: a diagonal line" ||
		m.MIMEType != newImage(t, s, "").MIMEType || m.Bytes == 0 {
		t.Errorf("attachment %+v", m)
	}
	// Without text.
	alone := network.Submission{Key: rand.Text()}
	attach(t, s, &alone, "")
	publish(t, s, alone)
}

func testReply(t *testing.T, s Subject) {
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	if !limits.SupportsReply {
		t.Log("The network has no replies.")
		return
	}
	parent := publish(t, s, submission(t, s, "First of a thread"))
	text := s
	text.NeedsMedia = s.NeedsMedia && !s.TextOnlyReplies
	reply := submission(t, text, "Second of a thread")
	reply.ReplyTo = parent.RemoteID
	publish(t, s, reply)
	if s.Fake != nil {
		if posts := published(s, reply); len(posts) != 1 || posts[0].ReplyTo != parent.RemoteID {
			t.Errorf("published %+v, want one reply to %s", posts, parent.RemoteID)
		}
	}
}

func testDelete(t *testing.T, s Subject) {
	sub := submission(t, s, "To be deleted")
	receipt, err := s.Network.Publish(t.Context(), s.Account, prepare(t, s, sub))
	if err != nil {
		t.Fatal(err)
	}
	if s.NoDelete {
		if e := wantError(t, s.Network.Delete(t.Context(), s.Account, receipt.RemoteID),
			network.Rejected); e.Code != network.CodeUnsupported {
			t.Errorf("code %s", e.Code)
		}
		return
	}
	for _, attempt := range []string{"first", "second"} {
		if err := s.Network.Delete(t.Context(), s.Account, receipt.RemoteID); err != nil {
			t.Errorf("%s delete: %v", attempt, err)
		}
	}
	if s.Fake != nil {
		if posts := published(s, sub); len(posts) != 1 || !posts[0].Deleted {
			t.Errorf("published %+v, want one deleted post", posts)
		}
	}
}

func testBadToken(t *testing.T, s Subject) {
	sub := prepare(t, s, submission(t, s, "Never"))
	account := s.Account
	account.Token = secret.NewText("wrong-" + rand.Text())
	if s.BadToken != "" {
		account.Token = secret.NewText(s.BadToken)
	}
	_, err := s.Network.Publish(t.Context(), account, sub)
	wantError(t, err, network.Auth, account.Token)
	if !s.MediaWithPost {
		_, err = s.Network.Stage(t.Context(), account, newImage(t, s, ""))
		wantError(t, err, network.Auth, account.Token)
	}
	if !s.NoDelete {
		receipt := publish(t, s, submission(t, s, "Not to be deleted"))
		wantError(t, s.Network.Delete(t.Context(), account, receipt.RemoteID), network.Auth, account.Token)
	}
	if !s.Unverifiable && !s.PublicReads {
		_, err = s.Network.Reconcile(t.Context(), account, sub, network.Window{From: time.Now()})
		wantError(t, err, network.Auth, account.Token)
	}
}
