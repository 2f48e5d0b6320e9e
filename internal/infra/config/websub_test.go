package config_test

import (
	"testing"

	"dateline/internal/infra/config"
)

func TestWebSub_IsOnWhereHubsCanReachTheAPI(t *testing.T) {
	t.Chdir(t.TempDir())
	for address, want := range map[string]bool{
		"": false, "https://dateline.example": true, "https://dateline.example.org:8443/base": true,
		"https://93.184.215.14": true,
		"http://localhost:8080": false, "http://127.0.0.1:8080": false, "https://10.0.0.5": false,
		"https://[::1]": false, "https://dateline": false,
		"https://dateline.internal": false, "https://dateline.local": false,
	} {
		c, err := config.Load("", []string{"DATELINE_PUBLIC_URL=" + address})
		if err != nil {
			t.Fatal(err)
		}
		if c.WebSub != want {
			t.Errorf("at %q: got %v, want %v", address, c.WebSub, want)
		}
	}
	c, err := config.Load("", []string{"DATELINE_PUBLIC_URL=http://127.0.0.1:8080", "DATELINE_WEBSUB=true"})
	if err != nil || !c.WebSub {
		t.Errorf("got %v %v, want what is set", c.WebSub, err)
	}
}
