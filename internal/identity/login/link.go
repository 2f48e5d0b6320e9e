package login

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// LinkLimit is the validity of a login link of the first owner, MemberLinkLimit that of
// other members, who may open their mail or chat only after a weekend.
const (
	LinkLimit       = 10 * time.Minute
	MemberLinkLimit = 7 * 24 * time.Hour
)

// WorkspaceParameter is the query parameter of a login link with the id of the workspace that it
// opens. Without it, or for a user who is no member, that is the user's first one.
const WorkspaceParameter = "workspace"

// LinkStore stores login links.
type LinkStore interface {
	PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error
}

// MemberLinkStore stores login links of members and records changes in the audit log.
type MemberLinkStore interface {
	PutMemberLoginLink(
		ctx context.Context, workspace, user uuid.UUID, hash []byte, expires time.Time,
	) (workspace.Member, error)
	DeleteMemberLoginLink(ctx context.Context, workspace, user uuid.UUID) error
}

// MemberLink is a new login link of a member.
type MemberLink struct {
	URL       secret.Text
	ExpiresAt time.Time
}

// NewLink creates a one-time login link and invalidates the previous one.
func NewLink(ctx context.Context, s LinkStore, publicURL string, user uuid.UUID, now time.Time) (string, error) {
	text := newSecret()
	if err := s.PutLoginLink(ctx, user, hash(text), now.Add(LinkLimit)); err != nil {
		return "", err
	}
	return strings.TrimSuffix(publicURL, "/") + "/login/once/" + text, nil
}

// NewMemberLink creates a one-time link that logs a member of the workspace in to it, and
// invalidates the previous one. Before the first login it is an invitation.
func (s *Service) NewMemberLink(ctx context.Context, who workspace.Principal, user uuid.UUID) (MemberLink, error) {
	if !s.Possible() {
		return MemberLink{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "no_plain_http",
			Message: "Nobody can log in over plain http. Serve Dateline by https and set DATELINE_PUBLIC_URL to that " +
				"address.",
		}
	}
	text, expires := newSecret(), s.now().Add(MemberLinkLimit).UTC().Truncate(time.Second)
	m, err := s.store.PutMemberLoginLink(ctx, who.WorkspaceID, user, hash(text), expires)
	if err != nil {
		return MemberLink{}, err
	}
	path := "/login/once/"
	if m.JoinedAt == nil {
		path = "/login/invitation/"
	}
	url := strings.TrimSuffix(s.base.String(), "/") + path + text
	return MemberLink{URL: secret.NewText(url), ExpiresAt: expires}, nil
}

// RevokeMemberLink invalidates the login link of a member.
func (s *Service) RevokeMemberLink(ctx context.Context, who workspace.Principal, user uuid.UUID) error {
	return s.store.DeleteMemberLoginLink(ctx, who.WorkspaceID, user)
}

// useLink invalidates a link and returns its user, and the only workspace that it opens, if
// it is that of a member.
func (s *Service) useLink(ctx context.Context, hash []byte) (user uuid.UUID, only *uuid.UUID, ok bool, err error) {
	user, expires, found, err := s.store.UseLoginLink(ctx, hash)
	if err == nil && !found {
		var workspace uuid.UUID
		workspace, user, expires, found, err = s.store.UseMemberLoginLink(ctx, hash)
		only = &workspace
	}
	return user, only, found && s.now().Before(expires), err
}
