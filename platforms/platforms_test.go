package platforms_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/platforms"
)

func TestRegistry(t *testing.T) {
	r := platforms.New(http.DefaultClient, platforms.Options{})
	if names := r.Names(); !slices.Equal(names, []string{"bluesky", "discord", "facebook", "instagram", "linkedin", "mastodon", "telegram", "threads", "x"}) {
		t.Errorf("names %v", names)
	}
	for _, name := range r.Names() {
		n, ok := r.Get(name)
		if !ok || n.Name() != name {
			t.Errorf("Get(%q) = %v, %v", name, n, ok)
		}
	}
	for _, name := range []string{"facebook", "instagram", "linkedin", "mastodon", "threads", "x"} {
		if _, ok := r.Connector(name); !ok {
			t.Errorf("%s has no connector", name)
		}
	}
	if _, ok := r.FormConnector("bluesky"); !ok {
		t.Error("bluesky has no form")
	}
	if _, ok := r.Get("nowhere"); ok {
		t.Error("found a network that does not exist")
	}
	if _, ok := r.Connector("nowhere"); ok {
		t.Error("found a connector that does not exist")
	}
}

func TestOptions_DecodeChangesNamedFields(t *testing.T) {
	var o platforms.Options
	if err := o.Decode(strings.NewReader(`{"linkedin": {"version": "202611"}, "x": {"max_characters": 4000, "post_price": -1}}`)); err != nil {
		t.Fatal(err)
	}
	if o.LinkedIn.Version != "202611" || o.X.MaxCharacters != 4000 || o.X.PostPrice != -1 || o.X.API != "" {
		t.Errorf("%+v", o)
	}
	for _, wrong := range []string{``, `[]`, `{"twitter": {}}`, `{"x": {"max_chars": 1}}`, `{"x": {"max_characters": "many"}}`, `{} {}`,
		`{"x": {"client_secret": "s"}}`, `{"x": {"Sandbox": "http://a"}}`} {
		if err := new(platforms.Options).Decode(strings.NewReader(wrong)); err == nil {
			t.Errorf("%s: got no error", wrong)
		}
	}
}

func TestOptions_SetAppAndSandbox(t *testing.T) {
	var o platforms.Options
	for name, want := range map[string]bool{"x": true, "facebook": true, "instagram": true, "threads": true, "linkedin": true, "telegram": false, "mastodon": false, "elsewhere": false} {
		if got := o.SetApp(name, "id of "+name, secret.NewText("secret")); got != want {
			t.Errorf("%s: SetApp returned %v", name, got)
		}
	}
	if o.X.ClientID != "id of x" || o.LinkedIn.ClientSecret.Reveal() != "secret" {
		t.Errorf("%+v", o)
	}
	o.SetSandbox(func(name string) string { return "http://127.0.0.1:1/" + name })
	if o.X.Sandbox != "http://127.0.0.1:1/x" || o.Bluesky.Sandbox != "http://127.0.0.1:1/bluesky" || o.Telegram.Sandbox != "http://127.0.0.1:1/telegram" {
		t.Errorf("%+v", o)
	}
}
