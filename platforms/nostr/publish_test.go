package nostr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/platformtest"
)

// relays is an account with relays of a fake, by their names.
type relays struct {
	*testing.T

	fake    *fake.Server
	nostr   *nostr.Nostr
	account network.Account
}

func newRelays(t *testing.T, names ...string) relays {
	t.Helper()
	server := startFake(t, fake.Options{})
	n := nostr.New(platformtest.Client(t), nostr.Options{
		AnswerTimeout: 900 * time.Millisecond, Pauses: pauses(),
	})
	var addresses []string
	for _, name := range names {
		addresses = append(addresses, relayAddress(server, name))
	}
	values := form(server, "desk")
	values["relays"] = secret.NewText(strings.Join(addresses, ", "))
	values["media_server"] = secret.NewText(server.NetworkURL("nostr"))
	return relays{t, server, n, connect(t, n, "", values)}
}

func relayAddress(server *fake.Server, name string) string {
	return "ws" + strings.TrimPrefix(server.NetworkURL("nostr"), "http") + "/" + name
}

func (r relays) prepared(s network.Submission) network.Submission {
	r.Helper()
	ready, err := r.nostr.Prepare(r.Context(), r.account, s)
	if err != nil || !ready.Ready {
		r.Fatalf("Prepare: %+v, %v", ready, err)
	}
	s.Handle = ready.Handle
	return s
}

// on returns an account with other relays.
func (r relays) on(names ...string) network.Account {
	var addresses []string
	for _, name := range names {
		addresses = append(addresses, relayAddress(r.fake, name))
	}
	account := r.account
	account.Settings = map[string]string{"relays": strings.Join(addresses, " ")}
	return account
}

// posts are the posts that exist, also those that were deleted.
func (r relays) posts(text string) (found []fake.Post) {
	for _, p := range r.fake.Posts() {
		if p.Text == text {
			found = append(found, p)
		}
	}
	return found
}

func (r relays) inject(f fake.Fault) {
	r.Helper()
	if err := r.fake.Inject(f); err != nil {
		r.Fatal(err)
	}
}

func codes(receipt network.Receipt) (out []string) {
	for _, d := range receipt.Differences {
		out = append(out, d.Code)
	}
	return out
}

// A post is one event on all relays, however they answer, and sending it again changes nothing.
func TestPublish_OnRelaysThatAnswerDifferently(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay", "silent", "strict", "private")
	s := r.prepared(network.Submission{Key: "1", Text: "Triều cường < 1,6 m & mưa\u2028hết"})
	first, err := r.nostr.Publish(t.Context(), r.account, s)
	if err != nil || len(first.Differences) > 0 {
		t.Fatalf("got %+v, %v, want it on all relays", first, err)
	}
	for range 2 {
		again, err := r.nostr.Publish(t.Context(), r.account, s)
		if err != nil || again.RemoteID != first.RemoteID {
			t.Errorf("sent again: got %+v, %v, want %s", again, err, first.RemoteID)
		}
	}
	for _, name := range []string{"relay", "silent", "strict", "private"} {
		found, err := r.nostr.Reconcile(t.Context(), r.on(name), s, network.Window{})
		if err != nil || !found.Found || found.Receipt.RemoteID != first.RemoteID {
			t.Errorf("%s: got %+v, %v, want the post", name, found, err)
		}
	}
	if posts := r.posts(s.Text); len(posts) != 1 || posts[0].Requests != 1 {
		t.Errorf("got %+v, want one post that was sent once", posts)
	}
}

