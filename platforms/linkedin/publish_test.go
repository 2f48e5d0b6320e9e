package linkedin_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
)

// recorder records request bodies.
type recorder struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (r *recorder) client(inner *http.Client) *http.Client {
	c := *inner
	c.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil && req.URL.Path == "/linkedin/rest/posts" {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			r.mu.Lock()
			r.bodies = append(r.bodies, body)
			r.mu.Unlock()
		}
		return inner.Transport.RoundTrip(req)
	})
	return &c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// For members this is the only way to find a post. The body is identical even if
// the account's settings changed in the meantime.
func TestPublish_RepeatNamesExistingPost(t *testing.T) {
	n := startFake(t, fake.Options{})
	var sent recorder
	l := linkedin.New(sent.client(n.client), linkedin.Options{Sandbox: n.base})
	sub := network.Submission{Key: "k", Text: "Một tin <quan trọng> #HàNội https://example.com/a_b (1)", Language: "vi"}
	prepared, err := l.Prepare(t.Context(), n.member, sub)
	if err != nil {
		t.Fatal(err)
	}
	sub.Handle = prepared.Handle
	if err := n.server.Inject(fake.Fault{Kind: fake.ActThenReset, Path: "/linkedin/rest/posts"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Publish(t.Context(), n.member, sub); network.AsError(err).Class != network.Ambiguous {
		t.Fatalf("%v", err)
	}
	n.member.Settings = map[string]string{"visibility": "CONNECTIONS", "link_card": "first"}
	_, err = l.Publish(t.Context(), n.member, sub)
	posts := n.server.Posts()
	if len(posts) != 1 || posts[0].Text != sub.Text {
		t.Fatalf("published %+v", posts)
	}
	e := network.AsError(err)
	if e.Class != network.Duplicate {
		t.Errorf("e.Class: got %v, want %v", e.Class, network.Duplicate)
	}
	if e.Existing == nil {
		t.Fatal("e.Existing: got nil")
	}
	if e.Existing.RemoteID != posts[0].ID {
		t.Errorf("e.Existing.RemoteID: got %v, want %v", e.Existing.RemoteID, posts[0].ID)
	}
	if e.Existing.URL != posts[0].URL {
		t.Errorf("e.Existing.URL: got %v, want %v", e.Existing.URL, posts[0].URL)
	}
	if !e.Existing.CreatedAt.Equal(posts[0].CreatedAt) {
		t.Errorf("%+v, want %s", e, posts[0].ID)
	}
	if len(sent.bodies) != 2 || !bytes.Equal(sent.bodies[0], sent.bodies[1]) {
		t.Errorf("sent %d bodies that are not the same: %s", len(sent.bodies), bytes.Join(sent.bodies, []byte("\n")))
	}
}

// LinkedIn remembers deleted posts. For an organization, the adapter checks that
// the post named in the refusal exists.
func TestPublish_VerifiesExistingPost(t *testing.T) {
	n := startFake(t, fake.Options{})
	l := n.adapter()
	for name, row := range map[string]struct {
		account network.Account
		named   bool
	}{"Organization": {n.organization, false}, "Member": {n.member, true}} {
		t.Run(name, func(t *testing.T) {
			sub := network.Submission{Text: "Soon deleted by " + name}
			receipt, err := l.Publish(t.Context(), row.account, sub)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Delete(t.Context(), row.account, receipt.RemoteID); err != nil {
				t.Fatal(err)
			}
			_, err = l.Publish(t.Context(), row.account, sub)
			if e := network.AsError(err); e == nil || e.Class != network.Duplicate || (e.Existing != nil) != row.named {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestPublish_Settings(t *testing.T) {
	n := startFake(t, fake.Options{})
	var sent recorder
	l := linkedin.New(sent.client(n.client), linkedin.Options{Sandbox: n.base})
	n.member.Settings = map[string]string{"visibility": "CONNECTIONS", "link_card": "first"}
	n.organization.Settings = n.member.Settings
	for _, account := range []network.Account{n.member, n.organization} {
		if _, err := l.Publish(t.Context(), account,
			network.Submission{Text: "Read https://www.example.com/a?b=1."}); err != nil {
			t.Fatal(err)
		}
	}
	// An organization has no connections
	for i, want := range []string{`"visibility":"CONNECTIONS"`, `"visibility":"PUBLIC"`} {
		body := string(sent.bodies[i])
		if !strings.Contains(body, want) ||
			!strings.Contains(body, `"article":{"source":"https://www.example.com/a?b=1","title":"example.com"}`) {
			t.Errorf("sent %s, want %s and an article", body, want)
		}
	}
}

func TestPublish_ThreadsAreComments(t *testing.T) {
	n := startFake(t, fake.Options{})
	l := n.adapter()
	first, err := l.Publish(t.Context(), n.organization, network.Submission{Text: "First"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Publish(t.Context(), n.organization, network.Submission{
		Text: "Second (plain) #text", ReplyTo: first.RemoteID,
	})
	if err != nil {
		t.Fatal(err)
	}
	third := network.Submission{Text: "Third", ReplyTo: second.RemoteID, RootID: first.RemoteID}
	from := time.Now().Add(-time.Second)
	if err := n.server.Inject(fake.Fault{Kind: fake.ActThen500, Path: "/linkedin/rest/socialActions"}); err != nil {
		t.Fatal(err)
	}
	if _, err = l.Publish(t.Context(), n.organization, third); network.AsError(err).Class != network.Ambiguous {
		t.Fatalf("%v", err)
	}
	posts := n.server.Posts()
	if len(posts) != 3 || posts[1].ReplyTo != first.RemoteID || posts[2].ReplyTo != first.RemoteID ||
		posts[1].Text != "Second (plain) #text" {
		t.Fatalf("published %+v", posts)
	}
	if second.RemoteID != posts[1].ID || second.URL != posts[1].URL || !second.CreatedAt.Equal(posts[1].CreatedAt) {
		t.Errorf("receipt %+v of %+v", second, posts[1])
	}
	finding, err := l.Reconcile(t.Context(), n.organization, third, network.Window{From: from})
	if err != nil || !finding.Found || finding.Receipt.RemoteID != posts[2].ID || finding.Receipt.URL != posts[2].URL {
		t.Errorf("finding %+v, %v", finding, err)
	}
	third.Text = "Never"
	if finding, err = l.Reconcile(t.Context(), n.organization, third, network.Window{From: from}); err != nil ||
		finding.Found || finding.Conclusive {
		t.Errorf("a comment that is not listed: got %+v, %v, want nothing found and nothing concluded", finding, err)
	}
	for range 2 {
		if err := l.Delete(t.Context(), n.organization, second.RemoteID); err != nil {
			t.Error(err)
		}
	}
	if posts := n.server.Posts(); !posts[1].Deleted || posts[0].Deleted {
		t.Errorf("deleted %+v", posts)
	}
	limits, err := l.Limits(t.Context(), n.organization)
	if err != nil || !limits.IdempotentPostsOnly {
		t.Errorf("a comment that is sent twice exists twice, which the limits do not report: %+v, %v", limits, err)
	}
}
