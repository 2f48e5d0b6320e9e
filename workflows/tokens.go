package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// Names of the workflows that maintain the accounts' tokens.
const (
	RefreshTokenWorkflow     = "RefreshToken"
	MaintainAccountsWorkflow = "MaintainAccounts"
)

// MaintainAccountsSchedule is the id of the schedule that runs MaintainAccounts.
const MaintainAccountsSchedule = "maintain-accounts"

// AccountID is the id of the workflow that renews an account's token.
func AccountID(account uuid.UUID) string { return "account/" + account.String() }

// RefreshTokenInput starts a RefreshToken workflow.
type RefreshTokenInput struct {
	AccountID uuid.UUID
}

// RefreshTokenResult is the outcome of a RefreshToken workflow.
type RefreshTokenResult struct {
	Outcome string // renewed, impossible or refused
}

// MaintainAccounts starts the renewal of tokens that are due, and warns of those
// that cannot be renewed. A schedule runs it.
func MaintainAccounts(ctx workflow.Context) (activities.MaintainAccountsResult, error) {
	var tokens *activities.Tokens
	var result activities.MaintainAccountsResult
	err := workflow.ExecuteActivity(housekeepingOptions(ctx), tokens.MaintainAccounts).Get(ctx, &result)
	return result, err
}

// RefreshToken renews one account's token before it expires. A failed renewal is
// retried for as long as the account is connected; the account's row says when.
func RefreshToken(ctx workflow.Context, in RefreshTokenInput) (RefreshTokenResult, error) {
	var tokens *activities.Tokens
	for {
		var step activities.RenewalStep
		if err := workflow.ExecuteActivity(renewOptions(ctx), tokens.RenewToken, in.AccountID).Get(ctx,
			&step); err != nil {
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

// renewOptions are for one renewal. A network's refusal is not an error here;
// errors come from the database and are temporary. The account's lease keeps two
// runs apart.
func renewOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		},
		Summary: "Renews the token",
	})
}
