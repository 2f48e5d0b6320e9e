package delivery_test

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// everyNetwork is a network with the number of the call (POST) that publishes each
// segment of a thread of two; 0: it has no threads. Only segments on Instagram and Zalo have a picture.
type everyNetwork struct {
	network string
	publish [2]int
	blind   [2]bool // it does not list the segment
}

func everyNetworks() []everyNetwork {
	return []everyNetwork{
		{network: "mastodon", publish: [2]int{1, 2}},
		{network: "x", publish: [2]int{1, 2}},
		{network: "facebook", publish: [2]int{1, 2}},
		// A member: refusals name the post, but nothing names a comment
		{network: "linkedin", publish: [2]int{1, 2}, blind: [2]bool{false, true}},
		{network: "instagram", publish: [2]int{2, 3}},
		{network: "threads", publish: [2]int{2, 4}},
		{network: "bluesky", publish: [2]int{1, 2}},
		{network: "discord", publish: [2]int{1, 2}},
		{network: "slack", publish: [2]int{1, 2}},
		{network: "telegram", publish: [2]int{1, 2}, blind: [2]bool{true, true}},
		{network: "wordpress", publish: [2]int{2, 0}}, // after the draft
		{network: "ghost", publish: [2]int{2, 0}},
		{network: "nostr", publish: [2]int{1, 2}},
		{network: "zalo", publish: [2]int{3, 0}}, // after creating and verifying it
	}
}

// connectAnywhere creates an account at any network and connects it.
func (b *bench) connectAnywhere(n everyNetwork, name string) account.Account {
	b.t.Helper()
	form := func(values map[string]secret.Text) account.Account {
		here, err := b.accounts.ConnectForm(b.t.Context(), b.who, account.Instance{Network: n.network, Sandbox: true},
			values)
		b.must(err)
		return here.Account
	}
	switch n.network {
	case "mastodon":
		return b.connect(name)
	case "discord":
		there, err := b.fake.Add(fake.Account{Network: n.network, Name: name})
		b.must(err)
		return form(map[string]secret.Text{
			"bot_token": secret.NewText(there.Token), "channel_id": secret.NewText(there.ID),
		})
	case "telegram":
		there, err := b.fake.Add(fake.Account{
			Network: n.network, Name: name, ID: fmt.Sprintf("-1002%09d", crc32.ChecksumIEEE([]byte(name))%1e9),
		})
		b.must(err)
		return form(map[string]secret.Text{
			"bot_token": secret.NewText(there.Token), "chat": secret.NewText("@" + there.Name),
		})
	default:
		return b.connectAt(n.network, name)
	}
}

// mishap is a fault of the one call that publishes a segment.
type mishap struct {
	name   string
	faults []fake.Fault
	found  bool // the post exists and is listed, so it is found
	lags   bool // listings show it after the searches
	late   bool // the network acts long after the connection is gone
}

func mishaps() []mishap {
	return []mishap{
		{name: "ActThenReset", faults: []fake.Fault{{Kind: fake.ActThenReset}}, found: true},
		{name: "ActThen500", faults: []fake.Fault{{Kind: fake.ActThen500}}, found: true},
		{name: "ActThenHang", faults: []fake.Fault{{Kind: fake.ActThenHang}}, found: true},
		{name: "Malformed2xx", faults: []fake.Fault{{Kind: fake.Malformed2xx}}, found: true},
		{name: "ActLate", faults: []fake.Fault{{Kind: fake.ActLate, For: 700 * time.Millisecond}}, found: true, late: true},
		{
			name: "ListedLate", faults: []fake.Fault{
				{Kind: fake.Hide, For: 120 * time.Millisecond},
				{Kind: fake.ActThenReset},
			}, found: true,
		},
		{
			name: "ListedTooLate", faults: []fake.Fault{
				{Kind: fake.Hide, For: longerThanAllLooks},
				{Kind: fake.ActThenReset},
			}, lags: true,
		},
		{
			name: "ListedTooLateTwice", faults: []fake.Fault{
				{Kind: fake.Hide, For: longerThanAllLooks},
				{Kind: fake.ActThenReset, Count: 2},
			}, lags: true,
		},
		{name: "ResetBefore", faults: []fake.Fault{{Kind: fake.ResetBefore}}},
		{name: "Status503", faults: []fake.Fault{{Kind: fake.Status, Status: http.StatusServiceUnavailable}}},
		{name: "AlwaysLost", faults: []fake.Fault{{Kind: fake.ActThenReset, Count: -1}}},
	}
}

