package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"dateline/api/spec"
	"dateline/client"
)

const whenHelp = "`time` in the workspace's time zone: 2026-12-24T18:00, " +
	"\"tomorrow 9:00\", \"fri 18:30\", \"14:00\" (the next one), \"in 90 minutes\", \"thứ hai 7h30\""

// parseWhen returns the scheduled time that a text means. The instance reads it, with its own
// clock and rules of time zones.
func (s *session) parseWhen(ctx context.Context, text string) (*string, error) {
	r, err := s.ParseTime(ctx, &spec.ParseTimeParams{Text: text})
	if problem := (*client.Error)(nil); errors.As(err, &problem) && problem.Status == http.StatusUnprocessableEntity {
		message := problem.Detail
		for _, f := range problem.Fields {
			message = f.Message
		}
		return nil, UsageError(fmt.Sprintf("--at %q: %s", text, message))
	}
	if err != nil {
		return nil, err
	}
	return set(r.Value.Time.Format(time.RFC3339)), nil
}
