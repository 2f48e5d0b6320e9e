package config_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/config"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.env")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_Defaults(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := config.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"APIAddr": {c.APIAddr, "127.0.0.1:8080"}, "PublicURL": {c.PublicURL, "http://127.0.0.1:8080"},
		"TimeZone":     {c.TimeZone.String(), "Asia/Ho_Chi_Minh"},
		"PostgresPort": {c.PostgresPort, 15432}, "LogLevel": {c.LogLevel, slog.LevelInfo}, "Sandbox": {c.Sandbox, true},
		"TemporalTLS":       {c.TemporalTLS, false},
		"TemporalNamespace": {c.TemporalNamespace, "default"}, "Keyset": {
			c.Keyset, filepath.Join(c.DataDir, "keyset.json"),
		},
	} {
		if got, want := pair[0], pair[1]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if !filepath.IsAbs(c.DataDir) {
		t.Errorf("DataDir: got %q, want an absolute path", c.DataDir)
	}
}

func TestLoad_MediaRetention(t *testing.T) {
	t.Chdir(t.TempDir())
	for value, want := range map[string]time.Duration{
		"": 90 * 24 * time.Hour, "0": 0, "0d": 0, "36h": 36 * time.Hour,
		"7d": 7 * 24 * time.Hour,
	} {
		c, err := config.Load("", []string{"DATELINE_MEDIA_RETENTION=" + value})
		if err != nil || c.MediaRetention != want {
			t.Errorf("%q: got %v, %v, want %v", value, c, err, want)
		}
	}
	for _, value := range []string{"-1d", "90", "d", "1.5d", "70000d"} {
		if _, err := config.Load("", []string{"DATELINE_MEDIA_RETENTION=" + value}); err == nil {
			t.Errorf("%q: got no error, want one", value)
		}
	}
}

func TestLoad_Precedence(t *testing.T) {
	t.Chdir(t.TempDir())
	file := writeFile(t, "# comment\nDATELINE_API_ADDR=:9000\nS3_BUCKET=\"from-file\"\nexport "+
		"DATELINE_REDIS_PORT=7000\nTEMPORAL_API_KEY='k'\n")
	c, err := config.Load("", []string{"DATELINE_CONFIG=" + file, "S3_BUCKET=from-env", "DATELINE_REDIS_PORT="})
	if err != nil {
		t.Fatal(err)
	}
	if c.S3Bucket != "from-env" {
		t.Errorf("S3Bucket: got %q, want the value from the environment", c.S3Bucket)
	}
	if c.RedisPort != 7000 {
		t.Errorf("RedisPort: got %d, want the value from the file, because the variable is empty", c.RedisPort)
	}
	if c.PublicURL != "http://localhost:9000" {
		t.Errorf("PublicURL: got %q, want localhost for a wildcard address", c.PublicURL)
	}
	if !c.TemporalTLS {
		t.Error("TemporalTLS: got false, want true with an API key")
	}

	flagged := writeFile(t, "S3_BUCKET=flagged\n")
	if c, err = config.Load(flagged, []string{"DATELINE_CONFIG=" + file}); err != nil || c.S3Bucket != "flagged" {
		t.Errorf("--config must take precedence over DATELINE_CONFIG: %v %v", c, err)
	}
	if err := os.WriteFile(config.DefaultFile, []byte("S3_BUCKET=here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = config.Load("", nil); err != nil || c.S3Bucket != "here" {
		t.Errorf("./dateline.env must be read: %v %v", c, err)
	}
	if os.Getenv("S3_BUCKET") != "" {
		t.Error("loading must not change the environment")
	}
}

// All invalid values are reported together, each with its name, and without secrets.
func TestLoad_ReportsAllProblems(t *testing.T) {
	bad := map[string]string{
		"DATABASE_URL":                 "mysql://u:hunter2@h/db",
		"REDIS_URL":                    "redis://:hunter2@:6379/x",
		"TEMPORAL_ADDRESS":             "http://temporal:7233",
		"TEMPORAL_TLS":                 "maybe",
		"TEMPORAL_UI_URL":              "ftp://x",
		"S3_ENDPOINT":                  "storage.example.org",
		"S3_BUCKET":                    "No_Bucket",
		"S3_SECRET_KEY":                "hunter2",
		"DATELINE_API_ADDR":            "8080",
		"DATELINE_PUBLIC_URL":          "https://x/?a=b",
		"DATELINE_LOG_LEVEL":           "loud",
		"DATELINE_LOG_FORMAT":          "xml",
		"DATELINE_TIME_ZONE":           "Asia/Saigon2",
		"DATELINE_ALLOW_PRIVATE_HOSTS": "10.0.0.0/8,nowhere",
		"DATELINE_MAX_BODY_BYTES":      "-1",
		"DATELINE_TRUSTED_PROXIES":     "proxy.internal",
		"OIDC_ISSUER":                  "login.example.org",
		"OIDC_SCOPES":                  "email",
		"OIDC_AUTO_JOIN":               "example.org,*",
		"OIDC_AUTO_JOIN_ROLE":          "owner",
		"DATELINE_MEDIA_MAX_BYTES":     "5368709121",
		"DATELINE_MEDIA_RETENTION":     "3 months",
		"S3_PUBLIC_ENDPOINT":           "files.example.org",
		"DATELINE_REDIS_PORT":          "70000",
		"DATELINE_SANDBOX":             "2",
		"DATELINE_SANDBX":              "true",
	}
	var text strings.Builder
	for name, value := range bad {
		fmt.Fprintf(&text, "%s=%s\n", name, value)
	}
	_, err := config.Load(writeFile(t, text.String()), []string{
		"DATELINE_LOG_LEVLE=debug", "DATELINE_API_SERVICE_HOST=10.0.0.1",
	})
	var problems config.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("want Problems, got %v", err)
	}
	message := err.Error()
	for name := range bad {
		if name != "S3_SECRET_KEY" && !strings.Contains(message, "\n  "+name) {
			t.Errorf("%s is not reported", name)
		}
	}
	for _, want := range []string{
		"S3_ACCESS_KEY and S3_SECRET_KEY must be set together",
		"did you mean DATELINE_SANDBOX?",
		"did you mean DATELINE_LOG_LEVEL?", `DATELINE_REDIS_PORT "70000"`, "DATABASE_URL (hidden)",
	} {
		if !strings.Contains(message, want) {
			t.Errorf("got no %q in:\n%s", want, message)
		}
	}
	if strings.Contains(message, "hunter2") {
		t.Errorf("got a secret in the message:\n%s", message)
	}
	if strings.Contains(message, "SERVICE_HOST") {
		t.Error("variables created by Kubernetes must be ignored")
	}
	if len(problems) != len(bad)+1 {
		t.Errorf("got %d problems, want %d:\n%s", len(problems), len(bad)+1, message)
	}
}

