package config

import (
	"os"
	"path/filepath"
	"time"
)

// Setting is one row of the table.
type Setting struct {
	Name        string
	Section     string
	Default     string // used when no value is given
	DefaultText string // shown by the help instead of Default when the default depends on other settings
	Accepts     string // the accepted values, for the help and for problems
	Help        string // one sentence
	Secret      bool   // the value is never printed

	set    func(*Config, string) error
	derive func(*Config) string // computes the default from other settings
	engine func(*Config) string // returns the field of a setting that `api` and `worker` require
}

func (s Setting) problem(value, source string, err error) Problem {
	if s.Secret {
		value = hidden
	}
	return Problem{Name: s.Name, Value: value, Wrong: err.Error() + " (from " + source + ")", Accepts: s.Accepts}
}

const trueOrFalse = "true or false"

// settings returns the table, section by section.
func settings() []Setting {
	var all []Setting
	for _, group := range []struct {
		section string
		rows    []Setting
	}{
		{"Engines: `dateline up` starts those whose URL is empty", engineSettings()},
		{"Service", serviceSettings()},
		{"Single sign-on with OpenID Connect (optional)", loginSettings()},
		{"Email (optional)", emailSettings()},
		{"Crawler", crawlSettings()},
		{"LLM for pages that selectors cannot extract (optional)", llmSettings()},
		{"Article search", searchSettings()},
		{"Social networks: client credentials; the sandbox and networks not listed here need none", networkSettings()},
		{"Local engines and sandbox of `dateline up`", localSettings()},
	} {
		for _, s := range group.rows {
			s.Section = group.section
			all = append(all, s)
		}
	}
	return all
}

func engineSettings() []Setting {
	return []Setting{
		{ //nolint:gosec // an example
			Name: "DATABASE_URL", Secret: true,
			Accepts: "postgres://user:password@host:5432/database?sslmode=require",
			Help:    "PostgreSQL 14 or newer.",
			set:     setDatabaseURL, engine: func(c *Config) string { return c.DatabaseURL },
		},
		{
			Name: "REDIS_URL", Secret: true,
			Accepts: "redis://:password@host:6379/0, rediss://… with TLS, or host:port,host:port,… of a cluster",
			Help:    "Redis or Valkey 7 or newer, single or cluster.",
			set:     setRedisURL, engine: func(c *Config) string { return c.RedisURL },
		},
		{
			Name: "TEMPORAL_ADDRESS", Accepts: "host:port",
			Help: "Frontend address of a Temporal cluster or of Temporal Cloud.",
			set:  toDialAddr(func(c *Config) *string { return &c.TemporalAddress }), engine: func(c *Config) string {
				return c.TemporalAddress
			},
		},
		{
			Name: "TEMPORAL_NAMESPACE", Default: "default", Accepts: "the name of an existing namespace",
			Help: "Temporal namespace.", set: toString(func(c *Config) *string { return &c.TemporalNamespace }),
		},
		{
			Name: "TEMPORAL_API_KEY", Secret: true, Accepts: "an API key of Temporal Cloud",
			Help: "Temporal Cloud API key.", set: toString(func(c *Config) *string { return &c.TemporalAPIKey }),
		},
		{
			Name: "TEMPORAL_TLS", DefaultText: "true if TEMPORAL_API_KEY is set, otherwise false", Accepts: trueOrFalse,
			Help: "Connect to Temporal with TLS.", set: toBool(func(c *Config) *bool { return &c.TemporalTLS }),
			derive: func(c *Config) string {
				if c.TemporalAPIKey != "" {
					return "true"
				}
				return "false"
			},
		},
		{
			Name: "TEMPORAL_UI_URL", Accepts: "http://host:8233",
			Help: "URL of the Temporal Web UI, for links in messages and in the dashboard.",
			set:  toWebURL(func(c *Config) *string { return &c.TemporalUIURL }),
		},
		{
			Name: "S3_ENDPOINT", Accepts: "https://host or http://host:port",
			Help: "Amazon S3 or a compatible server, for media and raw pages.",
			set:  toWebURL(func(c *Config) *string { return &c.S3Endpoint }), engine: func(c *Config) string {
				return c.S3Endpoint
			},
		},
		{
			Name: "S3_PUBLIC_ENDPOINT", DefaultText: "S3_ENDPOINT", Accepts: "https://host or http://host:port",
			Help: "Endpoint that browsers and networks use for direct uploads and downloads.",
			set:  toWebURL(func(c *Config) *string { return &c.S3PublicEndpoint }),
		},
		{
			Name: "S3_BUCKET", Default: "dateline", Accepts: "3 to 63 lowercase letters, digits, dots and hyphens",
			Help: "Bucket for all objects.", set: setBucket,
		},
		{
			Name: "S3_REGION", Default: "us-east-1", Accepts: "a region name",
			Help: "Region of the bucket, used in request signatures.",
			set:  toString(func(c *Config) *string { return &c.S3Region }),
		},
		{
			Name: "S3_ACCESS_KEY", Accepts: "an access key ID",
			Help: "Access key ID.", set: toString(func(c *Config) *string { return &c.S3AccessKey }),
		},
		{
			Name: "S3_SECRET_KEY", Secret: true, Accepts: "a secret access key",
			Help: "Secret access key.", set: toString(func(c *Config) *string { return &c.S3SecretKey }),
		},
		{
			Name: "S3_PATH_STYLE", Default: "true", Accepts: trueOrFalse,
			Help: "Use path-style bucket URLs; most servers other than AWS require it.",
			set:  toBool(func(c *Config) *bool { return &c.S3PathStyle }),
		},
	}
}

