package workspace

import (
	"context"
	"net/mail"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/timezone"
)

// Store stores workspaces, members and tokens, and records changes in the audit log.
type Store interface {
	ChangeWorkspace(ctx context.Context, id uuid.UUID, c Change) (Workspace, error)
	CreateWorkspace(ctx context.Context, from uuid.UUID, w Workspace, owner uuid.UUID,
		key idempotency.Key) (created Workspace, replayed bool, err error)
	Invite(ctx context.Context, workspace uuid.UUID, email string, role Role, key idempotency.Key) (m Member,
		replayed bool, err error)
	ChangeRole(ctx context.Context, workspace, user uuid.UUID, role Role) (Member, error)
	RemoveMember(ctx context.Context, workspace, user uuid.UUID) error
	Tokens(ctx context.Context, f TokenFilter) ([]Token, error)
	CreateToken(ctx context.Context, t Token, key idempotency.Key) (created Token, replayed bool, err error)
	RevokeToken(ctx context.Context, workspace, id uuid.UUID, onlyOf *uuid.UUID) error
}

// Service is what people do with workspaces, members and tokens.
type Service struct{ Store Store }

// DefaultZone is the time zone of workspaces that name none.
const DefaultZone = "Asia/Ho_Chi_Minh"

// CreateWorkspace creates another workspace, whose owner is the requesting user.
func (s *Service) CreateWorkspace(
	ctx context.Context, who Principal, name, zone string, key idempotency.Key,
) (w Workspace, replayed bool, err error) {
	if zone == "" {
		zone = DefaultZone
	}
	if err := checkWorkspace(&name, &zone); err != nil {
		return Workspace{}, false, err
	}
	return s.Store.CreateWorkspace(ctx, who.WorkspaceID,
		Workspace{ID: uuid.Must(uuid.NewV7()), Name: name, TimeZone: zone}, who.UserID, key)
}

// ChangeWorkspace changes the settings of a workspace.
func (s *Service) ChangeWorkspace(ctx context.Context, who Principal, c Change) (Workspace, error) {
	if err := checkWorkspace(c.Name, c.TimeZone); err != nil {
		return Workspace{}, err
	}
	return s.Store.ChangeWorkspace(ctx, who.WorkspaceID, c)
}

// checkWorkspace refuses wrong settings and trims the name.
func checkWorkspace(name, zone *string) error {
	var problems []apperr.FieldError
	if name != nil {
		problems = append(problems, checkName(name)...)
	}
	if zone != nil {
		if _, err := timezone.Load(*zone); err != nil {
			problems = append(problems, apperr.FieldError{
				Field: "time_zone", Code: "unknown", Message: "Must be an IANA time zone, such as Asia/Ho_Chi_Minh.",
			})
		}
	}
	return orRefuse(problems)
}

const maxNameLength = 200 // characters

func checkName(name *string) []apperr.FieldError {
	*name = strings.TrimSpace(*name)
	switch {
	case *name == "":
		return []apperr.FieldError{{Field: "name", Code: "required", Message: "The name is required."}}
	case !utf8.ValidString(*name) || strings.ContainsRune(*name, 0):
		return []apperr.FieldError{
			{Field: "name", Code: "invalid", Message: "The name must be valid UTF-8 without NUL characters."},
		}
	case utf8.RuneCountInString(*name) > maxNameLength:
		return []apperr.FieldError{
			{Field: "name", Code: "too_long", Message: "The name must have at most 200 characters."},
		}
	}
	return nil
}

// Invite makes the person with an address a member. A user unknown to Dateline can log
// in only with OIDC, once the provider has verified the address.
func (s *Service) Invite(
	ctx context.Context, who Principal, email string, role Role, key idempotency.Key,
) (m Member, replayed bool, err error) {
	address, err := cleanEmail(email)
	if err != nil {
		return Member{}, false, err
	}
	return s.Store.Invite(ctx, who.WorkspaceID, address, role, key)
}

// maxEmailLength is the limit of an SMTP path (RFC 5321, 4.5.3.1.3).
const maxEmailLength = 254

// cleanEmail accepts only plain addresses (RFC 5321, 4.1.2): no names, comments
// or quotes, and only ASCII, whose lower case is unambiguous.
func cleanEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxEmailLength ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", apperr.InvalidFields(apperr.FieldError{
			Field: "email", Code: "invalid", Message: "Must be an email address, such as person@news.example.",
		})
	}
	return strings.ToLower(text), nil
}

// ChangeRole changes a member's role. The last owner cannot be changed.
func (s *Service) ChangeRole(ctx context.Context, who Principal, user uuid.UUID, role Role) (Member, error) {
	return s.Store.ChangeRole(ctx, who.WorkspaceID, user, role)
}

// Remove removes a member from the workspace and revokes the member's tokens. The last
// owner cannot be removed.
func (s *Service) Remove(ctx context.Context, who Principal, user uuid.UUID) error {
	return s.Store.RemoveMember(ctx, who.WorkspaceID, user)
}

func orRefuse(problems []apperr.FieldError) error {
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}
