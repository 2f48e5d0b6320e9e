// Package config loads and validates the settings of Dateline.
//
// A setting is read from the environment, from a file of KEY=value lines, or from its default, in this order of
// precedence. All invalid settings are reported together. The table in settings.go is the single source: the loader,
// the help text and the example file are generated from it.
package config

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/joho/godotenv"
)

// DefaultFile is the settings file that is read from the working directory if it exists and no other file is named.
const DefaultFile = "dateline.env"

// FileVariable is the environment variable with the path of the settings file.
const FileVariable = "DATELINE_CONFIG"

// PrivateHost is a private host or network that user-supplied URLs may point to. Either
// HostPort ("media.internal:8080", "10.0.0.7:80") or Prefix is set.
type PrivateHost struct {
	HostPort string
	Prefix   netip.Prefix
}

// Config contains the settings of a process. `dateline up` starts the engines whose URL is empty.
type Config struct {
	DatabaseURL string
	RedisURL    string

	TemporalAddress   string
	TemporalNamespace string
	TemporalAPIKey    string
	TemporalTLS       bool
	TemporalUIURL     string

	S3Endpoint  string
	S3Bucket    string
	S3Region    string
	S3AccessKey string
	S3SecretKey string
	S3PathStyle bool

	S3PublicEndpoint string // if empty, S3Endpoint

	DataDir             string
	APIAddr             string
	WorkerHealthAddr    string
	MetricsAddr         string  // empty if metrics are off
	OTLPEndpoint        string  // empty if traces are off
	OTLPLogsEndpoint    string  // URL for logs; if empty, derived from OTLPEndpoint
	TraceSampling       float64 // 0 to 1
	PublicURL           string
	AllowedHosts        []string // values of the Host header, in addition to PublicURL and LinkHost
	LinkHost            string   // host of short links; if empty, that of PublicURL
	LogLevel            slog.Level
	LogFormat           string
	MCPRole             string // author, editor, owner or off
	TimeZone            *time.Location
	Keyset              string
	KeysetJSON          string
	KeysetKMS           string
	AllowPrivateHosts   []PrivateHost
	TrustedProxies      []string // IP addresses and CIDR ranges
	MaxBodyBytes        int64
	APIRateLimit        int // requests per second per token; 0 for no limit
	APIIPRateLimit      int // requests per second per IP address without a token; 0 for no limit
	APIMaxStreams       int // open event streams; 0 for no limit
	APIMaxInFlight      int // concurrent requests; 0 for no limit
	MediaMaxBytes       int64
	MediaRetention      time.Duration // 0 for unlimited
	HourlyViewRetention time.Duration // retention of hourly counts; 0 for unlimited
	DailyViewRetention  time.Duration // retention of daily counts; 0 for unlimited
	// Percent of networks' rate limits for reading metrics of posts; 0: they are not read
	MetricsShare int

	Views     bool   // count the readers of sites
	GeoIPFile string // GeoIP database; empty if there is none

	SMTPHost       string // empty if no emails are sent
	SMTPPort       int
	SMTPEncryption string // starttls, tls or none
	SMTPUsername   string
	SMTPPassword   string
	EmailFrom      string // if empty, derived from PublicURL

	OIDCIssuer       string // empty if there is no provider
	OIDCClientID     string
	OIDCClientSecret string
	OIDCScopes       []string
	OIDCName         string
	OIDCAutoJoin     []string // email domains, in lower case
	OIDCAutoJoinRole string

	Crawl            bool
	WebSub           bool          // subscribe to the hubs that feeds name
	CrawlContact     string        // if empty, PublicURL
	CrawlMaxDomains  int           // crawled concurrently
	CrawlDelay       time.Duration // between two requests to a domain
	CrawlMaxDelay    time.Duration // maximum Crawl-delay of a robots.txt
	CrawlIPDelay     time.Duration // between two requests to an IP address
	CrawlBudget      int           // pages per domain and day; 0 for no limit
	CrawlMaxVersions int           // stored per page
	CrawlRetention   time.Duration // of versions except the newest; 0 for unlimited
	CrawlProxyURL    string
	CrawlBrowserURL  string // DevTools endpoint of a Chromium; empty if there is none

	LLMURL           string // empty if there is no LLM
	LLMModel         string
	LLMKey           string
	LLMContextTokens int           // maximum tokens of a prompt and its completion
	LLMTokensPerDay  int           // daily budget
	LLMTimeout       time.Duration // of a completion

	Search               string             // SearchPostgres or SearchMeilisearch
	StoryThresholds      map[string]float64 // by language
	MeilisearchURL       string
	MeilisearchKey       string
	MeilisearchIndex     string
	MeilisearchEmbedder  string // JSON; empty if Meilisearch runs none
	EmbeddingsURL        string // empty if semantic search is off
	EmbeddingsKey        string
	EmbeddingsModel      string
	EmbeddingsDimensions int

	Sandbox        bool
	SandboxAddr    string
	TemporalPort   int
	TemporalUIPort int
	PostgresPort   int
	RedisPort      int
	S3Port         int

	// NetworksFile overrides the networks' defaults; empty if there is none.
	NetworksFile string
	// NetworkApps contains the client credentials by network.
	NetworkApps map[string]NetworkApp

	// given contains the values from the environment and the file, for String.
	given map[string]string
}

// NetworkApp is an OAuth application registered at a social network.
type NetworkApp struct{ ClientID, ClientSecret string }

