package bluesky_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/bluesky"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// TestRealServer runs the adapter against the network's own server.
func TestRealServer(t *testing.T) {
	d := startDevenv(t)
	client := newClient(t)
	b := bluesky.New(client, d.options())
	handle, did, password := d.person(t, "desk")
	// By handle only: it resolves to the DID, and that to the server.
	account := connect(t, b, "", " @"+strings.ToUpper(handle), password, "")
	if account.RemoteID != did || account.Handle != "@"+handle || account.BaseURL != d.PDS || account.Name != handle {
		t.Errorf("connected %+v, want %s", account, did)
	}
	if left := time.Until(account.TokenExpiresAt); left < time.Hour || left > 3*time.Hour {
		t.Errorf("the session ends in %v", left)
	}
	if left := time.Until(account.RefreshTokenExpiresAt); left < 24*time.Hour {
		t.Errorf("renewing ends in %v", left)
	}
	s := subject(t, b, client, account)
	// The server responds 500 to uploads with a malformed token.
	s.BadToken = account.Token.Reveal()[:len(account.Token.Reveal())-8] + "AAAAAAAA"
	t.Run("Suite", func(t *testing.T) { platformtest.Run(t, s) })
	t.Run("Library", func(t *testing.T) { testLibrary(t, d) })
	t.Run("Connect", func(t *testing.T) { testRealConnect(t, b, d) })
	t.Run("Thread", func(t *testing.T) { testRealThread(t, b, account, d) })
	t.Run("Media", func(t *testing.T) { testRealMedia(t, b, account, d) })
	t.Run("Card", func(t *testing.T) { testRealCard(t, account, d) })
	t.Run("Limits", func(t *testing.T) { testRealLimits(t, b, account) })
	t.Run("Lost", func(t *testing.T) { testRealLost(t, b, account, d) })
	t.Run("Delete", func(t *testing.T) { testRealDelete(t, b, account, d) })
	t.Run("Refresh", func(t *testing.T) { testRealRefresh(t, b, account, d) })
}

// testLibrary compares counting and entity detection with the network's own
// library.
func testLibrary(t *testing.T, d devenv) {
	var rows []facetRow
	readJSON(t, "testdata/facets.json", &rows)
	var texts []string
	for _, row := range counts(t) {
		texts = append(texts, row.Text)
	}
	for _, row := range rows {
		if row.Name != "only a scheme" { // the library detects "http://" there, which the server then refuses
			texts = append(texts, row.Text)
		}
	}
	body, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(d.Library, "application/json", bytes.NewReader(body)) //nolint:gosec // an address of the test's own
	if err != nil {
		t.Fatal(err)
	}
	var reported []struct {
		Graphemes int
		Facets    []struct {
			Start, End int
			Target     string
		}
	}
	decode(t, res, &reported)
	if len(reported) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(reported), len(texts))
	}
	b, limits := plain()
	for i, text := range texts {
		if n := b.Count(text, limits); n != reported[i].Graphemes {
			t.Errorf("Count(%q) = %d, want %d as by the library", text, n, reported[i].Graphemes)
		}
		spans := b.Preview(network.Content{Text: text}, limits).Spans
		same := len(spans) == len(reported[i].Facets)
		for _, f := range reported[i].Facets {
			found := false
			for _, s := range spans {
				found = found || s.Start == f.Start && s.End == f.End && s.Target == f.Target
			}
			same = same && found
		}
		if !same {
			t.Errorf("spans %+v of %q, want %+v as by the library", spans, text, reported[i].Facets)
		}
	}
}

func testRealConnect(t *testing.T, b *bluesky.Bluesky, d devenv) {
	handle, did, password := d.person(t, "connected")
	if account := connect(t, b, "", did, password, d.PDS); account.RemoteID != did || account.Handle != "@"+handle {
		t.Errorf("connected %+v", account)
	}
	for name, row := range map[string]struct {
		handle, password string
		class            network.Class
		field            string
	}{
		"WrongPassword": {handle, "aaaa-bbbb-cccc-dddd", network.Auth, "app_password"},
		"MainPassword":  {handle, mainPassword, network.Rejected, "app_password"},
		"Nobody":        {"nobody.test", password, network.Rejected, "handle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.ConnectForm(t.Context(), "", form(row.handle, row.password, ""))
			wantClass(t, err, row.class, row.field, row.password)
		})
	}
}

func wantClass(t *testing.T, err error, class network.Class, field string, secrets ...string) *network.Error {
	t.Helper()
	var e *network.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %+v, want class %s about %q", err, class, field)
	}
	if e.Class != class {
		t.Fatalf("e.Class: got %v, want %v", e.Class, class)
	}
	if e.Field != field {
		t.Fatalf("e.Field: got %v, want %v", e.Field, field)
	}
	if e.Message == "" {
		t.Fatal("e.Message is empty")
	}
	if e.Code == "" {
		t.Fatal("e.Code is empty")
	}
	for _, s := range secrets {
		if strings.Contains(e.Error(), s) {
			t.Error("an error contains a secret")
		}
	}
	return e
}

