package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

func TestParseOptions(t *testing.T) {
	t.Run("Defaults", func(t *testing.T) {
		o, err := parseOptions([]string{"--db-filename", "t.db"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if o.frontend() != "127.0.0.1:7233" || o.ui() != "127.0.0.1:8233" || o.metricsPort != 0 || o.headless {
			t.Errorf("got the addresses %s and %s, metrics port %d, headless %t", o.frontend(), o.ui(), o.metricsPort, o.headless)
		}
		if o.shards != 4 || o.retention != 72*time.Hour || o.retentionGiven || o.logLevel != slog.LevelWarn {
			t.Errorf("got %d shards, retention %s (given: %t), log level %s", o.shards, o.retention, o.retentionGiven, o.logLevel)
		}
		if !slices.Equal(o.namespaces, []string{"default"}) || !filepath.IsAbs(o.dbFilename) {
			t.Errorf("defaults are %+v", o)
		}
	})
	t.Run("AsStartDev", func(t *testing.T) {
		o, err := parseOptions([]string{"--db-filename=t.db", "--ip", "localhost", "--ui-ip", "0.0.0.0", "--port", "7000",
			"--namespace", "desk", "--namespace", "default", "--search-attribute", "PublishAt=datetime",
			"--search-attribute", "Domain=Keyword", "--log-level", "never", "--log-format", "json", "--headless"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if o.frontend() != "127.0.0.1:7000" || o.ui() != "127.0.0.1:8000" || o.uiIP != "0.0.0.0" {
			t.Errorf("got the addresses %s, %s and %s", o.frontend(), o.ui(), o.uiIP)
		}
		if !o.headless || o.logLevel != logNever {
			t.Errorf("got headless %t, log level %s", o.headless, o.logLevel)
		}
		if !slices.Equal(o.namespaces, []string{"default", "desk"}) {
			t.Errorf("namespaces %v", o.namespaces)
		}
		if o.searchAttributes["PublishAt"] != enumspb.INDEXED_VALUE_TYPE_DATETIME ||
			o.searchAttributes["Domain"] != enumspb.INDEXED_VALUE_TYPE_KEYWORD {
			t.Errorf("search attributes %v", o.searchAttributes)
		}
	})
	for name, c := range map[string]struct{ args, want string }{
		"NoFile":        {"--port 7233", "--db-filename is required"},
		"BothDatabases": {"--db-filename t.db --postgres-url postgres://u@h/temporal", "both set"},
		"PostgresURL":   {"--postgres-url postgres://h:5432", "want postgres://user:password@host:5432/database"},
		"StrayArgument": {"--db-filename t.db server", `unexpected argument "server"`},
		"UnknownType":   {"--db-filename t.db --search-attribute A=Number", "known are Bool, Datetime"},
		"NoType":        {"--db-filename t.db --search-attribute A", "want Name=Type"},
		"NotAnIP":       {"--db-filename t.db --ip example.org", "not an IP address"},
		"NotAPort":      {"--db-filename t.db --port 70000", "not a port"},
		"NoShards":      {"--db-filename t.db --shards 0", "want 1 to 512"},
		"Retention":     {"--db-filename t.db --retention 1m", "at least 1h"},
		"LogLevel":      {"--db-filename t.db --log-level loud", "log-level"},
		"LogFormat":     {"--db-filename t.db --log-format xml", "want text or json"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseOptions(strings.Fields(c.args), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
