package notification

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/ssrf"
	"dateline/internal/infra/throttle"
	"dateline/internal/infra/timezone"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/webhook"
)

// Store stores channels and their notifications.
type Store interface {
	CreateChannel(ctx context.Context, c Channel, limit int) (Channel, error)
	Channels(ctx context.Context, workspace, user uuid.UUID) ([]Channel, error)
	UpdateChannel(ctx context.Context, workspace, user, id uuid.UUID, change func(*Channel) error) (Channel, error)
	DeleteChannel(ctx context.Context, workspace, user, id uuid.UUID) error
	UnsubscribeChannel(ctx context.Context, id uuid.UUID) error
	AddTestNotification(ctx context.Context, workspace, user uuid.UUID, d webhook.Job,
		compose func(Channel) (kind, body string, err error)) (webhook.Delivery, error)
	Channel(ctx context.Context, id uuid.UUID) (Channel, error)
	Notifications(ctx context.Context, workspace, user, channel uuid.UUID, limit int) ([]webhook.Delivery, error)
	RedeliverNotifications(ctx context.Context, workspace, user, channel uuid.UUID) (int64, error)
}

// Service manages the channels of members.
type Service struct {
	Store        Store
	Sealer       *secret.Sealer
	Guard        *ssrf.Guard
	Live         webhook.Announcer
	Push         *Push
	Links        Links
	CanSendEmail bool // an SMTP server is configured
	// Confirmations limits the emails that ask for a confirmation, by member: nobody agreed
	// to get them.
	Confirmations *throttle.Limiter
}

// NewConfirmations returns the usual limit: five at once, then one in ten minutes.
func NewConfirmations() *throttle.Limiter { return throttle.New(5, 10*time.Minute) }

const (
	maxChannels   = 20  // of a member in a workspace
	maxListed     = 50  // notifications in a list
	maxNameLength = 100 // characters
	maxSecret     = 2000
	testType      = "test"
	confirmType   = "confirmation"
)

// Draft has the fields of a channel that its member chooses.
type Draft struct {
	Kind                  Kind
	Name                  string
	URL, Token, Recipient *string // nil: unchanged, or not needed
	PushKeys              *PushKeys
	Types                 []string
	OwnPostsOnly          bool
	Digest                Digest
	QuietFrom, QuietTo    string // HH:MM; empty: none
	TimeZone              string
	Language              webpage.Language
	Enabled               bool
}

// Create creates a channel.
func (s *Service) Create(ctx context.Context, who workspace.Principal, d Draft) (Channel, error) {
	c := Channel{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, UserID: who.UserID, Kind: d.Kind,
		Status: Enabled,
	}
	if !s.CanSendEmail && d.Kind == Email {
		return c, &apperr.Error{
			Kind: apperr.KindConflict, Code: "email_not_configured",
			Message: "This installation cannot send emails. Ask its operator to set DATELINE_SMTP_HOST.",
		}
	}
	if err := s.apply(&c, d, Destination{}); err != nil {
		return c, err
	}
	if err := s.limitConfirmations(c); err != nil {
		return c, err
	}
	created, err := s.Store.CreateChannel(ctx, c, maxChannels)
	if err == nil && created.IsUnconfirmed() {
		_, err = s.addTest(ctx, who, created.ID)
	}
	return created, err
}

// limitConfirmations returns an error if a member has requested too many confirmations.
func (s *Service) limitConfirmations(c Channel) error {
	if !c.IsUnconfirmed() {
		return nil
	}
	if _, ok := s.Confirmations.Allow(c.UserID.String(), time.Now()); ok {
		return nil
	}
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "too_many_confirmations",
		Message: "You have requested too many confirmations of email addresses. Try again in ten minutes.",
	}
}

// List lists a member's channels, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Channel, error) {
	return s.Store.Channels(ctx, who.WorkspaceID, who.UserID)
}

// PushKey returns the key that browsers subscribe with.
func (s *Service) PushKey(ctx context.Context) (string, error) { return s.Push.PublicKey(ctx) }

// Update changes a channel. Its kind stays, and so do parts of the destination that are
// nil.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, d Draft) (Channel, error) {
	needsConfirmation := false
	changed, err := s.Store.UpdateChannel(ctx, who.WorkspaceID, who.UserID, id, func(c *Channel) error {
		was, err := unseal(s.Sealer, *c)
		if err != nil {
			return err
		}
		d.Kind = c.Kind
		recipient := was.Recipient
		if err := s.apply(c, d, was); err != nil {
			return err
		}
		isNew := c.Hint != recipient
		if c.Kind == Email && (isNew || c.DisabledReason == Unsubscribed) {
			c.ConfirmedAt = nil
		}
		needsConfirmation = d.Enabled && c.IsUnconfirmed() && (isNew || c.Status != Enabled)
		switch {
		case d.Enabled:
			c.Status, c.DisabledReason, c.FailingSince = Enabled, "", nil
		case c.Status == Enabled:
			c.Status, c.DisabledReason = Disabled, webhook.ByOwner
		}
		if needsConfirmation {
			return s.limitConfirmations(*c)
		}
		return nil
	})
	if err == nil && needsConfirmation {
		_, err = s.addTest(ctx, who, id)
	}
	return changed, err
}

