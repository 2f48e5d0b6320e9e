package platforms_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/message"
	"dateline/platforms"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func TestRegistry(t *testing.T) {
	r := platforms.New(http.DefaultClient, platforms.Options{})
	if names := r.Names(); !slices.Equal(names, []string{
		"bluesky", "discord", "facebook", "ghost", "instagram", "linkedin",
		"mastodon", "nostr", "slack", "telegram", "threads", "wordpress", "x", "zalo",
	}) {
		t.Errorf("names %v", names)
	}
	for _, name := range r.Names() {
		n, ok := r.Get(name)
		if !ok || n.Name() != name {
			t.Errorf("Get(%q) = %v, %v", name, n, ok)
		}
	}
	for _, name := range []string{"facebook", "instagram", "linkedin", "mastodon", "threads", "x", "zalo"} {
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
	if err := o.Decode(strings.NewReader(
		`{"linkedin": {"version": "202611"}, "x": {"max_characters": 4000, "post_price": -1}}`)); err != nil {
		t.Fatal(err)
	}
	if o.LinkedIn.Version != "202611" || o.X.MaxCharacters != 4000 || o.X.PostPrice != -1 || o.X.API != "" {
		t.Errorf("%+v", o)
	}
	for _, wrong := range []string{
		``, `[]`, `{"twitter": {}}`, `{"x": {"max_chars": 1}}`,
		`{"x": {"max_characters": "many"}}`, `{} {}`,
		`{"x": {"client_secret": "s"}}`, `{"x": {"Sandbox": "http://a"}}`,
	} {
		if err := new(platforms.Options).Decode(strings.NewReader(wrong)); err == nil {
			t.Errorf("%s: got no error", wrong)
		}
	}
}

func TestOptions_SetAppAndSandbox(t *testing.T) {
	var o platforms.Options
	for name, want := range map[string]bool{
		"x": true, "zalo": true, "facebook": true, "instagram": true, "threads": true,
		"linkedin": true, "slack": false, "telegram": false, "mastodon": false, "wordpress": false, "ghost": false,
		"nostr": false, "elsewhere": false,
	} {
		if got := o.SetApp(name, "id of "+name, secret.NewText("secret")); got != want {
			t.Errorf("%s: SetApp returned %v", name, got)
		}
	}
	if o.X.ClientID != "id of x" || o.LinkedIn.ClientSecret.Reveal() != "secret" {
		t.Errorf("%+v", o)
	}
	o.SetSandbox(func(name string) string { return "http://127.0.0.1:1/" + name })
	if o.X.Sandbox != "http://127.0.0.1:1/x" || o.Bluesky.Sandbox != "http://127.0.0.1:1/bluesky" ||
		o.Telegram.Sandbox != "http://127.0.0.1:1/telegram" {
		t.Errorf("%+v", o)
	}
}

// Every option of a network is refused by each network that does not have it, with its
// field.
func TestOptions_OfOtherNetworksAreRefusedWithTheirField(t *testing.T) {
	r := platforms.New(http.DefaultClient, platforms.Options{})
	parsers, options := map[string]network.OptionParser{}, map[string][]string{}
	for _, name := range r.Names() {
		n, _ := r.Get(name)
		parser, ok := n.(network.OptionParser)
		if !ok {
			t.Errorf("posts to %s have no options", name)
			continue
		}
		parsers[name] = parser
		for _, path := range platformtest.OptionPaths(t, parser) {
			if top, _, _ := strings.Cut(path, "."); !slices.Contains(options[name], top) {
				options[name] = append(options[name], top)
			}
		}
	}
	refused := 0
	for of, names := range options {
		for on, parser := range parsers {
			for _, name := range names {
				if slices.Contains(options[on], name) {
					continue
				}
				refused++
				_, problems := parser.ParseOptions(json.RawMessage(`{"` + name + `":true}`))
				if len(problems) != 1 || problems[0].Field != "options."+name || problems[0].Code != "unknown_option" ||
					problems[0].Message == "" {
					t.Errorf("%s of %s on %s: got %+v, want unknown_option of options.%s", name, of, on, problems, name)
				}
			}
		}
	}
	if refused < 200 {
		t.Errorf("got %d pairs, want at least 200", refused)
	}
}

// Whoever uses the dashboard can choose every option: web/src/pages/compose/options
// has a control for it.
func TestOptions_HaveControlsInTheComposer(t *testing.T) {
	source, err := os.ReadFile("../web/src/pages/compose/options/fields.ts")
	if err != nil {
		t.Fatal(err)
	}
	r := platforms.New(http.DefaultClient, platforms.Options{})
	for _, name := range r.Names() {
		n, _ := r.Get(name)
		_, rest, ok := strings.Cut(string(source), "\n  "+name+": [")
		if !ok {
			t.Errorf("%s has no controls", name)
			continue
		}
		fields, _, _ := strings.Cut(rest, "\n  ]")
		if line, _, _ := strings.Cut(rest, "\n"); strings.HasSuffix(line, "],") {
			fields = line
		}
		for _, path := range platformtest.OptionPaths(t, n.(network.OptionParser)) {
			control := "'" + path + "'"
			switch {
			case strings.HasPrefix(path, "poll."):
				control = "poll({"
			case strings.HasPrefix(path, "first_comment."):
				control = "...firstComment"
			}
			if !strings.Contains(fields, control) {
				t.Errorf("%s has no control for %s", name, path)
			}
		}
	}
}

// Messages outside of the dashboard name networks as it does.
func TestNames_AreThoseOfTheDashboard(t *testing.T) {
	source, err := os.ReadFile("../web/src/lib/networks.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range platforms.New(http.DefaultClient, platforms.Options{}).Names() {
		if want := "\n  " + name + ": '" + message.NetworkName(name) + "',"; !strings.Contains(string(source), want) {
			t.Errorf("web/src/lib/networks.ts lacks %q", want)
		}
	}
}
