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
	Default     string // the value used when none is given
	DefaultText string // what help says instead of Default, for a default that depends on something
	Accepts     string // what a right value looks like, for help and for problems
	Help        string // one sentence
	Secret      bool   // the value is never shown

	set    func(*Config, string) error
	derive func(*Config) string // the default, made from other settings
	engine func(*Config) string // the field, where `api` and `worker` cannot do without it
}

func (s Setting) problem(value, source string, err error) Problem {
	if s.Secret {
		value = hidden
	}
	return Problem{Name: s.Name, Value: value, Wrong: err.Error() + " (from " + source + ")", Accepts: s.Accepts}
}

const yesNo = "true or false"

// settings returns the table, section by section.
func settings() []Setting {
	var all []Setting
	for _, group := range []struct {
		section string
		rows    []Setting
	}{
		{"Engines: leave a URL empty and `dateline up` starts its own", engineSettings()},
		{"Service", serviceSettings()},
		{"Login at an OpenID provider; none is needed", loginSettings()},
		{"Crawler", crawlSettings()},
		{"Language model for pages that no rule can read; none is needed", modelSettings()},
		{"Search of articles", searchSettings()},
		{"Social networks: the applications that are set up there; the sandbox, and networks not named here, need none", networkSettings()},
		{"On one machine: what `dateline up` starts itself", localSettings()},
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
		{Name: "DATABASE_URL", Secret: true, //nolint:gosec // an example
			Accepts: "postgres://user:password@host:5432/database?sslmode=require",
			Help:    "PostgreSQL 14 or newer.",
			set:     setDatabaseURL, engine: func(c *Config) string { return c.DatabaseURL }},
		{Name: "REDIS_URL", Secret: true, Accepts: "redis://:password@host:6379/0, rediss://… with TLS, or host:port,host:port,… of a cluster",
			Help: "Redis or Valkey 7 or newer, single or cluster.",
			set:  setRedisURL, engine: func(c *Config) string { return c.RedisURL }},
		{Name: "TEMPORAL_ADDRESS", Accepts: "host:port",
			Help: "Frontend of a Temporal cluster or of Temporal Cloud.",
			set:  toDial(func(c *Config) *string { return &c.TemporalAddress }), engine: func(c *Config) string { return c.TemporalAddress }},
		{Name: "TEMPORAL_NAMESPACE", Default: "default", Accepts: "the name of an existing namespace",
			Help: "Temporal namespace.", set: toString(func(c *Config) *string { return &c.TemporalNamespace })},
		{Name: "TEMPORAL_API_KEY", Secret: true, Accepts: "a key of Temporal Cloud",
			Help: "Temporal Cloud API key.", set: toString(func(c *Config) *string { return &c.TemporalAPIKey })},
		{Name: "TEMPORAL_TLS", DefaultText: "true with TEMPORAL_API_KEY, else false", Accepts: yesNo,
			Help: "Speak TLS to Temporal.", set: toBool(func(c *Config) *bool { return &c.TemporalTLS }),
			derive: func(c *Config) string {
				if c.TemporalAPIKey != "" {
					return "true"
				}
				return "false"
			}},
		{Name: "TEMPORAL_UI_URL", Accepts: "http://host:8233",
			Help: "Where people find the Temporal Web UI; shown in messages and in the dashboard.",
			set:  toWebURL(func(c *Config) *string { return &c.TemporalUIURL })},
		{Name: "S3_ENDPOINT", Accepts: "https://host or http://host:port",
			Help: "S3 or a compatible server, for media and raw pages.",
			set:  toWebURL(func(c *Config) *string { return &c.S3Endpoint }), engine: func(c *Config) string { return c.S3Endpoint }},
		{Name: "S3_PUBLIC_ENDPOINT", DefaultText: "S3_ENDPOINT", Accepts: "https://host or http://host:port",
			Help: "Where browsers and networks reach the bucket, for uploads and downloads that go past the API.",
			set:  toWebURL(func(c *Config) *string { return &c.S3PublicEndpoint })},
		{Name: "S3_BUCKET", Default: "dateline", Accepts: "3 to 63 lower-case letters, digits, dots and hyphens",
			Help: "Bucket that holds everything.", set: setBucket},
		{Name: "S3_REGION", Default: "us-east-1", Accepts: "a region name",
			Help: "Region used in signatures.", set: toString(func(c *Config) *string { return &c.S3Region })},
		{Name: "S3_ACCESS_KEY", Accepts: "an access key id",
			Help: "Access key id.", set: toString(func(c *Config) *string { return &c.S3AccessKey })},
		{Name: "S3_SECRET_KEY", Secret: true, Accepts: "a secret access key",
			Help: "Secret access key.", set: toString(func(c *Config) *string { return &c.S3SecretKey })},
		{Name: "S3_PATH_STYLE", Default: "true", Accepts: yesNo,
			Help: "Address the bucket in the path instead of the host name; most servers other than AWS need it.",
			set:  toBool(func(c *Config) *bool { return &c.S3PathStyle })},
	}
}

