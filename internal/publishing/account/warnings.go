package account

import (
	"fmt"
	"time"

	"dateline/platforms/network"
)

// Warning is what somebody should know of an account.
type Warning struct {
	Code    string // stable
	Message string // a sentence for people
}

// warnAhead is how long before its end access is warned of.
const warnAhead = 14 * 24 * time.Hour

// Warnings are what somebody should know of an account now.
func (a Account) Warnings(now time.Time) []Warning {
	switch a.Status {
	case Disconnected:
		return []Warning{{"disconnected", "The account is disconnected. Posts that come due wait until it is connected again."}}
	case NeedsReconnect:
		message := "The network does not accept Dateline's access any more. Connect the account again."
		if a.Trouble != nil && a.Trouble.Message != "" {
			message += " It said: " + a.Trouble.Message
		}
		return []Warning{{"needs_reconnect", message}}
	}
	var out []Warning
	if ends := a.Ends(); !ends.IsZero() && ends.Before(now.Add(warnAhead)) {
		out = append(out, Warning{"expiring", fmt.Sprintf("Access ends at %s. Connect the account again before then.", ends.Format(time.RFC3339))})
	}
	if a.RefreshFailures > 0 && a.Trouble != nil && a.Trouble.Class != network.Auth {
		out = append(out, Warning{"not_renewed", "The token could not be renewed yet, and is tried again: " + a.Trouble.Message})
	}
	return out
}