func TestLoad_UnreadableFile(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := config.Load("nowhere.env", nil)
	if err == nil || !strings.Contains(err.Error(),
		`--config "nowhere.env" cannot be read: no such file or directory`) {
		t.Errorf("missing file: %v", err)
	}
	_, err = config.Load(writeFile(t, "S3_SECRET_KEY hunter2\n"), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "not KEY=value") {
		t.Errorf("broken file: %v", err)
	}
}

func TestLoad_AcceptedValues(t *testing.T) {
	c, err := config.Load("", []string{
		"DATABASE_URL=postgres://u:p%40@db:5432/dateline?sslmode=disable", "REDIS_URL=a:1,b:2",
		"TEMPORAL_ADDRESS=t:7233", "S3_ENDPOINT=https://s3.example.org/",
		"DATELINE_ALLOW_PRIVATE_HOSTS=Media.Internal:8080, 10.1.2.3/16,[::1]:80", "S3_ACCESS_KEY=a",
		"S3_SECRET_KEY=hunter2",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []config.PrivateHost{
		{HostPort: "media.internal:8080"},
		{Prefix: netip.MustParsePrefix("10.1.0.0/16")},
		{HostPort: "[::1]:80"},
	}
	if !slices.Equal(c.AllowPrivateHosts, want) {
		t.Errorf("private hosts: %v", c.AllowPrivateHosts)
	}
	if c.S3Endpoint != "https://s3.example.org" {
		t.Errorf("%+v", *c)
	}
	if err := c.RequireEngines(); err != nil {
		t.Error(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "config", c)
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %+v", c, c, c, c, *c), logged.String()} {
		if strings.Contains(shown, "hunter2") || strings.Contains(shown, "p%40") ||
			!strings.Contains(shown, "TEMPORAL_ADDRESS=t:7233") {
			t.Errorf("printed: %s", shown)
		}
	}
}

func TestRequireEngines_ListsMissing(t *testing.T) {
	c, err := config.Load("", []string{"REDIS_URL=redis://h"})
	if err != nil {
		t.Fatal(err)
	}
	err = c.RequireEngines()
	if err == nil {
		t.Fatal("want an error")
	}
	for _, name := range []string{"DATABASE_URL", "TEMPORAL_ADDRESS", "S3_ENDPOINT"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not listed: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "REDIS_URL") {
		t.Errorf("REDIS_URL is set: %v", err)
	}
}

var update = flag.Bool("update", false, "rewrite dateline.env.example")

// The committed example file matches the table and loads, both as it is and with all settings uncommented.
func TestExample_MatchesCommittedFile(t *testing.T) {
	var b bytes.Buffer
	if err := config.Example(&b); err != nil {
		t.Fatal(err)
	}
	const path = "../../../dateline.env.example"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, b.Bytes()) {
		t.Error("dateline.env.example is stale: go test ./internal/infra/config -update")
	}
	if _, err := config.Load(path, nil); err != nil {
		t.Error(err)
	}
	open := strings.ReplaceAll(string(committed), "\n#", "\n")
	var lines []string
	for line := range strings.SplitSeq(open, "\n") {
		if name, _, ok := strings.Cut(line, "="); ok && name == strings.ToUpper(name) && !strings.Contains(name, " ") {
			lines = append(lines, line)
		}
	}
	if _, err := config.Load(writeFile(t, strings.Join(lines, "\n")+"\n"), nil); err != nil || len(lines) < 30 {
		t.Errorf("%d lines: %v", len(lines), err)
	}
}

func TestHelp_ListsSettings(t *testing.T) {
	var b bytes.Buffer
	if err := config.Help(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"DATABASE_URL", "default: 127.0.0.1:8080", "DATELINE_MEDIA_MAX_BYTES",
		"Local engines", "<DATELINE_DATA_DIR>/keyset.json",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("help lacks %q", want)
		}
	}
}
