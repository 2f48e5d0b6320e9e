package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/system/archive"
)

// MemberHandler serves members, their tokens and the audit log.
type MemberHandler struct {
	Store  IdentityStore
	People *workspace.Service
	Events Live
	Audit  archive.Audit // records what agents change
}

// ListMembers lists the members.
func (s *MemberHandler) ListMembers(
	ctx context.Context, r spec.ListMembersRequestObject,
) (spec.ListMembersResponseObject, error) {
	f := workspace.MemberFilter{WorkspaceID: principal(ctx).WorkspaceID, Limit: defaultPage}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	if text := optional.Value(r.Params.Cursor); text != "" {
		var err error
		if f.AfterTime, f.AfterID, err = readCursor(text); err != nil {
			return nil, err
		}
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	members, err := s.Store.Members(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListMembers200JSONResponse{Members: []spec.Member{}}
	if len(members) > limit {
		members = members[:limit]
		page.NextCursor = optional.Of(cursor(members[limit-1].CreatedAt, members[limit-1].User.ID))
	}
	for _, m := range members {
		page.Members = append(page.Members, memberJSON(m))
	}
	return page, nil
}

// InviteMember adds a member.
func (s *MemberHandler) InviteMember(
	ctx context.Context, r spec.InviteMemberRequestObject,
) (spec.InviteMemberResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "member", r.Body)
	if err != nil {
		return nil, err
	}
	m, replayed, err := s.People.Invite(ctx, principal(ctx), r.Body.Email, workspace.Role(r.Body.Role), key)
	return spec.InviteMember201JSONResponse{
		Body:    memberJSON(m),
		Headers: spec.InviteMember201ResponseHeaders{IdempotentReplayed: ifReplayed(replayed)},
	}, err
}

// UpdateMember changes the role of a member.
func (s *MemberHandler) UpdateMember(
	ctx context.Context, r spec.UpdateMemberRequestObject,
) (spec.UpdateMemberResponseObject, error) {
	m, err := s.People.ChangeRole(ctx, principal(ctx), r.Id, workspace.Role(r.Body.Role))
	return spec.UpdateMember200JSONResponse(memberJSON(m)), closing(s.Events, r.Id, err)
}

// RemoveMember removes a member from the workspace.
func (s *MemberHandler) RemoveMember(
	ctx context.Context, r spec.RemoveMemberRequestObject,
) (spec.RemoveMemberResponseObject, error) {
	return spec.RemoveMember204Response{}, closing(s.Events, r.Id, s.People.Remove(ctx, principal(ctx), r.Id))
}

func memberJSON(m workspace.Member) spec.Member {
	return spec.Member{
		Id: m.User.ID, Name: m.User.Name, Email: optional.Of(m.User.Email), Role: spec.Role(m.Role),
		CreatedAt: m.CreatedAt, JoinedAt: m.JoinedAt, LoginLinkExpiresAt: m.LoginLinkExpiresAt,
	}
}
