package media

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// SweepStore finds files and objects that nothing needs anymore.
type SweepStore interface {
	// DeleteUnused removes files that no post has used from the library, in pages that
	// start after the given id.
	DeleteUnused(ctx context.Context, age time.Duration, after uuid.UUID, limit int) (deleted int, last uuid.UUID,
		err error)
	// ReleaseDeleted releases the objects of files that were deleted some time ago and
	// that no pending post uses.
	ReleaseDeleted(ctx context.Context, grace time.Duration, after uuid.UUID, limit int) (released int, last uuid.UUID,
		err error)
	DeleteOldRenditions(ctx context.Context, age time.Duration) (int, error)
	// UnreferencedObjects lists keys after the given one that nothing refers to.
	UnreferencedObjects(ctx context.Context, after string, limit int) ([]string, error)
	// DeleteObject calls remove and deletes the object's row, unless something refers to
	// it by now. Nothing can begin to refer to it while remove runs.
	DeleteObject(ctx context.Context, key string, remove func(ctx context.Context) error) (dropped bool, err error)
}

const (
	// deletionGrace is how long a deleted file is kept, so that a concurrent request that
	// uses it can store its post.
	deletionGrace = time.Hour
	// renditionTTL is how long an unused rendition is kept. It can be rendered again.
	renditionTTL = 30 * 24 * time.Hour

	sweepBatch = 200
)

// SweepResult counts what a sweep did.
type SweepResult struct {
	Deleted    int // files that no post has used for too long
	Released   int // deleted files whose objects were released
	Renditions int
	Uploads    int // never completed
	Objects    int
	Failed     int // objects and uploads that could not be deleted; the next sweep retries
}

// Sweep deletes files that no post has used, uploads that were never completed, and
// objects that nothing refers to. It calls heartbeat regularly.
func (s *Service) Sweep(ctx context.Context, heartbeat func(SweepResult)) (done SweepResult, err error) {
	if s.Retention > 0 {
		err = pages(func(after uuid.UUID) (uuid.UUID, error) {
			n, last, err := s.Store.DeleteUnused(ctx, s.Retention, after, sweepBatch)
			done.Deleted += n
			heartbeat(done)
			return last, err
		})
		if err != nil {
			return done, err
		}
	}
	err = pages(func(after uuid.UUID) (uuid.UUID, error) {
		n, last, err := s.Store.ReleaseDeleted(ctx, deletionGrace, after, sweepBatch)
		done.Released += n
		heartbeat(done)
		return last, err
	})
	if err != nil {
		return done, err
	}
	if done.Renditions, err = s.Store.DeleteOldRenditions(ctx, renditionTTL); err != nil {
		return done, err
	}
	if err := s.sweepUploads(ctx, &done, heartbeat); err != nil {
		return done, err
	}
	return done, s.sweepObjects(ctx, &done, heartbeat)
}

// pages calls f with the position where the previous call ended, until it is done.
func pages(f func(after uuid.UUID) (last uuid.UUID, err error)) error {
	for after := uuid.Nil; ; {
		last, err := f(after)
		if err != nil || last == uuid.Nil {
			return err
		}
		after = last
	}
}

// sweepUploads deletes expired uploads, oldest first.
func (s *Service) sweepUploads(ctx context.Context, done *SweepResult, heartbeat func(SweepResult)) error {
	for {
		old, err := s.Store.ExpiredUploads(ctx, uploadTTL, sweepBatch)
		if err != nil {
			return err
		}
		failed := 0
		for _, u := range old {
			if err := s.dropUpload(ctx, u); err != nil {
				s.log().Warn("an old upload could not be dropped; the next sweep tries it again", "upload_id", u.ID,
					"error", err)
				failed++
			} else {
				done.Uploads++
			}
			heartbeat(*done)
		}
		done.Failed += failed
		if len(old) < sweepBatch || failed > 0 { // failed ones would be on the next page again
			return ctx.Err()
		}
	}
}

func (s *Service) dropUpload(ctx context.Context, u Upload) error {
	if u.MultipartID != "" {
		if err := s.Objects.AbortMultipartUpload(ctx, u.ObjectKey, u.MultipartID); err != nil {
			return err
		}
	}
	if err := s.deleteUploadObjects(ctx, u); err != nil {
		return err
	}
	return s.Store.DeleteUpload(ctx, u.ID)
}

func (s *Service) sweepObjects(ctx context.Context, done *SweepResult, heartbeat func(SweepResult)) error {
	for after := ""; ; {
		keys, err := s.Store.UnreferencedObjects(ctx, after, sweepBatch)
		if err != nil {
			return err
		}
		for _, key := range keys {
			dropped, err := s.Store.DeleteObject(ctx, key, func(ctx context.Context) error {
				return s.Objects.Delete(ctx, key)
			})
			switch {
			case err != nil:
				s.log().Warn("an object could not be deleted; the next sweep tries it again", "key", key, "error", err)
				done.Failed++
			case dropped:
				done.Objects++
			}
			heartbeat(*done)
			after = key
		}
		if len(keys) < sweepBatch {
			return ctx.Err()
		}
	}
}
