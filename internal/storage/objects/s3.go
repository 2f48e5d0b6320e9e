// Package objects stores objects in an S3 bucket.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"dateline/internal/infra/blob"
)

// Options locate the bucket.
type Options struct {
	Endpoint       string
	PublicEndpoint string // where browsers and networks reach the bucket; empty: Endpoint
	Region         string
	Bucket         string
	AccessKey      string
	SecretKey      string
	PathStyle      bool // bucket in the path, as most servers other than AWS require
}

// Bucket is one S3 bucket. It is safe for concurrent use.
type Bucket struct {
	client  *s3.Client
	presign *s3.PresignClient
	name    string
}

// idleConnections is how many connections to the object store are kept.
const idleConnections = 128

// Open prepares a client; it does not connect. Without keys it uses the
// machine's own AWS identity.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	settings := []func(*config.LoadOptions) error{
		config.WithRegion(o.Region),
		// Servers other than AWS often refuse the trailing checksums that the SDK sends
		// by default.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
		// The SDK keeps ten idle connections; storing hundreds of pages a second would
		// open a new one for most of them.
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
			t.WriteBufferSize = 32 << 10 // a page that is stored leaves in one go
		})),
	}
	if o.AccessKey != "" {
		settings = append(settings,
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil {
		return nil, fmt.Errorf("the object store's settings cannot be used: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(so *s3.Options) {
		so.BaseEndpoint, so.UsePathStyle = aws.String(o.Endpoint), o.PathStyle
	})
	public := client
	if o.PublicEndpoint != "" {
		// The host is part of the signature.
		public = s3.NewFromConfig(cfg, func(so *s3.Options) {
			so.BaseEndpoint, so.UsePathStyle = aws.String(o.PublicEndpoint), o.PathStyle
		})
	}
	return &Bucket{client: client, presign: s3.NewPresignClient(public), name: o.Bucket}, nil
}

// EnsureBucket creates the bucket where it is missing.
func (b *Bucket) EnsureBucket(ctx context.Context) error {
	_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name})
	if err == nil {
		return nil
	}
	_, err = b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.name})
	var owned *types.BucketAlreadyOwnedByYou
	var exists *types.BucketAlreadyExists
	if err != nil && !errors.As(err, &owned) && !errors.As(err, &exists) {
		return fmt.Errorf("creating the bucket %s: %w", b.name, err)
	}
	return nil
}

// Ping checks that the bucket is accessible.
func (b *Bucket) Ping(ctx context.Context) error {
	_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name})
	return err
}

// Put stores an object, replacing one of the same key.
func (b *Bucket) Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: body,
		ContentLength: &size, ContentType: &contentType,
	})
	return orFull(err)
}

// Get opens an object for reading; the caller closes it. It returns blob.ErrNotFound if
// the object does not exist.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if status(err) == http.StatusNotFound {
		return nil, fmt.Errorf("reading %s from the object store: %w", key, blob.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from the object store: %w", key, err)
	}
	return out.Body, nil
}

// orFull converts the errors of a full store to blob.ErrFull. S3 itself is never full;
// other servers return 507, or a code of their own.
// https://docs.ceph.com/en/latest/radosgw/s3/#error-codes
func orFull(err error) error {
	var refused smithy.APIError
	code := ""
	if errors.As(err, &refused) {
		code = refused.ErrorCode()
	}
	if status(err) == http.StatusInsufficientStorage || code == "XMinioStorageFull" || code == "QuotaExceeded" {
		return fmt.Errorf("%w: %w", blob.ErrFull, err)
	}
	return err
}

// Size returns the size of an object. It returns blob.ErrNotFound if the object does
// not exist.
func (b *Bucket) Size(ctx context.Context, key string) (int64, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if status(err) == http.StatusNotFound {
		return 0, blob.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("asking the object store for %s: %w", key, err)
	}
	return aws.ToInt64(out.ContentLength), nil
}

// GetRange opens length bytes of an object from offset on; the caller closes it. It
// returns blob.ErrNotFound if the object does not exist.
func (b *Bucket) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	span := fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: &span})
	if status(err) == http.StatusNotFound {
		return nil, blob.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from the object store: %w", key, err)
	}
	return out.Body, nil
}

// Copy copies an object inside of the store. It returns blob.ErrNotFound if the source
// does not exist. S3 copies at most 5 GiB in one request.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
func (b *Bucket) Copy(ctx context.Context, from, to, contentType string) error {
	// Read as a query is: + would be a space.
	source := b.name + "/" + strings.ReplaceAll((&url.URL{Path: from}).EscapedPath(), "+", "%2B")
	_, err := b.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: &b.name, Key: &to, CopySource: &source,
		ContentType: &contentType, MetadataDirective: types.MetadataDirectiveReplace,
	})
	if status(err) == http.StatusNotFound {
		return blob.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("copying %s in the object store: %w", from, orFull(err))
	}
	return nil
}

// Delete removes an object. A missing object is not an error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return fmt.Errorf("deleting %s from the object store: %w", key, err)
	}
	return nil
}

// status returns the HTTP status of a refusal; 0 for other errors.
func status(err error) int {
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		return answered.HTTPStatusCode()
	}
	return 0
}

// URL names an object for the database.
func (b *Bucket) URL(key string) string { return "s3://" + b.name + "/" + key }
