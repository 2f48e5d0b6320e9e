package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dateline/internal/storage/objects"
)

// oldestRedis is the oldest major version that Dateline works with.
const oldestRedis = 7

func cache(ctx context.Context, o Options) []Finding {
	var l list
	if o.Config.RedisURL == "" {
		l.fail("redis", "Set REDIS_URL, or start `dateline up`.", "There is no Redis to look at.")
		return l
	}
	c, err := openRedis(o.Config.RedisURL)
	if err != nil {
		l.fail("redis", "Write REDIS_URL like redis://:password@host:6379/0.", "The URL cannot be read.")
		return l
	}
	defer func() { _ = c.Close() }()
	if err := c.Ping(ctx).Err(); err != nil {
		advice := "Look whether Redis runs and its host and port are those of REDIS_URL."
		if strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "NOAUTH") {
			advice = "Set the password in REDIS_URL that Redis has."
		}
		l.fail("redis", advice, "It does not let us in: %s", err)
		return l
	}
	writes(ctx, c, &l)
	info, err := c.Info(ctx, "server", "memory", "persistence").Result()
	if err != nil {
		l.warn("redis version", "Let the user of REDIS_URL use INFO.", "It cannot be read: %s", err)
		return l
	}
	field := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `:(.*?)\r?$`).FindStringSubmatch(info)
		if m == nil {
			return ""
		}
		return m[1]
	}
	version := field("redis_version")
	if valkey := field("valkey_version"); valkey != "" {
		version = valkey
	}
	if major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0]); err == nil && major < oldestRedis {
		l.fail("redis version", "Install Redis or Valkey 7 or newer.", "%s is too old.", version)
	} else {
		l.ok("redis version", "%s", version)
	}
	if policy := field("maxmemory_policy"); policy != "" && policy != "noeviction" {
		l.fail("redis eviction", "Set maxmemory-policy noeviction.", "The policy is %s: counts would be dropped in silence.", policy)
	}
	if field("aof_enabled") == "0" {
		l.warn("redis durability", "Set appendonly yes.", "There is no append-only file: counts since the last flush do not survive a restart.")
	}
	used, _ := strconv.ParseFloat(field("used_memory"), 64)
	most, _ := strconv.ParseFloat(field("maxmemory"), 64)
	if most > 0 && used > 0.8*most {
		l.warn("redis memory", "Raise maxmemory; docs/explanation/counting.md says what counts take.", "%.0f %% of maxmemory is used.", 100*used/most)
	}
	return l
}

func openRedis(address string) (redis.UniversalClient, error) {
	if !strings.Contains(address, "://") {
		return redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(address, ","), IsClusterMode: true, MaxRetries: -1}), nil
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	o.MaxRetries = -1
	return redis.NewClient(o), nil
}

