package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
)

var (
	sandboxLine = regexp.MustCompile(`Sandbox\s+(http://[\w.:]+)/`)
	inputs      = regexp.MustCompile(`<input[^>]* name="(choice|key|remote_id)" value="([^"]*)"`)
)

// TestPublish_EveryNetwork connects an account of every network of the sandbox through
// its consent page or its form, and publishes one post with a picture on all of them.
func TestPublish_EveryNetwork(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	d.start()
	found := sandboxLine.FindStringSubmatch(d.log.String())
	if found == nil {
		t.Fatal("the output has no URL of the sandbox")
	}
	box := sandboxed{d, found[1]}
	for _, name := range []string{"facebook", "instagram", "linkedin", "threads", "x", "zalo"} {
		box.allow(name)
	}
	discord, telegram, wordpress := box.account("discord"), box.account("telegram"), box.account("wordpress")
	ghost, slack := box.account("ghost"), box.account("slack")
	box.fill("nostr", map[string]string{"key": box.account("nostr").Token})
	box.fill("bluesky", map[string]string{"handle": "desk.test", "app_password": fake.BlueskyAppPassword})
	box.fill("discord", map[string]string{"bot_token": discord.Token, "channel_id": discord.ID})
	box.fill("telegram", map[string]string{"bot_token": telegram.Token, "chat": "@" + telegram.Name})
	box.fill("ghost", map[string]string{
		"site": box.url + "/ghost/" + ghost.Name, "admin_key": fake.GhostKey(ghost.Token),
	})
	box.fill("slack", map[string]string{"bot_token": "xoxb-" + slack.Token, "channel": slack.Name})
	box.fill("wordpress", map[string]string{
		"site": box.url + "/wordpress", "user": wordpress.Name, "app_password": wordpress.Token,
	})

	var connected struct {
		Accounts []struct{ ID, Network, Handle, Status string }
	}
	d.call(http.MethodGet, "/api/v1/accounts", nil, &connected)
	var ids, networks []string
	for _, a := range connected.Accounts {
		if a.Status != "connected" {
			t.Errorf("%s of %s is %s", a.Handle, a.Network, a.Status)
		}
		ids, networks = append(ids, a.ID), append(networks, a.Network)
	}
	slices.Sort(networks)
	// A LinkedIn login may post as the person and as the organization.
	want := []string{
		"bluesky", "discord", "facebook", "ghost", "instagram", "linkedin", "linkedin", "mastodon", "nostr", "slack",
		"telegram", "threads", "wordpress", "x", "zalo",
	}
	if !slices.Equal(networks, want) {
		t.Fatalf("connected %v, want %v", networks, want)
	}

	text := "Bản tin chiều: mọi mạng, một lần https://news.example/a"
	p := d.schedule(text, 25*time.Second, map[string]any{
		"accounts": ids, "attachments": []string{d.upload("photo.jpg", "Một tấm ảnh", photo)},
	})
	p = d.awaitStatus(p.ID, "posted", 2*time.Minute)
	for _, target := range p.Targets {
		if target.Status != "posted" || target.URL == "" {
			t.Errorf("target %+v", target)
		}
	}
	var published []fake.Post
	box.get("/__state/posts", &published)
	var there []string
	for _, post := range published {
		if post.Text != text || len(post.Media) != 1 {
			t.Errorf("%s got %q with %d attachments", post.Network, post.Text, len(post.Media))
		}
		there = append(there, post.Network)
	}
	slices.Sort(there)
	if !slices.Equal(there, want) {
		t.Errorf("published at %v, want %v", there, want)
	}
}

// sandboxed is a user of the sandbox's networks.
type sandboxed struct {
	*dateline
	url string
}

func (s sandboxed) get(path string, into any) {
	s.t.Helper()
	res, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		s.t.Fatal(err)
	}
}

// account returns the account at a network.
func (s sandboxed) account(network string) fake.Account {
	s.t.Helper()
	var all []fake.Account
	s.get("/__state/accounts", &all)
	for _, a := range all {
		if a.Network == network && a.Name == "desk" {
			return a
		}
	}
	s.t.Fatalf("no account at %s", network)
	return fake.Account{}
}

// allow opens a network's consent page, allows access, and chooses all offered
// accounts.
func (s sandboxed) allow(network string) {
	s.t.Helper()
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if status := s.call(http.MethodPost, "/api/v1/accounts/connect",
		map[string]any{"network": network, "sandbox": true}, &begun); status != http.StatusOK {
		s.t.Fatalf("connecting at %s: status %d", network, status)
	}
	page, err := url.Parse(begun.AuthorizeURL)
	if err != nil {
		s.t.Fatal(err)
	}
	form := page.Query()
	form.Set("account", s.account(network).ID)
	form.Set("decision", "allow")
	page.RawQuery = ""
	// The response redirects to the callback.
	shown := s.post(page.String(), form)
	choice := url.Values{}
	for _, input := range inputs.FindAllStringSubmatch(shown, -1) {
		choice.Add(input[1], input[2])
	}
	if choice.Get("key") != "" {
		shown = s.post(s.API+"/api/v1/oauth/choose", choice)
	}
	if !strings.Contains(shown, "connected") {
		s.t.Fatalf("%s: %s", network, shown)
	}
}

func (s sandboxed) post(address string, form url.Values) string {
	s.t.Helper()
	res, err := http.PostForm(address, form)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s %s %v", address, res.Status, body, err)
	}
	return string(body)
}

// fill connects with a network's form.
func (s sandboxed) fill(network string, values map[string]string) {
	s.t.Helper()
	var problem struct{ Detail string }
	if status := s.call(http.MethodPost, "/api/v1/accounts/form",
		map[string]any{"network": network, "sandbox": true, "values": values}, &problem); status != http.StatusCreated {
		s.t.Fatalf("connecting at %s: status %d %s", network, status, problem.Detail)
	}
}
