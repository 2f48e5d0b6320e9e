package publishing

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/account"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
	"dateline/platforms/network"
)

// SaveAccount stores a connected account, or updates the workspace's account with the
// same remote id. Sealed tokens are bound to the account's id, so seal receives it.
func (s *AccountStore) SaveAccount(
	ctx context.Context, a account.Account, seal func(id uuid.UUID) ([]byte, error),
) (account.Account, error) {
	settings, err := settingsJSON(a.Settings)
	if err != nil {
		return account.Account{}, err
	}
	notes, err := json.Marshal(append(message.Messages{}, a.Notes...))
	if err != nil {
		return account.Account{}, err
	}
	for {
		id, err := s.q.AccountIDByRemote(ctx, db.AccountIDByRemoteParams{
			WorkspaceID: a.WorkspaceID, Network: a.Network, BaseUrl: a.BaseURL, RemoteID: a.RemoteID,
		})
		if tx.NoRows(err) {
			id = column.NewID()
		} else if err != nil {
			return account.Account{}, err
		}
		token, err := seal(id)
		if err != nil {
			return account.Account{}, err
		}
		var row db.Account
		err = s.inTx(ctx, func(q *queries) (err error) {
			row, err = q.UpsertAccount(ctx, db.UpsertAccountParams{
				ID: id, WorkspaceID: a.WorkspaceID,
				Network: a.Network, BaseUrl: a.BaseURL,
				RemoteID: a.RemoteID, Handle: a.Handle, Name: a.Name, AvatarUrl: a.AvatarURL, Kind: string(a.Kind),
				Token: token, Scopes: column.List(a.Scopes),
				Renewable: a.IsRenewable, ExpiresAt: optional.OfTime(a.ExpiresAt),
				RefreshExpiresAt: optional.OfTime(a.RefreshExpiresAt), RefreshDueAt: optional.OfTime(a.RefreshDueAt),
				Settings: settings, App: a.App, ConnectedBy: a.ConnectedBy, Notes: notes,
			})
			if err != nil {
				return err
			}
			return tx.Record(ctx, q.tx, a.WorkspaceID, audit.AccountConnected, "account", id, map[string]any{
				"network": a.Network, "handle": a.Handle,
			})
		})
		if tx.NoRows(err) {
			continue // a concurrent request connected it: seal for its id
		}
		return accountFromRow(row), err
	}
}

// Account returns an account of any workspace.
func (s *AccountStore) Account(ctx context.Context, id uuid.UUID) (account.Account, error) {
	row, err := s.q.GetAccount(ctx, id)
	if tx.NoRows(err) {
		return account.Account{}, apperr.NotFound("account")
	}
	return accountFromRow(row), err
}

// Accounts lists a workspace's accounts, oldest first.
func (s *AccountStore) Accounts(ctx context.Context, workspaceID uuid.UUID) ([]account.Account, error) {
	rows, err := s.q.ListAccounts(ctx, workspaceID)
	return accountsFromRows(rows), err
}

// AccountsByID returns the accounts with the given ids in the workspace.
func (s *AccountStore) AccountsByID(
	ctx context.Context, workspaceID uuid.UUID, ids []uuid.UUID,
) ([]account.Account, error) {
	rows, err := s.q.AccountsByID(ctx, db.AccountsByIDParams{WorkspaceID: workspaceID, Ids: ids})
	return accountsFromRows(rows), err
}

// DefaultAccounts lists the accounts that are used for posts that name none.
func (s *AccountStore) DefaultAccounts(ctx context.Context, workspaceID uuid.UUID) ([]account.Account, error) {
	rows, err := s.q.DefaultAccounts(ctx, workspaceID)
	return accountsFromRows(rows), err
}

// EditAccount updates the editable properties of an account. nil keeps a property, and
// a nil setting is removed.
func (s *AccountStore) EditAccount(
	ctx context.Context, workspaceID, id uuid.UUID, c account.Edit,
) (account.Account, error) {
	set, drop := map[string]string{}, []string{}
	for name, value := range c.Settings {
		if value == nil {
			drop = append(drop, name)
		} else {
			set[name] = *value
		}
	}
	raw, err := settingsJSON(set)
	if err != nil {
		return account.Account{}, err
	}
	row, err := s.q.ChangeAccount(ctx, db.ChangeAccountParams{
		ID: id, WorkspaceID: workspaceID, IsDefault: c.Default,
		Label: c.Label, Color: c.Color, SetSettings: raw, DropSettings: drop, Utm: changedUTM(c.UTM),
	})
	if tx.NoRows(err) {
		return account.Account{}, apperr.NotFound("account")
	}
	return accountFromRow(row), err
}

// changedUTM returns nil for parameters that do not change.
func changedUTM(params *utm.Params) json.RawMessage {
	if params == nil {
		return nil
	}
	return column.UTM(*params)
}

