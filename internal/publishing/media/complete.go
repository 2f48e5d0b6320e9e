package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"

	"dateline/internal/infra/blob"
)

// CompleteUpload turns an uploaded object into a file of the library. It reads the
// object once, to local disk. It is idempotent.
func (s *Service) CompleteUpload(ctx context.Context, who workspace.Principal, id uuid.UUID) (item Item, err error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	if err != nil {
		return Item{}, err
	}
	taken, err := s.Store.LeaseUpload(ctx, who.WorkspaceID, id, uploadTTL, completeTimeout)
	if err != nil {
		return Item{}, err
	}
	if !taken {
		return s.completedUpload(ctx, who, id)
	}
	done := false
	defer func() {
		if !done { // also if the request was canceled
			if e := s.Store.ReleaseUpload(context.WithoutCancel(ctx), id); e != nil {
				err = errors.Join(err, e)
			}
		}
	}()
	if item, err = s.Store.MediaItem(ctx, who.WorkspaceID, id); err != nil { // not created by an interrupted request
		if err := s.completeParts(ctx, u); err != nil {
			return Item{}, err
		}
		if item, err = s.finishUpload(ctx, u); err != nil {
			return Item{}, err
		}
	}
	if err := s.Store.FinishUpload(ctx, u.ID, item.ID); err != nil {
		return Item{}, err
	}
	done = true
	if err := s.deleteUploadObjects(context.WithoutCancel(ctx), u); err != nil {
		s.log().Warn("a completed upload could not be cleared; a later sweep does it", "upload_id", u.ID, "error", err)
	}
	return item, nil
}

// completedUpload returns the file of a completed upload, or an error with the reason
// why there is none.
func (s *Service) completedUpload(ctx context.Context, who workspace.Principal, id uuid.UUID) (Item, error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	switch {
	case err != nil:
		return Item{}, err
	case u.MediaID != nil:
		return s.Store.MediaItem(ctx, who.WorkspaceID, *u.MediaID)
	case time.Now().After(u.ExpiresAt()):
		return Item{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "upload_expired", Message: "This upload has expired. Start a new one.",
		}
	default:
		return Item{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "upload_busy",
			Message: "Another request is completing this upload. Try again.",
		}
	}
}

// completeParts assembles the parts of an upload.
func (s *Service) completeParts(ctx context.Context, u Upload) error {
	if u.MultipartID == "" {
		return nil
	}
	arrived, err := s.uploadedParts(ctx, u)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // an earlier request did; the next step checks that the object exists
	}
	if err != nil {
		return err
	}
	var parts []blob.Part
	var missing []string
	for number, at := 1, int64(0); at < u.Bytes; number, at = number+1, at+u.PartBytes {
		part, ok := arrived[number]
		if !ok || part.Bytes != min(u.PartBytes, u.Bytes-at) {
			missing = append(missing, strconv.Itoa(number))
			continue
		}
		parts = append(parts, part)
	}
	if len(missing) > 0 {
		return incomplete("Parts are missing: " + shorten(missing) +
			". Get the upload for their URLs, send them, then complete it.")
	}
	if err := s.Objects.CompleteMultipartUpload(ctx, u.ObjectKey, u.MultipartID, parts); !errors.Is(err,
		blob.ErrNotFound) {
		return storeError(err)
	}
	return nil
}

// deleteUploadObjects deletes the objects of an upload.
func (s *Service) deleteUploadObjects(ctx context.Context, u Upload) error {
	return errors.Join(s.Objects.Delete(ctx, u.ObjectKey), s.Objects.Delete(ctx, u.stagingKey()))
}

func shorten(list []string) string {
	if len(list) > 10 {
		return strings.Join(list[:10], ", ") + fmt.Sprintf(" and %d more", len(list)-10)
	}
	return strings.Join(list, ", ")
}

func incomplete(message string) *apperr.Error {
	return &apperr.Error{Kind: apperr.KindConflict, Code: "upload_incomplete", Message: message}
}

// finishUpload verifies the uploaded object and copies it to the key of its content.
// A client that has the signed URL of a single upload can replace the object until the URL
// expires. Therefore a copy is verified that has no signed URL.
func (s *Service) finishUpload(ctx context.Context, u Upload) (Item, error) {
	key := u.ObjectKey
	if u.MultipartID == "" {
		key = u.stagingKey()
		if err := s.Objects.Copy(ctx, u.ObjectKey, key, "application/octet-stream"); err != nil &&
			!errors.Is(err, blob.ErrNotFound) {
			return Item{}, storeError(err)
		}
	}
	size, err := s.Objects.Size(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return Item{}, incomplete("Nothing was uploaded yet. Send the file to the URL first, then complete the upload.")
	}
	if err != nil {
		return Item{}, err
	}
	if size != u.Bytes {
		return Item{}, uploadMismatch("bytes", "wrong_size",
			fmt.Sprintf("%d bytes were uploaded, not %d.", size, u.Bytes))
	}
	arrived, err := s.download(ctx, key, size)
	if err != nil {
		return Item{}, err
	}
	defer arrived.close()
	if u.SHA256 != nil && !bytes.Equal(u.SHA256, arrived.sum) {
		return Item{}, uploadMismatch("sha256", "wrong_hash",
			fmt.Sprintf("The uploaded file has the SHA-256 %x.", arrived.sum))
	}
	c, err := s.clean(ctx, u.WorkspaceID, arrived)
	if err != nil {
		return Item{}, err
	}
	// The id is the upload's, so that a repetition makes no second file.
	item := c.item(Item{
		ID: u.ID, WorkspaceID: u.WorkspaceID, UserID: u.UserID, FileName: u.FileName,
		AltText: u.AltText,
	})
	item, _, err = s.saveObject(ctx, item, idempotency.Key{}, func() error {
		if c.changed {
			return s.store(ctx, item, c)
		}
		return s.Objects.Copy(ctx, key, item.ObjectKey, item.MIMEType)
	})
	return item, err
}

// download copies an object to local disk, where it can be read at any offset.
func (s *Service) download(ctx context.Context, key string, size int64) (spooledFile, error) {
	body := blob.NewReader(ctx, s.Objects, key, size)
	defer func() { _ = body.Close() }()
	arrived, err := spool(body, size)
	var arrival readError
	if errors.As(err, &arrival) {
		return arrived, fmt.Errorf("reading what was uploaded: %w", err)
	}
	return arrived, err
}

func uploadMismatch(field, code, message string) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindInvalid, Code: "upload_mismatch",
		Message: "The uploaded file does not match the request. Send it again, or start a new upload.",
		Fields:  []apperr.FieldError{{Field: field, Code: code, Message: message}},
	}
}
