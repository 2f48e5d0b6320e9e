package config_test

import (
	"slices"
	"strings"
	"testing"

	"dateline/internal/infra/config"
)

func TestLoad_LoginSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := config.Load("", []string{
		"OIDC_ISSUER=https://login.example.org/", "OIDC_CLIENT_ID=dateline",
		"OIDC_CLIENT_SECRET=hunter2",
		"OIDC_SCOPES=openid email", "OIDC_AUTO_JOIN=Example.org, @news.example.org",
		"DATELINE_TRUSTED_PROXIES=127.0.0.1, 10.1.0.0/16",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.OIDCIssuer != "https://login.example.org/" {
		t.Errorf("OIDCIssuer: got %q, want it unchanged", c.OIDCIssuer)
	}
	if !slices.Equal(c.OIDCScopes, []string{"openid", "email"}) ||
		!slices.Equal(c.OIDCAutoJoin, []string{"example.org", "news.example.org"}) ||
		c.OIDCAutoJoinRole != "author" || !slices.Equal(c.TrustedProxies, []string{"127.0.0.1", "10.1.0.0/16"}) {
		t.Errorf("%+v", *c)
	}
	if strings.Contains(c.String(), "hunter2") {
		t.Errorf("got the secret in: %s", c)
	}
	if c, err = config.Load("", nil); err != nil || c.OIDCIssuer != "" || c.OIDCAutoJoin != nil {
		t.Errorf("automatic joining must be off by default: %+v %v", c, err)
	}
	for _, alone := range []string{"OIDC_ISSUER=https://login.example.org", "OIDC_CLIENT_ID=dateline"} {
		if _, err = config.Load("", []string{alone}); err == nil ||
			!strings.Contains(err.Error(), "must be set together") {
			t.Errorf("%s alone: %v", alone, err)
		}
	}
}