func serviceSettings() []Setting {
	return []Setting{
		{
			Name:        "DATELINE_DATA_DIR",
			DefaultText: "/var/lib/dateline for root, otherwise $XDG_DATA_HOME/dateline or ~/.local/share/dateline",
			Accepts:     "a directory that is empty, does not exist yet, or was created by Dateline",
			Help:        "Directory for all local data.",
			set:         toPath(func(c *Config) *string { return &c.DataDir }), derive: func(*Config) string {
				return defaultDataDir()
			},
		},
		{
			Name: "DATELINE_API_ADDR", Default: "127.0.0.1:8080", Accepts: "host:port, or :port for all interfaces",
			Help: "Listen address of the API.", set: toAddr(func(c *Config) *string { return &c.APIAddr }),
		},
		{
			Name: "DATELINE_WORKER_HEALTH_ADDR", Default: "127.0.0.1:8081",
			Accepts: "host:port, or :port for all interfaces",
			Help:    "Listen address of /livez and /readyz of `dateline worker`.",
			set:     toAddr(func(c *Config) *string { return &c.WorkerHealthAddr }),
		},
		{
			Name: "DATELINE_METRICS_ADDR", Default: "127.0.0.1:9464",
			Accepts: "host:port, :port for all interfaces, or off",
			Help: "Listen address of /metrics (Prometheus) of `dateline up` and `dateline api`; `dateline worker` " +
				"serves it at DATELINE_WORKER_HEALTH_ADDR.", set: setMetricsAddr,
		},
		{
			Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Accepts: "http://host:4318",
			Help: "OTLP/HTTP endpoint for traces and logs; empty disables the export.",
			set:  toWebURL(func(c *Config) *string { return &c.OTLPEndpoint }),
		},
		{
			Name: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", DefaultText: "<OTEL_EXPORTER_OTLP_ENDPOINT>/v1/logs",
			Accepts: "http://host:3100/otlp/v1/logs",
			Help:    "OTLP/HTTP endpoint for logs, if it differs from the one for traces.",
			set:     toWebURL(func(c *Config) *string { return &c.OTLPLogsEndpoint }),
		},
		{
			Name: "DATELINE_TRACE_SAMPLING", Default: "0.05", Accepts: "a number from 0 to 1",
			Help: "Share of requests and posts that are traced.", set: setSampling,
		},
		{
			Name: "DATELINE_PUBLIC_URL", DefaultText: "http://<DATELINE_API_ADDR>",
			Accepts: "https://dateline.example.org",
			Help:    "Public URL of the API and the dashboard, used in links and OAuth redirects.",
			set:     toWebURL(func(c *Config) *string { return &c.PublicURL }), derive: defaultPublicURL,
		},
		{
			Name:    "DATELINE_ALLOWED_HOSTS",
			Accepts: "a comma-separated list of host names, such as dateline.internal,api",
			Help: "Additional values of the Host header that the API accepts. The hosts of DATELINE_PUBLIC_URL and " +
				"DATELINE_LINK_HOST, localhost and IP addresses are always accepted.", set: setAllowedHosts,
		},
		{
			Name: "DATELINE_LOG_LEVEL", Default: "info", Accepts: "debug, info, warn or error",
			Help: "Minimum log level.", set: setLogLevel,
		},
		{
			Name: "DATELINE_LOG_FORMAT", Default: "text", Accepts: "text or json",
			Help: "Log format.", set: setLogFormat,
		},
		{
			Name: "DATELINE_MCP_ROLE", Default: "author", Accepts: "author, editor, owner or off",
			Help: "Highest role of agents at /mcp. What an author schedules waits for approval by an editor.",
			set:  setMCPRole,
		},
		{
			Name: "DATELINE_TIME_ZONE", Default: "Asia/Ho_Chi_Minh",
			Accepts: "an IANA name such as Asia/Ho_Chi_Minh, Europe/Paris or UTC",
			Help:    "Default time zone of new workspaces.", set: setTimeZone,
		},
		{
			Name: "DATELINE_KEYSET", DefaultText: "<DATELINE_DATA_DIR>/keyset.json",
			Accepts: "the path of a Tink keyset",
			Help: "File with the keys that encrypt access tokens. Back it up: without it, tokens cannot be " +
				"decrypted.",
			set: toPath(func(c *Config) *string { return &c.Keyset }), derive: func(c *Config) string {
				return filepath.Join(c.DataDir, "keyset.json")
			},
		},
		{
			Name: "DATELINE_KEYSET_JSON", Secret: true, Accepts: "a Tink keyset as JSON on one line",
			Help: "The keyset itself, instead of a file.",
			set:  toString(func(c *Config) *string { return &c.KeysetJSON }),
		},
		{
			Name: "DATELINE_KEYSET_KMS", Accepts: "aws-kms://arn:aws:kms:<region>:<account>:key/<id>",
			Help: "Key of a key management service that encrypts the keyset.", set: setKeysetKMS,
		},
		{
			Name:    "DATELINE_ALLOW_PRIVATE_HOSTS",
			Accepts: "a comma-separated list of host:port and CIDR ranges, such as media.internal:8080,10.1.0.0/16",
			Help:    "Private hosts and networks that user-supplied URLs may point to; all others are blocked.",
			set:     setPrivateHosts,
		},
		{
			Name:    "DATELINE_TRUSTED_PROXIES",
			Accepts: "a comma-separated list of IP addresses and CIDR ranges, such as 127.0.0.1,10.1.0.0/16",
			Help: "Reverse proxies whose X-Forwarded-For header is trusted. Rate limits apply to the " +
				"client address.", set: setTrustedProxies,
		},
		{
			Name: "DATELINE_MAX_BODY_BYTES", Default: "1048576", Accepts: "a number of bytes",
			Help: "Maximum size of a request body, except for media.",
			set:  toBytes(func(c *Config) *int64 { return &c.MaxBodyBytes }),
		},
		{
			Name: "DATELINE_API_RATE_LIMIT", Default: "500", Accepts: "0 to 100000",
			Help: "Requests per second per token or session and API process, averaged over ten seconds; further " +
				"requests get 429. 0 disables the limit.",
			set: toNumber(func(c *Config) *int { return &c.APIRateLimit }, 0, 100_000),
		},
		{
			Name: "DATELINE_API_IP_RATE_LIMIT", Default: "20", Accepts: "0 to 100000",
			Help: "Requests per second per IP address without a valid token. 0 disables the limit.",
			set:  toNumber(func(c *Config) *int { return &c.APIIPRateLimit }, 0, 100_000),
		},
		{
			Name: "DATELINE_API_MAX_IN_FLIGHT", Default: "256", Accepts: "0 to 100000",
			Help: "Concurrent requests per API process (16 times as many for the hits of readers); a request that " +
				"waits longer than half a second gets 503. 0 disables the limit.",
			set: toNumber(func(c *Config) *int { return &c.APIMaxInFlight }, 0, 100_000),
		},
		{
			Name: "DATELINE_API_MAX_STREAMS", Default: "1000", Accepts: "0 to 100000",
			Help: "Open event streams per API process; further streams get 503. One token or session can open 50. 0 " +
				"disables the limit.", set: toNumber(func(c *Config) *int { return &c.APIMaxStreams }, 0, 100_000),
		},
		{
			Name: "DATELINE_MEDIA_MAX_BYTES", Default: "536870912", Accepts: "a number of bytes",
			Help: "Maximum size of a media file; at most 5368709120 (5 GiB), the limit of a single S3 copy.",
			set:  setMediaMaxBytes,
		},
		{
			Name: "DATELINE_MEDIA_RETENTION", Default: "90d",
			Accepts: "days or hours, such as 90d or 36h; 0 disables deletion",
			Help:    "Retention of media that no post uses.",
			set:     toRetention(func(c *Config) *time.Duration { return &c.MediaRetention }),
		},
		{
			Name: "DATELINE_METRICS_SHARE", Default: "30", Accepts: "0 to 80",
			Help: "Percentage of the networks' rate limits that reading likes, views and other metrics of posts may " +
				"use; the rest is left to publishing. 0 disables reading.",
			set: toNumber(func(c *Config) *int { return &c.MetricsShare }, 0, 80),
		},
		{
			Name: "DATELINE_LINK_HOST", DefaultText: "the host of DATELINE_PUBLIC_URL",
			Accepts: "go.example.org or go.example.org:8443",
			Help:    "Host of short links; it must route to the API.", set: setLinkHost,
		},
		{
			Name: "DATELINE_VIEWS_HOURLY_RETENTION", Default: "90d",
			Accepts: "days or hours, at least 3d; 0 disables deletion",
			Help:    "Retention of hourly view counts; older counts are kept per day.", set: setHourlyViewRetention,
		},
		{
			Name: "DATELINE_VIEWS_DAILY_RETENTION", Default: "760d", Accepts: "days, at least 40d; 0 disables deletion",
			Help: "Retention of daily view counts and of those by country, device, referrer and filter reason; older " +
				"counts are kept per month.", set: setDailyViewRetention,
		},
		{
			Name: "DATELINE_VIEWS", Default: "true", Accepts: trueOrFalse,
			Help: "Count the readers of your sites (docs/how-to/add-a-site.md).",
			set:  toBool(func(c *Config) *bool { return &c.Views }),
		},
		{
			Name: "DATELINE_GEOIP_FILE", Accepts: "a MaxMind DB file of countries or cities",
			Help: "GeoIP database for the countries of readers.",
			set:  toPath(func(c *Config) *string { return &c.GeoIPFile }),
		},
	}
}

