package delivery_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
)

// member connects a member of LinkedIn, which identifies duplicates by their content
// and lists none of them.
func (b *bench) member() account.Account {
	b.t.Helper()
	there, err := b.fake.Add(fake.Account{Network: "linkedin", Name: "desk"})
	b.must(err)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawPath = "/linkedin"+r.URL.Path, ""
		b.fake.ServeHTTP(w, r)
	}))
	b.t.Cleanup(door.Close)
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	b.must(err)
	b.t.Cleanup(client.CloseIdleConnections)
	b.networks = platforms.New(client, platforms.Options{
		LinkedIn: linkedin.Options{Sandbox: door.URL, CreateTimeout: 2 * time.Second},
	})
	b.accounts.Connectors, b.scheduler.Networks = b.networks, b.networks
	b.timing.Settled = 30 * time.Millisecond
	b.token = there.Token
	here, err := b.accounts.ConnectWithToken(b.t.Context(), b.who, linkedin.Name, door.URL, secret.NewText(there.Token))
	b.must(err)
	return here
}

func TestPublish_DuplicateIsTheLostPost(t *testing.T) {
	t.Parallel()
	for _, kind := range []fake.FaultKind{fake.ActThenReset, fake.ResetBefore} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(nil, b.member().ID)
			b.fault(fake.Fault{Kind: kind, Path: "/linkedin/rest/posts"})
			b.publish(b.publisher(), input(p))
			target, posts := b.read(p.ID).Targets[0], b.published()
			if target.Status != post.TargetPosted || len(posts) != 1 || target.RemoteID != posts[0].ID ||
				!strings.HasSuffix(target.RemoteURL, posts[0].ID) {
				t.Errorf("%s as %s %s, published %+v", target.Status, target.RemoteID, target.RemoteURL, posts)
			}
			b.wantDiscreet()
		})
	}
}

// TestPublish_OlderDuplicateFails covers a duplicate that is older than our first send:
// a person must have written the same text.
func TestPublish_OlderDuplicateFails(t *testing.T) {
	var behind atomic.Int64
	b := newBench(t, fake.Options{Clock: func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }})
	to := b.member()
	behind.Store(int64(time.Hour))
	adapter, _ := b.networks.Get(linkedin.Name)
	_, mine, err := b.accounts.Open(t.Context(), to.ID)
	b.must(err)
	_, err = adapter.Publish(t.Context(), mine, network.Submission{Text: text})
	b.must(err)
	behind.Store(0)
	p := b.schedule(nil, to.ID)
	b.fault(fake.Fault{Kind: fake.ResetBefore, Path: "/linkedin/rest/posts"})
	b.publish(b.publisher(), input(p))
	if target := b.read(p.ID).Targets[0]; target.Status != post.TargetFailed ||
		target.ErrorClass != string(network.Duplicate) || target.RemoteID != "" {
		t.Errorf("%s %q as %s", target.Status, target.ErrorClass, target.RemoteID)
	}
}

// TestPublish_LostReplyIsNotSentAgain covers a network that identifies duplicates of
// posts, but not of replies.
func TestPublish_LostReplyIsNotSentAgain(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(func(p *post.Post) { p.Thread = []post.Segment{{Content: "And the second part."}} }, b.member().ID)
	b.fault(fake.Fault{Kind: fake.ActThenReset, Path: "/linkedin/rest/socialActions"})
	b.publish(b.publisher(), input(p))
	var said []string
	for _, there := range b.published() {
		said = append(said, there.Text)
	}
	if target := b.read(p.ID).Targets[0]; target.Status != post.TargetUncertain ||
		!slices.Equal(said, []string{text, "And the second part."}) {
		t.Errorf("%s, published %q", target.Status, said)
	}
}
