package activities

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/delivery"
)

// ErrNotDue is the error type with which an activity that was dispatched too early
// returns to Temporal.
const ErrNotDue = "not_due"

// temporalError is the only place where errors of delivery become Temporal's. An
// error that waits for its time is benign: neither logs nor metrics count it.
func temporalError(err error) error {
	var notDue *delivery.NotDueError
	var again *delivery.RetryError
	var permanent *delivery.PermanentError
	switch {
	case errors.As(err, &notDue):
		return temporal.NewApplicationErrorWithOptions(notDue.Error(), ErrNotDue,
			temporal.ApplicationErrorOptions{
				NextRetryDelay: notDue.Delay, Category: temporal.ApplicationErrorCategoryBenign,
			})
	case errors.As(err, &again):
		return temporal.NewApplicationErrorWithOptions(again.Message, again.Kind, temporal.ApplicationErrorOptions{
			NextRetryDelay: again.Delay,
		})
	case errors.As(err, &permanent):
		return lasting(permanent.Cause)
	}
	return err
}

// lasting marks errors that no retry can change.
func lasting(err error) error {
	var e *apperr.Error
	if errors.As(err, &e) {
		return temporal.NewNonRetryableApplicationError(e.Message, e.Code, nil)
	}
	return err
}
