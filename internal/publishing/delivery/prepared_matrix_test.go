package delivery_test

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/mediatest"
	"dateline/platforms/article"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// inAdvance is a network that prepares posts before their time, with the order of the
// calls (POST) for a thread of two with a picture in the first: 0 is no call. A network
// without threads publishes the first only.
type inAdvance struct {
	network         string
	create, publish [2]int // by segment
	// late lists the segments of which the network detects duplicates.
	late [2]bool
}

func inAdvances() []inAdvance {
	return []inAdvance{
		// Replies are comments
		{network: "instagram", create: [2]int{1, 0}, publish: [2]int{2, 3}, late: [2]bool{true, false}},
		{network: "threads", create: [2]int{1, 3}, publish: [2]int{2, 4}, late: [2]bool{true, true}},
		// Identified by the photo
		{network: "facebook", create: [2]int{1, 0}, publish: [2]int{2, 3}, late: [2]bool{true, false}},
		{network: "bluesky", create: [2]int{1, 0}, publish: [2]int{2, 3}, late: [2]bool{true, true}},
		{network: "wordpress", create: [2]int{2, 0}, publish: [2]int{3, 0}, late: [2]bool{true, false}},
		{network: "ghost", create: [2]int{2, 0}, publish: [2]int{3, 0}, late: [2]bool{true, false}},
		{network: "nostr", create: [2]int{1, 0}, publish: [2]int{2, 3}, late: [2]bool{true, true}},
		{network: "zalo", create: [2]int{1, 0}, publish: [2]int{3, 0}, late: [2]bool{true, false}},
	}
}

// segments is the length of the longest thread of two.
func (n inAdvance) segments() int {
	if n.publish[1] == 0 {
		return 1
	}
	return 2
}

// connectAt creates an account at a network of the sandbox and connects it.
func (b *bench) connectAt(networkName, name string) account.Account {
	b.t.Helper()
	made := fake.Account{Network: networkName, Name: name}
	if slices.Contains([]string{"bluesky", "ghost", "nostr", "slack", "wordpress"}, networkName) {
		_, err := b.fake.Add(made)
		b.must(err)
		values := map[string]secret.Text{}
		for field, value := range b.fake.FormValues(networkName, name) {
			values[field] = secret.NewText(value)
		}
		here, err := b.accounts.ConnectForm(b.t.Context(), b.who, account.Instance{Network: networkName, Sandbox: true},
			values)
		b.must(err)
		return here.Account
	}
	if networkName == "facebook" {
		made.Name += "owner"
	}
	there, err := b.fake.Add(made)
	b.must(err)
	if networkName == "facebook" {
		_, err := b.fake.Add(fake.Account{Network: networkName, Kind: "page", OwnerID: there.ID, Name: name})
		b.must(err)
	}
	here, err := b.accounts.ConnectWithToken(b.t.Context(), b.who, networkName, b.fake.NetworkURL(networkName),
		secret.NewText(there.Token))
	b.must(err)
	return here
}

// photo is a picture that every network accepts.
func (b *bench) photo() media.Item {
	b.t.Helper()
	var raw bytes.Buffer
	b.must(jpeg.Encode(&raw, image.NewGray(image.Rect(0, 0, 640, 640)), nil))
	item, err := (&media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 1 << 20}).Upload(b.t.Context(), b.who,
		"harbour.jpg", "The harbour", &raw)
	b.must(err)
	return item
}

func (b *bench) document() media.Item {
	b.t.Helper()
	item, err := (&media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 1 << 20}).Upload(b.t.Context(), b.who,
		"report.pdf", "", bytes.NewReader(mediatest.PDF(2, false)))
	b.must(err)
	return item
}

// illustrated is a thread of n with a picture in its first segment.
func (b *bench) illustrated(n int, accounts ...account.Account) post.Post {
	b.t.Helper()
	write, file := thread(n), b.withMedia(b.photo())
	return b.schedule(func(p *post.Post) { write(p); file(p) }, idsOf(accounts)...)
}