// TestEveryNetwork_NoDuplicates sends the first or the second part of a thread into
// every fault, at every network, with idempotency keys honored and ignored, and with
// the text listed unchanged and rewritten. Each part exists at most once, and
// unresolved ones are uncertain.
func TestEveryNetwork_NoDuplicates(t *testing.T) {
	t.Parallel()
	for _, m := range mishaps() {
		for _, key := range []string{"KeyHonored", "KeyIgnored"} {
			t.Run(m.name+"/"+key, func(t *testing.T) {
				ignored := key == "KeyIgnored"
				options := fake.Options{}
				if ignored {
					options.Software = "gotosocial 0.20.1"
				}
				if ignored && m.lags {
					options.Software = "homemade 0.1" // GoToSocial lists posts immediately
				}
				b := newBench(t, options)
				b.timing.Unanswered, b.timing.Settled = 600*time.Millisecond, 100*time.Millisecond
				if m.late {
					b.timing.MaxFinish, b.timing.Settled = 1500*time.Millisecond, 1500*time.Millisecond
				}
				var all sync.WaitGroup
				for _, n := range everyNetworks() {
					for _, rewritten := range []bool{false, true} {
						for hit, nth := range n.publish {
							if nth == 0 {
								continue
							}
							name := fmt.Sprintf("%s%d%v", n.network, hit, rewritten)
							on := b.connectAnywhere(n, name)
							b.disturb(m, n.network, name, nth, ignored, rewritten)
							p := b.escapedThread(n, hit+1, on)
							all.Go(func() {
								b.publish(b.publisher(), inputOn(p, on))
								target := b.checkOnce(p, on, name)
								posted, uncertain := target.Status == post.TargetPosted,
									target.Status == post.TargetUncertain
								if !posted && !uncertain || m.found && !n.blind[hit] && !posted {
									t.Errorf("%s: got %s %s %q", name, target.Status, target.ErrorClass,
										target.ErrorMessage)
								}
							})
						}
					}
				}
				all.Wait()
				b.wantDiscreet()
			})
		}
	}
}

// disturb injects a mishap into the nth call of an account.
func (b *bench) disturb(m mishap, network, name string, nth int, ignoreKey, rewrite bool) {
	b.t.Helper()
	for kind, on := range map[fake.FaultKind]bool{
		fake.IgnoreKey: ignoreKey, fake.IgnoreSince: ignoreKey,
		fake.RewriteText: rewrite,
	} {
		if on {
			b.must(b.fake.Inject(fake.Fault{Kind: kind, Network: network, Account: name, Count: -1}))
		}
	}
	for _, fault := range m.faults {
		fault.Network, fault.Account, fault.Method, fault.Nth = network, name, http.MethodPost, nth
		b.must(b.fake.Inject(fault))
	}
}

// escapedThread is a thread whose text servers rewrite.
func (b *bench) escapedThread(n everyNetwork, segments int, on account.Account) post.Post {
	b.t.Helper()
	picture := b.photo()
	return b.schedule(func(p *post.Post) {
		p.Content = `Tide \*tables\* &amp; harbour \_fees\_ &copy; 2026 (1)`
		if n.network == "instagram" || n.network == "zalo" {
			b.withMedia(picture)(p)
		}
		for i := 1; i < segments; i++ {
			p.Thread = append(p.Thread, post.Segment{
				Content: fmt.Sprintf(`And \*more\* about the harbour... &amp; the sea (%d)`, i+1),
			})
		}
	}, on.ID)
}

// Where sending again makes no second post, a post is sent until a call arrives, although
// several were lost; elsewhere a person decides.
func TestLostSends_AreRepeatedWhereThatIsHarmless(t *testing.T) {
	t.Parallel()
	for _, n := range everyNetworks() {
		t.Run(n.network, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Unanswered, b.timing.Settled = 600*time.Millisecond, 100*time.Millisecond
			on := b.connectAnywhere(n, "desk")
			b.must(b.fake.Inject(fake.Fault{
				Kind: fake.ResetBefore, Network: n.network, Method: http.MethodPost, Nth: n.publish[0], Count: 3,
			}))
			p := b.escapedThread(n, 1, on)
			b.publish(b.publisher(), inputOn(p, on))
			target := b.checkOnce(p, on, "desk")
			isHarmless := slices.Contains([]string{"bluesky", "ghost", "nostr", "wordpress"}, n.network)
			if target.Status != post.TargetPosted && (isHarmless || target.Status != post.TargetUncertain) {
				t.Errorf("got %s %s %q, want posted %v", target.Status, target.ErrorCode, target.ErrorMessage, isHarmless)
			}
		})
	}
}
