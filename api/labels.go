package api

import (
	"context"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/label"
)

// LabelHandler serves labels of posts.
type LabelHandler struct{ Labels Labels }

// Labels manages labels and campaigns.
type Labels interface {
	List(ctx context.Context, who workspace.Principal) ([]label.Label, error)
	Create(ctx context.Context, who workspace.Principal, l label.Label) (label.Label, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u label.Update) (label.Label, error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	Apply(ctx context.Context, who workspace.Principal, c label.Change) ([]uuid.UUID, error)
}

// ListLabels lists labels and campaigns.
func (s *LabelHandler) ListLabels(
	ctx context.Context, _ spec.ListLabelsRequestObject,
) (spec.ListLabelsResponseObject, error) {
	all, err := s.Labels.List(ctx, principal(ctx))
	out := spec.ListLabels200JSONResponse{Labels: []spec.Label{}}
	for _, l := range all {
		out.Labels = append(out.Labels, labelJSON(l))
	}
	return out, err
}

// CreateLabel creates a label or a campaign.
func (s *LabelHandler) CreateLabel(
	ctx context.Context, r spec.CreateLabelRequestObject,
) (spec.CreateLabelResponseObject, error) {
	b := r.Body
	l, err := s.Labels.Create(ctx, principal(ctx), label.Label{
		Kind: label.Kind(or(b.Kind, spec.LabelKind(label.Plain))), Name: b.Name, Color: or(b.Color, "blue"),
		UTM: utmOf(optional.Value(b.Utm)),
	})
	return spec.CreateLabel201JSONResponse(labelJSON(l)), err
}

// UpdateLabel updates a label.
func (s *LabelHandler) UpdateLabel(
	ctx context.Context, r spec.UpdateLabelRequestObject,
) (spec.UpdateLabelResponseObject, error) {
	l, err := s.Labels.Update(ctx, principal(ctx), r.Id, label.Update{
		Name: r.Body.Name, Color: r.Body.Color, UTM: changedUTM(r.Body.Utm),
	})
	return spec.UpdateLabel200JSONResponse(labelJSON(l)), err
}

// DeleteLabel deletes a label.
func (s *LabelHandler) DeleteLabel(
	ctx context.Context, r spec.DeleteLabelRequestObject,
) (spec.DeleteLabelResponseObject, error) {
	return spec.DeleteLabel204Response{}, s.Labels.Delete(ctx, principal(ctx), r.Id)
}

// LabelPosts adds labels to posts and removes others.
func (s *LabelHandler) LabelPosts(
	ctx context.Context, r spec.LabelPostsRequestObject,
) (spec.LabelPostsResponseObject, error) {
	b := r.Body
	changed, err := s.Labels.Apply(ctx, principal(ctx), label.Change{
		PostIDs: b.Posts, Add: optional.Value(b.Add), Remove: optional.Value(b.Remove),
	})
	return spec.LabelPosts200JSONResponse{Changed: append([]uuid.UUID{}, changed...)}, err
}

func utmOf(params spec.UtmParams) utm.Params { return utm.Params(params) }

// changedUTM returns nil for parameters that do not change.
func changedUTM(params *spec.UtmParams) *utm.Params {
	if params == nil {
		return nil
	}
	changed := utmOf(*params)
	return &changed
}

func utmJSON(params utm.Params) *spec.UtmParams {
	if len(params) == 0 {
		return nil
	}
	out := spec.UtmParams(params)
	return &out
}

func labelJSON(l label.Label) spec.Label {
	return spec.Label{
		Id: l.ID, Kind: spec.LabelKind(l.Kind), Name: l.Name, Color: l.Color, Utm: utmJSON(l.UTM),
		CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt,
	}
}
