package api

import (
	"context"
	"time"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
)

// ListTokens lists API tokens.
func (s *MemberHandler) ListTokens(
	ctx context.Context, r spec.ListTokensRequestObject,
) (spec.ListTokensResponseObject, error) {
	limit := defaultPage
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	// One more, to know whether there is a next page
	tokens, err := s.People.Tokens(ctx, principal(ctx), r.Params.Cursor, limit+1)
	if err != nil {
		return nil, err
	}
	page := spec.ListTokens200JSONResponse{Tokens: []spec.Token{}}
	if len(tokens) > limit {
		tokens = tokens[:limit]
		page.NextCursor = optional.Of(tokens[limit-1].ID.String())
	}
	for _, t := range tokens {
		page.Tokens = append(page.Tokens, tokenJSON(t))
	}
	return page, nil
}

// CreateToken creates an API token and returns it once.
func (s *MemberHandler) CreateToken(
	ctx context.Context, r spec.CreateTokenRequestObject,
) (spec.CreateTokenResponseObject, error) {
	who := principal(ctx)
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "token of "+who.UserID.String(), r.Body)
	if err != nil {
		return nil, err
	}
	request := workspace.TokenRequest{
		Name: r.Body.Name, Days: optional.Value(r.Body.ExpiresInDays), Never: optional.Value(r.Body.NeverExpires),
	}
	for _, scope := range r.Body.Scopes {
		request.Scopes = append(request.Scopes, workspace.Scope(scope))
	}
	t, plain, replayed, err := s.People.CreateToken(ctx, who, request, key)
	return spec.CreateToken201JSONResponse{
		Body: spec.TokenWithSecret{
			Token: tokenJSON(t), Secret: optional.Of(plain.Reveal()),
		},
		Headers: spec.CreateToken201ResponseHeaders{IdempotentReplayed: ifReplayed(replayed)},
	}, err
}

// RevokeToken revokes an API token.
func (s *MemberHandler) RevokeToken(
	ctx context.Context, r spec.RevokeTokenRequestObject,
) (spec.RevokeTokenResponseObject, error) {
	return spec.RevokeToken204Response{}, closing(s.Events, r.Id, s.People.Revoke(ctx, principal(ctx), r.Id))
}

func tokenJSON(t workspace.Token) spec.Token {
	return spec.Token{
		Id: t.ID, Name: t.Name, Hint: t.Hint, Scopes: scopesJSON(t.Scopes), User: userJSON(t.User),
		CreatedAt:  t.CreatedAt,
		LastUsedAt: t.LastUsedAt, ExpiresAt: t.ExpiresAt, Expired: t.ExpiresAt != nil && !t.ExpiresAt.After(time.Now()),
	}
}