// One relay is enough for a post to be public. The others are tried again, and then named.
func TestPublish_NamesTheRelaysWithoutThePost(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay", "silent", "strict")
	r.inject(fake.Fault{Kind: fake.Status, Status: 503, Path: "/nostr/silent/event"})
	r.inject(fake.Fault{Kind: fake.ActThenReset, Path: "/nostr/strict/event"})
	s := r.prepared(network.Submission{Key: "1", Text: "Hai rơ-le bận lúc đầu"})
	receipt, err := r.nostr.Publish(t.Context(), r.account, s)
	if err != nil || slices.Contains(codes(receipt), network.DifferenceRelays) && !strings.Contains(
		receipt.Differences[0].Text, "silent") {
		t.Fatalf("got %+v, %v, want the post", receipt, err)
	}
	found, err := r.nostr.Reconcile(t.Context(), r.account, s, network.Window{})
	if err != nil || !found.Found {
		t.Errorf("got %+v, %v, want it found", found, err)
	}

	r.inject(fake.Fault{Kind: fake.Status, Status: 403, Path: "/nostr/silent/event", Count: -1})
	r.inject(fake.Fault{Kind: fake.Status, Status: 429, Path: "/nostr/strict/event", Count: -1})
	s = r.prepared(network.Submission{Key: "2", Text: "Hai rơ-le từ chối"})
	receipt, err = r.nostr.Publish(t.Context(), r.account, s)
	if err != nil || !slices.Equal(codes(receipt), []string{network.DifferenceRelays}) {
		t.Fatalf("got %+v, %v, want a post on one of three relays", receipt, err)
	}
	if text := receipt.Differences[0].Text; !strings.Contains(text, "1 relay of 3") ||
		!strings.Contains(text, "/nostr/silent, ") || !strings.Contains(text, "/nostr/strict") {
		t.Errorf("difference: got %q, want both relays in it", text)
	}
	if len(r.posts("Hai rơ-le bận lúc đầu")) != 1 || len(r.posts("Hai rơ-le từ chối")) != 1 {
		t.Errorf("got %+v, want each text once", r.fake.Posts())
	}
}

// A relay that accepts what it does not store does not make a post published.
func TestPublish_ProvesWhatRelaysSay(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "lossy")
	s := r.prepared(network.Submission{Key: "1", Text: "Không ai thấy"})
	_, err := r.nostr.Publish(t.Context(), r.account, s)
	if e := network.AsError(err); e == nil || e.Class != network.Ambiguous || e.Code != "not_stored" {
		t.Fatalf("got %v, want an ambiguous result", err)
	}
	found, err := r.nostr.Reconcile(t.Context(), r.account, s, network.Window{})
	if err != nil || found.Found || !found.Conclusive {
		t.Errorf("got %+v, %v, want that no relay has it", found, err)
	}
}

// After a deletion nothing is sent again, although some relays would take it.
func TestPublish_NotAfterADeletion(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, -time.Minute} {
		r := newRelays(t, "relay", "silent", "strict")
		s := network.Submission{Key: "1", Text: "Đã xóa"}
		ready := r.prepared(s)
		if age != 0 { // signed a while ago
			ready = r.backdated(s, time.Now().Add(age))
		}
		receipt, err := r.nostr.Publish(t.Context(), r.account, ready)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.nostr.Delete(t.Context(), r.account, receipt.RemoteID); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.nostr.Publish(t.Context(), r.account, ready)
		if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != "deletion_requested" {
			t.Errorf("got %v, want that it was deleted", err)
		}
		if posts := r.posts(s.Text); len(posts) != 1 || !posts[0].Deleted {
			t.Errorf("got %+v, want one deleted post", posts)
		}
		found, err := r.nostr.Reconcile(t.Context(), r.account, ready, network.Window{})
		if err != nil || found.Found || found.Conclusive || found.Evidence[0].Code != "event_deleted" {
			t.Errorf("got %+v, %v, want that it was deleted", found, err)
		}
	}
}

// backdated signs a post as it was signed some time ago.
func (r relays) backdated(s network.Submission, at time.Time) network.Submission {
	r.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(r.prepared(s).Handle), &e); err != nil {
		r.Fatal(err)
	}
	s.Handle = nostr.Signed(r.T, r.account, e, at)
	return s
}

// While a relay cannot be asked, a post that the others do not have is not known to be absent.
func TestReconcile_NeedsEveryRelay(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay", "silent")
	s := r.prepared(network.Submission{Key: "1", Text: "Chưa gửi"})
	r.inject(fake.Fault{Kind: fake.ResetBefore, Path: "/nostr/silent/req", Count: -1})
	if found, err := r.nostr.Reconcile(t.Context(), r.account, s, network.Window{}); network.AsError(err) == nil ||
		network.AsError(err).Class != network.Transient {
		t.Errorf("got %+v, %v, want that a relay did not answer", found, err)
	}
	if _, err := r.nostr.Publish(t.Context(), r.account, s); err != nil {
		t.Fatal(err)
	}
	found, err := r.nostr.Reconcile(t.Context(), r.account, s, network.Window{})
	if err != nil || !found.Found {
		t.Errorf("got %+v, %v, want it found on the other relay", found, err)
	}
}

