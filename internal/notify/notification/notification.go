// Package notification notifies members of events by email, chat, in the browser or by a
// request to a server. Each member chooses channels, and for each of them which events, when and how
// often. Notifications are deliveries of package webhook, whose dispatcher, retries and
// dead letters they share.
package notification

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/timezone"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/webhook"
)

// Kind is the kind of a channel.
type Kind string

// The kinds.
const (
	Email    Kind = "email"
	Slack    Kind = "slack"
	Telegram Kind = "telegram"
	Discord  Kind = "discord"
	Ntfy     Kind = "ntfy"
	Matrix   Kind = "matrix"
	Teams    Kind = "teams"
	Webhook  Kind = "webhook" // JSON to any server
	Browser  Kind = "push"    // Web Push (RFC 8030)
)

// Kinds lists the kinds.
func Kinds() []Kind {
	return []Kind{Email, Slack, Telegram, Discord, Ntfy, Matrix, Teams, Webhook, Browser}
}

// Digest is how often a channel gets notifications.
type Digest string

// The digests.
const (
	NoDigest   Digest = "none"
	Hourly     Digest = "hourly"      // at the full hour
	Daily      Digest = "daily"       // at 8:00
	TwiceDaily Digest = "twice_daily" // in the morning and in the evening, at 7:00 and 18:00
)

// Status is the status of a channel.
type Status string

// The statuses.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
)

// Unsubscribed is the reason for disabling a channel by the link of an email. Others are
// those of webhook endpoints.
const Unsubscribed = "unsubscribed"

// Destination is where a channel sends to. It is stored sealed, because it contains
// credentials.
type Destination struct {
	URL       string   `json:"url,omitempty"`
	Token     string   `json:"token,omitempty"`
	Recipient string   `json:"recipient,omitempty"` // email address, chat or room
	Keys      PushKeys `json:"keys,omitzero"`       // of a browser
}

// Channel is where a member gets notifications about a workspace.
type Channel struct {
	ID, WorkspaceID, UserID uuid.UUID
	Kind                    Kind
	Name                    string
	Sealed                  []byte // the Destination
	Hint                    string // the part of the destination that may be shown
	Types                   []string
	OwnPostsOnly            bool
	Digest                  Digest
	Quiet                   *Quiet // nil: none
	TimeZone                string
	Language                webpage.Language
	Status                  Status
	DisabledReason          string
	ConfirmedAt             *time.Time // when the recipient of emails agreed; nil for other kinds
	FailingSince            *time.Time
	CreatedAt, UpdatedAt    time.Time
	LastDelivery            *webhook.Delivery // nil: none yet
	Dead                    int64             // deliveries
}

// IsUnconfirmed reports whether the channel sends nothing but the request to confirm its
// email address: otherwise members could send emails to anybody.
func (c Channel) IsUnconfirmed() bool { return c.Kind == Email && c.ConfirmedAt == nil }

// secretName binds a sealed destination to its channel.
func secretName(id uuid.UUID) string { return "notification-channel/" + id.String() }

func seal(s *secret.Sealer, id uuid.UUID, d Destination) ([]byte, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return s.Seal(secret.NewText(string(raw)), secretName(id))
}

func unseal(s *secret.Sealer, c Channel) (d Destination, err error) {
	plain, err := s.Open(c.Sealed, secretName(c.ID))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal([]byte(plain.Reveal()), &d)
}

// Quiet is a time of day without notifications, in minutes after midnight. It can span
// midnight.
type Quiet struct{ From, To int }

// Location returns the time zone of a channel.
func (c Channel) Location() *time.Location {
	zone, err := timezone.Load(c.TimeZone)
	if err != nil { // checked when it was set
		return time.UTC
	}
	return zone
}

// Hours at which digests are due.
const (
	dailyHour   = 8
	morningHour = 7
	eveningHour = 18
)

// nextHour returns when an hour of the day begins next, after a time.
func nextHour(local time.Time, hour int) time.Time {
	next := time.Date(local.Year(), local.Month(), local.Day(), hour, 0, 0, 0, local.Location())
	if !next.After(local) {
		next = time.Date(local.Year(), local.Month(), local.Day()+1, hour, 0, 0, 0, local.Location())
	}
	return next
}

// Due returns when a notification about something that happens at a time is sent.
func (c Channel) Due(at time.Time) time.Time {
	local := at.In(c.Location())
	switch c.Digest {
	case Hourly:
		at = local.Add(time.Hour - time.Duration(local.Minute())*time.Minute -
			time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond()))
	case Daily:
		at = nextHour(local, dailyHour)
	case TwiceDaily:
		at = nextHour(local, morningHour)
		if evening := nextHour(local, eveningHour); evening.Before(at) {
			at = evening
		}
	case NoDigest:
	}
	return at.Add(c.quietFor(at))
}

// quietFor returns how long the quiet hours last from a time; 0 outside of them.
func (c Channel) quietFor(at time.Time) time.Duration {
	if c.Quiet == nil || c.Quiet.From == c.Quiet.To {
		return 0
	}
	local := at.In(c.Location())
	minute := local.Hour()*60 + local.Minute()
	from, to := c.Quiet.From, c.Quiet.To
	inside := minute >= from && minute < to
	if from > to {
		inside = minute >= from || minute < to
	}
	if !inside {
		return 0
	}
	// The clock may be changed in between, so the end is a time of day.
	end := time.Date(local.Year(), local.Month(), local.Day(), to/60, to%60, 0, 0, local.Location())
	if !end.After(local) {
		end = time.Date(local.Year(), local.Month(), local.Day()+1, to/60, to%60, 0, 0, local.Location())
	}
	return end.Sub(at)
}

// Wants reports whether the channel is notified of an event.
func (c Channel) Wants(e Event) bool {
	switch {
	case c.IsUnconfirmed() || c.WorkspaceID != e.WorkspaceID || e.At.Before(c.CreatedAt) ||
		!slices.Contains(c.Types, webhook.TypeOf(e.Type)):
		return false
	case c.OwnPostsOnly && e.AuthorID != nil:
		return *e.AuthorID == c.UserID
	}
	return true
}

// Event is an event to dispatch.
type Event struct {
	ID          int64
	WorkspaceID uuid.UUID
	Type        string // as in post_events
	AuthorID    *uuid.UUID
	At          time.Time
}
