package account

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// Outcome is the outcome of a renewal.
type Outcome string

// The outcomes of a renewal.
const (
	Renewed      Outcome = "renewed"    // there is a newer token, from this or another caller
	NotRenewable Outcome = "impossible" // the token cannot be renewed
	Refused      Outcome = "refused"    // a user must reconnect the account
	Deferred     Outcome = "later"      // the network could not be reached; the account stays connected
)

// Renewal is the result of Renew.
type Renewal struct {
	Outcome   Outcome
	RetryAt   time.Time // of Deferred
	LastError LastError
}

// RenewTiming contains the timeouts and intervals of renewals. Zero fields have
// defaults that suit real networks; tests shorten them.
type RenewTiming struct {
	Lease        time.Duration // exclusive right to renew; 2 min
	Timeout      time.Duration // of the network call; 45 s
	PollInterval time.Duration // while another caller renews; 200 ms
	Backoff      time.Duration // after the first failure, doubled up to 100 times as much; 15 s
}

func (p RenewTiming) orDefaults() RenewTiming {
	for field, fallback := range map[*time.Duration]time.Duration{
		&p.Lease:        2 * time.Minute,
		&p.Timeout:      45 * time.Second,
		&p.PollInterval: 200 * time.Millisecond, &p.Backoff: 15 * time.Second,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return p
}

// Renew renews the token of an account if it still has the given version. Of many
// concurrent callers, in all processes, only one calls the network: a rotating refresh
// token can be used once, and using it twice may end the access permanently. The other
// callers wait for the result.
func (s *Service) Renew(ctx context.Context, id uuid.UUID, version int64) (Renewal, error) {
	pace := s.Timing.orDefaults()
	owner := uuid.New()
	for {
		a, err := s.Store.Account(ctx, id)
		if err != nil {
			return Renewal{}, err
		}
		switch {
		case a.Status != Connected:
			return Renewal{Outcome: Refused, LastError: lastErrorOf(a)}, nil
		case a.TokenVersion != version:
			return Renewal{Outcome: Renewed}, nil
		case !a.IsRenewable:
			return Renewal{Outcome: NotRenewable}, nil
		}
		leased, ok, err := s.Store.LeaseRefresh(ctx, id, version, owner, pace.Lease)
		if err != nil {
			return Renewal{}, err
		}
		if ok {
			// New tokens are stored even if the caller has canceled.
			return s.renew(context.WithoutCancel(ctx), leased, owner, pace)
		}
		if err := retry.Sleep(ctx,
			pace.PollInterval+time.Duration(rand.Int64N(int64(pace.PollInterval)))); err != nil { //nolint:gosec // not a secret
			return Renewal{}, err
		}
	}
}

func lastErrorOf(a Account) LastError {
	if a.LastError != nil {
		return *a.LastError
	}
	return LastError{Class: network.Auth, Code: string(a.Status), Message: "Reconnect the account."}
}

// renew calls the network. The caller holds the lease.
func (s *Service) renew(ctx context.Context, a Account, owner uuid.UUID, pace RenewTiming) (Renewal, error) {
	access, refresh, err := s.unseal(a)
	if err != nil {
		return Renewal{}, err
	}
	refresher, ok := s.refresher(a.Network)
	if !ok || refresh.Empty() {
		return Renewal{Outcome: NotRenewable}, s.Store.RecordRefreshFailure(ctx, a.ID, a.TokenVersion,
			RefreshFailure{
				Owner: owner,
				LastError: LastError{
					Class: network.Rejected, Code: "not_renewable",
					Message: "This version of Dateline cannot renew the account's token.",
				},
			})
	}
	app, err := s.appOf(ctx, a)
	if err != nil {
		return s.recordFailure(ctx, a, owner, network.AsError(err), pace)
	}
	var refused *network.Error
	// Repeat once if the response was lost: some networks return the same new token
	// again, and the others have already invalidated the old one.
	for range 2 {
		// A process that was suspended may have lost the lease.
		held, err := s.Store.ExtendRefreshLease(ctx, a.ID, a.TokenVersion, owner, pace.Lease)
		if err != nil {
			return Renewal{}, err
		}
		if !held {
			return Renewal{Outcome: Deferred, RetryAt: time.Now().Add(pace.PollInterval)}, nil
		}
		fresh, err := s.callRefresh(ctx, refresher, app, networkAccount(a, access, refresh), pace)
		if err == nil {
			return s.saveRenewed(ctx, a, fresh, refresh)
		}
		if refused = network.AsError(err); refused.Class != network.Ambiguous {
			break
		}
	}
	return s.recordFailure(ctx, a, owner, refused, pace)
}

func (s *Service) callRefresh(
	ctx context.Context, refresher network.Refresher, app network.App, use network.Account, pace RenewTiming,
) (network.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, pace.Timeout)
	defer cancel()
	return refresher.Refresh(ctx, app, use)
}