func localSettings() []Setting {
	const port = "1 to 65535; if the port is taken, a free one is used"
	return []Setting{
		{
			Name: "DATELINE_SANDBOX", Default: "true", Accepts: trueOrFalse,
			Help: "Start the sandbox, a set of fake social networks for trying things out.",
			set:  toBool(func(c *Config) *bool { return &c.Sandbox }),
		},
		{
			Name: "DATELINE_SANDBOX_ADDR", Default: "127.0.0.1:8090", Accepts: "host:port",
			Help: "Listen address of the sandbox.", set: toAddr(func(c *Config) *string { return &c.SandboxAddr }),
		},
		{
			Name: "DATELINE_TEMPORAL_PORT", Default: "7233", Accepts: port,
			Help: "Preferred port of the Temporal server.",
			set:  toPort(func(c *Config) *int { return &c.TemporalPort }),
		},
		{
			Name: "DATELINE_TEMPORAL_UI_PORT", Default: "8233", Accepts: port,
			Help: "Preferred port of the Temporal Web UI.",
			set:  toPort(func(c *Config) *int { return &c.TemporalUIPort }),
		},
		{
			Name: "DATELINE_POSTGRES_PORT", Default: "15432", Accepts: port,
			Help: "Preferred port of PostgreSQL.", set: toPort(func(c *Config) *int { return &c.PostgresPort }),
		},
		{
			Name: "DATELINE_REDIS_PORT", Default: "16379", Accepts: port,
			Help: "Preferred port of Redis.", set: toPort(func(c *Config) *int { return &c.RedisPort }),
		},
		{
			Name: "DATELINE_S3_PORT", Default: "19000", Accepts: port,
			Help: "Preferred port of the S3 server.", set: toPort(func(c *Config) *int { return &c.S3Port }),
		},
	}
}

// defaultDataDir follows the XDG base directory specification for an ordinary user, and the Filesystem Hierarchy
// Standard for root.
func defaultDataDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/dateline"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dateline")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return filepath.Join(home, ".local", "share", "dateline")
}

// defaultPublicURL returns the URL of the API for a browser on the same machine.
func defaultPublicURL(c *Config) string { return LocalURL(c.APIAddr) }
