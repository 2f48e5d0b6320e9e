package platformtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"dateline/internal/secret"
	"dateline/platforms/network"
)

func testLimits(t *testing.T, s Subject) {
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range limits.Quotas {
		known := q.Requests > 0 && q.Per > 0
		if q.Bucket == "" || q.Bucket != strings.ToLower(q.Bucket) || q.Scope != network.ScopeAccount && q.Scope != network.ScopeApp ||
			len(q.Costs) == 0 || !known && (q.Requests != 0 || q.Default) {
			t.Errorf("a quota without bucket, scope, costs or numbers: %+v", q)
		}
	}
	if limits.AllowedBy == "" || limits.MaxCharacters < 1 || limits.MaxMedia < 1 {
		t.Errorf("limits without name, characters or attachments: %+v", limits)
	}
}

func testPublish(t *testing.T, s Subject) {
	sub := submission("Giá xăng tăng từ 15 giờ hôm nay. https://example.com/a/very/long/path/to/an/article?ref=desk\n\nSecond paragraph & <tag>")
	sub.Language = "vi"
	before := time.Now().Add(-5 * time.Minute)
	receipt := publish(t, s, sub)
	if receipt.RemoteID == "" {
		t.Error("receipt without remote id")
	}
	if u, err := url.Parse(receipt.URL); err != nil || u.Host == "" {
		t.Errorf("permalink %q is no address", receipt.URL)
	}
	if !receipt.CreatedAt.IsZero() && (receipt.CreatedAt.Before(before) || receipt.CreatedAt.After(time.Now().Add(5*time.Minute))) {
		t.Errorf("created at %v, which is not now", receipt.CreatedAt)
	}
	if s.Fake != nil {
		posts := published(s, sub)
		if len(posts) != 1 {
			t.Fatalf("%d posts, want 1", len(posts))
		}
		if posts[0].ID != receipt.RemoteID || posts[0].URL != receipt.URL || posts[0].Language != "vi" || !posts[0].CreatedAt.Equal(receipt.CreatedAt) {
			t.Errorf("receipt %+v does not tell of %+v", receipt, posts[0])
		}
		if receipt.RequestID == "" {
			t.Error("receipt without the network's request id")
		}
		wantRates(t, s, network.UsePublish, receipt.Rates, 1)
	}
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	if limits.IdempotencyWindow == 0 {
		return
	}
	again := publish(t, s, sub)
	if again.RemoteID != receipt.RemoteID {
		t.Errorf("the same key made %s after %s", again.RemoteID, receipt.RemoteID)
	}
}