func serviceSettings() []Setting {
	return []Setting{
		{Name: "DATELINE_DATA_DIR", DefaultText: "/var/lib/dateline as root, else $XDG_DATA_HOME/dateline or ~/.local/share/dateline",
			Accepts: "a directory that is empty, absent or already Dateline's",
			Help:    "Everything that is kept on this machine.",
			set:     toPath(func(c *Config) *string { return &c.DataDir }), derive: func(*Config) string { return defaultDataDir() }},
		{Name: "DATELINE_API_ADDR", Default: "127.0.0.1:8080", Accepts: "host:port, :port for every interface",
			Help: "Where the API listens.", set: toAddr(func(c *Config) *string { return &c.APIAddr })},
		{Name: "DATELINE_WORKER_HEALTH_ADDR", Default: "127.0.0.1:8081", Accepts: "host:port, :port for every interface",
			Help: "Where `dateline worker` answers /livez and /readyz.", set: toAddr(func(c *Config) *string { return &c.WorkerHealthAddr })},
		{Name: "DATELINE_METRICS_ADDR", Default: "127.0.0.1:9464", Accepts: "host:port, :port for every interface, or off",
			Help: "Where `dateline up` and `dateline api` serve /metrics for Prometheus; `dateline worker` does where it answers /readyz.", set: setMetricsAddr},
		{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Accepts: "http://host:4318",
			Help: "A collector that takes traces and logs by OTLP over HTTP; empty: none are sent.",
			set:  toWebURL(func(c *Config) *string { return &c.OTLPEndpoint })},
		{Name: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", DefaultText: "<OTEL_EXPORTER_OTLP_ENDPOINT>/v1/logs", Accepts: "http://host:3100/otlp/v1/logs",
			Help: "Where logs go by OTLP over HTTP, when somewhere else than traces.",
			set:  toWebURL(func(c *Config) *string { return &c.OTLPLogs })},
		{Name: "DATELINE_TRACE_SAMPLING", Default: "0.05", Accepts: "a number from 0 to 1",
			Help: "The share of requests and posts that are traced.", set: setSampling},
		{Name: "DATELINE_PUBLIC_URL", DefaultText: "http://<DATELINE_API_ADDR>", Accepts: "https://dateline.example.org",
			Help: "Where browsers and networks find the API; used in links and OAuth redirects.",
			set:  toWebURL(func(c *Config) *string { return &c.PublicURL }), derive: defaultPublicURL},
		{Name: "DATELINE_HOSTS", Accepts: "a comma list of host names, such as dateline.internal,api",
			Help: "Other names that requests to the API may come by; the hosts of DATELINE_PUBLIC_URL and DATELINE_LINK_HOST, localhost and addresses always may.", set: setHosts},
		{Name: "DATELINE_LOG_LEVEL", Default: "info", Accepts: "debug, info, warn or error",
			Help: "How much is logged.", set: setLogLevel},
		{Name: "DATELINE_LOG_FORMAT", Default: "text", Accepts: "text or json",
			Help: "Log format.", set: setLogFormat},
		{Name: "DATELINE_TIME_ZONE", Default: "Asia/Ho_Chi_Minh", Accepts: "an IANA name such as Asia/Ho_Chi_Minh, Europe/Paris or UTC",
			Help: "Time zone of new workspaces.", set: setTimeZone},
		{Name: "DATELINE_KEYSET", DefaultText: "<DATELINE_DATA_DIR>/keyset.json", Accepts: "the path of a Tink keyset",
			Help: "Keys that seal the networks' tokens; keep a copy, without it they cannot be opened.",
			set:  toPath(func(c *Config) *string { return &c.Keyset }), derive: func(c *Config) string { return filepath.Join(c.DataDir, "keyset.json") }},
		{Name: "DATELINE_KEYSET_JSON", Secret: true, Accepts: "a Tink keyset as JSON on one line",
			Help: "The keyset itself, in place of a file.", set: toString(func(c *Config) *string { return &c.KeysetJSON })},
		{Name: "DATELINE_KEYSET_KMS", Accepts: "aws-kms://arn:aws:kms:<region>:<account>:key/<id>",
			Help: "The key of a key management service that encrypts the keyset.", set: setKMS},
		{Name: "DATELINE_ALLOW_PRIVATE_HOSTS", Accepts: "a comma list of host:port and networks, such as media.internal:8080,10.1.0.0/16",
			Help: "Places in private networks that URLs given by users may reach; all others are refused.", set: setPrivateHosts},
		{Name: "DATELINE_TRUSTED_PROXIES", Accepts: "a comma list of addresses and networks, such as 127.0.0.1,10.1.0.0/16",
			Help: "Proxies in front of the API whose X-Forwarded-For is believed; login attempts are limited by client.", set: setTrustedProxies},
		{Name: "DATELINE_MAX_BODY_BYTES", Default: "1048576", Accepts: "a number of bytes",
			Help: "Largest request body, media apart.", set: toBytes(func(c *Config) *int64 { return &c.MaxBodyBytes })},
		{Name: "DATELINE_API_RATE", Default: "500", Accepts: "0 to 100000",
			Help: "Requests a second that one token or session may send to a process of the API, in the mean of ten seconds; more are answered 429. 0: no limit.", set: toNumber(func(c *Config) *int { return &c.APIRate }, 0, 100_000)},
		{Name: "DATELINE_API_ADDRESS_RATE", Default: "20", Accepts: "0 to 100000",
			Help: "The same of one address without a good token. 0: no limit.", set: toNumber(func(c *Config) *int { return &c.APIAddressRate }, 0, 100_000)},
		{Name: "DATELINE_API_AT_ONCE", Default: "256", Accepts: "0 to 100000",
			Help: "Requests that a process carries out at the same time, of readers' hits 16 times as many; what finds no room within half a second is answered 503. 0: no limit.", set: toNumber(func(c *Config) *int { return &c.APIAtOnce }, 0, 100_000)},
		{Name: "DATELINE_API_STREAMS", Default: "1000", Accepts: "0 to 100000",
			Help: "Event streams that a process holds open at the same time; more are answered 503. One token or session may hold 50. 0: no limit.", set: toNumber(func(c *Config) *int { return &c.APIStreams }, 0, 100_000)},
		{Name: "DATELINE_MEDIA_MAX_BYTES", Default: "536870912", Accepts: "a number of bytes",
			Help: "Largest media file; at most 5368709120 (5 GiB), which is what S3 copies in one go.", set: setMediaMaxBytes},
		{Name: "DATELINE_MEDIA_RETENTION", Default: "90d", Accepts: "days or hours, such as 90d or 36h; 0 keeps everything",
			Help: "How long media stays that no post has used.", set: toSpan(func(c *Config) *time.Duration { return &c.MediaRetention })},
		{Name: "DATELINE_LINK_HOST", DefaultText: "the host of DATELINE_PUBLIC_URL", Accepts: "go.example.org or go.example.org:8443",
			Help: "Host of short links; it must lead to the API.", set: setLinkHost},
		{Name: "DATELINE_VIEWS_HOURS_RETENTION", Default: "90d", Accepts: "days or hours, at least 3d; 0 keeps everything",
			Help: "How long counts of views stay by the hour; after that by the day.", set: setViewHours},
		{Name: "DATELINE_VIEWS_DAYS_RETENTION", Default: "760d", Accepts: "days, at least 40d; 0 keeps everything",
			Help: "How long counts stay by the day, by country, device, referrer and reason; after that by the month.", set: setViewDays},
		{Name: "DATELINE_VIEWS", Default: "true", Accepts: yesNo,
			Help: "Count who reads (docs/how-to/add-a-site.md); without it, nothing of that runs.", set: toBool(func(c *Config) *bool { return &c.Views })},
		{Name: "DATELINE_GEO_FILE", Accepts: "a file in MaxMind's format, of countries or cities",
			Help: "Tells the countries of readers.", set: toPath(func(c *Config) *string { return &c.GeoFile })},
	}
}