// DisconnectAccount deletes an account's tokens.
func (s *AccountStore) DisconnectAccount(ctx context.Context, a account.Account, actor string) error {
	return s.inTx(ctx, func(q *queries) error {
		changed, err := q.DisconnectAccount(ctx, db.DisconnectAccountParams{ID: a.ID, Actor: actor})
		if err != nil || changed == 0 {
			return err
		}
		return tx.Record(ctx, q.tx, a.WorkspaceID, audit.AccountDisconnected, "account", a.ID, map[string]any{
			"network": a.Network, "handle": a.Handle,
		})
	})
}

// Avatar returns the stored picture of an account; without a URL: none is stored.
func (s *AccountStore) Avatar(ctx context.Context, id uuid.UUID) (account.Avatar, error) {
	r, err := s.q.GetAvatar(ctx, id)
	if tx.NoRows(err) {
		return account.Avatar{}, nil
	}
	return account.Avatar{URL: r.Url, Image: r.Image, FetchedAt: r.FetchedAt}, err
}

// SaveAvatar stores the picture of an account.
func (s *AccountStore) SaveAvatar(ctx context.Context, id uuid.UUID, a account.Avatar) error {
	return s.q.SaveAvatar(ctx, db.SaveAvatarParams{AccountID: id, Url: a.URL, Image: column.List(a.Image)})
}

// MarkAccountHealthy records that the network accepts the token.
func (s *AccountStore) MarkAccountHealthy(ctx context.Context, a account.Account) error {
	return s.q.RecordAccountSuccess(ctx, db.RecordAccountSuccessParams{
		ID: a.ID, TokenVersion: a.TokenVersion, Handle: a.Handle, Name: a.Name, AvatarUrl: a.AvatarURL,
	})
}

// SetAccountError records the network's error about the token.
func (s *AccountStore) SetAccountError(ctx context.Context, id uuid.UUID, version int64, t account.LastError) error {
	return s.q.RecordAccountError(ctx, db.RecordAccountErrorParams{
		ID: id, TokenVersion: version,
		Class: optional.Of(string(t.Class)), Code: optional.Of(t.Code), Message: optional.Of(t.Message),
	})
}

func settingsJSON(settings map[string]string) (json.RawMessage, error) {
	if settings == nil {
		settings = map[string]string{}
	}
	return json.Marshal(settings)
}

func accountsFromRows(rows []db.Account) []account.Account {
	out := make([]account.Account, len(rows))
	for i, r := range rows {
		out[i] = accountFromRow(r)
	}
	return out
}

func accountFromRow(r db.Account) account.Account {
	a := account.Account{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Network: r.Network, BaseURL: r.BaseUrl,
		RemoteID: r.RemoteID,
		Handle:   r.Handle, Name: r.Name, AvatarURL: r.AvatarUrl, Label: r.Label, Color: r.Color,
		Kind: network.Kind(r.Kind), Status: account.Status(r.Status), IsDefault: r.IsDefault,
		SealedToken: r.Token, TokenVersion: r.TokenVersion, IsRenewable: r.Renewable,
		ExpiresAt:        column.Time(r.ExpiresAt),
		RefreshExpiresAt: column.Time(r.RefreshExpiresAt), RefreshRolls: r.RefreshRolls,
		RefreshDueAt:    column.Time(r.RefreshDueAt),
		RefreshFailures: r.RefreshFailures, LastRefreshAt: column.Time(r.LastRefreshAt),
		CheckedAt: column.Time(r.CheckedAt),
		Scopes:    r.Scopes, App: r.App, ConnectedBy: r.ConnectedBy, CreatedAt: r.CreatedAt.UTC(),
	}
	a.UTM = column.ReadUTM(r.Utm)
	_ = json.Unmarshal(r.Notes, &a.Notes)       // was written as such
	_ = json.Unmarshal(r.Settings, &a.Settings) // the database checks that it is an object
	if r.ErrorClass != nil {
		a.LastError = &account.LastError{
			Class: network.Class(*r.ErrorClass), Code: optional.Value(r.ErrorCode),
			Message: optional.Value(r.ErrorMessage),
			At:      column.Time(r.ErrorAt),
		}
	}
	return a
}

const sandboxURLKey = "sandbox_url"

// MoveSandbox stores the current URL of the sandbox and updates its accounts, because
// the sandbox may have another port after a restart.
func (s *AccountStore) MoveSandbox(ctx context.Context, url string) error {
	return s.inTx(ctx, func(q *queries) error {
		before, err := tx.Setting(ctx, q.tx, sandboxURLKey)
		if err != nil && !tx.NoRows(err) {
			return err
		}
		if before == url {
			return nil
		}
		if before != "" {
			if err := q.MoveAccounts(ctx, db.MoveAccountsParams{OldUrl: before, NewUrl: url}); err != nil {
				return err
			}
		}
		return tx.PutSetting(ctx, q.tx, sandboxURLKey, url)
	})
}