// saveRenewed stores new tokens. They are the only access to the account, so it retries
// while the database is unavailable.
func (s *Service) saveRenewed(
	ctx context.Context, a Account, fresh network.Account, before secret.Text,
) (Renewal, error) {
	if fresh.RefreshToken.Empty() {
		fresh.RefreshToken = before // RFC 6749, 6: a response without one keeps the old refresh token
		if fresh.RefreshTokenExpiresAt.IsZero() {
			fresh.RefreshTokenExpiresAt = a.RefreshExpiresAt
		}
	}
	sealed, err := s.seal(a.ID, fresh)
	if err != nil {
		return Renewal{}, err
	}
	next := a
	next.SealedToken, next.IsRenewable = sealed, true
	next.ExpiresAt, next.RefreshExpiresAt, next.RefreshDueAt = fresh.TokenExpiresAt, fresh.RefreshTokenExpiresAt,
		refreshDue(fresh, time.Now())
	if len(fresh.Scopes) > 0 {
		next.Scopes = fresh.Scopes
	}
	var stored bool
	for try := range 8 {
		if stored, err = s.Store.SaveRefreshed(ctx, next); err == nil {
			break
		}
		s.log().Error("renewed tokens are not stored yet", "account_id", a.ID, "error", err)
		if errPause := retry.Sleep(ctx, 100*time.Millisecond<<try); errPause != nil {
			return Renewal{}, errPause
		}
	}
	if err != nil {
		return Renewal{}, err
	}
	if stored {
		s.notify()
		return Renewal{Outcome: Renewed}, nil
	}
	// The account was reconnected or disconnected in the meantime: revoke these tokens.
	now, err := s.Store.Account(ctx, a.ID)
	if err == nil && now.Status == Disconnected {
		s.revoke(ctx, a, fresh)
		return Renewal{Outcome: Refused, LastError: lastErrorOf(now)}, nil
	}
	return Renewal{Outcome: Renewed}, err
}

// recordFailure records why a renewal failed. Only a rejected refresh token ends the
// connection.
func (s *Service) recordFailure(
	ctx context.Context, a Account, owner uuid.UUID, e *network.Error, pace RenewTiming,
) (Renewal, error) {
	s.log().Warn("a token was not renewed", "account_id", a.ID, "network", a.Network, "class", e.Class, "code", e.Code,
		"status", e.Status)
	if e.Class == network.Auth {
		_, err := s.Refused(ctx, a.ID, a.TokenVersion, e)
		return Renewal{Outcome: Refused, LastError: newLastError(e)}, err
	}
	wait := pace.Backoff << min(a.RefreshFailures, 20)
	wait = min(wait, 100*pace.Backoff)
	at := time.Now().Add(wait + time.Duration(rand.Int64N(int64(wait)/5+1))) //nolint:gosec // not a secret
	if e.RetryAt.After(at) {
		at = e.RetryAt
	}
	err := s.Store.RecordRefreshFailure(ctx, a.ID, a.TokenVersion, RefreshFailure{
		LastError: newLastError(e), Owner: owner, RetryAt: at,
	})
	return Renewal{Outcome: Deferred, RetryAt: at, LastError: newLastError(e)}, err
}

// RenewDue renews a token that is due for renewal, see Account.RefreshDueAt. wait is
// the time until the next check; 0: none is needed.
func (s *Service) RenewDue(ctx context.Context, id uuid.UUID) (r Renewal, wait time.Duration, err error) {
	a, err := s.Store.Account(ctx, id)
	if err != nil {
		return Renewal{}, 0, err
	}
	now := time.Now()
	if a.Status != Connected || !a.IsRenewable || a.RefreshDueAt.IsZero() ||
		a.RefreshDueAt.After(now.Add(time.Second)) {
		return Renewal{Outcome: NotRenewable}, 0, nil
	}
	r, err = s.Renew(ctx, id, a.TokenVersion)
	if err == nil && r.Outcome == Deferred {
		wait = max(r.RetryAt.Sub(now), time.Second)
	}
	return r, wait, err
}

// NeedsRenewal reports whether an account's token should be renewed before a post that
// is due at the given time, because less than ten minutes of its lifetime would be
// left, or less than half of a short lifetime.
func (a Account) NeedsRenewal(due, now time.Time) bool {
	if !a.IsRenewable || a.Status != Connected || a.ExpiresAt.IsZero() {
		return false
	}
	margin := 10 * time.Minute
	since := a.LastRefreshAt
	if since.IsZero() {
		since = a.CreatedAt
	}
	if half := a.ExpiresAt.Sub(since) / 2; half > 0 && half < margin {
		margin = half
	}
	if due.Before(now) {
		due = now
	}
	return a.ExpiresAt.Sub(due) < margin
}
