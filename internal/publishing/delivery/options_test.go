package delivery_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// withOptions asks the networks of a post for something.
func withOptions(options post.Options) func(*post.Post) {
	return func(p *post.Post) { p.Options = options }
}

// The options reach the network with each segment of a thread that they apply to,
// and once only if a response is lost.
func TestOptions_ReachTheNetworkOnceWhenAResponseIsLost(t *testing.T) {
	b := newBench(t, fake.Options{})
	desk := b.connect("desk")
	b.must(b.fake.Inject(fake.Fault{Kind: fake.ActThen500, Method: http.MethodPost, Path: createPath, Account: "desk"}))
	p := b.schedule(func(p *post.Post) {
		thread(2)(p)
		p.Options = post.Options{"mastodon": json.RawMessage(`{"visibility":"unlisted","poll":{"choices":["Có","Không"],"duration_minutes":60}}`)}
	}, desk.ID)
	result, _ := b.publish(b.publisher(), input(p))
	if result.Status != post.TargetPosted {
		t.Fatalf("got %+v, want posted", result)
	}
	posts := b.fake.Posts()
	if len(posts) != 2 {
		t.Fatalf("got %d posts, want 2", len(posts))
	}
	for i, published := range posts {
		if published.Options["visibility"] != "unlisted" || (published.Options["poll"] != nil) != (i == 0) {
			t.Errorf("segment %d was sent with %v, want unlisted, and a poll in the first one only", i, published.Options)
		}
	}
}

// Two contents that differ in an option only are different operations.
func TestOptions_ArePartOfTheFingerprint(t *testing.T) {
	b := newBench(t, fake.Options{})
	keys := map[string]bool{}
	for i, options := range []post.Options{nil, {"mastodon": json.RawMessage(`{"visibility":"public"}`)}, {"mastodon": json.RawMessage(`{"visibility":"private"}`)}} {
		desk := b.connect("desk")
		b.publish(b.publisher(), input(b.schedule(withOptions(options), desk.ID)))
		posts := b.fake.Posts()
		if len(posts) != i+1 {
			t.Fatalf("got %d posts, want %d", len(posts), i+1)
		}
		keys[posts[i].IdempotencyKey] = true
	}
	if len(keys) != 3 {
		t.Errorf("got %d idempotency keys, want 3", len(keys))
	}
}

// An archive or a newer version may hold options that this version does not know:
// such a post fails with the reason instead of going out without them.
func TestOptions_UnknownOnesAreNotDropped(t *testing.T) {
	b := newBench(t, fake.Options{})
	desk := b.connect("desk")
	result, _ := b.publish(b.publisher(), input(b.schedule(withOptions(post.Options{"mastodon": json.RawMessage(`{"colour":"red"}`)}), desk.ID)))
	if result.Status != post.TargetFailed || len(b.fake.Posts()) != 0 {
		t.Errorf("got %+v and %d posts, want failed and none", result, len(b.fake.Posts()))
	}
}
