package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dateline/internal/infra/blob"
)

// partSize is the amount of a stream that is sent at once and held in memory: 10,000
// parts, the maximum of S3, are 312 GiB.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
const partSize = 32 << 20

// Stream stores a stream of any length as an object and returns its length. On failure
// there is no object, or the previous one.
func (b *Bucket) Stream(ctx context.Context, key, contentType string, from io.Reader) (size int64, err error) {
	began, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.name, Key: &key, ContentType: &contentType,
	})
	if err != nil {
		return 0, fmt.Errorf("beginning the upload of %s: %w", key, err)
	}
	upload := aws.ToString(began.UploadId)
	defer func() {
		if err != nil {
			err = errors.Join(err, b.AbortMultipartUpload(context.WithoutCancel(ctx), key, upload))
		}
	}()
	var parts []blob.Part
	buffer := make([]byte, partSize)
	for number := 1; ; number++ {
		n, err := io.ReadFull(from, buffer)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return size, err
		}
		if n > 0 || number == 1 {
			sent, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
				Bucket: &b.name, Key: &key, UploadId: &upload,
				PartNumber:    aws.Int32(int32(number)), //nolint:gosec // at most 10,000
				ContentLength: aws.Int64(int64(n)), Body: bytes.NewReader(buffer[:n]),
			})
			if err != nil {
				return size, fmt.Errorf("sending part %d of %s: %w", number, key, err)
			}
			parts = append(parts, blob.Part{Number: number, Bytes: int64(n), ETag: aws.ToString(sent.ETag)})
			size += int64(n)
		}
		if ended {
			return size, b.CompleteMultipartUpload(ctx, key, upload, parts)
		}
	}
}
