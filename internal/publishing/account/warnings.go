package account

import (
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
)

// expiryWarningWindow is how long before the end of access the warning appears.
const expiryWarningWindow = 14 * 24 * time.Hour

// Warnings returns the current problems of an account that users should know about.
func (a Account) Warnings(now time.Time) message.Messages {
	said := ""
	if a.LastError != nil {
		said = a.LastError.Message
	}
	switch a.Status {
	case Disconnected:
		return message.One("disconnected",
			"The account is disconnected. Posts that come due wait until it is connected again.")
	case NeedsReconnect:
		return message.One("needs_reconnect",
			"The network no longer accepts Dateline's access. Reconnect the account.[ It said: {answer}]", said)
	}
	var out message.Messages
	if ends := a.AccessEndsAt(); !ends.IsZero() && ends.Before(now.Add(expiryWarningWindow)) {
		out = append(out, message.New("expiring", "Access expires at {ends_at}. Reconnect the account before then.",
			ends))
	}
	if a.RefreshFailures > 0 && a.LastError != nil && a.LastError.Class != network.Auth {
		out = append(out, message.New("not_renewed",
			"The token could not be renewed yet and will be retried.[ The network said: {answer}]", said))
	}
	return append(out, a.Notes...)
}
