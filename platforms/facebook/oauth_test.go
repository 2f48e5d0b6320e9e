package facebook_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestAccounts_Pages(t *testing.T) {
	n := startFake(t, fake.Options{AutoApprove: true})
	users, err := n.server.Add(fake.Account{Network: "facebook", Name: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sports", "weather"} {
		if _, err := n.server.Add(fake.Account{
			Network: "facebook", Kind: "page", OwnerID: users.ID,
			Name: name,
		}); err != nil {
			t.Fatal(err)
		}
	}
	f := n.adapter()
	app, err := f.Register(t.Context(), n.base, redirectURI)
	if err != nil {
		t.Fatal(err)
	}
	account, err := f.Exchange(t.Context(), app, n.approve(t, f.AuthorizeURL(app, "s", "")).Get("code"), "")
	if err != nil || !slices.Contains(account.Scopes, "pages_manage_posts") ||
		time.Until(account.TokenExpiresAt) < 59*24*time.Hour {
		t.Fatalf("%+v, %v", account, err)
	}
	found, err := f.Accounts(t.Context(), account)
	if err != nil || len(found) != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	tokens := map[string]bool{}
	for _, page := range found {
		// Page tokens do not expire; the user's consent does.
		if days := time.Until(page.RefreshTokenExpiresAt).Hours() / 24; page.Kind != network.KindPage ||
			!page.TokenExpiresAt.IsZero() || days < 89 || days > 90 {
			t.Errorf("page %+v", page)
		}
		tokens[page.Token.Reveal()] = true
		if _, err := f.Publish(t.Context(), page, network.Submission{Text: "From " + page.Name}); err != nil {
			t.Error(err)
		}
	}
	if len(tokens) != 3 || tokens[account.Token.Reveal()] || found[1].Handle != "@sports" || found[1].Name != "Sports" {
		t.Errorf("%d tokens of %+v", len(tokens), found)
	}
	// The user's own token cannot post to a Page.
	profile := found[0]
	profile.Token = account.Token
	if _, err := f.Publish(t.Context(), profile,
		network.Submission{Text: "Never"}); network.AsError(err).Class != network.Rejected {
		t.Errorf("%v", err)
	}
	// A user without Pages has nothing to post to.
	alone, err := n.server.Add(fake.Account{Network: "facebook", Name: "alone"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Accounts(t.Context(), network.Account{BaseURL: n.base, Token: secret.NewText(alone.Token)})
	if e := network.AsError(err); e == nil || e.Code != "no_pages" {
		t.Errorf("%v", err)
	}
}

// Every call contains a proof, and the fake network verifies it.
func TestDo_RejectsForeignAppSecret(t *testing.T) {
	n := startFake(t, fake.Options{})
	forged := n.client
	forged.Transport = &forger{forged.Transport}
	f := facebook.New(forged, facebook.Options{Sandbox: n.base})
	_, err := f.Reconcile(t.Context(), n.page, network.Submission{Text: "t"}, network.Window{From: time.Now()})
	if e := network.AsError(err); e == nil || !strings.Contains(e.Message, "appsecret_proof") {
		t.Errorf("%v", err)
	}
}

type forger struct{ inner http.RoundTripper }

func (f *forger) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if query.Get("appsecret_proof") == "" {
		return nil, http.ErrNoLocation
	}
	query.Set("appsecret_proof", strings.Repeat("0", 64))
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return f.inner.RoundTrip(r)
}

func TestAddresses(t *testing.T) {
	f := facebook.New(http.DefaultClient, facebook.Options{
		ClientID: "id", ClientSecret: secret.NewText("s"), Version: "v26.0",
	})
	app, err := f.Register(t.Context(), "", redirectURI)
	if err != nil || app.ClientID != "id" {
		t.Fatalf("%+v, %v", app, err)
	}
	u, err := url.Parse(f.AuthorizeURL(app, "s t", ""))
	if err != nil {
		t.Fatal(err)
	}
	if u.Host != "www.facebook.com" {
		t.Errorf("u.Host: got %q, want %q", u.Host, "www.facebook.com")
	}
	if u.Path != "/v26.0/dialog/oauth" {
		t.Errorf("u.Path: got %q, want %q", u.Path, "/v26.0/dialog/oauth")
	}
	if u.Query().Get("state") != "s t" {
		t.Errorf("u.Query().Get(\"state\"): got %q, want %q", u.Query().Get("state"), "s t")
	}
	if !strings.Contains(u.Query().Get("scope"), "pages_manage_posts") {
		t.Errorf("dialog at %s, %v", u, err)
	}
	for _, call := range []func() error{
		func() error {
			_, err := f.Limits(t.Context(), network.Account{BaseURL: "https://facebook.com"})
			return err
		},
		func() error {
			_, err := f.Publish(t.Context(), network.Account{BaseURL: "https://evil.example"}, network.Submission{
				Text: "t",
			})
			return err
		},
		func() error {
			_, err := f.Stage(t.Context(), network.Account{BaseURL: "https://evil.example"}, picture(""))
			return err
		},
	} {
		if err := call(); network.AsError(err) == nil || network.AsError(err).Code != "bad_address" {
			t.Errorf("%v", err)
		}
	}
}

func TestCheckAndPreview(t *testing.T) {
	f := facebook.New(http.DefaultClient, facebook.Options{})
	limits, err := f.Limits(t.Context(), network.Account{})
	if err != nil {
		t.Fatal(err)
	}
	png, clip := network.MediaInfo{MIMEType: "image/png", Bytes: 1}, network.MediaInfo{
		MIMEType: "video/mp4", Bytes: 1, AltText: "d",
	}
	for name, row := range map[string]struct {
		content network.Content
		code    string
	}{
		"Comment": {
			network.Content{Text: strings.Repeat("ạ", 8000), Reply: true, Media: []network.MediaInfo{png}},
			"",
		},
		"LongComment":  {network.Content{Text: strings.Repeat("ạ", 8001), Reply: true}, "too_long"},
		"TwoPhotos":    {network.Content{Reply: true, Media: []network.MediaInfo{png, png}}, "too_many_attachments"},
		"VideoComment": {network.Content{Reply: true, Media: []network.MediaInfo{clip}}, "unsupported_type"},
		"VideoAndMore": {network.Content{Media: []network.MediaInfo{clip, png}}, "mixed_attachments"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := f.Check(row.content, limits)
			if row.code == "" && len(problems) > 0 || row.code != "" &&
				(len(problems) != 1 || problems[0].Code != row.code) {
				t.Errorf("problems %+v, want %q", problems, row.code)
			}
		})
	}
	text := "Đọc https://example.com/a. " + strings.Repeat("x", 600)
	p := f.Preview(network.Content{Text: text}, limits)
	if p.Card != "https://example.com/a" || len([]rune(text[:p.FoldAt])) != 480 || len(p.Spans) != 1 {
		t.Errorf("%+v", p)
	}
	if p := f.Preview(network.Content{Text: text, Media: []network.MediaInfo{clip}}, limits); p.Card != "" ||
		len(p.Notes) != 2 {
		t.Errorf("%+v", p)
	}
	if p := f.Preview(network.Content{Text: text, Reply: true}, limits); p.FoldAt != 0 || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
}

// The first link gets a card, unless the account's settings disable it.
func TestPublish_LinkCard(t *testing.T) {
	for setting, want := range map[string]string{"": "https://example.com/a?b=1", "off": ""} {
		var form url.Values
		server := newRecorder(t, &form)
		f := facebook.New(server.Client(), facebook.Options{Sandbox: server.URL})
		account := network.Account{
			BaseURL: server.URL, RemoteID: "7", Token: secret.NewText("t"), Settings: map[string]string{
				"link_card": setting,
			},
		}
		if _, err := f.Publish(t.Context(), account,
			network.Submission{Text: "Read https://example.com/a?b=1."}); err != nil {
			t.Fatal(err)
		}
		if form.Get("link") != want || form.Get("message") != "Read https://example.com/a?b=1." {
			t.Errorf("setting %q sent %v", setting, form)
		}
	}
}
