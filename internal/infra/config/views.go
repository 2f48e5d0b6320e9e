package config

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// What Redis is filled in from after a loss must not be dropped before: hours of
// two days, days of five weeks.
const (
	leastHourly = 3 * 24 * time.Hour
	leastDaily  = 40 * 24 * time.Hour
)

func setViewHours(c *Config, v string) error { return atLeast(&c.ViewHours, v, leastHourly) }

func setViewDays(c *Config, v string) error { return atLeast(&c.ViewDays, v, leastDaily) }

func atLeast(to *time.Duration, v string, least time.Duration) error {
	if err := readSpan(to, v); err != nil {
		return err
	}
	if *to != 0 && *to < least {
		return errors.New("is too short to count on from after a loss of Redis")
	}
	return nil
}

func setLinkHost(c *Config, v string) error {
	u, err := url.Parse("https://" + v)
	if err != nil || u.Host != v || u.Hostname() == "" || u.User != nil || strings.ContainsAny(v, "/?#") {
		return errors.New("is not a host")
	}
	c.LinkHost = v
	return nil
}

// LinkBase is what short links begin with.
func (c *Config) LinkBase() string {
	base := c.PublicURL
	if c.LinkHost != "" {
		scheme, _, _ := strings.Cut(c.PublicURL, "://")
		base = scheme + "://" + c.LinkHost
	}
	return base + "/l/"
}
