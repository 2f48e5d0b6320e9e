package store

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/media"
	"dateline/internal/post"
	"dateline/internal/store/db"
)

// SaveMedia notes an uploaded file.
func (s *Store) SaveMedia(ctx context.Context, m media.Item) (media.Item, error) {
	row, err := s.q.InsertMedia(ctx, db.InsertMediaParams{ID: m.ID, WorkspaceID: m.WorkspaceID, UserID: m.UserID, ObjectKey: m.ObjectKey,
		Sha256: m.SHA256, MimeType: m.MIMEType, Bytes: m.Bytes, Width: int32(m.Width), Height: int32(m.Height), //nolint:gosec // checked by media.Sniff
		FileName: m.FileName, AltText: m.AltText})
	return mediaFromRow(row), err
}

// MediaItem reads one file of a workspace.
func (s *Store) MediaItem(ctx context.Context, workspace, id uuid.UUID) (media.Item, error) {
	row, err := s.q.GetMedia(ctx, db.GetMediaParams{ID: id, WorkspaceID: workspace})
	if noRows(err) {
		return media.Item{}, post.Missing("media")
	}
	return mediaFromRow(row), err
}

// MediaByID reads those of the ids that belong to the workspace.
func (s *Store) MediaByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error) {
	rows, err := s.q.MediaByID(ctx, db.MediaByIDParams{WorkspaceID: workspace, Ids: ids})
	if err != nil {
		return nil, err
	}
	items := make(map[uuid.UUID]media.Item, len(rows))
	for _, r := range rows {
		items[r.ID] = mediaFromRow(r)
	}
	return items, nil
}

func mediaFromRow(r db.Medium) media.Item {
	return media.Item{ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, ObjectKey: r.ObjectKey, SHA256: r.Sha256,
		MIMEType: r.MimeType, Bytes: r.Bytes, Width: int(r.Width), Height: int(r.Height), FileName: r.FileName, AltText: r.AltText,
		CreatedAt: r.CreatedAt.UTC()}
}
