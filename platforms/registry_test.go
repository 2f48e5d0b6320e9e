package platforms_test

import (
	"net/http"
	"slices"
	"testing"

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
