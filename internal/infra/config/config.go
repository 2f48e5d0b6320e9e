// Package config holds every setting of Dateline in one table.
//
// A setting comes from, in order of strength: the environment, one file of KEY=value lines, a default. All that is
// wrong is found and reported together. The table in settings.go is the only list: the loader, the help text and the
// example file are made from it.
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

// DefaultFile is read when no other file is named and it exists in the working directory.
const DefaultFile = "dateline.env"

// FileVariable is the environment variable that names the file.
const FileVariable = "DATELINE_CONFIG"

// PrivateHost is one place in a private network that URLs given by users may reach.
// Either HostPort is set ("media.internal:8080", "10.0.0.7:80") or Prefix is.
type PrivateHost struct {
	HostPort string
	Prefix   netip.Prefix
}

// Config is what a process was told. Empty engine URLs mean "start one here" for `dateline up`.
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

	S3PublicEndpoint string // empty: S3Endpoint

	DataDir           string
	APIAddr           string
	WorkerHealthAddr  string
	MetricsAddr       string  // "": metrics are not served
	OTLPEndpoint      string  // "": no traces
	OTLPLogs          string  // the URL for logs; "": below OTLPEndpoint
	TraceSampling     float64 // 0 to 1
	PublicURL         string
	ExtraHosts        []string // that requests may be for, besides those of PublicURL and LinkHost
	LinkHost          string   // of short links; empty: PublicURL's
	LogLevel          slog.Level
	LogFormat         string
	TimeZone          *time.Location
	Keyset            string
	KeysetJSON        string
	KeysetKMS         string
	AllowPrivateHosts []PrivateHost
	TrustedProxies    []string // addresses and networks
	MaxBodyBytes      int64
	APIRate           int // requests a second of a token; 0: as many as it likes
	APIAddressRate    int // and of an address without one
	APIStreams        int // event streams that are open at the same time; 0: as many as come
	APIAtOnce         int // requests that are carried out at the same time; 0: as many as come
	MediaMaxBytes     int64
	MediaRetention    time.Duration // 0: for ever
	ViewHours         time.Duration // how long counts by the hour are kept; 0: for ever
	ViewDays          time.Duration // and those by the day

	Views   bool   // count who reads
	GeoFile string // tells the country of an address; empty: none is told

	OIDCIssuer       string // empty: no provider
	OIDCClientID     string
	OIDCClientSecret string
	OIDCScopes       []string
	OIDCName         string
	OIDCAutoJoin     []string // e-mail domains, in lower case
	OIDCAutoJoinRole string

	Crawl          bool
	CrawlContact   string        // empty: PublicURL
	CrawlDomains   int           // at once
	CrawlDelay     time.Duration // between two requests to a domain
	CrawlMaxDelay  time.Duration // that a robots.txt may ask for
	CrawlIPDelay   time.Duration // between two requests to an address
	CrawlBudget    int           // pages of a domain a day; 0: no limit
	CrawlVersions  int           // of a page
	CrawlRetention time.Duration // of versions but the newest; 0: for ever
	CrawlProxy     string
	CrawlBrowser   string // where a Chromium is controlled; empty: none

	ModelURL     string // empty: no language model
	ModelName    string
	ModelKey     string
	ModelContext int           // tokens of a question with its answer
	ModelTokens  int           // a day
	ModelTimeout time.Duration // of a question

	Search               string // SearchPostgres or SearchMeilisearch
	MeilisearchURL       string
	MeilisearchKey       string
	MeilisearchIndex     string
	MeilisearchEmbedder  string // JSON; empty: it runs none
	EmbeddingsURL        string // empty: by words only
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
	TemporaldDir   string

	// NetworksFile holds what differs from the networks' defaults; empty: nothing.
	NetworksFile string
	// NetworkApps are the applications that the operator has set up, by network.
	NetworkApps map[string]NetworkApp

	// given keeps what was set by the environment or the file, for String.
	given map[string]string
}

