package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// App returns Dateline's OAuth client at an instance.
func (s *AccountStore) App(
	ctx context.Context, network, baseURL, redirectURI string,
) (app account.App, found bool, err error) {
	row, err := s.q.GetNetworkApp(ctx, db.GetNetworkAppParams{
		Network: network, BaseUrl: baseURL, RedirectUri: redirectURI,
	})
	if tx.NoRows(err) {
		return account.App{}, false, nil
	}
	return account.App{
		Network: row.Network, BaseURL: row.BaseUrl, RedirectURI: row.RedirectUri, ClientID: row.ClientID,
		SealedSecret: row.ClientSecret,
	}, err == nil, err
}

// SaveApp stores an OAuth client unless the instance already has one.
func (s *AccountStore) SaveApp(ctx context.Context, a account.App) error {
	return s.q.InsertNetworkApp(ctx, db.InsertNetworkAppParams{
		Network: a.Network, BaseUrl: a.BaseURL,
		RedirectUri: a.RedirectURI,
		ClientID:    a.ClientID, ClientSecret: a.SealedSecret,
	})
}

// SaveAuthorization stores a pending authorization until its callback.
func (s *AccountStore) SaveAuthorization(ctx context.Context, a account.PendingAuthorization) error {
	if err := s.q.DeleteStaleConnectAttempts(ctx); err != nil {
		return err
	}
	return s.q.InsertConnectAttempt(ctx, db.InsertConnectAttemptParams{
		State: a.StateHash, WorkspaceID: a.WorkspaceID,
		UserID:  a.UserID,
		Network: a.Network, BaseUrl: a.BaseURL, RedirectUri: a.RedirectURI, Verifier: a.SealedVerifier,
		AccountID: a.AccountID, SessionID: optional.Of(a.SessionID), ExpiresAt: a.ExpiresAt,
	})
}

// ConsumeAuthorization returns and deletes a pending authorization.
func (s *AccountStore) ConsumeAuthorization(
	ctx context.Context, stateHash []byte,
) (a account.PendingAuthorization, found bool, err error) {
	row, err := s.q.TakeConnectAttempt(ctx, stateHash)
	if tx.NoRows(err) {
		return account.PendingAuthorization{}, false, nil
	}
	if err != nil {
		return account.PendingAuthorization{}, false, err
	}
	if row.ExpiresAt.Before(time.Now()) {
		return account.PendingAuthorization{}, false, nil
	}
	return account.PendingAuthorization{
		StateHash: row.State, WorkspaceID: row.WorkspaceID, UserID: row.UserID,
		Network: row.Network,
		BaseURL: row.BaseUrl, RedirectURI: row.RedirectUri, SealedVerifier: row.Verifier, AccountID: row.AccountID,
		SessionID: optional.Value(row.SessionID), ExpiresAt: row.ExpiresAt,
	}, true, nil
}

// SaveChoice stores a choice of accounts until it is made.
func (s *AccountStore) SaveChoice(ctx context.Context, c account.PendingChoice) error {
	if err := s.q.DeleteStaleAccountChoices(ctx); err != nil {
		return err
	}
	return s.q.InsertAccountChoice(ctx, db.InsertAccountChoiceParams{
		ID: c.ID, WorkspaceID: c.WorkspaceID,
		UserID:  c.UserID,
		Network: c.Network, App: c.App, Key: c.KeyHash, Accounts: c.SealedAccounts, ExpiresAt: c.ExpiresAt,
	})
}

// Choice returns an open choice of any workspace.
func (s *AccountStore) Choice(ctx context.Context, id uuid.UUID) (account.PendingChoice, error) {
	row, err := s.q.GetAccountChoice(ctx, id)
	if tx.NoRows(err) {
		return account.PendingChoice{}, account.ChoiceNotFound()
	}
	return account.PendingChoice{
		ID: row.ID, WorkspaceID: row.WorkspaceID, UserID: row.UserID, Network: row.Network,
		App:     row.App,
		KeyHash: row.Key, SealedAccounts: row.Accounts, ExpiresAt: row.ExpiresAt.UTC(),
	}, err
}

// DeleteChoice deletes a choice.
func (s *AccountStore) DeleteChoice(ctx context.Context, id uuid.UUID) error {
	return s.q.DeleteAccountChoice(ctx, id)
}