// checkOnce checks that nothing of a post exists twice on an account, and that the
// records match what exists. It returns the target.
func (b *bench) checkOnce(p post.Post, a account.Account, name string) post.Target {
	b.t.Helper()
	now := b.read(p.ID)
	target := targetOn(now, a)
	if target.Status.IsOpen() {
		b.t.Errorf("%s: still %s", name, target.Status)
	}
	known, err := b.store.Publishing.Ledger.PublishedSegments(b.t.Context(), target.ID)
	b.must(err)
	all := b.published()
	for i, s := range now.Segments(target) {
		live := slices.DeleteFunc(slices.Clone(all), func(there fake.Post) bool {
			return there.Network != a.Network || there.Account != name || there.Text != storedText(a.Network, s.Content)
		})
		switch {
		case len(live) > 1:
			b.t.Errorf("%s: segment %d exists %d times: %+v", name, i, len(live), live)
		case i < len(known) && (len(live) != 1 || live[0].ID != known[i].RemoteID):
			b.t.Errorf("%s: segment %d is recorded as %q and exists as %+v", name, i, known[i].RemoteID, live)
		case i >= len(known) && len(live) == 1 && target.Status != post.TargetUncertain:
			b.t.Errorf("%s: %s, although segment %d exists", name, target.Status, i)
		}
	}
	if target.Status == post.TargetPosted && len(known) != len(now.Segments(target)) {
		b.t.Errorf("%s: posted with %d segments", name, len(known))
	}
	return target
}

// storedText is what the fake of a network has of a text.
func storedText(networkName, text string) string {
	if networkName != "ghost" && networkName != "wordpress" && networkName != "zalo" {
		return text
	}
	a := article.New("", text)
	return strings.TrimSpace(a.Title + "\n\n" + article.PlainText(a.HTML))
}

// trouble is a fault of one call that prepares or publishes a post.
type trouble struct {
	name   string
	faults []fake.Fault
	ahead  bool // applies to preparation
	open   bool // the outcome may be uncertain; otherwise the post is published
	known  bool // only where the network itself detects duplicates
	absent bool // nothing was created: a comment, whose absence proves nothing, is then uncertain
}

func troubles() []trouble {
	one := func(f fake.Fault) []fake.Fault { return []fake.Fault{f} }
	list := []trouble{
		{
			name: "Processed", ahead: true,
			faults: one(fake.Fault{Kind: fake.MediaFinished, For: 300 * time.Millisecond}),
		},
		{
			name: "ProcessedInVain", ahead: true, open: true,
			faults: one(fake.Fault{Kind: fake.MediaError, For: 100 * time.Millisecond}),
		},
		{name: "GoneAtOnce", ahead: true, faults: one(fake.Fault{Kind: fake.MediaExpired, For: time.Millisecond})},
		{name: "SlowUpload", ahead: true, faults: one(fake.Fault{Kind: fake.SlowUpload, For: 300 * time.Millisecond})},
		{name: "Hidden", open: true, known: true, faults: []fake.Fault{
			{Kind: fake.Hide, For: longerThanAllLooks}, {Kind: fake.ActThenReset},
		}},
		{name: "AlwaysLost", open: true, faults: one(fake.Fault{Kind: fake.ActThenReset, Count: -1})},
		{name: "AlwaysReset", open: true, faults: one(fake.Fault{Kind: fake.ResetBefore, Count: -1})},
		{name: "ClockAhead", faults: []fake.Fault{
			{Kind: fake.ClockSkew, For: 10 * time.Minute, Count: -1}, {Kind: fake.ActThenReset},
		}},
		{name: "ClockBehind", faults: []fake.Fault{
			{Kind: fake.ClockSkew, For: -10 * time.Minute, Count: -1}, {Kind: fake.ActThenReset},
		}},
		{name: "TokenRefused", open: true, faults: one(fake.Fault{Kind: fake.TokenExpired})},
		{name: "Rejected", open: true, faults: one(fake.Fault{Kind: fake.Status, Status: 403})},
	}
	for name, f := range map[string]fake.Fault{
		"Latency": {Kind: fake.Latency, For: 300 * time.Millisecond}, "Status503": {Kind: fake.Status, Status: 503},
		"Throttled": {Kind: fake.Status, Status: 429, For: time.Second}, "ResetBefore": {Kind: fake.ResetBefore},
		"ActThenReset": {Kind: fake.ActThenReset}, "ActThen500": {Kind: fake.ActThen500},
		"ActThenHang": {Kind: fake.ActThenHang}, "Malformed2xx": {Kind: fake.Malformed2xx},
	} {
		absent := f.Kind == fake.ResetBefore || f.Status == http.StatusServiceUnavailable
		list = append(list, trouble{name: name, faults: one(f), absent: absent}, trouble{
			name: name + "Ahead", ahead: true, faults: one(f),
		})
	}
	return list
}

