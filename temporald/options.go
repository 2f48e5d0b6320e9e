package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

// defaultNamespace always exists, as with start-dev.
const defaultNamespace = "default"

// logNever is above every level that the server logs at.
const logNever = slog.Level(100)

// options is the parsed command line.
type options struct {
	dbFilename       string   // absolute; "" when postgres is set
	postgres         *url.URL // nil: SQLite
	ip, uiIP         string
	port, uiPort     int
	metricsPort      int // 0: no metrics
	namespaces       []string
	searchAttributes map[string]enumspb.IndexedValueType
	retention        time.Duration
	retentionGiven   bool // then it also applies to namespaces that exist already
	shards           int
	logLevel         slog.Level
	logFormat        string
	headless         bool
	version, help    bool
}

func parseOptions(args []string, usage io.Writer) (options, error) {
	o := options{
		namespaces:       []string{defaultNamespace},
		searchAttributes: map[string]enumspb.IndexedValueType{},
		logLevel:         slog.LevelWarn, // The server is noisy below that; start-dev chooses the same.
	}
	fs := flag.NewFlagSet("temporald", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // An error is one sentence; the list of flags is for --help.
	fs.StringVar(&o.dbFilename, "db-filename", "", "`file` of the SQLite database; created when missing (required without --postgres-url)")
	fs.Func("postgres-url", "`URL` of a Postgres database to use instead of SQLite; it and <name>_visibility are created when missing", func(s string) (err error) {
		o.postgres, err = parsePostgresURL(s)
		return err
	})
	fs.StringVar(&o.ip, "ip", "127.0.0.1", "IP `address` of the frontend")
	fs.IntVar(&o.port, "port", 7233, "`port` of the frontend")
	fs.StringVar(&o.uiIP, "ui-ip", "", "IP `address` of the Web UI (default: --ip)")
	fs.IntVar(&o.uiPort, "ui-port", 0, "`port` of the Web UI (default: --port + 1000)")
	fs.IntVar(&o.metricsPort, "metrics-port", 0, "`port` of /metrics for Prometheus (default: no metrics)")
	fs.BoolVar(&o.headless, "headless", false, "do not serve the Web UI")
	fs.DurationVar(&o.retention, "retention", 72*time.Hour,
		"`time` that closed workflows are kept; given explicitly, it also changes the named namespaces that exist already")
	fs.IntVar(&o.shards, "shards", 4, "`number` of history shards; fixed by the first start on a file")
	fs.StringVar(&o.logFormat, "log-format", "text", "`format` of the log on stderr: text or json")
	fs.BoolVar(&o.version, "version", false, "print the versions and exit")
	fs.Func("log-level", "`level`: debug, info, warn, error or never (default warn)", func(s string) error {
		if s == "never" {
			o.logLevel = logNever
			return nil
		}
		return o.logLevel.UnmarshalText([]byte(s))
	})
	fs.Func("namespace", "`name` of a further namespace; repeatable", func(s string) error {
		if s == "" {
			return errors.New("the name is empty")
		}
		if !slices.Contains(o.namespaces, s) {
			o.namespaces = append(o.namespaces, s)
		}
		return nil
	})
	fs.Func("search-attribute", "`Name=Type` of a custom search attribute; repeatable", o.addSearchAttribute)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			o.help = true
			fs.SetOutput(usage)
			fs.PrintDefaults()
			return o, nil
		}
		return o, err
	}
	fs.Visit(func(f *flag.Flag) { o.retentionGiven = o.retentionGiven || f.Name == "retention" })
	if o.version {
		return o, nil
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; every option starts with --", fs.Arg(0))
	}
	return o, o.complete()
}

// addSearchAttribute parses one Name=Type; the type is case-insensitive, as with start-dev.
func (o *options) addSearchAttribute(s string) error {
	name, typeName, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want Name=Type, for example PostStatus=Keyword")
	}
	var known []string
	for shorthand, value := range enumspb.IndexedValueType_shorthandValue {
		if value == 0 {
			continue // Unspecified
		}
		if strings.EqualFold(shorthand, typeName) {
			o.searchAttributes[name] = enumspb.IndexedValueType(value)
			return nil
		}
		known = append(known, shorthand)
	}
	slices.Sort(known)
	return fmt.Errorf("unknown type %q; known are %s", typeName, strings.Join(known, ", "))
}

// complete fills what depends on other options and rejects what cannot work.
func (o *options) complete() error {
	switch {
	case o.postgres != nil && o.dbFilename != "":
		return errors.New("--db-filename and --postgres-url are both set; use one of them")
	case o.postgres == nil && o.dbFilename == "":
		return errors.New("--db-filename is required: temporald keeps its data in that SQLite file and has no in-memory mode")
	case o.postgres == nil:
		abs, err := filepath.Abs(o.dbFilename)
		if err != nil {
			return fmt.Errorf("--db-filename %s: %w", o.dbFilename, err)
		}
		o.dbFilename = abs
	}
	if o.uiIP == "" {
		o.uiIP = o.ip
	}
	if o.uiPort == 0 {
		o.uiPort = min(o.port+1000, 65535)
	}
	for name, ip := range map[string]*string{"--ip": &o.ip, "--ui-ip": &o.uiIP} {
		if *ip == "localhost" { // start-dev's default; the server requires an IP.
			*ip = "127.0.0.1"
		}
		if net.ParseIP(*ip) == nil {
			return fmt.Errorf("%s %q is not an IP address", name, *ip)
		}
	}
	for name, port := range map[string]int{"--port": o.port, "--ui-port": o.uiPort, "--metrics-port": o.metricsPort} {
		if port < 0 || port > 65535 || (port == 0 && name == "--port") {
			return fmt.Errorf("%s %d is not a port", name, port)
		}
	}
	if o.shards < 1 || o.shards > 512 {
		return fmt.Errorf("--shards %d: want 1 to 512; one machine needs few", o.shards)
	}
	if o.retention < time.Hour {
		return fmt.Errorf("--retention %s: Temporal keeps closed workflows for at least 1h", o.retention)
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return fmt.Errorf("--log-format %q: want text or json", o.logFormat)
	}
	return nil
}

// frontend is the address that clients on this machine dial.
func (o options) frontend() string { return net.JoinHostPort(dialIP(o.ip), strconv.Itoa(o.port)) }

// ui is the address of the Web UI for a browser on this machine.
func (o options) ui() string { return net.JoinHostPort(dialIP(o.uiIP), strconv.Itoa(o.uiPort)) }

// dialIP turns "every address" into one that can be dialled.
func dialIP(bind string) string {
	if ip := net.ParseIP(bind); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return bind
}
