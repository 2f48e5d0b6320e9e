package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/zstd"
)

// store puts compressed pages into an S3 bucket, one object per page, as Dateline
// does.
type store struct {
	client  *s3.Client
	bucket  string
	encoder *zstd.Encoder
}

func newStore(endpoint, bucket, accessKey, secretKey string) (*store, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(endpoint), Region: "us-east-1", UsePathStyle: true,
		Credentials:                credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
	return &store{client, bucket, encoder}, nil
}

func (s *store) put(ctx context.Context, page []byte) error {
	sum := sha256.Sum256(page)
	_, err := s.client.PutObject(ctx,
		&s3.PutObjectInput{
			Bucket: &s.bucket, Key: aws.String("colly/" + hex.EncodeToString(sum[:])),
			Body: bytes.NewReader(s.encoder.EncodeAll(page, nil)), ContentType: aws.String("application/zstd"),
		})
	return err
}
