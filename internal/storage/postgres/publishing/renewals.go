package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseRefresh gives one caller the right to renew a token, if the account is connected,
// the token has the given version, and no other caller has the right.
func (s *AccountStore) LeaseRefresh(
	ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration,
) (a account.Account, ok bool, err error) {
	row, err := s.q.LeaseRefresh(ctx, db.LeaseRefreshParams{
		ID: id, TokenVersion: version, Owner: &owner, LeaseSeconds: lease.Seconds(),
	})
	if tx.NoRows(err) {
		return account.Account{}, false, nil
	}
	return accountFromRow(row), err == nil, err
}

// ExtendRefreshLease extends a lease; false: another caller has it.
func (s *AccountStore) ExtendRefreshLease(
	ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration,
) (bool, error) {
	n, err := s.q.RenewRefreshLease(ctx, db.RenewRefreshLeaseParams{
		ID: id, TokenVersion: version, Owner: &owner, LeaseSeconds: lease.Seconds(),
	})
	return n > 0, err
}

// SaveRefreshed stores the result of a renewal of version a.TokenVersion; false: there are
// newer tokens, or the account is disconnected.
func (s *AccountStore) SaveRefreshed(ctx context.Context, a account.Account) (bool, error) {
	n, err := s.q.StoreRefreshed(ctx, db.StoreRefreshedParams{
		ID: a.ID, TokenVersion: a.TokenVersion,
		Token: a.SealedToken, Renewable: a.IsRenewable,
		Scopes: column.List(a.Scopes), ExpiresAt: optional.OfTime(a.ExpiresAt),
		RefreshExpiresAt: optional.OfTime(a.RefreshExpiresAt),
		RefreshDueAt:     optional.OfTime(a.RefreshDueAt),
	})
	return n > 0, err
}

// RecordRefreshFailure ends a lease without new tokens, until f.RetryAt.
func (s *AccountStore) RecordRefreshFailure(
	ctx context.Context, id uuid.UUID, version int64, f account.RefreshFailure,
) error {
	_, err := s.q.FailRefresh(ctx, db.FailRefreshParams{
		ID: id, TokenVersion: version, Owner: &f.Owner,
		RefreshDueAt: optional.OfTime(f.RetryAt),
		Class:        optional.Of(string(f.Class)), Code: optional.Of(f.Code),
		Message: optional.Of(f.Message),
	})
	return err
}

// MarkNeedsReconnect records that the network rejects a token permanently; false: there is
// a newer token.
func (s *AccountStore) MarkNeedsReconnect(
	ctx context.Context, id uuid.UUID, version int64, t account.LastError,
) (bool, error) {
	n, err := s.q.RefuseAccount(ctx, db.RefuseAccountParams{
		ID: id, TokenVersion: version,
		Class: optional.Of(string(t.Class)), Code: optional.Of(t.Code), Message: optional.Of(t.Message),
	})
	return n > 0, err
}

// RefreshesDue lists accounts whose tokens are due for renewal.
func (s *AccountStore) RefreshesDue(ctx context.Context, limit int) ([]uuid.UUID, error) {
	return s.q.RefreshesDue(ctx, limit)
}

// WarnOfExpiry records a warning 14, 7 and 1 days before access that cannot be renewed
// expires, each once, and returns the accounts with new warnings.
func (s *AccountStore) WarnOfExpiry(ctx context.Context) ([]uuid.UUID, error) {
	return s.q.WarnOfExpiry(ctx)
}