// writes tries what the program does, on a key of its own.
func writes(ctx context.Context, c redis.UniversalClient, l *list) {
	key := "doctor:" + uuid.NewString()
	err := c.Eval(ctx, "redis.call('set', KEYS[1], '1', 'px', 10000) return redis.call('get', KEYS[1])", []string{key}).Err()
	err = errors.Join(err, c.Publish(ctx, key, "1").Err(), c.Del(ctx, key).Err())
	switch {
	case err == nil:
		l.ok("redis permissions", "scripts, writes and messages work")
	case strings.Contains(err.Error(), "READONLY"):
		l.fail("redis permissions", "Point REDIS_URL at the primary.", "It takes no writes: it is a replica.")
	case strings.Contains(err.Error(), "OOM"):
		l.fail("redis permissions", "Raise maxmemory.", "It takes no writes: its memory is full.")
	default:
		l.fail("redis permissions", "Let the user of REDIS_URL use every command on every key: ~* &* +@all.", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func objectStore(ctx context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	if cfg.S3Endpoint == "" {
		l.fail("objects", "Set S3_ENDPOINT, or start `dateline up`.", "There is no object store to look at.")
		return l
	}
	b, err := objects.Open(ctx, objects.Options{Endpoint: cfg.S3Endpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle})
	if err != nil {
		l.fail("objects", "See S3_ENDPOINT, S3_ACCESS_KEY and S3_SECRET_KEY.", "%s", err)
		return l
	}
	if err := b.Ping(ctx); err != nil {
		text, advice := bucketTrouble(err, cfg.S3Bucket)
		l.fail("objects bucket", advice, "%s", text)
		return l
	}
	l.ok("objects bucket", "%s is there", cfg.S3Bucket)
	key, copied := "doctor/"+uuid.NewString(), "doctor/"+uuid.NewString()
	body := []byte("Dateline looks whether it may keep files here.")
	steps := []struct {
		may string
		do  func() error
	}{
		{"s3:PutObject", func() error { return b.Put(ctx, key, "text/plain", int64(len(body)), bytes.NewReader(body)) }},
		{"s3:GetObject", func() error {
			r, err := b.GetRange(ctx, key, 0, int64(len(body)))
			if err != nil {
				return err
			}
			got, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err == nil && !bytes.Equal(got, body) {
				err = errors.New("it gives other bytes than were put there")
			}
			return err
		}},
		{"s3:GetObject (its size)", func() error { _, err := b.Size(ctx, key); return err }},
		{"s3:PutObject (copies)", func() error { return b.Copy(ctx, key, copied, "text/plain") }},
		{"s3:DeleteObject", func() error { return errors.Join(b.Delete(ctx, key), b.Delete(ctx, copied)) }},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			_ = b.Delete(context.WithoutCancel(ctx), key)
			l.fail("objects permissions", "Allow s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket on the bucket to this key.", "%s does not work: %s", s.may, lastLine(err))
			return l
		}
	}
	l.ok("objects permissions", "files can be written, read, copied and deleted")
	return l
}

func bucketTrouble(err error, bucket string) (text, advice string) {
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		switch answered.HTTPStatusCode() {
		case 404:
			return "There is no bucket " + bucket + ".", "Make it, or set S3_BUCKET: aws s3 mb s3://" + bucket
		case 401, 403:
			return "The bucket refuses these keys.", "See S3_ACCESS_KEY, S3_SECRET_KEY and S3_REGION, and allow s3:ListBucket on the bucket."
		case 301:
			return "The bucket is in another region.", "Set S3_REGION."
		}
	}
	return "The object store does not answer: " + lastLine(err), "Look whether it runs and S3_ENDPOINT is its address."
}

func lastLine(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return strings.Join(parts[max(0, len(parts)-2):], ": ")
}

func temporal(ctx context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	if cfg.TemporalAddress == "" {
		l.fail("temporal", "Set TEMPORAL_ADDRESS, or start `dateline up`.", "There is no Temporal to look at.")
		return l
	}
	options := client.Options{HostPort: cfg.TemporalAddress, Namespace: cfg.TemporalNamespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	if cfg.TemporalTLS {
		options.ConnectionOptions.TLS = tlsDefaults()
	}
	if cfg.TemporalAPIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(cfg.TemporalAPIKey)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		l.fail("temporal", "See TEMPORAL_ADDRESS.", "%s", err)
		return l
	}
	defer c.Close()
	service := c.WorkflowService()
	ask, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	described, err := service.DescribeNamespace(ask, &workflowservice.DescribeNamespaceRequest{Namespace: cfg.TemporalNamespace})
	var unknown *serviceerror.NamespaceNotFound
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &unknown), errors.As(err, &missing):
		l.fail("temporal namespace", "Make it: temporal operator namespace create --retention 7d "+cfg.TemporalNamespace, "There is no namespace %s.", cfg.TemporalNamespace)
		return l
	case err != nil:
		advice := "Look whether Temporal runs and TEMPORAL_ADDRESS is its frontend."
		if code := status.Code(err); code == codes.Unauthenticated || code == codes.PermissionDenied {
			advice = "See TEMPORAL_API_KEY and TEMPORAL_TLS."
		}
		l.fail("temporal", advice, "%s does not answer: %s", cfg.TemporalAddress, lastLine(err))
		return l
	}
	retention := described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	if retention < 24*time.Hour {
		l.warn("temporal namespace", "temporal operator namespace update --retention 7d "+cfg.TemporalNamespace, "What ended is forgotten after %s.", retention)
	} else {
		l.ok("temporal namespace", "%s is there, and remembers %s", cfg.TemporalNamespace, retention)
	}
	attributes(ask, c, o, &l)
	polled(ask, service, o, &l)
	return l
}

func attributes(ctx context.Context, c client.Client, o Options, l *list) {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: o.Config.TemporalNamespace})
	if err != nil {
		l.warn("temporal attributes", "See the commands in docs/reference/temporal.md.", "They cannot be listed: %s", lastLine(err))
		return
	}
	var missing, commands []string
	for name, kind := range o.SearchAttributes {
		switch got, ok := listed.GetCustomAttributes()[name]; {
		case !ok:
			missing = append(missing, name)
			commands = append(commands, fmt.Sprintf("temporal operator search-attribute create --namespace %s --name %s --type %s", o.Config.TemporalNamespace, name, kind))
		case !strings.EqualFold(got.String(), kind) && got != enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED:
			l.fail("temporal attributes", "Remove it and create it anew; what is stored with it is not lost.", "%s is of the type %s, not %s.", name, got, kind)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		slices.Sort(commands)
		l.fail("temporal attributes", strings.Join(commands, " && "), "Missing: %s.", strings.Join(missing, ", "))
		return
	}
	l.ok("temporal attributes", "all %d are there", len(o.SearchAttributes))
}

func polled(ctx context.Context, service workflowservice.WorkflowServiceClient, o Options, l *list) {
	answer, err := service.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: o.Config.TemporalNamespace,
		TaskQueue: &taskqueuepb.TaskQueue{Name: o.TaskQueue}, TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY})
	switch {
	case err != nil:
		l.warn("worker", "", "Whether one polls cannot be asked: %s", lastLine(err))
	case len(answer.GetPollers()) == 0:
		l.warn("worker", "Start one: dateline worker", "None has polled in the last minutes, so nothing is published.")
	default:
		l.ok("worker", "%d poll", len(answer.GetPollers()))
	}
}
