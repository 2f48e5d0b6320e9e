package instagram_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/internal/secret"
	"dateline/platforms/fake"
	"dateline/platforms/instagram"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

const redirectURI = "http://127.0.0.1:9/callback"

// desk is an account of the fake Instagram, connected.
type desk struct {
	*fake.Server
	*instagram.Instagram
	account network.Account
	client  *http.Client
}

func newDesk(t *testing.T, options fake.Options) desk {
	t.Helper()
	server := platformtest.StartFake(t, options)
	made := platformtest.Add(t, server, fake.Account{Network: "instagram", Name: "desk"})
	client := platformtest.Client(t)
	sandbox := server.URL() + "/instagram"
	d := desk{Server: server, client: client, Instagram: instagram.New(client, instagram.Options{Sandbox: sandbox})}
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
		NetworkRates: map[string]map[string]fake.Rate{"instagram": {"posts": {Requests: 1000, Per: 24 * time.Hour}}}})
	d.Instagram = instagram.New(d.client, instagram.Options{Sandbox: d.account.BaseURL, CreateTimeout: 700 * time.Millisecond})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network:          d,
		Connector:        d,
		Account:          d.account,
		Fake:             d,
		CreatePath:       "/instagram/v25.0/" + d.account.RemoteID + "/media_publish",
		NoLanguage:       true,
		NoDelete:         true,
		NeedsMedia:       true,
		PlainReplies:     true,
		Resolution:       time.Second,
		PictureType:      "image/jpeg",
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
