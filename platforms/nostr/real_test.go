package nostr_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/platformtest"
)

var realPython = flag.String("nostr-python", "", "Python with nostr-sdk 0.45.1 and nostr-relay 1.14, for TestRealServer")

// realAccount has the key and the media server of an account of the fake, and real relays.
func realAccount(t *testing.T, n *nostr.Nostr, server *fake.Server, hosts []string) network.Account {
	t.Helper()
	values := form(server, "desk")
	values["relays"] = secret.NewText("ws://" + strings.Join(hosts, " ws://"))
	values["media_server"] = secret.NewText(server.NetworkURL("nostr"))
	return connect(t, n, "", values)
}

// The adapter on relays themselves: the suite of all networks, 200 posts whose connections are
// cut and answers come late, deletion and articles.
func TestRealServer(t *testing.T) {
	if *realPython == "" {
		t.Skip("needs -nostr-python")
	}
	server := startFake(t, fake.Options{})
	hosts := platformtest.StartRelays(t, *realPython)
	client := platformtest.Client(t)
	n := nostr.New(client, nostr.Options{AnswerTimeout: 3 * time.Second})
	account := realAccount(t, n, server, hosts)
	t.Run("Suite", func(t *testing.T) {
		limits, err := n.Limits(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		platformtest.Run(t, platformtest.Subject{
			Network: n, Account: account, Client: client, Limits: limits, Counts: counts(), BadToken: strings.Repeat("7", 64),
			NoRequestID: true, NoStatus: true, FindsByHandle: true, UnboundedSearch: true, HidesMediaStatus: true,
			KeepsMedia: true, PublicReads: true, Resolution: time.Second, Options: optionCases(),
		})
	})
	t.Run("Lost", func(t *testing.T) { testLost(t, client, account, hosts) })
	t.Run("Killed", func(t *testing.T) { testKilled(t, hosts) })
	t.Run("Deleted", func(t *testing.T) {
		r := relays{t, server, n, account}
		s := r.prepared(network.Submission{Key: "deleted", Text: "Đã xóa"})
		receipt, err := n.Publish(t.Context(), account, s)
		if err != nil || len(receipt.Differences) > 0 {
			t.Fatalf("got %+v, %v, want it on all relays", receipt, err)
		}
		if err := n.Delete(t.Context(), account, receipt.RemoteID); err != nil {
			t.Fatal(err)
		}
		_, err = n.Publish(t.Context(), account, s)
		if e := network.AsError(err); e == nil || e.Code != "deletion_requested" {
			t.Errorf("sent again after its deletion: got %v, want that it was deleted", err)
		}
		found, err := n.Reconcile(t.Context(), account, s, network.Window{})
		if err != nil || found.Found {
			t.Errorf("got %+v, %v, want it gone", found, err)
		}
	})
}

func testLost(t *testing.T, client *http.Client, account network.Account, hosts []string) {
	const posts = 200
	var proxies []string
	var lost []*atomic.Int64
	for _, host := range hosts {
		address, count := platformtest.LoseConnections(t, host)
		proxies, lost = append(proxies, address), append(lost, count)
	}
	lossy := nostr.New(client, nostr.Options{AnswerTimeout: time.Second, Pauses: []time.Duration{10 * time.Millisecond}})
	through := account
	through.Settings = map[string]string{"relays": "ws://" + strings.Join(proxies, " ws://")}
	platformtest.PublishLosing(t, lossy, through, posts)
	total := int64(0)
	for _, count := range lost {
		total += count.Load()
	}
	events := platformtest.NotesAt(t, hosts)
	once := 0
	for i := range posts {
		text := fmt.Sprintf("Tin mất phản hồi %d.\n\nĐủ một lần.", i)
		if len(events[text]) != 1 {
			t.Errorf("%q exists as %d events, want 1", text, len(events[text]))
			continue
		}
		once++
	}
	t.Logf("%d of %d posts exist once on %d relays; %d connections were cut", once, posts, len(hosts), total)
}

// testKilled publishes while connections are cut, answers come late, and the worker is killed.
func testKilled(t *testing.T, hosts []string) {
	const posts = 200
	program := stack.Build(t, "nostr", "")
	var proxies []string
	for _, host := range hosts {
		address, _ := platformtest.LoseConnections(t, host)
		proxies = append(proxies, address)
	}
	s := stack.Open(t, stack.Engines{
		Env: []string{"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.Join(append(proxies, hosts...), ",")},
	})
	s.Setup(program)
	s.API("api", program)
	account := s.Connect("nostr", map[string]string{
		"key": strings.Repeat("5", 64), "relays": "ws://" + strings.Join(hosts, " ws://"),
	})
	code, err := s.Call(0, http.MethodPatch, "/api/v1/accounts/"+account, map[string]any{
		"settings": map[string]string{"relays": "ws://" + strings.Join(proxies, " ws://")},
	}, nil)
	if err != nil || code != http.StatusOK {
		t.Fatalf("changing the relays: %d, %v", code, err)
	}
	texts := make([]string, posts)
	for i := range texts {
		texts[i] = fmt.Sprintf("Tin số %d: triều cường lên cao", i)
	}
	ends, there := s.PublishKilled(program, account, texts), platformtest.NotesAt(t, hosts)
	for i, end := range ends {
		if end != "posted" || len(there[texts[i]]) != 1 {
			t.Errorf("post %d is %s and exists as %d events, want posted and 1", i, end, len(there[texts[i]]))
		}
	}
}