// Delete deletes a channel with its notifications.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteChannel(ctx, who.WorkspaceID, who.UserID, id)
}

// Test sends a test notification, also during quiet hours. An email address that is not
// confirmed gets the link to confirm it again.
func (s *Service) Test(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Delivery, error) {
	channel, err := s.Store.Channel(ctx, id)
	if err != nil {
		return webhook.Delivery{}, err
	}
	if channel.UserID == who.UserID {
		if err := s.limitConfirmations(channel); err != nil {
			return webhook.Delivery{}, err
		}
	}
	return s.addTest(ctx, who, id)
}

// addTest adds a test notification, or the email that asks for a confirmation.
func (s *Service) addTest(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Delivery, error) {
	job := webhook.Job{ChannelID: id, Delivery: webhook.Delivery{ID: uuid.Must(uuid.NewV7()), Type: testType}}
	d, err := s.Store.AddTestNotification(ctx, who.WorkspaceID, who.UserID, job,
		func(c Channel) (kind, body string, err error) {
			kind, m := testType, c.testMessage(s.Links.PublicURL)
			if c.IsUnconfirmed() {
				kind, m = confirmType, c.confirmMessage()
			}
			body, err = m.encode()
			return kind, body, err
		})
	if err == nil {
		s.Live.Announce()
	}
	return d, err
}

// Notification is a notification in a list.
type Notification struct {
	webhook.Delivery
	Title string
}

// Notifications lists the last notifications of a channel, the newest first.
func (s *Service) Notifications(ctx context.Context, who workspace.Principal, id uuid.UUID) ([]Notification, error) {
	list, err := s.Store.Notifications(ctx, who.WorkspaceID, who.UserID, id, maxListed)
	out := make([]Notification, len(list))
	for i, d := range list {
		m, err := decode(d.Body)
		if err != nil {
			return nil, err
		}
		out[i] = Notification{d, m.Title}
	}
	return out, err
}

// Redeliver sends the dead notifications of a channel again.
func (s *Service) Redeliver(ctx context.Context, who workspace.Principal, id uuid.UUID) (int64, error) {
	n, err := s.Store.RedeliverNotifications(ctx, who.WorkspaceID, who.UserID, id)
	if err == nil {
		s.Live.Announce()
	}
	return n, err
}

// apply validates a draft and changes the channel.
func (s *Service) apply(c *Channel, d Draft, was Destination) error {
	var problems []apperr.FieldError
	add := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	c.Name = strings.TrimSpace(d.Name)
	if n := utf8.RuneCountInString(c.Name); n == 0 || n > maxNameLength || !isText(c.Name) {
		add("name", "invalid", "Name the channel with 1 to 100 characters.")
	}
	c.Types = slices.Compact(slices.Sorted(slices.Values(d.Types)))
	if len(c.Types) == 0 || slices.ContainsFunc(c.Types,
		func(t string) bool { return !slices.Contains(webhook.Types(), t) }) {
		add("types", "invalid", "Choose at least one type of event.")
	}
	if _, err := timezone.Load(d.TimeZone); err != nil {
		add("time_zone", "unknown", "Must be an IANA time zone, such as Asia/Ho_Chi_Minh.")
	}
	quiet, ok := quietOf(d.QuietFrom, d.QuietTo)
	if !ok {
		add("quiet_from", "invalid",
			"Give the quiet hours as two different times of day, such as 22:00 and 07:00, or leave both empty.")
	}
	c.Quiet, c.TimeZone, c.Language, c.Digest, c.OwnPostsOnly = quiet, d.TimeZone, d.Language, d.Digest, d.OwnPostsOnly
	if d.PushKeys != nil {
		was.Keys = *d.PushKeys
	}
	for _, part := range []struct {
		given  *string
		stored *string
	}{{d.URL, &was.URL}, {d.Token, &was.Token}, {d.Recipient, &was.Recipient}} {
		if part.given != nil {
			*part.stored = strings.TrimSpace(*part.given)
		}
	}
	problems = append(problems, s.checkDestination(d.Kind, &was)...)
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	sealed, err := seal(s.Sealer, c.ID, was)
	c.Sealed, c.Hint = sealed, hint(d.Kind, was)
	return err
}

// hint returns what may be shown of a destination.
func hint(k Kind, d Destination) string {
	switch k {
	case Email, Telegram:
		return d.Recipient
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return ""
	}
	if k == Matrix {
		return d.Recipient + " " + u.Host
	}
	return u.Host
}

func quietOf(from, to string) (*Quiet, bool) {
	if from == "" && to == "" {
		return nil, true
	}
	a, ok := minutes(from)
	b, also := minutes(to)
	if !ok || !also || a == b {
		return nil, false
	}
	return &Quiet{a, b}, true
}

// minutes parses a time of day.
func minutes(text string) (int, bool) {
	if len(text) != len("00:00") || text[2] != ':' {
		return 0, false
	}
	for _, i := range []int{0, 1, 3, 4} {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	hour, minute := int(text[0]-'0')*10+int(text[1]-'0'), int(text[3]-'0')*10+int(text[4]-'0')
	return hour*60 + minute, hour < 24 && minute < 60
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
