package publishing

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/label"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Labels lists a workspace's labels by kind and name.
func (s *LabelStore) Labels(ctx context.Context, workspaceID uuid.UUID) ([]label.Label, error) {
	rows, err := s.q.ListLabels(ctx, workspaceID)
	out := make([]label.Label, len(rows))
	for i, r := range rows {
		out[i] = labelFromRow(r)
	}
	return out, err
}

// CreateLabel stores a label unless the workspace has maxLabels.
func (s *LabelStore) CreateLabel(ctx context.Context, l label.Label, maxLabels int) (label.Label, error) {
	row, err := s.q.InsertLabel(ctx, db.InsertLabelParams{
		ID: l.ID, WorkspaceID: l.WorkspaceID, Kind: string(l.Kind),
		Name: l.Name, Color: l.Color, Utm: column.UTM(l.UTM),
		MaxLabels: maxLabels,
	})
	if tx.NoRows(err) {
		return label.Label{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "too_many_labels",
			Message: fmt.Sprintf("This workspace has reached the limit of %d labels. Delete one first.", maxLabels),
		}
	}
	return labelFromRow(row), labelNameError(err)
}

// UpdateLabel stores a changed label.
func (s *LabelStore) UpdateLabel(ctx context.Context, l label.Label) (label.Label, error) {
	row, err := s.q.UpdateLabel(ctx, db.UpdateLabelParams{
		ID: l.ID, WorkspaceID: l.WorkspaceID, Name: l.Name, Color: l.Color, Utm: column.UTM(l.UTM),
	})
	return labelFromRow(row), labelNameError(tx.OrNotFound(err, "label"))
}

// DeleteLabel deletes a label and removes it from its posts.
func (s *LabelStore) DeleteLabel(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.DeleteLabel(ctx, db.DeleteLabelParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return err
		}
		if n == 0 {
			return apperr.NotFound("label")
		}
		return q.RemoveLabelFromPosts(ctx, db.RemoveLabelFromPostsParams{ID: id, WorkspaceID: workspaceID})
	})
}

// LabelPosts adds labels to posts and removes others. It returns the posts that have
// changed.
func (s *LabelStore) LabelPosts(
	ctx context.Context, workspaceID uuid.UUID, c label.Change, actor string,
) (changed []uuid.UUID, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		kinds, err := lockLabels(ctx, q, workspaceID, c.Add)
		if err != nil {
			return err
		}
		rows, err := q.LabelPosts(ctx, db.LabelPostsParams{
			WorkspaceID: workspaceID, PostIds: c.PostIDs,
			Add: column.List(c.Add), Remove: column.List(c.Remove),
			ReplacesCampaign: kinds[label.Campaign] > 0,
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			if len(row.LabelIds) > label.MaxPerPost {
				return apperr.InvalidFields(apperr.FieldError{
					Field: "add", Code: "too_many",
					Message: fmt.Sprintf("A post has at most %d labels.", label.MaxPerPost),
				})
			}
			if err := addEvent(ctx, q, row, nil, post.EventLabeled, actor,
				map[string]any{"labels": row.LabelIds}); err != nil {
				return err
			}
			changed = append(changed, row.PostID)
		}
		return nil
	})
	return changed, err
}

// lockLabels keeps labels from being deleted until the transaction ends, and counts
// them by kind. It refuses unknown labels and a second campaign.
func lockLabels(
	ctx context.Context, q *queries, workspaceID uuid.UUID, ids []uuid.UUID,
) (kinds map[label.Kind]int, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := q.LockLabels(ctx, db.LockLabelsParams{WorkspaceID: workspaceID, Ids: ids})
	if err != nil {
		return nil, err
	}
	kinds = map[label.Kind]int{}
	for _, r := range rows {
		kinds[label.Kind(r.Kind)]++
	}
	switch {
	case len(rows) != len(ids):
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "labels", Code: "unknown", Message: "Name labels of this workspace, each once.",
		})
	case len(ids) > label.MaxPerPost:
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "labels", Code: "too_many", Message: fmt.Sprintf("A post has at most %d labels.", label.MaxPerPost),
		})
	case kinds[label.Campaign] > 1:
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "labels", Code: "too_many", Message: "A post has at most one campaign.",
		})
	}
	return kinds, nil
}

func labelFromRow(r db.Label) label.Label {
	return label.Label{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Kind: label.Kind(r.Kind), Name: r.Name, Color: r.Color,
		UTM:       column.ReadUTM(r.Utm),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

func labelNameError(err error) error {
	if tx.Violates(err, "labels_name") {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "name", Code: "taken", Message: "Another one has this name.",
		})
	}
	return err
}
