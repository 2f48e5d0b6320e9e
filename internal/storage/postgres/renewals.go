package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/storage/postgres/db"
)

// LeaseRefresh gives one caller the right to renew a token, if the account is connected,
// the token has the given version, and no other caller has the right.
func (s *Store) LeaseRefresh(
	ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration,
) (a account.Account, ok bool, err error) {
	row, err := s.q.LeaseRefresh(ctx, db.LeaseRefreshParams{
		ID: id, TokenVersion: version, Owner: &owner, LeaseSeconds: lease.Seconds(),
	})
	if noRows(err) {
		return account.Account{}, false, nil
	}
	return accountFromRow(row), err == nil, err
}

// ExtendRefreshLease extends a lease; false: another caller has it.
func (s *Store) ExtendRefreshLease(
	ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration,
) (bool, error) {
	n, err := s.q.RenewRefreshLease(ctx, db.RenewRefreshLeaseParams{
		ID: id, TokenVersion: version, Owner: &owner, LeaseSeconds: lease.Seconds(),
	})
	return n > 0, err
}

// SaveRefreshed stores the result of a renewal of version a.TokenVersion; false: there are
// newer tokens, or the account is disconnected.
func (s *Store) SaveRefreshed(ctx context.Context, a account.Account) (bool, error) {
	n, err := s.q.StoreRefreshed(ctx, db.StoreRefreshedParams{
		ID: a.ID, TokenVersion: a.TokenVersion,
		Token: a.SealedToken, Renewable: a.IsRenewable,
		Scopes: orEmpty(a.Scopes), ExpiresAt: timeOrNil(a.ExpiresAt), RefreshExpiresAt: timeOrNil(a.RefreshExpiresAt),
		RefreshDueAt: timeOrNil(a.RefreshDueAt),
	})
	return n > 0, err
}

// RecordRefreshFailure ends a lease without new tokens, until f.RetryAt.
func (s *Store) RecordRefreshFailure(ctx context.Context, id uuid.UUID, version int64, f account.RefreshFailure) error {
	_, err := s.q.FailRefresh(ctx, db.FailRefreshParams{
		ID: id, TokenVersion: version, Owner: &f.Owner,
		RefreshDueAt: timeOrNil(f.RetryAt),
		Class:        orNil(string(f.Class)), Code: orNil(f.Code), Message: orNil(f.Message),
	})
	return err
}

// MarkNeedsReconnect records that the network rejects a token permanently; false: there is
// a newer token.
func (s *Store) MarkNeedsReconnect(
	ctx context.Context, id uuid.UUID, version int64, t account.LastError,
) (bool, error) {
	n, err := s.q.RefuseAccount(ctx, db.RefuseAccountParams{
		ID: id, TokenVersion: version,
		Class: orNil(string(t.Class)), Code: orNil(t.Code), Message: orNil(t.Message),
	})
	return n > 0, err
}

// RefreshesDue lists accounts whose tokens are due for renewal.
func (s *Store) RefreshesDue(ctx context.Context, limit int) ([]uuid.UUID, error) {
	return s.q.RefreshesDue(ctx, limit)
}

// WarnOfExpiry records a warning 14, 7 and 1 days before access that cannot be renewed
// expires, each once, and returns the accounts with new warnings.
func (s *Store) WarnOfExpiry(ctx context.Context) ([]uuid.UUID, error) {
	return s.q.WarnOfExpiry(ctx)
}