func localSettings() []Setting {
	const port = "1 to 65535; a free one is taken when this one is not"
	return []Setting{
		{Name: "DATELINE_SANDBOX", Default: "true", Accepts: yesNo,
			Help: "Start the sandbox, a pretend network to try things on.", set: toBool(func(c *Config) *bool { return &c.Sandbox })},
		{Name: "DATELINE_SANDBOX_ADDR", Default: "127.0.0.1:8090", Accepts: "host:port",
			Help: "Where the sandbox listens.", set: toAddr(func(c *Config) *string { return &c.SandboxAddr })},
		{Name: "DATELINE_TEMPORAL_PORT", Default: "7233", Accepts: port,
			Help: "Preferred port of the Temporal server.", set: toPort(func(c *Config) *int { return &c.TemporalPort })},
		{Name: "DATELINE_TEMPORAL_UI_PORT", Default: "8233", Accepts: port,
			Help: "Preferred port of the Temporal Web UI.", set: toPort(func(c *Config) *int { return &c.TemporalUIPort })},
		{Name: "DATELINE_POSTGRES_PORT", Default: "15432", Accepts: port,
			Help: "Preferred port of PostgreSQL.", set: toPort(func(c *Config) *int { return &c.PostgresPort })},
		{Name: "DATELINE_REDIS_PORT", Default: "16379", Accepts: port,
			Help: "Preferred port of Redis.", set: toPort(func(c *Config) *int { return &c.RedisPort })},
		{Name: "DATELINE_S3_PORT", Default: "19000", Accepts: port,
			Help: "Preferred port of the S3 server.", set: toPort(func(c *Config) *int { return &c.S3Port })},
		{Name: "DATELINE_TEMPORALD_DIR", DefaultText: "temporald beside the working directory or the program", Accepts: "a directory with temporald's go.mod",
			Help: "Source of the Temporal server that is built when none is installed.",
			set:  toPath(func(c *Config) *string { return &c.TemporaldDir })},
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

// defaultPublicURL is the API's address as this machine's browser reaches it.
func defaultPublicURL(c *Config) string { return LocalURL(c.APIAddr) }
