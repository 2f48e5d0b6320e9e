package doctor_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/embedded/s3server"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/ops/doctor"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// patient is an installation whose engines are all healthy.
type patient struct {
	*newsroomtest.Newsroom
	t       *testing.T
	options doctor.Options
}

func open(t *testing.T) *patient {
	t.Helper()
	n := newsroomtest.Open(t)
	dir := t.TempDir()
	handler, err := s3server.New(s3server.Options{Dir: dir, Bucket: "dateline", AccessKey: "test", SecretKey: "test"})
	n.Must(err)
	s3 := httptest.NewServer(handler)
	t.Cleanup(s3.Close)
	cfg := &config.Config{
		DatabaseURL: n.DatabaseURL, RedisURL: n.RedisURL, S3Endpoint: s3.URL, S3Bucket: "dateline",
		S3Region: "us-east-1", S3AccessKey: "test",
		S3SecretKey: "test", S3PathStyle: true, DataDir: dir, PublicURL: "http://127.0.0.1:8080",
		TemporalNamespace: temporaltest.Namespace,
	}
	return &patient{n, t, doctor.Options{
		Config: cfg, Keyset: n.Keyset, SearchAttributes: workflows.SearchAttributes(),
		TaskQueue: workflows.PostQueue,
	}}
}

func (p *patient) examine() []doctor.Finding {
	p.t.Helper()
	return doctor.Run(p.t.Context(), p.options)
}

// want expects a check with a message and advice.
func (p *patient) want(check string, level doctor.Level, text, advice string) {
	p.t.Helper()
	all := p.examine()
	for _, f := range all {
		if f.Check == check && f.Level == level && strings.Contains(f.Text, text) &&
			strings.Contains(f.Advice, advice) {
			return
		}
	}
	var said bytes.Buffer
	p.Must(doctor.Print(&said, all))
	p.t.Errorf("%s is no %s with %q and %q:\n%s", check, level, text, advice, said.String())
}

// withTemporal starts a Temporal for the test; it is the slowest engine to start.
func (p *patient) withTemporal() *patient {
	p.t.Helper()
	p.options.Config.TemporalAddress = temporaltest.Start(p.t)
	return p
}

func TestDoctor_Healthy(t *testing.T) {
	p := open(t).withTemporal()
	p.Connect("desk")
	all := p.examine()
	if doctor.Failed(all) {
		t.Errorf("something failed: %+v", all)
	}
	for _, check := range []string{
		"database version", "database permissions", "database schema", "clock",
		"redis permissions", "objects permissions",
		"temporal namespace", "temporal attributes", "keyset", "data directory",
	} {
		if !slices.ContainsFunc(all,
			func(f doctor.Finding) bool { return f.Check == check && f.Level != doctor.Failure }) {
			t.Errorf("%s was not checked", check)
		}
	}
	var said bytes.Buffer
	p.Must(doctor.PrintJSON(&said, all))
	var out struct {
		OK       bool
		Findings []doctor.Finding
	}
	if err := json.Unmarshal(said.Bytes(), &out); err != nil || !out.OK || !slices.Equal(out.Findings, all) {
		t.Errorf("%v: %s", err, said.String())
	}
	// Nothing of the checks is left.
	if n := p.keys("doctor:*"); n != 0 {
		t.Errorf("%d keys are left in Redis", n)
	}
	p.want("worker", doctor.Warning, "No worker has polled", "dateline worker")
	p.options.Config.TemporalNamespace = "nowhere"
	p.want("temporal namespace", doctor.Failure, "namespace nowhere does not exist",
		"temporal operator namespace create")
	p.options.Config.TemporalNamespace = temporaltest.Namespace
	p.options.SearchAttributes = map[string]string{"Mood": "Keyword", "PublishAt": "Keyword"}
	p.want("temporal attributes", doctor.Failure, "Missing: Mood",
		"search-attribute create --namespace default --name Mood --type Keyword")
	p.want("temporal attributes", doctor.Failure, "PublishAt has the type Datetime", "recreate it")
}

func (p *patient) keys(pattern string) int {
	p.t.Helper()
	n, err := enginetest.RedisClient(p.t, p.RedisURL).Keys(p.t.Context(), pattern).Result()
	p.Must(err)
	return len(n)
}

