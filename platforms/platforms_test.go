package platforms_test

import (
	"net/http"
	"slices"
	"testing"

	"dateline/platforms"
)

func TestRegistry(t *testing.T) {
	r := platforms.New(http.DefaultClient, platforms.Options{})
	if names := r.Names(); !slices.Equal(names, []string{"discord", "mastodon", "telegram"}) {
		t.Errorf("names %v", names)
	}
	for _, name := range r.Names() {
		n, ok := r.Get(name)
		if !ok || n.Name() != name {
			t.Errorf("Get(%q) = %v, %v", name, n, ok)
		}
	}
	if _, ok := r.Connector("mastodon"); !ok {
		t.Error("mastodon has no connector")
	}
	if _, ok := r.Get("nowhere"); ok {
		t.Error("found a network that does not exist")
	}
	if _, ok := r.Connector("nowhere"); ok {
		t.Error("found a connector that does not exist")
	}
}
