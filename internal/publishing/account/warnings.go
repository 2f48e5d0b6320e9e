package account

import (
	"fmt"
	"time"

	"dateline/platforms/network"
)

// Warning is a problem of an account that users should know about.
type Warning struct {
	Code    string // stable
	Message string // a sentence
}

// expiryWarningWindow is how long before the end of access the warning appears.
const expiryWarningWindow = 14 * 24 * time.Hour

// Warnings returns the current warnings of an account.
func (a Account) Warnings(now time.Time) []Warning {
	switch a.Status {
	case Disconnected:
		return []Warning{{"disconnected", "The account is disconnected. Posts that come due wait until it is connected again."}}
	case NeedsReconnect:
		message := "The network no longer accepts Dateline's access. Reconnect the account."
		if a.LastError != nil && a.LastError.Message != "" {
			message += " It said: " + a.LastError.Message
		}
		return []Warning{{"needs_reconnect", message}}
	}
	var out []Warning
	if ends := a.AccessEndsAt(); !ends.IsZero() && ends.Before(now.Add(expiryWarningWindow)) {
		out = append(out, Warning{"expiring", fmt.Sprintf("Access expires at %s. Reconnect the account before then.", ends.Format(time.RFC3339))})
	}
	if a.RefreshFailures > 0 && a.LastError != nil && a.LastError.Class != network.Auth {
		out = append(out, Warning{"not_renewed", "The token could not be renewed yet and will be retried: " + a.LastError.Message})
	}
	return out
}