// Load reads the settings. file is the value of --config, or empty; environ is os.Environ().
//
// An empty variable counts as not set, because Compose files and shells easily produce empty variables.
func Load(file string, environ []string) (*Config, error) {
	env := make(map[string]string)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	var problems Problems
	path, fromFile := readFile(file, env[FileVariable], &problems)

	c := &Config{given: make(map[string]string), NetworkApps: make(map[string]NetworkApp)}
	all := settings()
	for _, s := range all {
		value, source := env[s.Name], "the environment"
		if value == "" {
			value, source = fromFile[s.Name], path
		}
		if value != "" {
			c.given[s.Name] = value
			c.apply(s, value, source, &problems)
		} else if s.Default != "" {
			c.apply(s, s.Default, "the default", &problems)
		}
	}
	problems = append(problems, unknown(all, fromFile, env, path)...)
	// Derived defaults depend on other settings, which must be valid.
	if len(problems) == 0 {
		for _, s := range all {
			if _, ok := c.given[s.Name]; !ok && s.derive != nil {
				c.apply(s, s.derive(c), "the default", &problems)
			}
		}
	}
	problems = append(problems, c.conflicts()...)
	if len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

func (c *Config) apply(s Setting, value, source string, problems *Problems) {
	if err := s.set(c, value); err != nil {
		*problems = append(*problems, s.problem(value, source, err))
	}
}

// readFile finds and parses the settings file. It is an error if a file that was named does not exist.
func readFile(flag, variable string, problems *Problems) (path string, values map[string]string) {
	path, source := flag, "--config"
	if path == "" {
		path, source = variable, FileVariable
	}
	if path == "" {
		if _, err := os.Stat(DefaultFile); err != nil {
			return "", nil
		}
		path, source = DefaultFile, DefaultFile
	}
	f, err := os.Open(path)
	if err != nil {
		*problems = append(*problems, Problem{
			Name: source, Value: path, Wrong: "cannot be read: " + reason(err),
			Accepts: "the path of a readable file of KEY=value lines",
		})
		return path, nil
	}
	defer f.Close()
	values, err = godotenv.Parse(f)
	if err != nil {
		// The parser's message contains the line, which can contain a secret.
		*problems = append(*problems, Problem{
			Name: source, Value: path, Wrong: "has a line that is not KEY=value",
			Accepts: "KEY=value lines; values with spaces or # in quotes; comments after #",
		})
		return path, nil
	}
	return path, values
}

// unknown reports unknown names in the file, and names in the environment that look like a typo. Other DATELINE_
// variables are ignored: Kubernetes creates some for every Service.
func unknown(all []Setting, file, env map[string]string, path string) Problems {
	known := []string{FileVariable}
	for _, s := range all {
		known = append(known, s.Name)
	}
	var out Problems
	for name := range file {
		if slices.Contains(known[1:], name) {
			continue
		}
		p := Problem{
			Name: name, Wrong: "is not a setting (in " + path + ")",
			Accepts: "the names that `dateline settings` lists",
		}
		if near, _ := nearest(name, known[1:]); near != "" {
			p.Accepts = "did you mean " + near + "?"
		}
		out = append(out, p)
	}
	for name := range env {
		if !strings.HasPrefix(name, "DATELINE_") || slices.Contains(known, name) {
			continue
		}
		if near, distance := nearest(name, known); near != "" && distance <= 2 {
			out = append(out, Problem{
				Name: name, Wrong: "is not a setting (in the environment)", Accepts: "did you mean " + near + "?",
			})
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// conflicts returns settings that are valid alone but not together.
func (c *Config) conflicts() Problems {
	var out Problems
	if (c.S3AccessKey == "") != (c.S3SecretKey == "") {
		out = append(out, Problem{
			Name: "S3_ACCESS_KEY", Wrong: "and S3_SECRET_KEY must be set together",
			Accepts: "both or neither (without them, the AWS identity of the machine is used)",
		})
	}
	if (c.LLMURL == "") != (c.LLMModel == "") {
		out = append(out, Problem{
			Name: "DATELINE_LLM_MODEL", Wrong: "and DATELINE_LLM_URL must be set together",
			Accepts: "both or neither",
		})
	}
	if (c.OIDCIssuer == "") != (c.OIDCClientID == "") {
		out = append(out, Problem{
			Name: "OIDC_ISSUER", Wrong: "and OIDC_CLIENT_ID must be set together", Accepts: "both or neither",
		})
	}
	return append(out, c.searchConflicts()...)
}

// RequireEngines returns an error that lists all missing engine URLs. `dateline api` and `dateline worker` call it;
// `dateline up` starts the missing engines instead.
func (c *Config) RequireEngines() error {
	var problems Problems
	for _, s := range settings() {
		if s.engine != nil && s.engine(c) == "" {
			problems = append(problems, Problem{
				Name: s.Name, Wrong: "is required (only `dateline up` starts its own engines)", Accepts: s.Accepts,
			})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// String lists the settings that were given, without secrets: a Config is safe to print and to log.
func (c Config) String() string {
	var parts []string
	for _, s := range settings() {
		value, ok := c.given[s.Name]
		if !ok {
			continue
		}
		if s.Secret {
			value = hidden
		}
		parts = append(parts, s.Name+"="+value)
	}
	return strings.Join(parts, " ")
}

// GoString prevents %#v from printing secrets.
func (c Config) GoString() string { return "config.Config{" + c.String() + "}" }

// LogValue prevents slog from printing secrets.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// LocalURL returns the URL of a local listener, given its host:port. A listener on
// all interfaces is reached at localhost.
func LocalURL(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// LogsEndpoint returns the OTLP URL for logs, or an empty string if logs are not exported.
func (c *Config) LogsEndpoint() string {
	if c.OTLPLogsEndpoint == "" && c.OTLPEndpoint != "" {
		return c.OTLPEndpoint + "/v1/logs"
	}
	return c.OTLPLogsEndpoint
}
