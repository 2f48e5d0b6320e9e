package config_test

import (
	"testing"
	"time"

	"dateline/internal/infra/config"
)

func TestLoad_ViewRetention(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := config.Load("", nil)
	if err != nil || c.HourlyViewRetention != 90*24*time.Hour || c.DailyViewRetention != 760*24*time.Hour {
		t.Errorf("%v %v", c, err)
	}
	c, err = config.Load("", []string{"DATELINE_VIEWS_HOURLY_RETENTION=72h", "DATELINE_VIEWS_DAILY_RETENTION=0"})
	if err != nil || c.HourlyViewRetention != 72*time.Hour || c.DailyViewRetention != 0 {
		t.Errorf("%v %v", c, err)
	}
	// Redis cannot be rebuilt from less.
	for _, wrong := range []string{
		"DATELINE_VIEWS_HOURLY_RETENTION=2d", "DATELINE_VIEWS_DAILY_RETENTION=39d",
		"DATELINE_VIEWS_DAILY_RETENTION=a year",
	} {
		if _, err := config.Load("", []string{wrong}); err == nil {
			t.Errorf("%s: got no error, want one", wrong)
		}
	}
}

func TestLinkBase_UsesLinkHost(t *testing.T) {
	t.Chdir(t.TempDir())
	for host, want := range map[string]string{
		"": "https://dateline.example/l/", "go.example": "https://go.example/l/",
		"go.example:8443": "https://go.example:8443/l/",
	} {
		c, err := config.Load("", []string{
			"DATELINE_PUBLIC_URL=https://dateline.example/", "DATELINE_LINK_HOST=" + host,
		})
		if err != nil || c.LinkBase() != want {
			t.Errorf("%q: %v %v", host, c, err)
		}
	}
	for _, wrong := range []string{
		"https://go.example", "go.example/l", "a@go.example", "go example", ":80",
		"go.example?x",
	} {
		if _, err := config.Load("", []string{"DATELINE_LINK_HOST=" + wrong}); err == nil {
			t.Errorf("%q: got no error, want one", wrong)
		}
	}
}
