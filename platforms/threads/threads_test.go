package threads_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/internal/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/threads"
)

const redirectURI = "http://127.0.0.1:9/callback"

// desk is an account of the fake Threads, connected.
type desk struct {
	*fake.Server
	*threads.Threads
	account network.Account
	client  *http.Client
}

func newDesk(t *testing.T, options fake.Options) desk {
	t.Helper()
	server := platformtest.StartFake(t, options)
	made := platformtest.Add(t, server, fake.Account{Network: "threads", Name: "desk"})
	client := platformtest.Client(t)
	sandbox := server.URL() + "/threads"
	d := desk{Server: server, client: client, Threads: threads.New(client, threads.Options{Sandbox: sandbox})}
	found, err := d.Accounts(t.Context(), network.Account{BaseURL: sandbox, Token: secret.NewText(made.Token)})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	d.account = found[0]
	if d.account.Handle != "@desk" || d.account.RemoteID != made.ID || d.account.Name != "Desk" {
		t.Errorf("identified as %+v", d.account)
	}
	return d
}

func counts(t *testing.T) []platformtest.Count {
	t.Helper()
	raw, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []platformtest.Count
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 100 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows
}

func TestConformance(t *testing.T) {
	d := newDesk(t, fake.Options{AutoApprove: true,
		NetworkRates: map[string]map[string]fake.Rate{"threads": {"posts": {Requests: 1000, Per: 24 * time.Hour}}}})
	d.Threads = threads.New(d.client, threads.Options{Sandbox: d.account.BaseURL, CreateTimeout: 700 * time.Millisecond})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network:          d,
		Connector:        d,
		Account:          d.account,
		Fake:             d,
		CreatePath:       "/threads/v1.0/" + d.account.RemoteID + "/threads_publish",
		NoLanguage:       true,
		Resolution:       time.Second,
		TakesMediaAtOnce: true,
		Client:           d.client,
		Approve:          d.approve,
		NoPKCE:           true,
		BaseURL:          d.account.BaseURL,
		RedirectURI:      redirectURI,
		Limits:           limits,
		Counts:           counts(t),
	})
}

func (d desk) approve(t *testing.T, authorizeURL string) url.Values {
	page := *d.client
	page.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := page.Get(authorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	back, err := res.Location()
	if err != nil {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return back.Query()
}
