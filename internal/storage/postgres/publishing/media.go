package publishing

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/media/metadata"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// ClaimObject protects an object that is about to be stored from deletion for the given
// time. It waits for a deletion in progress.
func (s *MediaStore) ClaimObject(ctx context.Context, key string, life time.Duration) error {
	return s.q.ClaimObject(ctx, db.ClaimObjectParams{ObjectKey: key, Seconds: life.Seconds()})
}

// SaveMedia stores the item of an uploaded file.
func (s *MediaStore) SaveMedia(
	ctx context.Context, m media.Item, key idempotency.Key,
) (saved media.Item, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, m.WorkspaceID, key, m.ID)
		if err != nil {
			return err
		}
		var row db.Medium
		if replayed = earlier != uuid.Nil; replayed {
			row, err = q.GetMedia(ctx, db.GetMediaParams{ID: earlier, WorkspaceID: m.WorkspaceID, DeletedToo: true})
		} else {
			row, err = q.InsertMedia(ctx, newMedia(m))
		}
		saved = mediaFromRow(row)
		if err != nil || replayed {
			return err
		}
		return recordMedia(ctx, q, saved, audit.MediaAdded, map[string]any{
			"mime_type": saved.MIMEType, "bytes": saved.Bytes,
		})
	})
	return saved, replayed, unclaimed(err)
}

func newMedia(m media.Item) db.InsertMediaParams {
	return db.InsertMediaParams{
		ID: m.ID, WorkspaceID: m.WorkspaceID, UserID: m.UserID, ObjectKey: m.ObjectKey,
		Sha256: m.SHA256, MimeType: m.MIMEType, Bytes: m.Bytes, Kind: string(m.Kind),
		Width: m.Width, Height: m.Height, Frames: m.Frames, Pages: m.Pages,
		Rotation: m.Rotation, Orientation: m.Orientation,
		DurationMs: m.Duration.Milliseconds(), FrameRate: m.FrameRate, BitRate: m.BitRate,
		VideoCodec: m.VideoCodec, AudioCodec: m.AudioCodec, AudioRate: m.AudioRate, PixelFormat: m.PixelFormat,
		FileName: m.FileName, AltText: m.AltText, SearchText: searchText(m),
		MetadataRemoved: categories(m.MetadataRemoved),
	}
}

func categories(removed []metadata.Category) []string {
	names := make([]string, len(removed))
	for i, c := range removed {
		names[i] = string(c)
	}
	return names
}

// PreservesMediaCredit reports whether a workspace keeps IPTC credit in its images.
func (s *MediaStore) PreservesMediaCredit(ctx context.Context, workspaceID uuid.UUID) (bool, error) {
	w, err := s.q.WorkspaceOptions(ctx, workspaceID)
	return w.KeepMediaCredit, err
}

// unclaimed reports whether an error is a violated reference to an object.
func unclaimed(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "23503" &&
		(refused.ConstraintName == "media_held" || refused.TableName == "media_renditions") {
		return media.ErrUnclaimed
	}
	return err
}

func searchText(m media.Item) string { return media.Fold(m.FileName + " " + m.AltText) }

// MediaItem returns a file of a workspace.
func (s *MediaStore) MediaItem(ctx context.Context, workspaceID, id uuid.UUID) (media.Item, error) {
	return readMedia(s.q.GetMedia(ctx, db.GetMediaParams{ID: id, WorkspaceID: workspaceID}))
}

func readMedia(row db.Medium, err error) (media.Item, error) {
	if tx.NoRows(err) {
		return media.Item{}, apperr.NotFound("media")
	}
	return mediaFromRow(row), err
}

// MediaByID returns the files with the given ids in the workspace, including deleted
// ones, which pending posts may use.
func (s *MediaStore) MediaByID(
	ctx context.Context, workspaceID uuid.UUID, ids []uuid.UUID,
) (map[uuid.UUID]media.Item, error) {
	if len(ids) == 0 {
		return map[uuid.UUID]media.Item{}, nil
	}
	rows, err := s.q.MediaByID(ctx, db.MediaByIDParams{WorkspaceID: workspaceID, Ids: ids})
	if err != nil {
		return nil, err
	}
	items := make(map[uuid.UUID]media.Item, len(rows))
	for _, r := range rows {
		items[r.ID] = mediaFromRow(r)
	}
	return items, nil
}

// ListMedia lists files, newest first.
func (s *MediaStore) ListMedia(ctx context.Context, f media.Filter) ([]media.Item, error) {
	rows, err := s.q.ListMedia(ctx, db.ListMediaParams{
		WorkspaceID: f.WorkspaceID, Kind: string(f.Kind),
		Patterns:   media.Patterns(f.Search),
		BeforeTime: f.BeforeTime, BeforeID: f.BeforeID, PageSize: f.Limit,
	})
	items := make([]media.Item, len(rows))
	for i, r := range rows {
		items[i] = mediaFromRow(r)
	}
	return items, err
}

// recordMedia records a change of a file in the audit log, without its name and alt text,
// which are personal content.
func recordMedia(ctx context.Context, q *queries, m media.Item, action audit.Action, data map[string]any) error {
	return tx.Record(ctx, q.tx, m.WorkspaceID, action, "media", m.ID, data)
}

// DeleteMedia removes a file from the library, unless a pending post uses it. A post that
// is stored concurrently keeps its objects, see ReleaseDeleted.
func (s *MediaStore) DeleteMedia(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		item, err := readMedia(q.LockMedia(ctx, db.LockMediaParams{ID: id, WorkspaceID: workspaceID}))
		if err != nil {
			return err
		}
		needed, err := q.MediaNeeded(ctx, id)
		if err != nil {
			return err
		}
		if len(needed) > 0 {
			return media.InUse(needed[0])
		}
		if _, err = q.DeleteMedia(ctx, id); err != nil {
			return err
		}
		return recordMedia(ctx, q, item, audit.MediaDeleted, nil)
	})
}

func mediaFromRow(r db.Medium) media.Item {
	var removed []metadata.Category
	for _, name := range r.MetadataRemoved {
		removed = append(removed, metadata.Category(name))
	}
	return media.Item{
		MetadataRemoved: removed,
		ID:              r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, ObjectKey: r.ObjectKey, SHA256: r.Sha256,
		Bytes: r.Bytes,
		Facts: media.Facts{
			MIMEType: r.MimeType, Kind: media.Kind(r.Kind), Width: r.Width, Height: r.Height,
			Frames: r.Frames, Pages: r.Pages, Orientation: r.Orientation,
			Duration:  time.Duration(r.DurationMs) * time.Millisecond,
			FrameRate: r.FrameRate, BitRate: r.BitRate, VideoCodec: r.VideoCodec, AudioCodec: r.AudioCodec,
			AudioRate: r.AudioRate, PixelFormat: r.PixelFormat, Rotation: r.Rotation,
		},
		FileName: r.FileName, AltText: r.AltText, CreatedAt: r.CreatedAt.UTC(), Deleted: r.DeletedAt != nil,
	}
}
