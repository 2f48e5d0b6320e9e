package api

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
)

// NotificationHandler serves notification channels.
type NotificationHandler struct {
	Notifications Notifications
	CanSendEmail  bool // an SMTP server is configured
}

// Notifications manages the notification channels of members.
type Notifications interface {
	Create(ctx context.Context, who workspace.Principal, d notification.Draft) (notification.Channel, error)
	List(ctx context.Context, who workspace.Principal) ([]notification.Channel, error)
	PushKey(ctx context.Context) (string, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, d notification.Draft) (notification.Channel,
		error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	Test(ctx context.Context, who workspace.Principal, id uuid.UUID) (webhook.Delivery, error)
	Notifications(ctx context.Context, who workspace.Principal, id uuid.UUID) ([]notification.Notification, error)
	Redeliver(ctx context.Context, who workspace.Principal, id uuid.UUID) (int64, error)
}

// ListNotificationChannels lists the caller's channels.
func (s *NotificationHandler) ListNotificationChannels(
	ctx context.Context, _ spec.ListNotificationChannelsRequestObject,
) (spec.ListNotificationChannelsResponseObject, error) {
	list, err := s.Notifications.List(ctx, principal(ctx))
	if err != nil {
		return nil, err
	}
	key, err := s.Notifications.PushKey(ctx)
	out := spec.ListNotificationChannels200JSONResponse{
		Channels: []spec.NotificationChannel{}, CanSendEmail: s.CanSendEmail, PushKey: key,
	}
	for _, c := range list {
		out.Channels = append(out.Channels, channelJSON(c))
	}
	return out, err
}

// CreateNotificationChannel creates a channel.
func (s *NotificationHandler) CreateNotificationChannel(
	ctx context.Context, r spec.CreateNotificationChannelRequestObject,
) (spec.CreateNotificationChannelResponseObject, error) {
	c, err := s.Notifications.Create(ctx, principal(ctx), channelDraft(*r.Body))
	return spec.CreateNotificationChannel201JSONResponse(channelJSON(c)), err
}

// UpdateNotificationChannel replaces the settings of a channel.
func (s *NotificationHandler) UpdateNotificationChannel(
	ctx context.Context, r spec.UpdateNotificationChannelRequestObject,
) (spec.UpdateNotificationChannelResponseObject, error) {
	c, err := s.Notifications.Update(ctx, principal(ctx), r.Id, channelDraft(*r.Body))
	return spec.UpdateNotificationChannel200JSONResponse(channelJSON(c)), err
}

// DeleteNotificationChannel deletes a channel with its notifications.
func (s *NotificationHandler) DeleteNotificationChannel(
	ctx context.Context, r spec.DeleteNotificationChannelRequestObject,
) (spec.DeleteNotificationChannelResponseObject, error) {
	return spec.DeleteNotificationChannel204Response{}, s.Notifications.Delete(ctx, principal(ctx), r.Id)
}

// TestNotificationChannel sends a test notification.
func (s *NotificationHandler) TestNotificationChannel(
	ctx context.Context, r spec.TestNotificationChannelRequestObject,
) (spec.TestNotificationChannelResponseObject, error) {
	_, err := s.Notifications.Test(ctx, principal(ctx), r.Id)
	return spec.TestNotificationChannel202Response{}, err
}

// ListNotifications lists the last notifications of a channel.
func (s *NotificationHandler) ListNotifications(
	ctx context.Context, r spec.ListNotificationsRequestObject,
) (spec.ListNotificationsResponseObject, error) {
	list, err := s.Notifications.Notifications(ctx, principal(ctx), r.Id)
	out := spec.ListNotifications200JSONResponse{Notifications: []spec.Notification{}}
	for _, n := range list {
		one := spec.Notification{
			Id: n.ID, Title: n.Title, Status: spec.DeliveryStatus(n.Status), Attempts: n.Attempts,
			DeliveredAt: n.DeliveredAt, LastError: optionalNote(n.LastError), CreatedAt: n.CreatedAt,
		}
		if n.Status == webhook.Pending {
			one.NextAttemptAt = &n.DueAt
		}
		out.Notifications = append(out.Notifications, one)
	}
	return out, err
}

// RedeliverNotifications sends the dead notifications of a channel again.
func (s *NotificationHandler) RedeliverNotifications(
	ctx context.Context, r spec.RedeliverNotificationsRequestObject,
) (spec.RedeliverNotificationsResponseObject, error) {
	n, err := s.Notifications.Redeliver(ctx, principal(ctx), r.Id)
	return spec.RedeliverNotifications202JSONResponse{Redelivered: n}, err
}

func channelDraft(b spec.NotificationChannelSettings) notification.Draft {
	d := notification.Draft{
		Kind: notification.Kind(b.Kind), Name: b.Name, URL: b.Url, Token: b.Token,
		Recipient: b.Recipient, OwnPostsOnly: optional.Value(b.OwnPostsOnly), Digest: notification.NoDigest,
		QuietFrom: optional.Value(b.QuietFrom), QuietTo: optional.Value(b.QuietTo), TimeZone: b.TimeZone,
		Language: webpage.English,
		Enabled:  b.Enabled == nil || *b.Enabled,
	}
	if b.PushKeys != nil {
		d.PushKeys = &notification.PushKeys{P256dh: b.PushKeys.P256dh, Auth: b.PushKeys.Auth}
	}
	for _, t := range b.Types {
		d.Types = append(d.Types, string(t))
	}
	if b.Digest != nil {
		d.Digest = notification.Digest(*b.Digest)
	}
	if b.Language != nil {
		d.Language = webpage.Language(*b.Language)
	}
	return d
}

func channelJSON(c notification.Channel) spec.NotificationChannel {
	out := spec.NotificationChannel{
		Id: c.ID, Kind: spec.NotificationChannelKind(c.Kind), Name: c.Name,
		Destination: c.Hint, OwnPostsOnly: c.OwnPostsOnly, Digest: spec.NotificationDigest(c.Digest),
		TimeZone: c.TimeZone, Language: spec.NotificationLanguage(c.Language),
		Status: spec.NotificationChannelStatus(c.Status), Confirmed: !c.IsUnconfirmed(), FailingSince: c.FailingSince,
		Dead:  c.Dead,
		Types: []spec.WebhookType{}, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
	for _, t := range c.Types {
		out.Types = append(out.Types, spec.WebhookType(t))
	}
	if c.Quiet != nil {
		from, to := clockTime(c.Quiet.From), clockTime(c.Quiet.To)
		out.QuietFrom, out.QuietTo = &from, &to
	}
	if c.DisabledReason != "" {
		reason := spec.NotificationChannelDisabledReason(c.DisabledReason)
		out.DisabledReason = &reason
	}
	if c.LastDelivery != nil {
		status := spec.DeliveryStatus(c.LastDelivery.Status)
		out.LastStatus, out.LastError = &status, optionalNote(c.LastDelivery.LastError)
	}
	return out
}

func clockTime(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
