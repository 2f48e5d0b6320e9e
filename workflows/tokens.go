package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// Names of the workflows that keep accounts connected.
const (
	RefreshTokenWorkflow = "RefreshToken"
	TendAccountsWorkflow = "TendAccounts"
)

// TendSchedule is the id of the schedule that runs TendAccounts.
const TendSchedule = "tend-accounts"

// AccountID is the id of the workflow that renews an account's token.
func AccountID(account uuid.UUID) string { return "account/" + account.String() }

// RefreshTokenInput starts a RefreshToken workflow.
type RefreshTokenInput struct {
	AccountID uuid.UUID
}

// RefreshTokenResult is what came of it.
type RefreshTokenResult struct {
	Outcome string // renewed, impossible or refused
}

// TendAccounts finds tokens that are to be renewed, and warns of those that
// cannot be. A schedule runs it.
func TendAccounts(ctx workflow.Context) (activities.TendResult, error) {
	var tokens *activities.Tokens
	var result activities.TendResult
	err := workflow.ExecuteActivity(housekeeping(ctx), tokens.TendAccounts).Get(ctx, &result)
	return result, err
}

// RefreshToken renews one account's token ahead of its end. A network that cannot
// be asked is asked again, for as long as the account is connected: when, stands
// in the account's row.
func RefreshToken(ctx workflow.Context, in RefreshTokenInput) (RefreshTokenResult, error) {
	var tokens *activities.Tokens
	for {
		var step activities.RenewStep
		if err := workflow.ExecuteActivity(renewing(ctx), tokens.RenewToken, in.AccountID).Get(ctx, &step); err != nil {
			return RefreshTokenResult{}, err
		}
		if step.Wait <= 0 {
			return RefreshTokenResult{Outcome: string(step.Outcome)}, nil
		}
		if err := workflow.Sleep(ctx, step.Wait); err != nil {
			return RefreshTokenResult{}, err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return RefreshTokenResult{}, workflow.NewContinueAsNewError(ctx, RefreshTokenWorkflow, in)
		}
	}
}

// renewing is for one renewal. What a network answers is no error here; errors
// are of the database, and pass. The account's lease keeps two runs apart.
func renewing(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		Summary:             "Renews the token",
	})
}