func TestDoctor_NothingConfigured(t *testing.T) {
	p := open(t)
	p.options.Config = &config.Config{PublicURL: "http://127.0.0.1:8080"}
	for _, check := range []string{"database", "redis", "objects", "temporal"} {
		p.want(check, doctor.Failure, "There is no", "dateline up")
	}
	p.options.Config.PublicURL = "http://news.example"
	p.want("public address", doctor.Warning, "not https", "TLS proxy")
	p.options.Config.PublicURL = "news"
	p.want("public address", doctor.Failure, "not a URL", "DATELINE_PUBLIC_URL")
}

func TestDoctor_NothingResponds(t *testing.T) {
	p := open(t)
	p.options.Config.DatabaseURL = "postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2"
	p.options.Config.RedisURL = "redis://:hunter2@127.0.0.1:1/0"
	p.options.Config.S3Endpoint = "http://127.0.0.1:1"
	p.options.Config.TemporalAddress = "127.0.0.1:1"
	p.want("database", doctor.Failure, "refused", "Check that Postgres is running")
	p.want("redis", doctor.Failure, "refused", "Check that Redis is running")
	p.want("objects bucket", doctor.Failure, "does not respond", "S3_ENDPOINT")
	p.want("temporal", doctor.Failure, "does not respond", "TEMPORAL_ADDRESS")
	var said bytes.Buffer
	p.Must(doctor.Print(&said, p.examine()))
	if strings.Contains(said.String(), "hunter2") {
		t.Errorf("a password is shown:\n%s", said.String())
	}
}

func TestDoctor_DatabaseProblems(t *testing.T) {
	p := open(t)
	whole := p.options.Config.DatabaseURL
	u, err := url.Parse(whole)
	p.Must(err)
	as := func(role string) string {
		v := *u
		v.User = url.User(role)
		return v.String()
	}
	p.Exec("create role reader login; grant select on all tables in schema public to reader; revoke create on schema " +
		"public from public")
	p.options.Config.DatabaseURL = as("reader")
	p.want("database permissions", doctor.Failure, "reader cannot create tables", "grant create")
	p.want("database ownership", doctor.Failure, "belong to another role", "reassign owned")

	p.Exec("create role distrusted")
	p.options.Config.DatabaseURL = as("distrusted")
	p.want("database", doctor.Failure, "not permitted to log in", "role and password")
	missing := *u
	missing.Path = "/nothing_there"
	p.options.Config.DatabaseURL = missing.String()
	p.want("database", doctor.Failure, "does not exist", "createdb")

	p.options.Config.DatabaseURL = enginetest.Postgres(t)
	p.want("database schema", doctor.Failure, "no tables yet", "dateline migrate")
	p.options.Config.DatabaseURL = whole
	p.Exec("alter database " + strings.TrimPrefix(u.Path, "/") + " set default_transaction_read_only = on")
	p.want("database writable", doctor.Failure, "read-only", "primary")
	p.Exec("begin read write; alter database " + strings.TrimPrefix(u.Path, "/") +
		" reset default_transaction_read_only; commit")
	p.Exec("insert into goose_db_version (version_id, is_applied) values (99999, true)")
	p.want("database schema", doctor.Warning, "99999", "Finish the rollout")
	p.Exec("delete from goose_db_version where version_id > 102")
	p.want("database schema", doctor.Failure, "It is at version 102", "dateline migrate")
}

func TestDoctor_WrongClock(t *testing.T) {
	p := open(t)
	p.options.Now = func() time.Time { return time.Now().Add(3 * time.Second) }
	p.want("clock", doctor.Warning, "3s", "set-ntp")
	p.options.Now = func() time.Time { return time.Now().Add(-time.Minute) }
	p.want("clock", doctor.Failure, "will not be ready", "set-ntp")
}

