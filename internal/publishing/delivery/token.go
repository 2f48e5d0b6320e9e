package delivery

import (
	"context"
	"time"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Why a post cannot use its account's token.
const (
	codeDisconnected = "disconnected"      // the account's owner took it away
	codeRenewed      = "token_renewed"     // it was refused, and there is a newer one
	codeReplaced     = "token_replaced"    // the same, and a person has connected the account
	codeNotRenewed   = "token_not_renewed" // the network refuses to renew it
	codeRenewalWaits = "renewal_waits"     // the network cannot be asked to renew it
)

// freshen renews a token that ends about when the post is due. One that still
// lasts is used as it is when that does not succeed.
func (p *Publisher) freshen(ctx context.Context, j *job) *network.Error {
	if j.stored.Status == account.Disconnected || j.account.Token.Empty() {
		return &network.Error{Class: network.Auth, Code: codeDisconnected,
			Message: "The account is disconnected. Connect it again, and the post goes out."}
	}
	now := p.clock().Now()
	if !j.stored.Stale(j.post.ScheduledTime, now) {
		return nil
	}
	renewal, err := p.renew(ctx, j)
	switch {
	case err != nil:
		return &network.Error{Class: network.NotSent, Code: codeNotRecorded, Message: "The account's token could not be renewed.", Err: err}
	case renewal.Outcome == account.Refused:
		return notRenewed(renewal)
	case renewal.Outcome == account.Later && !j.stored.ExpiresAt.After(now.Add(time.Minute)):
		return waitsForRenewal(renewal)
	}
	return nil
}

// renew renews the job's token and takes the new one.
func (p *Publisher) renew(ctx context.Context, j *job) (account.Renewal, error) {
	renewal, err := p.Accounts.Renew(ctx, j.stored.ID, j.stored.TokenVersion)
	if err != nil || renewal.Outcome != account.Renewed {
		return renewal, err
	}
	stored, opened, err := p.Accounts.Open(ctx, j.stored.ID)
	if err == nil {
		j.stored, j.account = stored, opened
	}
	return renewal, err
}

func notRenewed(r account.Renewal) *network.Error {
	return &network.Error{Class: network.Auth, Code: codeNotRenewed,
		Message: "The account must be connected again: " + r.Trouble.Message}
}

// waitsForRenewal uses up no try: a network whose login does not answer is no
// reason to give a post up.
func waitsForRenewal(r account.Renewal) *network.Error {
	return &network.Error{Class: network.Throttled, Code: codeRenewalWaits, Scope: network.ScopeAccount, RetryAt: r.RetryAt,
		Message: "The account's token has to be renewed first, and the network cannot be asked for that right now."}
}

// refused follows an answer that the token is no good: it is renewed once and
// tried once more. Else the post waits as a dead letter, and goes out by itself
// when the account is connected again.
func (p *Publisher) refused(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	if e.Code == codeDisconnected || e.Code == codeNotRenewed {
		return p.failed(ctx, j, call, e)
	}
	again := &network.Error{Class: network.Transient, Code: codeReplaced, Status: e.Status, RequestID: e.RequestID,
		Message: "The token was refused, but the account has been connected anew since."}
	stored, _, err := p.Accounts.Open(ctx, j.target.AccountID)
	switch {
	case err != nil:
		return TargetResult{}, err
	case stored.Status != account.Disconnected && stored.TokenVersion != j.stored.TokenVersion:
		return p.retry(ctx, j, call, again)
	case stored.Renewable && stored.Status == account.Connected && j.target.ErrorCode != codeRenewed:
		renewal, err := p.Accounts.Renew(ctx, stored.ID, stored.TokenVersion)
		if err != nil {
			return TargetResult{}, err
		}
		switch renewal.Outcome {
		case account.Renewed:
			again.Code, again.Message = codeRenewed, "The token was refused and has been renewed."
			return p.retry(ctx, j, call, again)
		case account.Later:
			waits := waitsForRenewal(renewal)
			waits.Status, waits.RequestID = e.Status, e.RequestID
			return p.retry(ctx, j, call, waits)
		case account.Refused:
			return p.failed(ctx, j, call, notRenewed(renewal))
		}
	}
	if _, err := p.Accounts.Refused(ctx, stored.ID, stored.TokenVersion, e); err != nil {
		return TargetResult{}, err
	}
	return p.failed(ctx, j, call, e)
}
