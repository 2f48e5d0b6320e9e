package objects

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dateline/internal/infra/blob"
)

// PresignGet returns a temporary URL for reading an object.
func (b *Bucket) PresignGet(ctx context.Context, key string, life time.Duration) (string, error) {
	r, err := b.presign.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key},
		s3.WithPresignExpires(life))
	if err != nil {
		return "", fmt.Errorf("signing for %s: %w", key, err)
	}
	return r.URL, nil
}

// Origin is where the addresses that are signed lead: scheme and host, as pages
// name them that are to send files there.
func (b *Bucket) Origin(ctx context.Context) (string, error) {
	address, err := b.PresignGet(ctx, "origin", time.Minute)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the object store's address: %w", err)
	}
	return u.Scheme + "://" + u.Host, nil
}

// PresignPut returns a temporary URL for writing an object of exactly this size.
func (b *Bucket) PresignPut(
	ctx context.Context, key string, bytes int64, life time.Duration,
) (blob.SignedRequest, error) {
	r, err := b.presign.PresignPutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, ContentLength: &bytes},
		s3.WithPresignExpires(life))
	if err != nil {
		return blob.SignedRequest{}, fmt.Errorf("signing for %s: %w", key, err)
	}
	return signed(r), nil
}

// PresignPart returns a temporary URL for writing a part of exactly this size.
func (b *Bucket) PresignPart(
	ctx context.Context, key, upload string, number int, bytes int64, life time.Duration,
) (blob.SignedRequest, error) {
	r, err := b.presign.PresignUploadPart(ctx, &s3.UploadPartInput{
		Bucket: &b.name, Key: &key, UploadId: &upload,
		PartNumber: aws.Int32(int32(number)), ContentLength: &bytes, //nolint:gosec // at most 10,000
	}, s3.WithPresignExpires(life))
	if err != nil {
		return blob.SignedRequest{}, fmt.Errorf("signing for %s: %w", key, err)
	}
	return signed(r), nil
}

// signed omits the headers that every HTTP client sends by itself, and which a page may
// not set.
func signed(r *v4.PresignedHTTPRequest) blob.SignedRequest {
	s := blob.SignedRequest{Method: r.Method, URL: r.URL, Header: map[string]string{}}
	for name, values := range r.SignedHeader {
		if name = http.CanonicalHeaderKey(name); name != "Host" && name != "Content-Length" {
			s.Header[name] = strings.Join(values, ",")
		}
	}
	return s
}
