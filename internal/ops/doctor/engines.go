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

	"dateline/internal/infra/redisclient"
	"dateline/internal/storage/objects"
)

// minRedisVersion is the oldest supported major version.
const minRedisVersion = 7

func cache(ctx context.Context, o Options) []Finding {
	var l list
	if o.Config.RedisURL == "" {
		l.fail("redis", "Set REDIS_URL, or start `dateline up`.", "There is no Redis configured.")
		return l
	}
	c, err := redisclient.Open(o.Config.RedisURL, -1)
	if err != nil {
		l.fail("redis", "Use the form redis://:password@host:6379/0.", "REDIS_URL is not valid.")
		return l
	}
	defer func() { _ = c.Close() }()
	if err := c.Ping(ctx).Err(); err != nil {
		advice := "Check that Redis is running, and the host and port in REDIS_URL."
		if strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "NOAUTH") {
			advice = "Correct the password in REDIS_URL."
		}
		l.fail("redis", advice, "Connecting failed: %s", err)
		return l
	}
	redisPermissions(ctx, c, &l)
	info, err := c.Info(ctx, "server", "memory", "persistence").Result()
	if err != nil {
		l.warn("redis version", "Allow INFO for the user of REDIS_URL.", "It cannot be read: %s", err)
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
	if major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0]); err == nil && major < minRedisVersion {
		l.fail("redis version", "Install Redis or Valkey 7 or newer.", "%s is too old.", version)
	} else {
		l.ok("redis version", "%s", version)
	}
	if policy := field("maxmemory_policy"); policy != "" && policy != "noeviction" {
		l.fail("redis eviction", "Set maxmemory-policy noeviction.",
			"The policy is %s, which can silently delete counts.", policy)
	}
	if field("aof_enabled") == "0" {
		l.warn("redis durability", "Set appendonly yes.",
			"The append-only file is off: counts since the last flush are lost on a restart.")
	}
	used, _ := strconv.ParseFloat(field("used_memory"), 64)
	maximum, _ := strconv.ParseFloat(field("maxmemory"), 64)
	if maximum > 0 && used > 0.8*maximum {
		l.warn("redis memory", "Raise maxmemory; see docs/explanation/counting.md for the memory per count.",
			"%.0f %% of maxmemory is used.", 100*used/maximum)
	}
	return l
}