func TestDoctor_RedisProblems(t *testing.T) {
	p := open(t)
	c := enginetest.RedisClient(t, p.RedisURL)
	set := func(name, value string) { t.Helper(); p.Must(c.ConfigSet(t.Context(), name, value).Err()) }
	if err := c.ConfigGet(t.Context(), "maxmemory-policy").Err(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("requires a real Redis: %v", err)
		}
		t.Logf("not a real Redis (%v): its settings are not checked", err)
		return
	}
	set("maxmemory-policy", "allkeys-lru")
	p.want("redis eviction", doctor.Failure, "allkeys-lru", "noeviction")
	set("maxmemory-policy", "noeviction")
	set("appendonly", "no")
	p.want("redis durability", doctor.Warning, "append-only", "appendonly yes")
	p.Must(c.Do(t.Context(), "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@read", "+ping", "+info", "+hello",
		"+client").Err())
	u, err := url.Parse(p.RedisURL)
	p.Must(err)
	u.User = url.UserPassword("weak", "pw")
	p.options.Config.RedisURL = u.String()
	p.want("redis permissions", doctor.Failure, "NOPERM", "+@all")
	u.User = url.UserPassword("weak", "wrong")
	p.options.Config.RedisURL = u.String()
	p.want("redis", doctor.Failure, "WRONGPASS", "password")
	p.options.Config.RedisURL = p.RedisURL
	set("maxmemory", "1mb")
	p.want("redis permissions", doctor.Failure, "memory is full", "maxmemory")
	set("maxmemory", "0")
	p.options.Config.RedisURL = "what://ever"
	p.want("redis", doctor.Failure, "not valid", "redis://")
}

func TestDoctor_BucketProblems(t *testing.T) {
	p := open(t)
	p.options.Config.S3Bucket = "elsewhere"
	p.want("objects bucket", doctor.Failure, "bucket elsewhere does not exist", "S3_BUCKET")
	p.options.Config.S3Bucket, p.options.Config.S3SecretKey = "dateline", "wrong"
	p.want("objects bucket", doctor.Failure, "denied", "S3_SECRET_KEY")
}

func TestDoctor_KeysetProblems(t *testing.T) {
	p := open(t)
	p.Connect("desk")
	p.Must(os.Chmod(p.Keyset.Path, 0o644))
	p.want("keyset", doctor.Warning, "readable by other users", "chmod 600")
	other := t.TempDir() + "/keyset.json"
	_, err := secret.CreateKeyset(other)
	p.Must(err)
	p.options.Keyset = secret.Source{Path: other}
	p.want("keyset", doctor.Failure, "cannot be decrypted", "Restore the keyset")
	p.options.Keyset = secret.Source{Path: t.TempDir() + "/none.json"}
	p.want("keyset", doctor.Failure, "cannot be read", "Restore it")
}

func TestRun_ReportsPendingPosts(t *testing.T) {
	p := open(t)
	p.Connect("desk")
	p.Dead(p.Schedule(), "uncertain")
	late := p.Schedule()
	p.Exec("update scheduled_posts set scheduled_time = now() - interval '5 minutes' where post_id = $1", late.ID)
	p.want("posts", doctor.Warning, "uncertain outcome", "dead-letters")
	p.want("posts", doctor.Warning, "more than two minutes", "worker")
}

// The connection to the database should be encrypted, with a verified and valid
// certificate.
func TestRun_ChecksDatabaseEncryption(t *testing.T) {
	p := open(t)
	address, certificate := enginetest.SecurePostgres(t, time.Now().AddDate(0, 0, 9))
	p.options.Config.DatabaseURL = address + "?sslmode=verify-full&sslrootcert=" + certificate
	p.want("database encryption", doctor.OK, "certificate is verified", "")
	p.want("certificate", doctor.Warning, "the database endpoint expires on", "certificateexpiring")
	p.options.Config.DatabaseURL = address + "?sslmode=require"
	p.want("database encryption", doctor.Warning, "is not verified", "verify-full")
	// With an address that is not a loopback address.
	p.options.Config.DatabaseURL = strings.Replace(address, "127.0.0.1", "0.0.0.0", 1) + "?sslmode=disable"
	p.want("database encryption", doctor.Warning, "not encrypted", "verify-full")
	p.options.Config.DatabaseURL = address + "?sslmode=verify-full&sslrootcert=" + certificate
	p.options.Now = func() time.Time { return time.Now().AddDate(0, 0, 10) }
	p.want("certificate", doctor.Failure, "expired on", "certificateexpiring")
}