// wantRates checks what an answer said of rate limits, where the network says
// it at all: every bucket must be one of the declared ones, because nobody asks
// for a permit from another.
func wantRates(t *testing.T, s Subject, use network.Use, rates []network.Rate, atLeast int) {
	t.Helper()
	if s.ReportsRates && len(rates) == 0 {
		t.Error("the answer's word on rate limits is lost")
	}
	limits, err := s.Network.Limits(t.Context(), s.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates {
		if r.Limit < 1 || r.Remaining < atLeast || r.Remaining > r.Limit || !r.ResetAt.IsZero() && time.Until(r.ResetAt) < -time.Minute {
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
	staged := stage(t, s, picture(t, "Một tấm ảnh: a diagonal line"))
	if staged.RemoteID == "" {
		t.Fatal("staged without remote id")
	}
	sub := submission("With a picture")
	sub.MediaIDs = []string{staged.RemoteID}
	publish(t, s, sub)
	if s.Fake == nil {
		return
	}
	posts := published(s, sub)
	if len(posts) != 1 || len(posts[0].Media) != 1 {
		t.Fatalf("published %+v, want one post with one attachment", posts)
	}
	if m := posts[0].Media[0]; m.Description != "Một tấm ảnh: a diagonal line" || m.MIMEType != "image/png" || m.Bytes == 0 {
		t.Errorf("attachment %+v", m)
	}
	// Without text.
	alone := network.Submission{Key: rand.Text(), MediaIDs: []string{stage(t, s, picture(t, "")).RemoteID}}
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
	parent := publish(t, s, submission("First of a thread"))
	reply := submission("Second of a thread")
	reply.ReplyTo = parent.RemoteID
	publish(t, s, reply)
	if s.Fake != nil {
		if posts := published(s, reply); len(posts) != 1 || posts[0].ReplyTo != parent.RemoteID {
			t.Errorf("published %+v, want one reply to %s", posts, parent.RemoteID)
		}
	}
}

func testDelete(t *testing.T, s Subject) {
	sub := submission("To be deleted")
	receipt, err := s.Network.Publish(t.Context(), s.Account, sub)
	if err != nil {
		t.Fatal(err)
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
	account := s.Account
	account.Token = secret.NewText("wrong-" + rand.Text())
	_, err := s.Network.Publish(t.Context(), account, submission("Never"))
	wantError(t, err, network.Auth, account.Token)
	_, err = s.Network.Stage(t.Context(), account, picture(t, ""))
	wantError(t, err, network.Auth, account.Token)
	wantError(t, s.Network.Delete(t.Context(), account, "1"), network.Auth, account.Token)
	_, err = s.Network.Reconcile(t.Context(), account, submission("Never"), network.Window{From: time.Now()})
	wantError(t, err, network.Auth, account.Token)
}

func testConnect(t *testing.T, s Subject) {
	app, err := s.Connector.Register(t.Context(), s.BaseURL, s.RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	if app.ClientID == "" || app.RedirectURI != s.RedirectURI {
		t.Errorf("app %+v", app)
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	allow := func() string {
		callback := s.Approve(t, s.Connector.AuthorizeURL(app, "a state", challenge))
		if callback.Get("state") != "a state" || callback.Get("code") == "" {
			t.Fatalf("the callback got %v", callback)
		}
		return callback.Get("code")
	}
	code := allow()
	_, err = s.Connector.Exchange(t.Context(), app, code, "another verifier")
	wantError(t, err, network.Rejected, app.ClientSecret, secret.NewText(code))

	account, err := s.Connector.Exchange(t.Context(), app, allow(), verifier)
	if err != nil {
		t.Fatal(err)
	}
	if account.Token.Empty() || len(account.Scopes) == 0 {
		t.Errorf("account without token or scopes: %+v", account)
	}
	account, err = s.Connector.Identify(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if account.RemoteID == "" || account.Handle == "" || account.Name == "" {
		t.Errorf("not identified: %+v", account)
	}
	if _, err := s.Network.Publish(t.Context(), account, submission("Connected")); err != nil {
		t.Errorf("publish with the new token: %v", err)
	}
	_, err = s.Connector.Identify(t.Context(), network.Account{BaseURL: account.BaseURL, Token: secret.NewText("wrong")})
	if e := wantError(t, err, network.Auth); e.Status != http.StatusUnauthorized {
		t.Errorf("status %d", e.Status)
	}
}

func testCounts(t *testing.T, s Subject) {
	for _, row := range s.Counts {
		t.Run(row.Name, func(t *testing.T) {
			if got := s.Network.Count(row.Text, s.Limits); got != row.Want {
				t.Errorf("Count(%q) = %d, want %d", row.Text, got, row.Want)
			}
		})
	}
}

func testCheck(t *testing.T, s Subject) {
	ok := network.Content{Text: "Fine.", Media: []network.MediaInfo{{MIMEType: "image/png", Bytes: 100, Width: 10, Height: 10}}}
	if problems := s.Network.Check(ok, s.Limits); len(problems) > 0 {
		t.Errorf("problems with good content: %+v", problems)
	}
	long := make([]byte, s.Limits.MaxCharacters+1)
	for i := range long {
		long[i] = 'a'
	}
	png := network.MediaInfo{MIMEType: "image/png", Bytes: 100}
	for name, row := range map[string]struct {
		content     network.Content
		field, code string
	}{
		"Empty":        {network.Content{Text: " \n"}, "content", "empty"},
		"TooLong":      {network.Content{Text: string(long)}, "content", "too_long"},
		"TooMany":      {network.Content{Media: slices.Repeat([]network.MediaInfo{png}, s.Limits.MaxMedia+1)}, "attachments", "too_many_attachments"},
		"Type":         {network.Content{Media: []network.MediaInfo{png, {MIMEType: "application/x-nonsense"}}}, "attachments[1]", "unsupported_type"},
		"TooLarge":     {network.Content{Media: []network.MediaInfo{{MIMEType: "image/png", Bytes: s.Limits.MaxImageBytes + 1}}}, "attachments[0]", "too_large"},
		"LongAltText":  {network.Content{Media: []network.MediaInfo{{MIMEType: "image/png", AltText: string(make([]byte, s.Limits.MaxAltText+1))}}}, "attachments[0]", "alt_text_too_long"},
		"LongestTaken": {network.Content{Text: string(long[1:])}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			problems := s.Network.Check(row.content, s.Limits)
			if row.code == "" {
				if len(problems) > 0 {
					t.Errorf("problems %+v, want none", problems)
				}
				return
			}
			for _, p := range problems {
				if p.Field == row.field && p.Code == row.code && p.Message != "" {
					return
				}
			}
			t.Errorf("problems %+v, want %s on %s", problems, row.code, row.field)
		})
	}
}
