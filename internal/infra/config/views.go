package config

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Redis is rebuilt from the database after a data loss: it needs the hourly counts
// of two days and the daily counts of five weeks.
const (
	minHourlyRetention = 3 * 24 * time.Hour
	minDailyRetention  = 40 * 24 * time.Hour
)

func setHourlyViewRetention(c *Config, v string) error {
	return setRetention(&c.HourlyViewRetention, v, minHourlyRetention)
}

func setDailyViewRetention(c *Config, v string) error {
	return setRetention(&c.DailyViewRetention, v, minDailyRetention)
}

func setRetention(to *time.Duration, v string, minimum time.Duration) error {
	if err := parseRetention(to, v); err != nil {
		return err
	}
	if *to != 0 && *to < minimum {
		return errors.New("is too short to rebuild the counts in Redis")
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

// LinkBase returns the prefix of short links, with a trailing slash.
func (c *Config) LinkBase() string {
	base := c.PublicURL
	if c.LinkHost != "" {
		scheme, _, _ := strings.Cut(c.PublicURL, "://")
		base = scheme + "://" + c.LinkHost
	}
	return base + "/l/"
}
