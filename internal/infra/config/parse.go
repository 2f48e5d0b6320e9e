package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	// Slim containers have no time zone files.

	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/infra/timezone"
)

// The parsers never put the value into an error, because it can be a secret; Problem shows it if it is not.

func toString(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func toBool(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToLower(v) {
		case "true", "1", "yes", "on":
			*field(c) = true
		case "false", "0", "no", "off":
			*field(c) = false
		default:
			return errors.New("is neither true nor false")
		}
		return nil
	}
}

func toPort(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 65535 {
			return errors.New("is not a port")
		}
		*field(c) = n
		return nil
	}
}

func toBytes(field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1 {
			return errors.New("is not a positive whole number")
		}
		*field(c) = n
		return nil
	}
}

func setMediaMaxBytes(c *Config, v string) error {
	if err := toBytes(func(c *Config) *int64 { return &c.MediaMaxBytes })(c, v); err != nil {
		return err
	}
	// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
	if c.MediaMaxBytes > 5<<30 {
		return errors.New("is more than 5 GiB")
	}
	return nil
}

// toRetention parses days ("90d") or hours ("36h").
func toRetention(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error { return parseRetention(field(c), v) }
}

func parseRetention(to *time.Duration, v string) error {
	unit, number := time.Hour, v
	if days, ok := strings.CutSuffix(v, "d"); ok {
		unit, number = 24*time.Hour, days
	} else if hours, ok := strings.CutSuffix(v, "h"); ok {
		number = hours
	} else if v != "0" {
		return errors.New("is neither days nor hours")
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return errors.New("is neither days nor hours")
	}
	*to = time.Duration(n) * unit //nolint:gosec // at most 65,535 days
	return nil
}

// toPath makes the path absolute, because `dateline up` changes its working directory when it drops root privileges.
func toPath(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		path, err := filepath.Abs(v)
		if err != nil {
			return errors.New("cannot be made absolute: the working directory does not exist")
		}
		*field(c) = path
		return nil
	}
}

func toAddr(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if err := checkHostPort(v); err != nil {
			return err
		}
		*field(c) = v
		return nil
	}
}

// setAllowedHosts parses host names without a port.
func setAllowedHosts(c *Config, v string) error {
	c.AllowedHosts = nil
	for host := range strings.SplitSeq(v, ",") {
		host = strings.ToLower(strings.TrimSpace(host))
		if host == "" || strings.ContainsAny(host, ":/@?#* ") {
			return errors.New("is not a list of host names")
		}
		c.AllowedHosts = append(c.AllowedHosts, host)
	}
	return nil
}

// Hosts returns the values of the Host header that the API accepts.
func (c *Config) Hosts() []string {
	hosts := slices.Clone(c.AllowedHosts)
	for _, address := range []string{c.PublicURL, c.LinkBase()} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
}

// setMetricsAddr is like toAddr and also accepts "off".
func setMetricsAddr(c *Config, v string) error {
	if v == "off" {
		c.MetricsAddr = ""
		return nil
	}
	return toAddr(func(c *Config) *string { return &c.MetricsAddr })(c, v)
}

func setSampling(c *Config, v string) error {
	share, err := strconv.ParseFloat(v, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return errors.New("is not a number from 0 to 1")
	}
	c.TraceSampling = share
	return nil
}

func checkHostPort(v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return errors.New("is not host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("has a port that is not a number from 0 to 65535")
	}
	return nil
}

// toDialAddr parses an address to connect to: the host and the port are required.
func toDialAddr(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.Contains(v, "://") {
			return errors.New("is a URL, not host:port")
		}
		if err := checkHostPort(v); err != nil {
			return err
		}
		if host, port, _ := net.SplitHostPort(v); host == "" || port == "0" {
			return errors.New("has no host or no port")
		}
		*field(c) = v
		return nil
	}
}

// toWebURL parses an absolute http or https URL and removes the trailing slash, so that paths can be appended.
func toWebURL(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		u, err := url.Parse(v)
		switch {
		case err != nil:
			return errors.New("is not a URL")
		case u.Scheme != "http" && u.Scheme != "https":
			return errors.New("does not start with http:// or https://")
		case u.Host == "":
			return errors.New("has no host")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return errors.New("must consist of scheme, host, port and path only")
		}
		*field(c) = strings.TrimRight(v, "/")
		return nil
	}
}

func setDatabaseURL(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return errors.New("is not a postgres:// URL")
	}
	if u.Host == "" && u.Query().Get("host") == "" {
		return errors.New("has no host")
	}
	if _, err := pgconn.ParseConfig(v); err != nil {
		return errors.New("is not valid for the PostgreSQL driver (check port, sslmode and certificate files)")
	}
	c.DatabaseURL = v
	return nil
}

func setRedisURL(c *Config, v string) error {
	if !strings.Contains(v, "://") {
		for host := range strings.SplitSeq(v, ",") {
			if err := checkHostPort(strings.TrimSpace(host)); err != nil {
				return errors.New("has an entry that is not host:port")
			}
		}
		c.RedisURL = v
		return nil
	}
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "redis" && u.Scheme != "rediss":
		return errors.New("does not start with redis:// or rediss://")
	case u.Hostname() == "":
		return errors.New("has no host")
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if _, err := strconv.ParseUint(db, 10, 16); err != nil {
			return errors.New("has a path that is not a database number")
		}
	}
	c.RedisURL = v
	return nil
}

func setBucket(c *Config, v string) error {
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
	hasLength := len(v) >= 3 && len(v) <= 63
	hasLetters := strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
	if !hasLength || !hasLetters || strings.Trim(v, "-.") != v || strings.Contains(v, "..") {
		return errors.New("is not a bucket name")
	}
	c.S3Bucket = v
	return nil
}

func setLogLevel(c *Config, v string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(v)) {
		return errors.New("is not a log level")
	}
	return c.LogLevel.UnmarshalText([]byte(v))
}

func setLogFormat(c *Config, v string) error {
	if v != "text" && v != "json" {
		return errors.New("is not a log format")
	}
	c.LogFormat = v
	return nil
}

func setMCPRole(c *Config, v string) error {
	if !slices.Contains([]string{"author", "editor", "owner", "off"}, v) {
		return errors.New("is not a role")
	}
	c.MCPRole = v
	return nil
}

func setTimeZone(c *Config, v string) error {
	zone, err := timezone.Load(v)
	if err != nil {
		return errors.New("is not in the IANA time zone database")
	}
	c.TimeZone = zone
	return nil
}

func setPrivateHosts(c *Config, v string) error {
	c.AllowPrivateHosts = nil
	for entry := range strings.SplitSeq(v, ",") {
		entry = strings.TrimSpace(entry)
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			c.AllowPrivateHosts = append(c.AllowPrivateHosts, PrivateHost{Prefix: prefix.Masked()})
			continue
		}
		if host, _, err := net.SplitHostPort(entry); err != nil || host == "" || checkHostPort(entry) != nil {
			return fmt.Errorf("has an entry that is neither host:port nor a CIDR range: %q", entry)
		}
		c.AllowPrivateHosts = append(c.AllowPrivateHosts, PrivateHost{HostPort: strings.ToLower(entry)})
	}
	return nil
}

func setKeysetKMS(c *Config, value string) error {
	if !strings.HasPrefix(value, "aws-kms://arn:") {
		return errors.New("is not an AWS KMS key")
	}
	c.KeysetKMS = value
	return nil
}
