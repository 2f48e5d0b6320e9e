package activities

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/delivery"
)

func TestTemporalError(t *testing.T) {
	for name, c := range map[string]struct {
		in           error
		kind         string
		delay        time.Duration
		nonRetryable bool
		category     temporal.ApplicationErrorCategory
	}{
		"NotDue": {
			&delivery.NotDueError{NotBefore: time.Now(), Delay: time.Hour}, ErrNotDue, time.Hour, false,
			temporal.ApplicationErrorCategoryBenign,
		},
		"Retry": {
			&delivery.RetryError{Kind: delivery.RetryThrottled, Message: "later", Delay: time.Minute},
			"throttled", time.Minute, false, temporal.ApplicationErrorCategoryUnspecified,
		},
		"Permanent": {
			&delivery.PermanentError{Cause: &apperr.Error{
				Kind: apperr.KindNotFound, Code: "not_found",
				Message: "There is no such post.",
			}}, "not_found", 0, true, temporal.ApplicationErrorCategoryUnspecified,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got *temporal.ApplicationError
			if !errors.As(temporalError(c.in), &got) {
				t.Fatalf("got %T, want an ApplicationError", temporalError(c.in))
			}
			if got.Type() != c.kind || got.NextRetryDelay() != c.delay {
				t.Errorf("got type %q after %s, want %q after %s", got.Type(), got.NextRetryDelay(), c.kind, c.delay)
			}
			if got.NonRetryable() != c.nonRetryable || got.Category() != c.category {
				t.Errorf("got non-retryable %t, category %v, want %t, %v", got.NonRetryable(), got.Category(),
					c.nonRetryable, c.category)
			}
		})
	}
	other := errors.New("the database is down")
	if got := temporalError(other); got != other { //nolint:errorlint // unchanged
		t.Errorf("got %v, want the error unchanged", got)
	}
	if got := temporalError(nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}
