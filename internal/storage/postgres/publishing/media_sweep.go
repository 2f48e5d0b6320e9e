package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/media"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// DeleteUnused removes files from the library that no post has used.
func (s *MediaStore) DeleteUnused(
	ctx context.Context, age time.Duration, after uuid.UUID, limit int,
) (deleted int, last uuid.UUID, err error) {
	ids, err := s.q.UnusedMedia(ctx, db.UnusedMediaParams{
		OlderThanSeconds: age.Seconds(), AfterID: after, Batch: limit,
	})
	if err != nil {
		return 0, uuid.Nil, err
	}
	for _, id := range ids {
		n, err := s.q.DeleteMedia(ctx, id)
		if err != nil {
			return deleted, uuid.Nil, err
		}
		deleted += int(n)
	}
	return deleted, lastOf(ids, limit), nil
}

// lastOf returns the last id of a full page; uuid.Nil means that there is no next page.
func lastOf(ids []uuid.UUID, limit int) uuid.UUID {
	if len(ids) < limit {
		return uuid.Nil
	}
	return ids[len(ids)-1]
}

// ReleaseDeleted releases the objects of deleted files that no pending post uses.
func (s *MediaStore) ReleaseDeleted(
	ctx context.Context, grace time.Duration, after uuid.UUID, limit int,
) (released int, last uuid.UUID, err error) {
	ids, err := s.q.DeletedMedia(ctx, db.DeletedMediaParams{
		GraceSeconds: grace.Seconds(), AfterID: after, Batch: limit,
	})
	if err != nil {
		return 0, uuid.Nil, err
	}
	for _, id := range ids {
		needed, err := s.q.MediaNeeded(ctx, id)
		if err != nil {
			return released, uuid.Nil, err
		}
		if len(needed) > 0 {
			continue
		}
		n, err := s.q.ReleaseMedia(ctx, id)
		if err != nil {
			return released, uuid.Nil, err
		}
		released += int(n)
	}
	return released, lastOf(ids, limit), nil
}

// DeleteOldRenditions deletes renditions that were not used for a long time.
func (s *MediaStore) DeleteOldRenditions(ctx context.Context, age time.Duration) (int, error) {
	n, err := s.q.DropOldRenditions(ctx, age.Seconds())
	return int(n), err
}

// UnreferencedObjects lists keys that nothing refers to.
func (s *MediaStore) UnreferencedObjects(ctx context.Context, after string, limit int) ([]string, error) {
	return s.q.UnusedObjects(ctx, db.UnusedObjectsParams{AfterKey: after, Batch: limit})
}

// DeleteObject deletes an object that nothing refers to. It locks the row meanwhile: a
// request that wants to store the same bytes waits in ClaimObject, and a request that
// has stored them and saves an item waits for the lock and then finds the row deleted.
func (s *MediaStore) DeleteObject(
	ctx context.Context, key string, remove func(ctx context.Context) error,
) (dropped bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockUnusedObject(ctx, key); tx.NoRows(err) {
			return nil // already deleted, or in use
		} else if err != nil {
			return err
		}
		unheld, err := q.IsObjectUnused(ctx, key)
		if err != nil || !unheld {
			return err
		}
		if err := remove(ctx); err != nil {
			return err
		}
		dropped = true
		return q.DropObject(ctx, key)
	})
	return dropped && err == nil, err
}

// CreateUpload stores a direct upload.
func (s *MediaStore) CreateUpload(
	ctx context.Context, u media.Upload, key idempotency.Key,
) (made media.Upload, replayed bool, err error) {
	params := db.InsertMediaUploadParams{
		ID: u.ID, WorkspaceID: u.WorkspaceID, UserID: u.UserID, FileName: u.FileName,
		AltText: u.AltText,
		Bytes:   u.Bytes, Sha256: u.SHA256, ObjectKey: u.ObjectKey,
	}
	if u.MultipartID != "" {
		params.PartsID, params.PartBytes = &u.MultipartID, &u.PartBytes
	}
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, u.WorkspaceID, key, u.ID)
		if err != nil {
			return err
		}
		var row db.MediaUpload
		if replayed = earlier != uuid.Nil; replayed {
			row, err = q.GetMediaUpload(ctx, db.GetMediaUploadParams{ID: earlier, WorkspaceID: u.WorkspaceID})
		} else {
			row, err = q.InsertMediaUpload(ctx, params)
		}
		made = uploadFromRow(row)
		return err
	})
	if tx.NoRows(err) {
		return media.Upload{}, false, apperr.NotFound("upload") // expired and deleted
	}
	return made, replayed, err
}

