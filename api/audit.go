package api

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
)

// ListAudit lists entries of the audit log.
func (s *MemberHandler) ListAudit(
	ctx context.Context, r spec.ListAuditRequestObject,
) (spec.ListAuditResponseObject, error) {
	f := audit.Filter{
		WorkspaceID: principal(ctx).WorkspaceID, Actions: optional.Value(r.Params.Action),
		ObjectID: r.Params.Object,
		From:     r.Params.From, To: r.Params.To, Limit: defaultPage,
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	if actor := optional.Value(r.Params.Actor); actor != "" {
		if id, err := uuid.Parse(actor); err == nil {
			f.UserID = &id
		} else {
			f.Actor = audit.Actor(actor)
		}
	}
	if text := optional.Value(r.Params.Cursor); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: "cursor", Code: "invalid", Message: "Must be next_cursor of the previous page.",
			})
		}
		f.Before = &id
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	entries, err := s.Store.AuditLog(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListAudit200JSONResponse{Entries: []spec.AuditEntry{}}
	if len(entries) > limit {
		entries = entries[:limit]
		page.NextCursor = optional.Of(strconv.FormatInt(entries[limit-1].ID, 10))
	}
	for _, e := range entries {
		one, err := auditJSON(e, principal(ctx))
		if err != nil {
			return nil, err
		}
		page.Entries = append(page.Entries, one)
	}
	return page, nil
}

// personalContent are the types of objects whose names need the scope to read them.
func personalContent() map[string]workspace.Scope {
	return map[string]workspace.Scope{"post": workspace.PostsRead, "media": workspace.MediaRead}
}

func auditJSON(e audit.Entry, who workspace.Principal) (spec.AuditEntry, error) {
	if scope, ok := personalContent()[e.Object.Type]; ok && !who.Has(scope) {
		e.Object.Name = ""
	}
	out := spec.AuditEntry{
		Id: strconv.FormatInt(e.ID, 10), At: e.At, Action: string(e.Action),
		RequestId: optional.Of(e.Origin.RequestID),
		Object: spec.AuditObject{
			Type: e.Object.Type, Id: e.Object.ID, Name: optional.Of(e.Object.Name),
			Deleted: optional.Of(e.Object.IsDeleted),
		},
		Actor: spec.AuditActor{
			Type: spec.AuditActorType(e.Origin.Actor), UserId: optional.Of(e.Origin.UserID),
			Name:    optional.Of(e.UserName),
			TokenId: optional.Of(e.Origin.TokenID), TokenName: optional.Of(e.TokenName),
			SessionId: optional.Of(e.Origin.SessionID),
		},
	}
	return out, json.Unmarshal(e.Data, &out.Data)
}