// redisPermissions tries the operations that Dateline needs, on a separate key.
func redisPermissions(ctx context.Context, c redis.Cmdable, l *list) {
	key := "doctor:" + uuid.NewString()
	err := c.Eval(ctx, "redis.call('set', KEYS[1], '1', 'px', 10000) return redis.call('get', KEYS[1])", []string{key}).
		Err()
	err = errors.Join(err, c.Publish(ctx, key, "1").Err(), c.Del(ctx, key).Err())
	switch {
	case err == nil:
		l.ok("redis permissions", "scripts, writes and pub/sub work")
	case strings.Contains(err.Error(), "READONLY"):
		l.fail("redis permissions", "Point REDIS_URL at the primary.", "It is read-only, because it is a replica.")
	case strings.Contains(err.Error(), "OOM"):
		l.fail("redis permissions", "Raise maxmemory.", "It rejects writes, because its memory is full.")
	default:
		l.fail("redis permissions", "Allow all commands on all keys for the user of REDIS_URL: ~* &* +@all.", "%s",
			strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func objectStore(ctx context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	if cfg.S3Endpoint == "" {
		l.fail("objects", "Set S3_ENDPOINT, or start `dateline up`.", "There is no object store configured.")
		return l
	}
	b, err := objects.Open(ctx, objects.Options{
		Endpoint: cfg.S3Endpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle,
	})
	if err != nil {
		l.fail("objects", "Check S3_ENDPOINT, S3_ACCESS_KEY and S3_SECRET_KEY.", "%s", err)
		return l
	}
	if err := b.Ping(ctx); err != nil {
		text, advice := bucketError(err, cfg.S3Bucket)
		l.fail("objects bucket", advice, "%s", text)
		return l
	}
	l.ok("objects bucket", "%s exists", cfg.S3Bucket)
	key, copied := "doctor/"+uuid.NewString(), "doctor/"+uuid.NewString()
	body := []byte("Written by dateline doctor to check permissions.")
	steps := []struct {
		permission string
		do         func() error
	}{
		{"s3:PutObject", func() error {
			return b.Put(ctx, key, "text/plain", int64(len(body)), bytes.NewReader(body))
		}},
		{"s3:GetObject", func() error {
			r, err := b.GetRange(ctx, key, 0, int64(len(body)))
			if err != nil {
				return err
			}
			got, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err == nil && !bytes.Equal(got, body) {
				err = errors.New("it returned other bytes than were stored")
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
			l.fail("objects permissions",
				"Allow s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket on the "+
					"bucket to this key.", "%s does not work: %s", s.permission, lastLine(err))
			return l
		}
	}
	l.ok("objects permissions", "objects can be written, read, copied and deleted")
	return l
}

func bucketError(err error, bucket string) (text, advice string) {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		switch response.HTTPStatusCode() {
		case 404:
			return "The bucket " + bucket + " does not exist.", "Create it, or set S3_BUCKET: aws s3 mb s3://" + bucket
		case 401, 403:
			return "Access to the bucket was denied.",
				"Check S3_ACCESS_KEY, S3_SECRET_KEY and S3_REGION, and allow s3:ListBucket on the bucket."
		case 301:
			return "The bucket is in another region.", "Set S3_REGION."
		}
	}
	return "The object store does not respond: " + lastLine(err),
		"Check that it is running and that S3_ENDPOINT is its address."
}

func lastLine(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return strings.Join(parts[max(0, len(parts)-2):], ": ")
}

func temporal(ctx context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	if cfg.TemporalAddress == "" {
		l.fail("temporal", "Set TEMPORAL_ADDRESS, or start `dateline up`.", "There is no Temporal configured.")
		return l
	}
	options := client.Options{
		HostPort: cfg.TemporalAddress, Namespace: cfg.TemporalNamespace,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	}
	if cfg.TemporalTLS {
		options.ConnectionOptions.TLS = tlsDefaults()
	}
	if cfg.TemporalAPIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(cfg.TemporalAPIKey)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		l.fail("temporal", "Check TEMPORAL_ADDRESS.", "%s", err)
		return l
	}
	defer c.Close()
	service := c.WorkflowService()
	requestCtx, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	described, err := service.DescribeNamespace(requestCtx, &workflowservice.DescribeNamespaceRequest{
		Namespace: cfg.TemporalNamespace,
	})
	var unknown *serviceerror.NamespaceNotFound
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &unknown), errors.As(err, &missing):
		l.fail("temporal namespace", "Create it: temporal operator namespace create --retention 7d "+
			cfg.TemporalNamespace, "The namespace %s does not exist.", cfg.TemporalNamespace)
		return l
	case err != nil:
		advice := "Check that Temporal is running and that TEMPORAL_ADDRESS is its frontend."
		if code := status.Code(err); code == codes.Unauthenticated || code == codes.PermissionDenied {
			advice = "Check TEMPORAL_API_KEY and TEMPORAL_TLS."
		}
		l.fail("temporal", advice, "%s does not respond: %s", cfg.TemporalAddress, lastLine(err))
		return l
	}
	retention := described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	if retention < 24*time.Hour {
		l.warn("temporal namespace", "temporal operator namespace update --retention 7d "+cfg.TemporalNamespace,
			"The retention of closed workflows is only %s.", retention)
	} else {
		l.ok("temporal namespace", "%s exists, with a retention of %s", cfg.TemporalNamespace, retention)
	}
	searchAttributes(requestCtx, c, o, &l)
	taskQueuePollers(requestCtx, service, o, &l)
	return l
}

func searchAttributes(ctx context.Context, c client.Client, o Options, l *list) {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: o.Config.TemporalNamespace,
	})
	if err != nil {
		l.warn("temporal attributes", "See the commands in docs/reference/temporal.md.", "They cannot be listed: %s",
			lastLine(err))
		return
	}
	var missing, commands []string
	for name, kind := range o.SearchAttributes {
		switch got, ok := listed.GetCustomAttributes()[name]; {
		case !ok:
			missing = append(missing, name)
			commands = append(commands,
				fmt.Sprintf("temporal operator search-attribute create --namespace %s --name %s --type %s",
					o.Config.TemporalNamespace, name, kind))
		case !strings.EqualFold(got.String(), kind) && got != enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED:
			l.fail("temporal attributes", "Delete and recreate it; no posts are lost.",
				"%s has the type %s, but must have %s.", name, got, kind)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		slices.Sort(commands)
		l.fail("temporal attributes", strings.Join(commands, " && "), "Missing: %s.", strings.Join(missing, ", "))
		return
	}
	l.ok("temporal attributes", "all %d exist", len(o.SearchAttributes))
}

func taskQueuePollers(ctx context.Context, service workflowservice.WorkflowServiceClient, o Options, l *list) {
	response, err := service.DescribeTaskQueue(ctx,
		&workflowservice.DescribeTaskQueueRequest{
			Namespace: o.Config.TemporalNamespace,
			TaskQueue: &taskqueuepb.TaskQueue{Name: o.TaskQueue}, TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY,
		})
	switch {
	case err != nil:
		l.warn("worker", "", "The task queue cannot be described: %s", lastLine(err))
	case len(response.GetPollers()) == 0:
		l.warn("worker", "Start one: dateline worker",
			"No worker has polled within the last minutes, so no posts are published.")
	default:
		l.ok("worker", "%d pollers", len(response.GetPollers()))
	}
}
