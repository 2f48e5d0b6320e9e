package config_test

import (
	"slices"
	"testing"

	"dateline/internal/infra/config"
)

func TestHosts_IncludesConfiguredHosts(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := config.Load("", []string{
		"DATELINE_PUBLIC_URL=https://dateline.example:8443", "DATELINE_LINK_HOST=go.example",
		"DATELINE_ALLOWED_HOSTS=api, Dateline.internal",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"api", "dateline.internal", "dateline.example:8443", "go.example"}
	if got := c.Hosts(); !slices.Equal(got, want) {
		t.Errorf("Hosts: got %q, want %q", got, want)
	}
	for _, wrong := range []string{"api:80", "https://api", "a,,b", "*.example", "a b"} {
		if _, err := config.Load("", []string{"DATELINE_ALLOWED_HOSTS=" + wrong}); err == nil {
			t.Errorf("DATELINE_ALLOWED_HOSTS=%s: got no error, want one", wrong)
		}
	}
}
