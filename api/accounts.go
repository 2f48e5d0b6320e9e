package api

import (
	"context"
	"html"
	"strings"
	"time"

	"dateline/api/spec"
	"dateline/internal/account"
	"dateline/internal/limits"
	"dateline/internal/post"
	"dateline/internal/secret"
)

// ListAccounts lists connected accounts.
func (s *Server) ListAccounts(ctx context.Context, _ spec.ListAccountsRequestObject) (spec.ListAccountsResponseObject, error) {
	accounts, err := s.Store.Accounts(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return nil, err
	}
	out := spec.ListAccounts200JSONResponse{Accounts: []spec.Account{}}
	for _, a := range accounts {
		out.Accounts = append(out.Accounts, accountJSON(a))
	}
	return out, nil
}

// ConnectAccountWithToken connects the account that a token belongs to.
func (s *Server) ConnectAccountWithToken(ctx context.Context, r spec.ConnectAccountWithTokenRequestObject) (spec.ConnectAccountWithTokenResponseObject, error) {
	a, err := s.Accounts.ConnectWithToken(ctx, principal(ctx), r.Body.Network, r.Body.BaseUrl, secret.NewText(r.Body.AccessToken))
	return spec.ConnectAccountWithToken201JSONResponse(accountJSON(a)), err
}

// BeginConnection sends a person to a network's consent page.
func (s *Server) BeginConnection(ctx context.Context, r spec.BeginConnectionRequestObject) (spec.BeginConnectionResponseObject, error) {
	link, err := s.Accounts.Begin(ctx, principal(ctx), r.Body.Network, r.Body.BaseUrl)
	return spec.BeginConnection200JSONResponse{AuthorizeUrl: link}, err
}

// CompleteConnection is where the network sends the person back to. The state
// parameter is the proof that this workspace began the connection.
func (s *Server) CompleteConnection(ctx context.Context, r spec.CompleteConnectionRequestObject) (spec.CompleteConnectionResponseObject, error) {
	if r.Params.Error != nil || value(r.Params.Code) == "" {
		return nil, post.InvalidFields(post.Problem{Field: "code", Code: "not_allowed",
			Message: "The network did not allow access. Start the connection again and allow it there."})
	}
	a, err := s.Accounts.Complete(ctx, r.Params.State, *r.Params.Code)
	if err != nil {
		return nil, err
	}
	page := "<!doctype html><meta charset=utf-8><title>Connected</title><body><p>" + html.EscapeString(a.Handle) + " is connected. You can close this page.</p>"
	return spec.CompleteConnection200TexthtmlResponse{Body: strings.NewReader(page), ContentLength: int64(len(page))}, nil
}

func accountJSON(a account.Account) spec.Account {
	return spec.Account{Id: a.ID, Network: a.Network, BaseUrl: optional(a.BaseURL), Handle: a.Handle, Name: a.Name,
		Status: spec.AccountStatus(a.Status), Default: a.Default, CreatedAt: a.CreatedAt}
}

// AccountLimits tells how the rate limits of an account stand.
func (s *Server) AccountLimits(ctx context.Context, r spec.AccountLimitsRequestObject) (spec.AccountLimitsResponseObject, error) {
	buckets, err := s.Desk.Limits(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	out := spec.AccountLimits200JSONResponse{Limits: []spec.RateLimit{}}
	for _, b := range buckets {
		out.Limits = append(out.Limits, rateLimitJSON(b))
	}
	return out, nil
}

func rateLimitJSON(b limits.Bucket) spec.RateLimit {
	out := spec.RateLimit{Bucket: b.Name, Scope: spec.RateLimitScope(b.Scope), Reported: b.Reported, Enforced: b.Waits}
	if b.Limit > 0 {
		out.Limit = &b.Limit
	}
	if left := b.Left(time.Now()); b.Remaining >= 0 || left == 0 {
		out.Remaining = &left
	}
	if seconds := int(b.Per.Seconds()); seconds > 0 {
		out.PeriodSeconds = &seconds
	}
	if !b.ResetAt.IsZero() {
		at := b.ResetAt.UTC().Round(time.Second)
		out.ResetsAt = &at
	}
	if !b.ClosedUntil.IsZero() {
		at := b.ClosedUntil.UTC()
		out.ClosedUntil = &at
	}
	return out
}
