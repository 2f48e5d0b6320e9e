package objects

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"dateline/internal/infra/blob"
)

// CreateMultipartUpload begins an upload in parts.
func (b *Bucket) CreateMultipartUpload(ctx context.Context, key string) (upload string, err error) {
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return "", fmt.Errorf("beginning the upload of %s: %w", key, orFull(err))
	}
	return aws.ToString(out.UploadId), nil
}

// ListParts lists the received parts. It returns blob.ErrNotFound if the upload was
// completed or aborted.
func (b *Bucket) ListParts(ctx context.Context, key, upload string) ([]blob.Part, error) {
	var parts []blob.Part
	pages := s3.NewListPartsPaginator(b.client, &s3.ListPartsInput{Bucket: &b.name, Key: &key, UploadId: &upload})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if isUnknownUpload(err) {
			return nil, blob.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("asking for the parts of %s: %w", key, err)
		}
		for _, p := range page.Parts {
			parts = append(parts, blob.Part{
				Number: int(aws.ToInt32(p.PartNumber)), Bytes: aws.ToInt64(p.Size), ETag: aws.ToString(p.ETag),
			})
		}
	}
	return parts, nil
}

// CompleteMultipartUpload creates the object from the parts. It returns
// blob.ErrNotFound if the upload was completed or aborted.
func (b *Bucket) CompleteMultipartUpload(ctx context.Context, key, upload string, parts []blob.Part) error {
	done := &types.CompletedMultipartUpload{}
	for _, p := range parts {
		done.Parts = append(done.Parts, types.CompletedPart{
			PartNumber: aws.Int32(int32(p.Number)), ETag: aws.String(p.ETag), //nolint:gosec // at most 10,000
		})
	}
	_, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &b.name, Key: &key, UploadId: &upload, MultipartUpload: done,
	})
	if status(err) == http.StatusNotFound {
		return blob.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("ending the upload of %s: %w", key, orFull(err))
	}
	return nil
}

// AbortMultipartUpload deletes an upload with its parts. A missing upload is not an
// error.
func (b *Bucket) AbortMultipartUpload(ctx context.Context, key, upload string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &b.name, Key: &key, UploadId: &upload,
	})
	if err != nil && !isUnknownUpload(err) {
		return fmt.Errorf("abandoning the upload of %s: %w", key, err)
	}
	return nil
}

// isUnknownUpload reports whether a call failed because its upload was completed or
// aborted, or never existed. S3 answers 404 NoSuchUpload; servers that check the form of
// the id first answer 400. Other refusals with 400 are about the credentials, the clock
// or the connection.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
func isUnknownUpload(err error) bool {
	if status(err) == http.StatusNotFound {
		return true
	}
	var refused smithy.APIError
	if !errors.As(err, &refused) || status(err) != http.StatusBadRequest {
		return false
	}
	switch refused.ErrorCode() {
	case "NoSuchUpload", "InvalidArgument", "InvalidRequest", "InvalidUploadId", "BadRequest", "UnknownError", "":
		return true
	}
	return false
}
