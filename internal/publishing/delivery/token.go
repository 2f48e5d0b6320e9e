package delivery

import (
	"context"
	"time"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// tokens ensures that an account's access token is fresh.
type tokens struct {
	accounts Accounts
	outcomes *outcomes
	clock    Clock
}

// ensureFresh renews a token that expires about when the post is due. If that
// fails, a token that is still valid is used as it is.
func (t *tokens) ensureFresh(ctx context.Context, j *job) *network.Error {
	if j.stored.Status == account.Disconnected || j.account.Token.Empty() {
		return &network.Error{
			Class: network.Auth, Code: codeDisconnected,
			Message: "The account is disconnected. Reconnect it, and the post is published.",
		}
	}
	now := t.clock.Now()
	if !j.stored.NeedsRenewal(j.post.ScheduledTime, now) {
		return nil
	}
	renewal, err := t.renew(ctx, j)
	switch {
	case err != nil:
		return &network.Error{
			Class: network.NotSent, Code: codeNotRecorded,
			Message: "The account's token could not be renewed.", Err: err,
		}
	case renewal.Outcome == account.Refused:
		return notRenewed(renewal)
	case renewal.Outcome == account.Deferred && !j.stored.ExpiresAt.After(now.Add(time.Minute)):
		return renewalWaits(renewal)
	}
	return nil
}

// renew renews the job's token and uses the new one.
func (t *tokens) renew(ctx context.Context, j *job) (account.Renewal, error) {
	renewal, err := t.accounts.Renew(ctx, j.stored.ID, j.stored.TokenVersion)
	if err != nil || renewal.Outcome != account.Renewed {
		return renewal, err
	}
	stored, opened, err := t.accounts.Open(ctx, j.stored.ID)
	if err == nil {
		j.stored, j.account = stored, opened
	}
	return renewal, err
}

func notRenewed(r account.Renewal) *network.Error {
	return &network.Error{
		Class: network.Auth, Code: codeNotRenewed,
		Message: "The account must be reconnected: " + r.LastError.Message,
	}
}

// renewalWaits uses up no attempt: a network whose login does not respond is no reason
// to fail a post.
func renewalWaits(r account.Renewal) *network.Error {
	return &network.Error{
		Class: network.Throttled, Code: codeRenewalWaits, Scope: network.ScopeAccount,
		RetryAt: r.RetryAt,
		Message: "The account's token has to be renewed first, and the network cannot do that right now.",
	}
}

// rejected follows a response that rejects the token: it is renewed once and
// tried once more. Otherwise the post becomes a dead letter, which is redriven
// when the account is reconnected.
func (t *tokens) rejected(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	if e.Code == codeDisconnected || e.Code == codeNotRenewed {
		return t.outcomes.failed(ctx, j, call, e)
	}
	again := &network.Error{
		Class: network.Transient, Code: codeReplaced, Status: e.Status, RequestID: e.RequestID,
		Message: "The token was rejected, but the account has been reconnected since.",
	}
	stored, _, err := t.accounts.Open(ctx, j.target.AccountID)
	switch {
	case err != nil:
		return TargetResult{}, err
	case stored.Status != account.Disconnected && stored.TokenVersion != j.stored.TokenVersion:
		return t.outcomes.retry(ctx, j, call, again)
	case stored.IsRenewable && stored.Status == account.Connected && j.target.ErrorCode != codeRenewed:
		renewal, err := t.accounts.Renew(ctx, stored.ID, stored.TokenVersion)
		if err != nil {
			return TargetResult{}, err
		}
		switch renewal.Outcome {
		case account.Renewed:
			again.Code, again.Message = codeRenewed, "The token was rejected and has been renewed."
			return t.outcomes.retry(ctx, j, call, again)
		case account.Deferred:
			waits := renewalWaits(renewal)
			waits.Status, waits.RequestID = e.Status, e.RequestID
			return t.outcomes.retry(ctx, j, call, waits)
		case account.Refused:
			return t.outcomes.failed(ctx, j, call, notRenewed(renewal))
		}
	}
	if _, err := t.accounts.Refused(ctx, stored.ID, stored.TokenVersion, e); err != nil {
		return TargetResult{}, err
	}
	return t.outcomes.failed(ctx, j, call, e)
}