// The event is dated at the time of the post, and signed again when the post is moved.
func TestPrepare_IsDatedAtTheTimeOfThePost(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	due := time.Now().Add(7 * time.Minute).Truncate(time.Second)
	ready, err := r.nostr.Prepare(t.Context(), r.account, network.Submission{Key: "1", Text: "Bảy phút nữa", Due: due})
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		CreatedAt int64 `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(ready.Handle), &e); err != nil || e.CreatedAt != due.Unix() {
		t.Errorf("dated %d, want %d (%v)", e.CreatedAt, due.Unix(), err)
	}
	if valid := ready.ExpiresAt.Sub(due); valid < 2*time.Minute || valid > time.Hour {
		t.Errorf("expires %v after its time, want some minutes", valid)
	}
	again, err := r.nostr.Prepare(t.Context(), r.account, network.Submission{
		Key: "1", Text: "Bảy phút nữa", Due: due.Add(time.Hour), Handle: ready.Handle,
	})
	if err != nil || again.Handle != ready.Handle {
		t.Errorf("a signed post was signed again: %v", err)
	}
	late, err := r.nostr.Prepare(t.Context(), r.account, network.Submission{Key: "1", Text: "Trễ", Due: due.Add(-time.Hour)})
	if err != nil || json.Unmarshal([]byte(late.Handle), &e) != nil || time.Since(time.Unix(e.CreatedAt, 0)) > time.Minute {
		t.Errorf("a late post is dated %d, want now (%v)", e.CreatedAt, err)
	}
}

// Tags name what a text refers to, and describe its files.
func TestPrepare_Tags(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	values := form(r.fake, "other")
	values["relays"] = secret.NewText(relayAddress(r.fake, "relay"))
	other := connect(t, r.nostr, "", values)
	tags, content := r.tagsOf(network.Submission{
		Key: "1", Language: "vi", RootID: strings.Repeat("1", 64), ReplyTo: strings.Repeat("2", 64),
		Text: "Ch\u006f\u0300 #Mưa #mưa #HàNội\r\nTheo @" + nostr.PublicName(other.RemoteID) + "\u0001.",
	})
	if want := "Chò #Mưa #mưa #HàNội\nTheo nostr:" + nostr.PublicName(other.RemoteID) + "."; content != want {
		t.Errorf("content: got %q, want %q", content, want)
	}
	for _, want := range [][]string{
		{"e", strings.Repeat("1", 64), "", "root"},
		{"e", strings.Repeat("2", 64), "", "reply"},
		{"p", r.account.RemoteID},
		{"p", other.RemoteID},
		{"t", "mưa"},
		{"t", "hànội"},
		{"L", "ISO-639-1"},
		{"l", "vi", "ISO-639-1"},
	} {
		if n := len(slices.DeleteFunc(slices.Clone(tags), func(tag []string) bool { return !slices.Equal(tag, want) })); n != 1 {
			t.Errorf("%v is there %d times, want once: %v", want, n, tags)
		}
	}
}

func (r relays) tagsOf(s network.Submission) (tags [][]string, content string) {
	r.Helper()
	var e struct {
		Tags    [][]string
		Content string
	}
	if err := json.Unmarshal([]byte(r.prepared(s).Handle), &e); err != nil {
		r.Fatal(err)
	}
	return e.Tags, e.Content
}

// A reply to a post of somebody else belongs to its thread.
func TestPrepare_ReplyToAnotherAccount(t *testing.T) {
	t.Parallel()
	r := newRelays(t, "relay")
	first, err := r.nostr.Publish(t.Context(), r.account, r.prepared(network.Submission{Key: "1", Text: "Bài đầu"}))
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.nostr.Publish(t.Context(), r.account, r.prepared(network.Submission{
		Key: "2", Text: "Trả lời", ReplyTo: first.RemoteID, RootID: first.RemoteID,
	}))
	if err != nil {
		t.Fatal(err)
	}
	tags, _ := r.tagsOf(network.Submission{Key: "3", Text: "Trả lời tiếp", ReplyTo: second.RemoteID})
	if !slices.ContainsFunc(tags, func(tag []string) bool { return slices.Equal(tag, []string{"e", first.RemoteID, "", "root"}) }) {
		t.Errorf("got %v, want the root %s", tags, first.RemoteID)
	}
	_, err = r.nostr.Prepare(t.Context(), r.account, network.Submission{Key: "4", Text: "Trả lời", ReplyTo: strings.Repeat("0", 64)})
	if e := network.AsError(err); e == nil || e.Class != network.Rejected || e.Code != "reply_target_deleted" {
		t.Errorf("a reply to nothing: got %v, want that it does not exist", err)
	}
}
