// Package objects keeps files in an S3 bucket.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Options say where the bucket is.
type Options struct {
	Endpoint  string
	Region    string
	Bucket    string
	AccessKey string
	SecretKey string
	PathStyle bool // bucket in the path, as most servers besides AWS want it
}

// Bucket is one S3 bucket. It is safe for concurrent use.
type Bucket struct {
	client *s3.Client
	name   string
}

// Open prepares a client; it does not connect. Without keys it uses the
// machine's own AWS identity.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	settings := []func(*config.LoadOptions) error{
		config.WithRegion(o.Region),
		// Servers besides AWS often refuse the trailing checksums that the SDK
		// sends by default.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if o.AccessKey != "" {
		settings = append(settings, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil {
		return nil, fmt.Errorf("the object store's settings cannot be used: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(so *s3.Options) {
		so.BaseEndpoint, so.UsePathStyle = aws.String(o.Endpoint), o.PathStyle
	})
	return &Bucket{client: client, name: o.Bucket}, nil
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

// Ping says whether the bucket answers.
func (b *Bucket) Ping(ctx context.Context) error {
	_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name})
	return err
}

// Put stores an object, replacing one of the same key.
func (b *Bucket) Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body,
		ContentLength: &size, ContentType: &contentType})
	return err
}

// Get opens an object for reading; the caller closes it.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("reading %s from the object store: %w", key, err)
	}
	return out.Body, nil
}

// URL names an object for the database.
func (b *Bucket) URL(key string) string { return "s3://" + b.name + "/" + key }