// NetworkApp is an application at a social network.
type NetworkApp struct{ ClientID, ClientSecret string }

// Load reads the settings. file is the value of --config, or empty; environ is os.Environ().
//
// A variable that is set but empty counts as not set, because Compose files and shells make such ones easily.
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
	// Derived defaults read other settings, so they come last, and only if those are sound.
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

// readFile finds and parses the file. Only a file that was asked for by name has to exist.
func readFile(flag, variable string, problems *Problems) (path string, values map[string]string) {
	path, asked := flag, "--config"
	if path == "" {
		path, asked = variable, FileVariable
	}
	if path == "" {
		if _, err := os.Stat(DefaultFile); err != nil {
			return "", nil
		}
		path, asked = DefaultFile, DefaultFile
	}
	f, err := os.Open(path)
	if err != nil {
		*problems = append(*problems, Problem{Name: asked, Value: path, Wrong: "cannot be read: " + reason(err),
			Accepts: "the path of a readable file of KEY=value lines"})
		return path, nil
	}
	defer f.Close()
	values, err = godotenv.Parse(f)
	if err != nil {
		// The parser quotes the line in its message, and the line may hold a secret.
		*problems = append(*problems, Problem{Name: asked, Value: path, Wrong: "has a line that is not KEY=value",
			Accepts: "KEY=value lines, values with spaces or # in quotes, comments after #"})
		return path, nil
	}
	return path, values
}

// unknown reports names in the file that no setting has, and names in the environment that look like a slip.
// Other DATELINE_ variables are left alone: Kubernetes makes some for every Service.
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
		p := Problem{Name: name, Wrong: "is not a setting (in " + path + ")", Accepts: "the names that `dateline up --help` lists"}
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
			out = append(out, Problem{Name: name, Wrong: "is not a setting (in the environment)", Accepts: "did you mean " + near + "?"})
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// conflicts finds settings that are sound alone but not together.
func (c *Config) conflicts() Problems {
	var out Problems
	if (c.S3AccessKey == "") != (c.S3SecretKey == "") {
		out = append(out, Problem{Name: "S3_ACCESS_KEY", Wrong: "and S3_SECRET_KEY go together, one of them is missing",
			Accepts: "both or neither (neither: the machine's own AWS identity)"})
	}
	if (c.ModelURL == "") != (c.ModelName == "") {
		out = append(out, Problem{Name: "DATELINE_MODEL", Wrong: "is set without DATELINE_MODEL_URL, or the other way round", Accepts: "both, or neither"})
	}
	if (c.OIDCIssuer == "") != (c.OIDCClientID == "") {
		out = append(out, Problem{Name: "OIDC_ISSUER", Wrong: "and OIDC_CLIENT_ID go together, one of them is missing", Accepts: "both or neither"})
	}
	return append(out, c.searchConflicts()...)
}

// RequireEngines returns one error that lists every engine URL that is missing.
// `dateline api` and `dateline worker` call it; `dateline up` starts what is missing instead.
func (c *Config) RequireEngines() error {
	var problems Problems
	for _, s := range settings() {
		if s.engine != nil && s.engine(c) == "" {
			problems = append(problems, Problem{Name: s.Name, Wrong: "is not set, and only `dateline up` starts its own", Accepts: s.Accepts})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// String lists what was set, without secrets, so that a Config is safe to print and to log.
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

// GoString keeps %#v from printing secrets.
func (c Config) GoString() string { return "config.Config{" + c.String() + "}" }

// LogValue keeps slog from printing secrets.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// LocalURL is how this machine reaches one of its own listeners, given its
// host:port: a listener on every interface is reached at localhost.
func LocalURL(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// LogsEndpoint is the URL that takes logs by OTLP; "": none does.
func (c *Config) LogsEndpoint() string {
	if c.OTLPLogs == "" && c.OTLPEndpoint != "" {
		return c.OTLPEndpoint + "/v1/logs"
	}
	return c.OTLPLogs
}
