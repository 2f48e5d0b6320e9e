package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
)

// Tokens lists API tokens: owners see those of all members.
func (s *Service) Tokens(ctx context.Context, who Principal, before *uuid.UUID, limit int) ([]Token, error) {
	return s.Store.Tokens(ctx, TokenFilter{
		WorkspaceID: who.WorkspaceID, UserID: onlyOwn(who), Before: before, Limit: limit,
	})
}

// Revoke ends an API token: owners end those of all members.
func (s *Service) Revoke(ctx context.Context, who Principal, id uuid.UUID) error {
	return s.Store.RevokeToken(ctx, who.WorkspaceID, id, onlyOwn(who))
}

func onlyOwn(who Principal) *uuid.UUID {
	if who.Role == Owner {
		return nil
	}
	return &who.UserID
}

// TokenRequest contains the properties of an API token to create.
type TokenRequest struct {
	Name   string
	Scopes []Scope
	Days   int  // until it expires; 0: DefaultDays, or the creator's own expiry
	Never  bool // it does not expire; owners only
}

// DefaultDays is the default lifetime of a token.
const DefaultDays = 90

// CreateToken creates an API token. Its text is shown only once: a repeated request
// returns the token without it. A token cannot have more permissions or a later expiry
// than the one that creates it.
func (s *Service) CreateToken(
	ctx context.Context, who Principal, request TokenRequest, key idempotency.Key,
) (t Token, plain secret.Text, replayed bool, err error) {
	problems := checkName(&request.Name)
	for i, scope := range request.Scopes {
		if !who.Role.AtLeast(scope.MinRole()) {
			problems = append(problems, apperr.FieldError{
				Field: fmt.Sprintf("scopes[%d]", i), Code: "role_insufficient",
				Message: fmt.Sprintf("Your role (%s) does not include this scope; it requires the role %s.", who.Role,
					scope.MinRole()),
			})
			continue
		}
		if !who.Has(scope) {
			problems = append(problems, apperr.FieldError{
				Field: fmt.Sprintf("scopes[%d]", i), Code: "not_yours",
				Message: "Your own token does not have this scope.",
			})
		}
	}
	expires, wrong := expiryOf(who, request, time.Now())
	problems = append(problems, wrong...)
	if err := orRefuse(problems); err != nil {
		return Token{}, secret.Text{}, false, err
	}
	t, text := NewToken(who.WorkspaceID, who.UserID, request.Name)
	t.Scopes, t.ExpiresAt = slices.Compact(slices.Sorted(slices.Values(request.Scopes))), expires
	if t, replayed, err = s.Store.CreateToken(ctx, t, key); err != nil || replayed {
		return t, secret.Text{}, replayed, err
	}
	return t, secret.NewText(text), false, nil
}

func expiryOf(who Principal, request TokenRequest, now time.Time) (*time.Time, []apperr.FieldError) {
	if request.Never {
		switch {
		case who.Role != Owner:
			return nil, []apperr.FieldError{
				{
					Field: "never_expires", Code: "owners_only",
					Message: "Only owners can create tokens that never expire.",
				},
			}
		case who.ExpiresAt != nil:
			return nil, []apperr.FieldError{
				{
					Field: "never_expires", Code: "not_yours",
					Message: "Your own token expires, so it cannot create a token that never expires.",
				},
			}
		case request.Days != 0:
			return nil, []apperr.FieldError{
				{
					Field: "expires_in_days", Code: "contradiction",
					Message: "Must be absent for a token that never expires.",
				},
			}
		}
		return nil, nil
	}
	days := request.Days
	if days == 0 {
		days = DefaultDays
	}
	at := now.Add(time.Duration(days) * 24 * time.Hour).UTC().Truncate(time.Microsecond)
	if who.ExpiresAt == nil || !at.After(*who.ExpiresAt) {
		return &at, nil
	}
	if request.Days == 0 {
		return who.ExpiresAt, nil
	}
	return nil, []apperr.FieldError{
		{Field: "expires_in_days", Code: "not_yours", Message: "Must not exceed the expiry of your own token."},
	}
}
