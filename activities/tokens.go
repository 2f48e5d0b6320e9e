package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/account"
)

// TokenStore is the database as the care for tokens uses it.
type TokenStore interface {
	RefreshesDue(ctx context.Context, limit int) ([]uuid.UUID, error)
	WarnOfExpiry(ctx context.Context) ([]uuid.UUID, error)
}

// Renewer renews tokens.
type Renewer interface {
	RenewDue(ctx context.Context, id uuid.UUID) (r account.Renewal, wait time.Duration, err error)
}

// RefreshStarter starts the workflow that renews an account's token, unless it
// runs.
type RefreshStarter interface {
	StartRefresh(ctx context.Context, id uuid.UUID) error
}

// Announcer notifies streams that there are new events.
type Announcer interface {
	Announce()
}

// Tokens keeps accounts connected: it finds tokens that are due for renewal, and warns
// in time about those that cannot be renewed.
type Tokens struct {
	Store    TokenStore
	Accounts Renewer
	Starter  RefreshStarter
	Live     Announcer
	Log      *slog.Logger
}

const maxRefreshes = 500

// MaintainAccountsResult describes a check of all accounts.
type MaintainAccountsResult struct {
	Started int // renewals
	Warned  int // of access that ends
}

// MaintainAccounts starts the renewals that are due, and warns of access that ends.
func (t *Tokens) MaintainAccounts(ctx context.Context) (MaintainAccountsResult, error) {
	var result MaintainAccountsResult
	warned, err := t.Store.WarnOfExpiry(ctx)
	if err != nil {
		return result, err
	}
	if result.Warned = len(warned); result.Warned > 0 {
		t.Log.InfoContext(ctx, "access to accounts ends soon", "accounts", warned)
		t.Live.Announce()
	}
	due, err := t.Store.RefreshesDue(ctx, maxRefreshes)
	if err != nil {
		return result, err
	}
	for _, id := range due {
		if err := t.Starter.StartRefresh(ctx, id); err != nil {
			return result, err
		}
		result.Started++
		activity.RecordHeartbeat(ctx, result.Started)
	}
	return result, nil
}

// RenewalStep is the state of a renewal.
type RenewalStep struct {
	Outcome account.Outcome
	Wait    time.Duration // until the next attempt; 0: nothing left to do
}

// RenewToken renews an account's token if it is due. Network responses stay in the
// account's row.
func (t *Tokens) RenewToken(ctx context.Context, id uuid.UUID) (RenewalStep, error) {
	r, wait, err := t.Accounts.RenewDue(ctx, id)
	if err != nil {
		return RenewalStep{}, lasting(err)
	}
	return RenewalStep{Outcome: r.Outcome, Wait: wait}, nil
}
