package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/account"
	"dateline/internal/audit"
	"dateline/internal/post"
	"dateline/internal/store/db"
)

// SaveAccount stores a connected account, or refreshes the one that this
// workspace already has of the same person at the same network. The token is
// sealed for the account's id, which seal is therefore given.
func (s *Store) SaveAccount(ctx context.Context, a account.Account, seal func(id uuid.UUID) ([]byte, error)) (account.Account, error) {
	for {
		id, err := s.q.AccountIDByRemote(ctx, db.AccountIDByRemoteParams{WorkspaceID: a.WorkspaceID, Network: a.Network, BaseUrl: a.BaseURL, RemoteID: a.RemoteID})
		if noRows(err) {
			id = newID()
		} else if err != nil {
			return account.Account{}, err
		}
		token, err := seal(id)
		if err != nil {
			return account.Account{}, err
		}
		var row db.Account
		err = s.inTx(ctx, func(q *db.Queries) (err error) {
			row, err = q.UpsertAccount(ctx, db.UpsertAccountParams{ID: id, WorkspaceID: a.WorkspaceID, Network: a.Network, BaseUrl: a.BaseURL,
				RemoteID: a.RemoteID, Handle: a.Handle, Name: a.Name, Token: token, Scopes: orEmpty(a.Scopes)})
			if err != nil {
				return err
			}
			return record(ctx, q, a.WorkspaceID, audit.AccountConnected, "account", id, map[string]any{"network": a.Network, "handle": a.Handle})
		})
		if noRows(err) {
			continue // connected by another request meanwhile: seal for its id
		}
		return accountFromRow(row), err
	}
}

// Account reads an account, whatever its workspace.
func (s *Store) Account(ctx context.Context, id uuid.UUID) (account.Account, error) {
	row, err := s.q.GetAccount(ctx, id)
	if noRows(err) {
		return account.Account{}, post.Missing("account")
	}
	return accountFromRow(row), err
}

// Accounts lists a workspace's accounts, oldest first.
func (s *Store) Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error) {
	rows, err := s.q.ListAccounts(ctx, workspace)
	return accountsFromRows(rows), err
}

// AccountsByID reads those of the ids that belong to the workspace.
func (s *Store) AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]account.Account, error) {
	rows, err := s.q.AccountsByID(ctx, db.AccountsByIDParams{WorkspaceID: workspace, Ids: ids})
	return accountsFromRows(rows), err
}

// DefaultAccounts lists the accounts that a post goes to when it names none.
func (s *Store) DefaultAccounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error) {
	rows, err := s.q.DefaultAccounts(ctx, workspace)
	return accountsFromRows(rows), err
}

// SetAccountStatus notes that an account works or must be connected anew. A
// change is an event of the workspace, of the status's name.
func (s *Store) SetAccountStatus(ctx context.Context, id uuid.UUID, status account.Status) error {
	return s.q.SetAccountStatus(ctx, db.SetAccountStatusParams{ID: id, Status: db.AccountStatus(status), Event: string(status)})
}

func accountsFromRows(rows []db.Account) []account.Account {
	out := make([]account.Account, len(rows))
	for i, r := range rows {
		out[i] = accountFromRow(r)
	}
	return out
}

func accountFromRow(r db.Account) account.Account {
	return account.Account{ID: r.ID, WorkspaceID: r.WorkspaceID, Network: r.Network, BaseURL: r.BaseUrl, RemoteID: r.RemoteID,
		Handle: r.Handle, Name: r.Name, Status: account.Status(r.Status), Default: r.IsDefault, SealedToken: r.Token,
		Scopes: r.Scopes, CreatedAt: r.CreatedAt.UTC()}
}

// App reads Dateline's registration at an instance.
func (s *Store) App(ctx context.Context, network, baseURL, redirectURI string) (app account.App, found bool, err error) {
	row, err := s.q.GetNetworkApp(ctx, db.GetNetworkAppParams{Network: network, BaseUrl: baseURL, RedirectUri: redirectURI})
	if noRows(err) {
		return account.App{}, false, nil
	}
	return account.App{Network: row.Network, BaseURL: row.BaseUrl, RedirectURI: row.RedirectUri, ClientID: row.ClientID, SealedSecret: row.ClientSecret}, err == nil, err
}

// SaveApp keeps a registration; the first one of an instance stays.
func (s *Store) SaveApp(ctx context.Context, a account.App) error {
	return s.q.InsertNetworkApp(ctx, db.InsertNetworkAppParams{Network: a.Network, BaseUrl: a.BaseURL, RedirectUri: a.RedirectURI,
		ClientID: a.ClientID, ClientSecret: a.SealedSecret})
}

// SaveAttempt keeps what a callback needs until it comes.
func (s *Store) SaveAttempt(ctx context.Context, a account.Attempt) error {
	if err := s.q.DeleteStaleConnectAttempts(ctx); err != nil {
		return err
	}
	return s.q.InsertConnectAttempt(ctx, db.InsertConnectAttemptParams{State: a.StateHash, WorkspaceID: a.WorkspaceID, UserID: a.UserID,
		Network: a.Network, BaseUrl: a.BaseURL, RedirectUri: a.RedirectURI, Verifier: a.SealedVerifier, ExpiresAt: a.ExpiresAt})
}

// TakeAttempt gives an attempt to its callback, once.
func (s *Store) TakeAttempt(ctx context.Context, stateHash []byte) (a account.Attempt, found bool, err error) {
	row, err := s.q.TakeConnectAttempt(ctx, stateHash)
	if noRows(err) {
		return account.Attempt{}, false, nil
	}
	if err != nil {
		return account.Attempt{}, false, err
	}
	if row.ExpiresAt.Before(time.Now()) {
		return account.Attempt{}, false, nil
	}
	return account.Attempt{StateHash: row.State, WorkspaceID: row.WorkspaceID, UserID: row.UserID, Network: row.Network,
		BaseURL: row.BaseUrl, RedirectURI: row.RedirectUri, SealedVerifier: row.Verifier, ExpiresAt: row.ExpiresAt}, true, nil
}

const sandboxURLKey = "sandbox_url"

// MoveInstance notes where the sandbox is this time. Its accounts move along
// when it had to take another port.
func (s *Store) MoveInstance(ctx context.Context, network, url string) error {
	return s.inTx(ctx, func(q *db.Queries) error {
		before, err := q.GetSetting(ctx, sandboxURLKey)
		if err != nil && !noRows(err) {
			return err
		}
		if before == url {
			return nil
		}
		if before != "" {
			if err := q.MoveAccounts(ctx, db.MoveAccountsParams{Network: network, OldUrl: before, NewUrl: url}); err != nil {
				return err
			}
		}
		return q.PutSetting(ctx, db.PutSettingParams{Key: sandboxURLKey, Value: url})
	})
}
