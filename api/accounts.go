package api

import (
	"context"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/ratelimit"
)

// AccountHandler serves accounts and connects them.
type AccountHandler struct {
	Accounts  Accounts
	Store     AccountStore
	Scheduler PostPreviewer
	Dashboard bool // browsers return to the dashboard
}

// ListAccounts lists connected accounts.
func (s *AccountHandler) ListAccounts(
	ctx context.Context, _ spec.ListAccountsRequestObject,
) (spec.ListAccountsResponseObject, error) {
	workspace := principal(ctx).WorkspaceID
	accounts, err := s.Store.Accounts(ctx, workspace)
	if err != nil {
		return nil, err
	}
	measuring, err := s.Store.MeasuringStatuses(ctx, workspace)
	out := s.accountList(accounts)
	for i, a := range accounts {
		s.addMeasuring(&out.Accounts[i], a, measuring[a.ID])
	}
	return spec.ListAccounts200JSONResponse(out), err
}

// GetAccount returns an account.
func (s *AccountHandler) GetAccount(
	ctx context.Context, r spec.GetAccountRequestObject,
) (spec.GetAccountResponseObject, error) {
	a, err := s.Accounts.Get(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	measuring, err := s.Store.MeasuringStatus(ctx, a.ID)
	out := s.accountJSON(a)
	s.addMeasuring(&out, a, measuring)
	return spec.GetAccount200JSONResponse(out), err
}

// ChangeAccount changes settings of an account.
func (s *AccountHandler) ChangeAccount(
	ctx context.Context, r spec.ChangeAccountRequestObject,
) (spec.ChangeAccountResponseObject, error) {
	c := account.Edit{
		Default: r.Body.Default, Label: r.Body.Label, Color: r.Body.Color, UTM: changedUTM(r.Body.Utm),
		Settings: map[string]*string{},
	}
	for name, setting := range optional.Value(r.Body.Settings) {
		c.Settings[name] = optional.Of(setting)
	}
	a, err := s.Accounts.Edit(ctx, principal(ctx), r.Id, c)
	return spec.ChangeAccount200JSONResponse(s.accountJSON(a)), err
}

// CheckAccount verifies an account at its network.
func (s *AccountHandler) CheckAccount(
	ctx context.Context, r spec.CheckAccountRequestObject,
) (spec.CheckAccountResponseObject, error) {
	a, err := s.Accounts.Check(ctx, principal(ctx), r.Id)
	return spec.CheckAccount200JSONResponse(s.accountJSON(a)), err
}

// DisconnectAccount disconnects an account and revokes its tokens.
func (s *AccountHandler) DisconnectAccount(
	ctx context.Context, r spec.DisconnectAccountRequestObject,
) (spec.DisconnectAccountResponseObject, error) {
	f, err := s.Accounts.Disconnect(ctx, principal(ctx), r.Id)
	return spec.DisconnectAccount200JSONResponse{
		Account: s.accountJSON(f.Account), Revoked: f.Revoked,
		Advice: optionalNote(f.Advice),
	}, err
}

func (s *AccountHandler) accountList(accounts []account.Account) spec.AccountList {
	out := spec.AccountList{Accounts: []spec.Account{}}
	for _, a := range accounts {
		out.Accounts = append(out.Accounts, s.accountJSON(a))
	}
	return out
}

func (s *AccountHandler) accountJSON(a account.Account) spec.Account {
	out := spec.Account{
		Id: a.ID, Network: a.Network, BaseUrl: optional.Of(a.BaseURL), Sandbox: s.Accounts.IsSandbox(a),
		RemoteId: a.RemoteID,
		Handle:   a.Handle, Name: a.Name, Label: optional.Of(a.Label), Color: optional.Of(a.Color),
		Avatar: avatarPath(a),
		Utm:    utmJSON(a.UTM), Kind: spec.AccountKind(kindOf(string(a.Kind))), Status: spec.AccountStatus(a.Status),
		Default: a.IsDefault,
		Scopes:  append([]string{}, a.Scopes...), Settings: map[string]string{}, Renews: a.IsRenewable,
		ExpiresAt: optional.OfTime(a.ExpiresAt), EndsAt: optional.OfTime(a.AccessEndsAt()),
		LastRenewedAt: optional.OfTime(a.LastRefreshAt),
		Health:        spec.AccountHealth{CheckedAt: optional.OfTime(a.CheckedAt)},
		Warnings:      []spec.AccountWarning{}, ConnectedBy: a.ConnectedBy, CreatedAt: a.CreatedAt,
	}
	for name, setting := range a.Settings {
		out.Settings[name] = setting
	}
	if t := a.LastError; t != nil {
		out.Health.Error = &struct {
			At      time.Time `json:"at"`
			Class   string    `json:"class"`
			Code    *string   `json:"code,omitempty"`
			Message string    `json:"message"`
		}{t.At, string(t.Class), optional.Of(t.Code), t.Message}
	}
	for _, w := range a.Warnings(time.Now()) {
		out.Warnings = append(out.Warnings, spec.AccountWarning{
			Code: w.Code, Message: w.Text, Params: messageParams(w.Params),
		})
	}
	return out
}

func kindOf(kind string) string {
	if kind == "" {
		return string(spec.AccountKindPerson)
	}
	return kind
}

// AccountLimits returns the state of an account's rate limits.
func (s *AccountHandler) AccountLimits(
	ctx context.Context, r spec.AccountLimitsRequestObject,
) (spec.AccountLimitsResponseObject, error) {
	buckets, err := s.Scheduler.Limits(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	out := spec.AccountLimits200JSONResponse{Limits: []spec.RateLimit{}}
	for _, b := range buckets {
		out.Limits = append(out.Limits, rateLimitJSON(b))
	}
	return out, nil
}

func rateLimitJSON(b ratelimit.Bucket) spec.RateLimit {
	out := spec.RateLimit{
		Bucket: b.Name, Scope: spec.RateLimitScope(b.Scope), Source: spec.Declared,
		Enforced: b.Enforced,
	}
	if b.Reported {
		out.Source = spec.Reported
	}
	if b.Limit > 0 {
		out.Limit = &b.Limit
	}
	if left := b.Available(time.Now()); b.Remaining >= 0 || left == 0 {
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