// Upload returns an upload of a workspace.
func (s *MediaStore) Upload(ctx context.Context, workspaceID, id uuid.UUID) (media.Upload, error) {
	row, err := s.q.GetMediaUpload(ctx, db.GetMediaUploadParams{ID: id, WorkspaceID: workspaceID})
	if tx.NoRows(err) {
		return media.Upload{}, apperr.NotFound("upload")
	}
	return uploadFromRow(row), err
}

// LeaseUpload gives the caller the exclusive right to complete an upload for a limited
// time.
func (s *MediaStore) LeaseUpload(
	ctx context.Context, workspaceID, id uuid.UUID, age, life time.Duration,
) (bool, error) {
	_, err := s.q.TakeMediaUpload(ctx, db.TakeMediaUploadParams{
		ID: id, WorkspaceID: workspaceID, YoungerThanSeconds: age.Seconds(), Seconds: life.Seconds(),
	})
	if tx.NoRows(err) {
		return false, nil
	}
	return err == nil, err
}

// ReleaseUpload ends the lease of an upload.
func (s *MediaStore) ReleaseUpload(ctx context.Context, id uuid.UUID) error {
	return s.q.ReturnMediaUpload(ctx, id)
}

// FinishUpload records the file that an upload has become.
func (s *MediaStore) FinishUpload(ctx context.Context, id, item uuid.UUID) error {
	return s.q.FinishMediaUpload(ctx, db.FinishMediaUploadParams{ID: id, MediaID: &item})
}

// ExpiredUploads lists uploads older than age that are not leased.
func (s *MediaStore) ExpiredUploads(ctx context.Context, age time.Duration, limit int) ([]media.Upload, error) {
	rows, err := s.q.OldMediaUploads(ctx, db.OldMediaUploadsParams{
		OlderThanSeconds: age.Seconds(), Batch: limit,
	})
	uploads := make([]media.Upload, len(rows))
	for i, r := range rows {
		uploads[i] = uploadFromRow(r)
	}
	return uploads, err
}

// DeleteUpload deletes an upload.
func (s *MediaStore) DeleteUpload(ctx context.Context, id uuid.UUID) error {
	return s.q.DropMediaUpload(ctx, id)
}

func uploadFromRow(r db.MediaUpload) media.Upload {
	u := media.Upload{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, FileName: r.FileName, AltText: r.AltText,
		Bytes:  r.Bytes,
		SHA256: r.Sha256, ObjectKey: r.ObjectKey, MultipartID: optional.Value(r.PartsID), MediaID: r.MediaID,
		CreatedAt: r.CreatedAt.UTC(),
	}
	if r.PartBytes != nil {
		u.PartBytes = *r.PartBytes
	}
	return u
}

// Rendition returns the rendition of an object with a specification.
func (s *MediaStore) Rendition(ctx context.Context, source, spec string) (media.Rendition, bool, error) {
	row, err := s.q.GetRendition(ctx, db.GetRenditionParams{SourceKey: source, Spec: spec})
	if tx.NoRows(err) {
		return media.Rendition{}, false, nil
	}
	return media.Rendition{
		ObjectKey: row.ObjectKey, SHA256: row.Sha256, MIMEType: row.MimeType, Bytes: row.Bytes,
		Width: row.Width, Height: row.Height,
	}, err == nil, err
}

// SaveRendition stores a rendition of an object. Both objects must be claimed or
// referenced; otherwise it returns media.ErrUnclaimed.
func (s *MediaStore) SaveRendition(ctx context.Context, source, spec string, r media.Rendition) error {
	return unclaimed(s.q.InsertRendition(ctx, db.InsertRenditionParams{
		SourceKey: source, Spec: spec,
		ObjectKey: r.ObjectKey, Sha256: r.SHA256,
		MimeType: r.MIMEType, Bytes: r.Bytes, Width: r.Width, Height: r.Height,
	}))
}
