package embedded

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
)

// As root, everything runs as nobody below a fresh data directory.
func TestLifecycleRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: dropping privileges is not tested")
		return
	}
	data := filepath.Join(publicDir(t), "data")
	p := lifecycle(t, 0, data)
	if uid, _ := nobody(); p.UID != uid || p.Home != data {
		t.Errorf("runs as %d with HOME %s", p.UID, p.Home)
	}
	info, err := os.Stat(data)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v %v", info.Mode(), err)
	}
}

func TestLifecycleUser(t *testing.T) {
	uid := os.Getuid()
	dir := publicDir(t)
	if uid == 0 {
		uid = nobodyID
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	p := lifecycle(t, uid, filepath.Join(dir,
		"a directory with a rather long name and spaces in it, so that PostgreSQL gets no socket", "data"))
	if p.UID != uid {
		t.Errorf("runs as %d, not %d", p.UID, uid)
	}
}

// lifecycle starts, writes, stops, starts and reads; is killed, starts and reads; loses
// each child, which is restarted.
func lifecycle(t *testing.T, uid int, data string) *process {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	env := []string{
		"DATELINE_DATA_DIR=" + data, "DATELINE_POSTGRES_PORT=" + port, "DATELINE_REDIS_PORT=" + port,
		"DATELINE_S3_PORT=" + port,
	}

	first := mustStartUp(t, uid, env...)
	t.Logf("first start: %s", first.Took)
	write(t, first.Engines)
	checkTemporal(t, first.Engines)
	if len(first.Warnings) > 0 {
		t.Errorf("warnings: %v", first.Warnings)
	}
	if _, err := startUp(t, uid, env...); err == nil ||
		!strings.Contains(err.Error(), "another `dateline up` (process ") {
		t.Errorf("a second start on the same directory: %v", err)
	}
	first.end(t, syscall.SIGTERM)

	second := mustStartUp(t, uid, env...)
	t.Logf("second start: %s", second.Took)
	find(t, second.Engines)
	second.end(t, syscall.SIGKILL)

	third := mustStartUp(t, uid, env...)
	t.Logf("start after kill -9: %s", third.Took)
	find(t, third.Engines)
	second.waitForChildrenExit(t)

	third.losePostgres(t)
	third.loseRedis(t)
	third.loseTemporal(t)
	find(t, third.Engines)
	third.end(t, syscall.SIGTERM)
	noneLeft(t, data)
	return first
}

func write(t *testing.T, e Endpoints) {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create table kept (word text); insert into kept values ('Đường phố')"); err != nil {
		t.Fatal(err)
	}
	var lower, fsync, encoding string
	if err := conn.QueryRow(ctx, "select lower('ĐƯỜNG'), current_setting('fsync'), current_setting('server_encoding')").
		Scan(&lower, &fsync, &encoding); err != nil {
		t.Fatal(err)
	}
	if lower != "đường" || fsync != "on" || encoding != "UTF8" {
		t.Errorf("lower %q, fsync %s, encoding %s", lower, fsync, encoding)
	}
	if wrong, err := pgx.Connect(ctx, strings.Replace(e.DatabaseURL, "dateline:", "dateline:x", 1)); err == nil {
		_ = wrong.Close(ctx)
		t.Error("PostgreSQL accepts a wrong password")
	}
	options, err := redis.ParseURL(e.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	store := redis.NewClient(options)
	defer store.Close()
	if err := store.Set(ctx, "kept", "42", 0).Err(); err != nil {
		t.Fatal(err)
	}
	options.Password = ""
	stranger := redis.NewClient(options)
	defer stranger.Close()
	if err := stranger.Get(ctx, "kept").Err(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("Redis without the password: %v", err)
	}
	if _, err := s3Client(e).PutObject(ctx,
		&s3.PutObjectInput{
			Bucket: aws.String("dateline"), Key: aws.String("a/kept"),
			Body: strings.NewReader("bytes"),
		}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // appendfsync everysec
}

func s3Client(e Endpoints) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(e.S3Endpoint), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(e.S3AccessKey, e.S3SecretKey, ""),
	})
}

func find(t *testing.T, e Endpoints) {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var word string
	if err := conn.QueryRow(ctx, "select word from kept").Scan(&word); err != nil || word != "Đường phố" {
		t.Errorf("PostgreSQL: %q %v", word, err)
	}
	options, err := redis.ParseURL(e.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	store := redis.NewClient(options)
	defer store.Close()
	if value, err := store.Get(ctx, "kept").Result(); err != nil || value != "42" {
		t.Errorf("Redis: %q %v", value, err)
	}
	object, err := s3Client(e).GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String("dateline"), Key: aws.String("a/kept"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer object.Body.Close()
	if content, err := io.ReadAll(object.Body); err != nil || !bytes.Equal(content, []byte("bytes")) {
		t.Errorf("S3: %q %v", content, err)
	}
}

func checkTemporal(t *testing.T, e Endpoints) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: e.TemporalAddress})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: "default",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range attributes {
		if got := listed.GetCustomAttributes()[name].String(); got != kind {
			t.Errorf("search attribute %s is %s, not %s", name, got, kind)
		}
	}
}