// Responses report rate limits in declared buckets.
func testRealLimits(t *testing.T, b *bluesky.Bluesky, account network.Account) {
	receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "Counted"})
	if len(receipt.Rates) != 1 || receipt.Rates[0].Limit < 1 || receipt.Rates[0].Remaining >= receipt.Rates[0].Limit || time.Until(receipt.Rates[0].ResetAt) < 0 {
		t.Errorf("rates %+v", receipt.Rates)
	}
	staged, err := b.Stage(t.Context(), account, photo(t, 10, 10, ""))
	if err != nil || len(staged.Rates) != 1 {
		t.Errorf("rates %+v, %v", staged.Rates, err)
	}
}

// The server acts, and its response is lost.
func testRealLost(t *testing.T, b *bluesky.Bluesky, account network.Account, d devenv) {
	lossy := newLossy(t, d.PDS)
	through := account
	through.BaseURL = lossy.address
	for name, keep := range map[string]bool{"Acted": true, "NeverArrived": false} {
		t.Run(name, func(t *testing.T) {
			sub := prepare(t, b, account, network.Submission{Key: rand.Text(), Text: "Lost on the way " + rand.Text()})
			lossy.lose(keep)
			_, err := b.Publish(t.Context(), through, sub)
			wantClass(t, err, network.Ambiguous, "", account.Token.Reveal())
			finding, err := b.Reconcile(t.Context(), through, sub, network.Window{From: time.Now()})
			if err != nil || finding.Found != keep || !finding.Conclusive || len(finding.Evidence) == 0 {
				t.Fatalf("finding %+v, %v; want found %v", finding, err, keep)
			}
			if keep {
				if r := read(t, d.PDS, finding.Receipt.RemoteID); r.Value.Text != sub.Text {
					t.Errorf("found %+v", r)
				}
			}
			// In both cases, sending again results in one post.
			receipt, err := b.Publish(t.Context(), through, sub)
			if keep {
				wantClass(t, err, network.Ambiguous, "")
			} else if err != nil {
				t.Fatal(err)
			} else {
				finding.Receipt = receipt
			}
			if again, err := b.Reconcile(t.Context(), through, sub, network.Window{From: time.Now()}); err != nil || again.Receipt.RemoteID != finding.Receipt.RemoteID {
				t.Errorf("finding %+v, %v; want %s", again, err, finding.Receipt.RemoteID)
			}
			if n := postsOf(t, d, account, sub.Text); n != 1 {
				t.Errorf("the server has %d such posts, want 1", n)
			}
		})
	}
}

func postsOf(t *testing.T, d devenv, account network.Account, text string) int {
	t.Helper()
	var listed struct{ Records []record }
	get(t, d.PDS+"/xrpc/com.atproto.repo.listRecords?collection=app.bsky.feed.post&limit=100&repo="+account.RemoteID, &listed)
	n := 0
	for _, r := range listed.Records {
		if r.Value.Text == text {
			n++
		}
	}
	return n
}

func testRealDelete(t *testing.T, b *bluesky.Bluesky, account network.Account, d devenv) {
	receipt, sub := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "Twice deleted"})
	for _, attempt := range []string{"first", "second"} {
		if err := b.Delete(t.Context(), account, receipt.RemoteID); err != nil {
			t.Errorf("%s delete: %v", attempt, err)
		}
	}
	finding, err := b.Reconcile(t.Context(), account, sub, network.Window{From: time.Now()})
	if err != nil || finding.Found {
		t.Errorf("finding %+v, %v", finding, err)
	}
	if n := postsOf(t, d, account, sub.Text); n != 0 {
		t.Errorf("the server has %d such posts", n)
	}
}

// Sessions can be refreshed, also after a lost response, and end.
func testRealRefresh(t *testing.T, b *bluesky.Bluesky, account network.Account, d devenv) {
	app := network.App{}
	lossy := newLossy(t, d.PDS)
	lossy.lose(true)
	through := account
	through.BaseURL = lossy.address
	_, err := b.Refresh(t.Context(), app, through)
	wantClass(t, err, network.Transient, "", account.RefreshToken.Reveal(), account.Token.Reveal())
	renewed, err := b.Refresh(t.Context(), app, account)
	if err != nil {
		t.Fatal(err)
	}
	if renewed.RemoteID != account.RemoteID || renewed.RefreshToken.Reveal() == account.RefreshToken.Reveal() || renewed.TokenExpiresAt.Before(account.TokenExpiresAt) {
		t.Errorf("renewed as %+v", renewed)
	}
	publish(t, b, renewed, network.Submission{Key: rand.Text(), Text: "Renewed"})

	crossed := account
	crossed.Token = account.RefreshToken
	sub := prepare(t, b, account, network.Submission{Key: rand.Text(), Text: "Never"})
	_, err = b.Publish(t.Context(), crossed, sub)
	wantClass(t, err, network.Auth, "", account.RefreshToken.Reveal())
	crossed.RefreshToken = secret.NewText("no.such.token")
	_, err = b.Refresh(t.Context(), app, crossed)
	wantClass(t, err, network.Auth, "")

	for _, attempt := range []string{"first", "second"} {
		if err := b.Revoke(t.Context(), app, renewed); err != nil {
			t.Errorf("%s revocation: %v", attempt, err)
		}
	}
	_, err = b.Refresh(t.Context(), app, renewed)
	wantClass(t, err, network.Auth, "")
}
