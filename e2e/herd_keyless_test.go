package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
	"dateline/platforms/fake"
	platform "dateline/platforms/network"
)

// keylessLimit is the time within which every post on a network without idempotency
// keys has an outcome: the program starts, the dead worker's claims expire, and
// listings are read for two minutes before a post counts as absent.
const keylessLimit = 6 * time.Minute

// TestHerd_SurvivesWithoutIdempotencyKeys kills the program around the second of a
// burst on networks without idempotency keys: X, Facebook, and a server with Mastodon's
// API that ignores them and rewrites texts. Nothing is published twice, and each post
// is published or uncertain.
func TestHerd_SurvivesWithoutIdempotencyKeys(t *testing.T) {
	t.Parallel()
	moments := []time.Duration{10 * time.Millisecond}
	if *survivors >= 1000 { // `make bench/survive`
		moments = []time.Duration{-5 * time.Second, 10 * time.Millisecond, time.Second}
	}
	for _, after := range moments {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel() // it mostly waits
			h := newKeylessHerd(t)
			time.Sleep(time.Until(h.at.Add(after)))
			h.kill()
			h.start()
			h.ready()
			h.wantNoneTwice()
		})
	}
}

// creates lists the requests that publish a post at each network.
func creates() map[string]fake.Fault {
	return map[string]fake.Fault{
		"x":        {Method: http.MethodPost, Path: "/x/2/tweets"},
		"facebook": {Method: http.MethodPost, Path: "/facebook/v25.0/"},
		"mastodon": {Method: http.MethodPost, Path: "/api/v1/statuses"},
	}
}