// Every fault of every call at networks that prepare posts: of a single post, of both
// parts of a thread, and beside a target without faults.
func TestFaultMatrix_Prepared(t *testing.T) {
	t.Parallel()
	for _, f := range troubles() {
		t.Run(f.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Unanswered = 600 * time.Millisecond
			var all sync.WaitGroup
			for _, n := range inAdvances() {
				for place, at := range map[string]struct{ segments, hit int }{
					"single": {1, 0}, "first": {2, 0},
					"last": {2, 1}, "beside": {1, 0},
				} {
					if n.publish[at.segments-1] == 0 {
						continue
					}
					name := n.network + place
					accounts := []account.Account{b.connectAt(n.network, name)}
					if place == "beside" {
						accounts = append(accounts, b.connectAt(n.network, name+"2"))
					}
					nth := n.publish[at.hit]
					if f.ahead {
						nth = n.create[at.hit]
					}
					for _, fault := range f.faults {
						if nth == 0 || f.known && !n.late[at.hit] {
							break
						}
						fault.Network, fault.Account = n.network, name
						if fault.Count == 0 || fault.Kind != fake.ClockSkew {
							fault.Method, fault.Nth = http.MethodPost, nth
						}
						b.must(b.fake.Inject(fault))
					}
					p := b.illustrated(at.segments, accounts...)
					all.Go(func() {
						for i, a := range accounts {
							b.publish(b.publisher(), inputOn(p, a))
							as := name
							if i > 0 {
								as += "2"
							}
							want := post.TargetPosted
							if f.absent && !n.late[at.hit] {
								want = post.TargetUncertain
							}
							if target := b.checkOnce(p, a, as); target.Status != want && (!f.open || i > 0) {
								t.Errorf("%s: got %s %s %q, want %s", as, target.Status, target.ErrorClass,
									target.ErrorMessage, want)
							}
						}
					})
				}
			}
			all.Wait()
			b.wantDiscreet()
		})
	}
}

// advancing is a network that prepares, with one changed call.
type advancing struct {
	changedNetwork
	network.Preparer
}

// Get makes it a finder that knows one network.
func (n advancing) Get(string) (network.Network, bool) { return n, true }

// tamper changes the publishing call of a network.
func (b *bench) tamper(name string, publish func(network.Network, context.Context, network.Account,
	network.Submission) (network.Receipt, error),
) delivery.Networks {
	n, _ := b.networks.Get(name)
	changed := changedNetwork{n, publish}
	if preparer, ok := n.(network.Preparer); ok {
		return advancing{changed, preparer}
	}
	return changed
}

// The network does not respond and acts much later: during the search, during the next
// send, or after it. The second send uses what was prepared for the first one, although
// it expires soon.
func TestPrepare_LatePublish(t *testing.T) {
	t.Parallel()
	for when, delay := range map[string]time.Duration{
		"WhileLooking":    100 * time.Millisecond,
		"AsItIsSentAgain": 400 * time.Millisecond, "AfterAll": 1500 * time.Millisecond,
	} {
		t.Run(when, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Unanswered = 600 * time.Millisecond
			var all sync.WaitGroup
			for _, n := range inAdvances() {
				for _, hit := range []int{0, 1} {
					if !n.late[hit] {
						continue
					}
					name := n.network + []string{"first", "second"}[hit]
					a := b.connectAt(n.network, name)
					p := b.illustrated(n.segments(), a)
					all.Go(func() {
						var late sync.WaitGroup
						sends := 0
						publisher := b.publisher()
						publisher.Networks = b.tamper(n.network,
							func(to network.Network, ctx context.Context, as network.Account,
								s network.Submission,
							) (network.Receipt, error) {
								if sends++; sends != hit+1 {
									return to.Publish(ctx, as, s)
								}
								b.endSoon(p)
								late.Go(func() {
									time.Sleep(delay)
									_, _ = to.Publish(context.WithoutCancel(ctx), as, s)
								})
								return network.Receipt{}, &network.Error{
									Class: network.Ambiguous, Code: "timeout", Message: "The network did not answer.",
								}
							})
						b.publish(publisher, inputOn(p, a))
						late.Wait()
						if target := b.checkOnce(p, a, name); target.Status != post.TargetPosted {
							t.Errorf("%s: %s %s %q", name, target.Status, target.ErrorClass, target.ErrorMessage)
						}
					})
				}
			}
			all.Wait()
		})
	}
}

// endSoon makes all prepared objects of a post expire within half a minute.
func (b *bench) endSoon(p post.Post) {
	b.sql(`update scheduled_posts set platform_media_ids =
		regexp_replace(platform_media_ids::text, '"expires_at": "[^"]*"', '"expires_at": "' || $2 || '"', 'g')::jsonb where post_id = $1`,
		p.ID, time.Now().Add(30*time.Second).UTC().Format(time.RFC3339))
}
