package identity

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// WhoIs returns a user and the user's workspaces, oldest membership first.
func (s *LoginStore) WhoIs(ctx context.Context, user uuid.UUID) (login.User, []login.Membership, error) {
	row, err := s.q.UserByID(ctx, user)
	if err != nil {
		return login.User{}, nil, err
	}
	u := login.User{ID: row.ID, Name: row.Name}
	if row.Email != nil {
		u.Email = *row.Email
	}
	rows, err := s.q.Memberships(ctx, user)
	memberships := make([]login.Membership, 0, len(rows))
	for _, row := range rows {
		memberships = append(memberships, login.Membership{
			WorkspaceID: row.ID, WorkspaceName: row.Name, Role: workspace.Role(row.Role),
		})
	}
	return u, memberships, err
}

// Admit returns the user of an identity: by issuer and subject, or else by e-mail
// address, which binds the identity to the user. A user who is bound to an identity of
// the issuer is never matched by e-mail, because the address may have a new owner. With
// a role in join, an unknown person becomes a user with that role in the first
// workspace. A user who was removed from it is not added again.
//
// The invitation of a member only knows the address, which is the name until a login
// brings the person's own. A name that was set stays.
func (s *LoginStore) Admit(ctx context.Context, p login.Person, join workspace.Role) (uuid.UUID, login.Refusal, error) {
	user, why, err := s.admit(ctx, p, join)
	if err != nil || why != "" || p.Name == "" {
		return user, why, err
	}
	return user, "", s.NameUser(ctx, user, p.Name)
}

func (s *LoginStore) admit(
	ctx context.Context, p login.Person, join workspace.Role,
) (user uuid.UUID, why login.Refusal, err error) {
	user, err = s.q.UserByIdentity(ctx, db.UserByIdentityParams{Issuer: p.Issuer, Subject: p.Subject})
	switch {
	case !tx.NoRows(err):
		return user, "", err
	case p.EmailNotVerified:
		return uuid.Nil, login.NotVerified, nil
	case p.Email == "":
		return uuid.Nil, login.NoEmail, nil
	}
	err = s.inTx(ctx, func(q *queries) error {
		if err := q.LockAdmissions(ctx); err != nil {
			return err
		}
		user, why, err = admit(ctx, q, p, join)
		return err
	})
	return user, why, err
}

// admit does the same while it holds a lock against concurrent logins.
func admit(ctx context.Context, q *queries, p login.Person, join workspace.Role) (uuid.UUID, login.Refusal, error) {
	user, err := q.UserByIdentity(ctx, db.UserByIdentityParams{Issuer: p.Issuer, Subject: p.Subject})
	if !tx.NoRows(err) { // a concurrent login created the user
		return user, "", err
	}
	row, err := q.UserByEmail(ctx, &p.Email)
	switch {
	case err == nil:
		user = row.ID
		bound, err := q.HasIdentity(ctx, db.HasIdentityParams{Issuer: p.Issuer, UserID: user})
		if err != nil {
			return uuid.Nil, "", err
		}
		if bound {
			return uuid.Nil, login.OtherSubject, nil
		}
	case !tx.NoRows(err):
		return uuid.Nil, "", err
	case join == "":
		return uuid.Nil, login.NotInvited, nil
	default:
		if user, err = joinFirst(ctx, q, p, join); err != nil {
			return uuid.Nil, "", err
		}
		if user == uuid.Nil {
			return uuid.Nil, login.NoWorkspace, nil
		}
	}
	return user, "", q.InsertIdentity(ctx, db.InsertIdentityParams{Issuer: p.Issuer, Subject: p.Subject, UserID: user})
}

// joinFirst adds a new user to the first workspace, if there is one.
func joinFirst(ctx context.Context, q *queries, p login.Person, role workspace.Role) (uuid.UUID, error) {
	first, err := q.FirstWorkspace(ctx)
	if tx.NoRows(err) {
		return uuid.Nil, nil
	}
	if err != nil {
		return uuid.Nil, err
	}
	user := uuid.Must(uuid.NewV7())
	if _, err := q.InsertUser(ctx, db.InsertUserParams{ID: user, Name: p.Email, Email: &p.Email}); err != nil {
		return uuid.Nil, err
	}
	_, err = q.InsertMember(ctx, db.InsertMemberParams{
		WorkspaceID: first.ID, UserID: user, Role: db.MemberRole(role), Joined: true,
	})
	return user, err
}

// PutLoginLink stores the hash of a login link and replaces the previous one.
func (s *LoginStore) PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error {
	return s.q.PutLoginLink(ctx, db.PutLoginLinkParams{UserID: user, Hash: hash, ExpiresAt: expires})
}

// UseLoginLink deletes a login link and returns its user and expiry.
func (s *LoginStore) UseLoginLink(
	ctx context.Context, hash []byte,
) (user uuid.UUID, expires time.Time, found bool, err error) {
	row, err := s.q.UseLoginLink(ctx, hash)
	if tx.NoRows(err) {
		return uuid.Nil, time.Time{}, false, nil
	}
	return row.UserID, row.ExpiresAt, err == nil, err
}

// PutMemberLoginLink stores the hash of a member's login link and replaces the previous one.
// It returns the member.
func (s *LoginStore) PutMemberLoginLink(
	ctx context.Context, workspaceID, user uuid.UUID, hash []byte, expires time.Time,
) (m workspace.Member, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if m, err = member(ctx, q, workspaceID, user); err != nil {
			return err
		}
		if err := q.PutMemberLoginLink(ctx, db.PutMemberLoginLinkParams{
			WorkspaceID: workspaceID, UserID: user, Hash: hash, ExpiresAt: expires,
		}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.LoginLinkCreated, "member", user, nil)
	})
	return m, err
}

// DeleteMemberLoginLink deletes the login link of a member.
func (s *LoginStore) DeleteMemberLoginLink(ctx context.Context, workspaceID, user uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		deleted, err := q.DeleteMemberLoginLink(ctx, db.DeleteMemberLoginLinkParams{
			WorkspaceID: workspaceID, UserID: user,
		})
		if err != nil {
			return err
		}
		if deleted == 0 {
			return apperr.NotFound("login_link")
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.LoginLinkRevoked, "member", user, nil)
	})
}

// UseMemberLoginLink deletes a member's login link and returns its member and expiry.
func (s *LoginStore) UseMemberLoginLink(
	ctx context.Context, hash []byte,
) (workspaceID, user uuid.UUID, expires time.Time, found bool, err error) {
	row, err := s.q.UseMemberLoginLink(ctx, hash)
	if tx.NoRows(err) {
		return uuid.Nil, uuid.Nil, time.Time{}, false, nil
	}
	return row.WorkspaceID, row.UserID, row.ExpiresAt, err == nil, err
}

// NameUser replaces a user's name that is still the email address of the invitation.
func (s *LoginStore) NameUser(ctx context.Context, user uuid.UUID, name string) error {
	return s.q.NameUser(ctx, db.NameUserParams{ID: user, Name: name})
}

// UseLoginAnswer reports whether an identity provider's response is used for the first
// time, and deletes records of responses used before the given time.
func (s *LoginStore) UseLoginAnswer(ctx context.Context, hash []byte, now, forget time.Time) (first bool, err error) {
	if err := s.q.DeleteOldLoginAnswers(ctx, forget); err != nil {
		return false, err
	}
	n, err := s.q.UseLoginAnswer(ctx, db.UseLoginAnswerParams{Hash: hash, Now: now})
	return n == 1, err
}