func newKeylessHerd(t *testing.T) *herd {
	t.Helper()
	server, err := fake.New(fake.Options{Software: "gotosocial 0.20.1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	n := &network{server, t, map[string]string{}}
	hosts, err := json.Marshal(map[string]any{
		"x":        map[string]string{"api": n.NetworkURL("x"), "web": n.NetworkURL("x")},
		"facebook": map[string]string{"graph_host": n.NetworkURL("facebook"), "web_host": n.NetworkURL("facebook")},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "networks.json")
	if err := os.WriteFile(file, hosts, 0o644); err != nil { //nolint:gosec // the program may run as another user
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	for _, kind := range []fake.FaultKind{fake.IgnoreKey, fake.IgnoreSince, fake.RewriteText} {
		n.inject(fake.Fault{Kind: kind, Count: -1})
	}
	for _, create := range creates() {
		create.Kind, create.For, create.Count = fake.Latency, time.Nanosecond, -1 // counts
		n.inject(create)
	}
	app := platform.SandboxApp("", "")
	h := &herd{dateline: newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host(), "DATELINE_NETWORKS_FILE="+file,
		"DATELINE_LOG_LEVEL=warn",
		"X_CLIENT_ID="+app.ClientID, "X_CLIENT_SECRET="+app.ClientSecret.Reveal(),
		"FACEBOOK_CLIENT_ID="+app.ClientID, "FACEBOOK_CLIENT_SECRET="+app.ClientSecret.Reveal()), network: n}
	h.start()
	h.ready()
	accounts := make([]string, herdAccounts)
	for i := range accounts {
		name := fmt.Sprintf("desk%d", i)
		switch i % 3 {
		case 0:
			accounts[i] = n.connectCentral(h.dateline, fake.Account{Network: "x", Name: name})
		case 1:
			accounts[i] = n.connectCentral(h.dateline, fake.Account{Network: "facebook", Name: name})
		default:
			accounts[i] = n.connect(h.dateline, name)
		}
	}
	h.scheduleTo(accounts, func(i int) string {
		return fmt.Sprintf(`Report %d: \*harbour\* &amp; town%s`, i, strings.Repeat("!", i%7))
	})
	return h
}

func (n *network) inject(f fake.Fault) {
	n.t.Helper()
	if err := n.Inject(f); err != nil {
		n.t.Fatal(err)
	}
}

// connectCentral connects an account of a network that has a single server.
func (n *network) connectCentral(d *dateline, account fake.Account) string {
	n.t.Helper()
	person := account
	if account.Network == "facebook" {
		person.Name += "owner"
	}
	made, err := n.Add(person)
	if err != nil {
		n.t.Fatal(err)
	}
	if account.Network == "facebook" {
		if _, err := n.Add(fake.Account{
			Network: "facebook", Kind: "page", OwnerID: made.ID,
			Name: account.Name,
		}); err != nil {
			n.t.Fatal(err)
		}
	}
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if status := d.call(http.MethodPost, "/api/v1/accounts/connect", map[string]string{"network": account.Network},
		&begun); status != http.StatusOK {
		n.t.Fatalf("connecting an account of %s: status %d", account.Network, status)
	}
	page, err := url.Parse(begun.AuthorizeURL)
	if err != nil {
		n.t.Fatal(err)
	}
	form := page.Query()
	form.Set("account", made.ID)
	form.Set("decision", "allow")
	page.RawQuery = ""
	res, err := http.PostForm(page.String(), form) // the response redirects to the callback
	if err != nil {
		n.t.Fatal(err)
	}
	_ = res.Body.Close()
	var list struct {
		Accounts []struct{ ID, Network, Handle, Name string }
	}
	d.call(http.MethodGet, "/api/v1/accounts?limit=200", nil, &list)
	for _, a := range list.Accounts {
		if a.Network == account.Network && (strings.EqualFold(a.Handle, "@"+account.Name) ||
			strings.EqualFold(a.Name, account.Name)) {
			return a.ID
		}
	}
	n.t.Fatalf("%s of %s is not connected: %+v", account.Name, account.Network, list.Accounts)
	return ""
}

// wantNoneTwice waits until every post has an outcome. Each is published once, or is
// uncertain, in the dead letters and published at most once.
func (h *herd) wantNoneTwice() {
	h.t.Helper()
	e2etest.Eventually(h.t, time.Until(h.at.Add(keylessLimit)), "every post to be posted or uncertain", func() bool {
		return h.open() == 0
	})
	uncertain := h.uncertain()
	copies := map[string]int{}
	for _, p := range h.network.Posts() {
		copies[p.Text]++
	}
	published := 0
	for i := range *survivors {
		text := h.text(i)
		switch n := copies[text]; {
		case n > 1:
			h.t.Errorf("%q exists %d times", text, n)
		case n == 1:
			published++
		case !uncertain[text]:
			h.t.Errorf("%q is neither published nor uncertain", text)
		}
	}
	seen := map[string]int{}
	for _, f := range h.network.faults() {
		if f.Kind == fake.Latency {
			seen[f.Path] = f.Seen
		}
	}
	h.t.Logf("%d of %d posts are published, %d are uncertain; requests that publish: %v", published, *survivors,
		len(uncertain), seen)
	if requests := seen["/x/2/tweets"] + seen["/facebook/v25.0/"] + seen["/api/v1/statuses"]; requests < published ||
		requests > *survivors+*survivors/2 {
		h.t.Errorf("got %d requests that publish, want one for each of %d posts and a few more", requests, *survivors)
	}
}

// open counts the posts that are neither published nor uncertain.
func (h *herd) open() (count int) {
	h.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Posts []struct {
				Targets []struct{ Status string } `json:"targets"`
			} `json:"posts"`
			NextCursor string `json:"next_cursor"`
		}
		h.call(http.MethodGet, "/api/v1/posts?limit=100&status=scheduled,publishing&cursor="+cursor, nil, &page)
		for _, p := range page.Posts {
			if p.Targets[0].Status != "posted" && p.Targets[0].Status != "uncertain" {
				count++
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return count
		}
	}
}

// uncertain lists the texts of the uncertain posts.
func (h *herd) uncertain() map[string]bool {
	h.t.Helper()
	texts := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			DeadLetters []struct {
				Content string `json:"content"`
				Status  string `json:"status"`
			} `json:"dead_letters"`
			NextCursor string `json:"next_cursor"`
		}
		h.call(http.MethodGet, "/api/v1/dead-letters?limit=100&cursor="+cursor, nil, &page)
		for _, letter := range page.DeadLetters {
			if letter.Status == "uncertain" {
				texts[letter.Content] = true
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return texts
		}
	}
}

// faults are those of the network, with their counters.
func (n *network) faults() []fake.Fault {
	n.t.Helper()
	answer, err := e2etest.Ask(n.t.Context(), http.MethodGet, n.URL()+"/__faults", "", nil)
	if err != nil {
		n.t.Fatal(err)
	}
	var list []fake.Fault
	if err := answer.Into(&list); err != nil {
		n.t.Fatal(err)
	}
	return list
}
