package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/notify/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateChannel stores a channel, unless its member has limit channels.
func (s *NotificationStore) CreateChannel(
	ctx context.Context, c notification.Channel, limit int,
) (created notification.Channel, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		from, to := quietParams(c.Quiet)
		row, err := q.InsertChannel(ctx, db.InsertChannelParams{
			ID: c.ID, WorkspaceID: c.WorkspaceID, UserID: c.UserID,
			Kind: string(c.Kind), Name: c.Name, Destination: c.Sealed, Hint: c.Hint,
			Types: c.Types, OwnPostsOnly: c.OwnPostsOnly, Digest: string(c.Digest), QuietFrom: from, QuietTo: to,
			TimeZone: c.TimeZone, Language: string(c.Language), MaxChannels: limit,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_channels",
				Message: fmt.Sprintf("You have the maximum of %d notification channels. Delete one first.", limit),
			}
		}
		if err != nil {
			return err
		}
		created = channelFromRow(row)
		return recordChannel(ctx, q, row, audit.ChannelCreated)
	})
	return created, err
}

// Channels lists a member's channels, the oldest first.
func (s *NotificationStore) Channels(ctx context.Context, workspaceID, user uuid.UUID) ([]notification.Channel, error) {
	rows, err := s.q.ListChannels(ctx, db.ListChannelsParams{WorkspaceID: workspaceID, UserID: user})
	channels := make([]notification.Channel, len(rows))
	for i, r := range rows {
		c := channelFromRow(r.NotificationChannel)
		if c.Dead = r.Dead; r.LastStatus != "" {
			c.LastDelivery = &webhook.Delivery{
				Status: webhook.DeliveryStatus(r.LastStatus), LastError: column.ReadMessage(r.LastError),
				CreatedAt: r.LastCreatedAt.UTC(),
			}
		}
		channels[i] = c
	}
	return channels, err
}

// Channel returns a channel.
func (s *NotificationStore) Channel(ctx context.Context, id uuid.UUID) (notification.Channel, error) {
	row, err := s.q.GetChannel(ctx, id)
	return channelFromRow(row), tx.OrNotFound(err, "channel")
}

// UpdateChannel changes a channel under its row lock.
func (s *NotificationStore) UpdateChannel(
	ctx context.Context, workspaceID, user, id uuid.UUID, change func(*notification.Channel) error,
) (changed notification.Channel, err error) {
	err = s.lockedChannel(ctx, workspaceID, user, id, func(q *queries, row db.NotificationChannel) error {
		c := channelFromRow(row)
		if err := change(&c); err != nil {
			return err
		}
		from, to := quietParams(c.Quiet)
		row, err := q.UpdateChannel(ctx, db.UpdateChannelParams{
			ID: id, Name: c.Name, Destination: c.Sealed,
			Hint: c.Hint, Types: c.Types, OwnPostsOnly: c.OwnPostsOnly, Digest: string(c.Digest),
			QuietFrom: from, QuietTo: to, TimeZone: c.TimeZone, Language: string(c.Language),
			Status: db.WebhookStatus(c.Status), DisabledReason: c.DisabledReason, ConfirmedAt: c.ConfirmedAt,
			FailingSince: c.FailingSince,
		})
		if err != nil {
			return err
		}
		changed = channelFromRow(row)
		return recordChannel(ctx, q, row, audit.ChannelChanged)
	})
	return changed, err
}

// DeleteChannel deletes a channel with its notifications.
func (s *NotificationStore) DeleteChannel(ctx context.Context, workspaceID, user, id uuid.UUID) error {
	return s.lockedChannel(ctx, workspaceID, user, id, func(q *queries, row db.NotificationChannel) error {
		if err := q.DeleteChannel(ctx, id); err != nil {
			return err
		}
		return recordChannel(ctx, q, row, audit.ChannelDeleted)
	})
}

// UnsubscribeChannel disables a channel, if it is enabled.
func (s *NotificationStore) UnsubscribeChannel(ctx context.Context, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.UnsubscribeChannel(ctx, id)
		if err != nil || n == 0 {
			return err
		}
		row, err := q.GetChannel(ctx, id)
		if err != nil {
			return err
		}
		return recordChannel(ctx, q, row, audit.ChannelChanged)
	})
}

// ConfirmChannel records that the recipient of a channel agreed to get emails, unless the
// channel has another recipient since.
func (s *NotificationStore) ConfirmChannel(ctx context.Context, id uuid.UUID, recipient string) error {
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.ConfirmChannel(ctx, db.ConfirmChannelParams{ID: id, Recipient: recipient})
		if err != nil || n == 0 {
			return err
		}
		row, err := q.GetChannel(ctx, id)
		if err != nil {
			return err
		}
		return recordChannel(ctx, q, row, audit.ChannelChanged)
	})
}

// PushKey returns the key pair for browsers, see notification.PushKeyStore.
func (s *NotificationStore) PushKey(
	ctx context.Context, create *notification.SealedPushKey,
) (notification.SealedPushKey, error) {
	if create != nil {
		if err := s.q.InsertPushKey(ctx,
			db.InsertPushKeyParams{PublicKey: create.Public, PrivateKey: create.Sealed}); err != nil {
			return notification.SealedPushKey{}, err
		}
	}
	row, err := s.q.GetPushKey(ctx)
	if tx.NoRows(err) {
		return notification.SealedPushKey{}, nil
	}
	return notification.SealedPushKey{Public: row.PublicKey, Sealed: row.PrivateKey}, err
}

// recordChannel records nothing of the destination, which is a secret.
func recordChannel(ctx context.Context, q *queries, row db.NotificationChannel, action audit.Action) error {
	return tx.Record(ctx, q.tx, row.WorkspaceID, action, "notification_channel", row.ID, map[string]any{
		"kind": row.Kind, "status": row.Status,
	})
}

func (s *NotificationStore) lockedChannel(
	ctx context.Context, workspaceID, user, id uuid.UUID, f func(*queries, db.NotificationChannel) error,
) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockChannel(ctx, db.LockChannelParams{ID: id, WorkspaceID: workspaceID, UserID: user})
		if err != nil {
			return tx.OrNotFound(err, "channel")
		}
		return f(q, row)
	})
}

// AddTestNotification adds a notification without events that is due.
func (s *NotificationStore) AddTestNotification(ctx context.Context, workspaceID, user uuid.UUID, j webhook.Job,
	compose func(notification.Channel) (kind, body string, err error),
) (added webhook.Delivery, err error) {
	err = s.lockedChannel(ctx, workspaceID, user, j.ChannelID, func(q *queries, row db.NotificationChannel) error {
		if row.Status != db.WebhookStatusEnabled {
			return errChannelDisabled()
		}
		kind, body, err := compose(channelFromRow(row))
		if err != nil {
			return err
		}
		now := time.Now()
		added = j.Delivery
		added.Type, added.Body, added.Status, added.DueAt, added.CreatedAt = kind, body, webhook.Pending, now, now
		return q.InsertNotification(ctx, db.InsertNotificationParams{
			ID: j.ID, ChannelID: j.ChannelID, Type: kind, Body: body, DueAt: now,
		})
	})
	return added, err
}

func errChannelDisabled() error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "channel_disabled",
		Message: "This notification channel is disabled. Enable it first.",
	}
}

// Notifications lists the last notifications of a channel, the newest first.
func (s *NotificationStore) Notifications(
	ctx context.Context, workspaceID, user, channel uuid.UUID, limit int,
) (list []webhook.Delivery, err error) {
	err = s.lockedChannel(ctx, workspaceID, user, channel, func(q *queries, _ db.NotificationChannel) error {
		rows, err := q.ListNotifications(ctx, db.ListNotificationsParams{
			ChannelID: channel, WorkspaceID: workspaceID, UserID: user, PageSize: limit,
		})
		for _, r := range rows {
			list = append(list, deliveryFromRow(r))
		}
		return err
	})
	return list, err
}

// RedeliverNotifications makes the dead notifications of a channel due again.
func (s *NotificationStore) RedeliverNotifications(
	ctx context.Context, workspaceID, user, channel uuid.UUID,
) (n int64, err error) {
	err = s.lockedChannel(ctx, workspaceID, user, channel, func(q *queries, row db.NotificationChannel) error {
		if row.Status != db.WebhookStatusEnabled {
			return errChannelDisabled()
		}
		n, err = q.RedeliverNotifications(ctx, channel)
		return err
	})
	return n, err
}

// collectNotifications adds events to the notifications of the channels that want them.
// A channel has at most one notification that collects events: a burst, or what happens
// during quiet hours, is one message.
func collectNotifications(ctx context.Context, q *queries, rows []db.DueEventsRow, workspaces []uuid.UUID) error {
	channels, err := q.EnabledChannels(ctx, workspaces)
	if err != nil {
		return err
	}
	for _, one := range channels {
		c := channelFromRow(one.NotificationChannel)
		var wanted []int64
		for _, r := range rows {
			isSystem := r.Type == "system_trouble" || r.Type == "system_recovered"
			if c.Wants(notification.Event{
				ID: r.ID, WorkspaceID: r.WorkspaceID, Type: r.Type, AuthorID: r.AuthorID,
				At: r.At,
			}) && (one.SeesSystem || !isSystem) {
				wanted = append(wanted, r.ID)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if err := collect(ctx, q, c, wanted); err != nil {
			return err
		}
	}
	return nil
}

// collect adds events to the notification of a channel that collects them. Events can
// be dispatched again after the database was restored.
func collect(ctx context.Context, q *queries, c notification.Channel, events []int64) error {
	known, err := q.NotifiedEvents(ctx, db.NotifiedEventsParams{ChannelID: c.ID, EventIds: events})
	if err != nil {
		return err
	}
	notified := map[int64]bool{}
	for _, id := range known {
		notified[id] = true
	}
	fresh := events[:0]
	for _, id := range events {
		if !notified[id] {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	delivery, err := q.CollectingNotification(ctx, c.ID)
	if tx.NoRows(err) {
		delivery = column.NewID()
		err = q.InsertNotification(ctx, db.InsertNotificationParams{
			ID: delivery, ChannelID: c.ID, Type: "events", DueAt: c.Due(time.Now()),
		})
	}
	if err != nil {
		return err
	}
	return q.InsertNotificationItems(ctx, db.InsertNotificationItemsParams{
		DeliveryID: delivery, ChannelID: c.ID, EventIds: fresh,
	})
}

// CloseNotification ends the collection of events and stores the message that compose
// makes of them.
func (s *NotificationStore) CloseNotification(
	ctx context.Context, id uuid.UUID, limit int, compose func(facts []notification.Fact, total int) (string, error),
) (body string, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		// The dispatcher locks the row, too, so the events are complete.
		body, err = q.LockNotification(ctx, id)
		if err != nil || body != "" {
			return tx.OrNotFound(err, "notification")
		}
		total, err := q.CountNotificationItems(ctx, id)
		if err != nil {
			return err
		}
		rows, err := q.NotificationEvents(ctx, db.NotificationEventsParams{DeliveryID: id, PageSize: limit})
		if err != nil {
			return err
		}
		facts := make([]notification.Fact, len(rows))
		for i, r := range rows {
			facts[i] = notification.Fact{
				Item: r.ItemID, Type: r.Type, At: r.At, Actor: r.Actor, Data: r.Data,
				PostID: r.PostID, TargetID: r.TargetID, Network: r.Network, Handle: r.Handle,
				RemoteURL: r.RemoteUrl, Content: r.Content, Scheduled: r.ScheduledTime, Site: r.Site,
				Search: r.SavedSearch, Article: r.Article,
			}
		}
		if body, err = compose(facts, int(total)); err != nil {
			return err
		}
		return q.CloseNotification(ctx, db.CloseNotificationParams{ID: id, Body: body})
	})
	return body, err
}

// NotificationDecision returns what a link about an uncertain post allows.
func (s *NotificationStore) NotificationDecision(ctx context.Context, item int64) (notification.Decision, error) {
	r, err := s.q.NotificationDecision(ctx, db.NotificationDecisionParams{
		ID: item, ValidSeconds: notification.LinkValidity.Seconds(),
	})
	if err != nil {
		return notification.Decision{}, tx.OrNotFound(err, "link")
	}
	d := notification.Decision{
		Item: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, UserName: r.UserName,
		MayDecide: workspace.Role(r.Role).AtLeast(workspace.Author),
		Data:      r.Data, At: r.At, Network: r.Network, Handle: r.Handle, Content: r.Content,
		State: notification.LinkOpen, Zone: notification.Channel{TimeZone: r.TimeZone}.Location(),
	}
	if r.PostID != nil && r.TargetID != nil {
		d.PostID, d.TargetID = *r.PostID, *r.TargetID
	}
	switch {
	case r.UsedAt != nil:
		d.State = notification.LinkUsed
	case !r.IsOpen:
		d.State = notification.LinkDecided
	case r.IsExpired:
		d.State = notification.LinkExpired
	}
	return d, nil
}

// UseNotificationLink marks a link as used. It reports whether it was unused.
func (s *NotificationStore) UseNotificationLink(ctx context.Context, item int64) (bool, error) {
	n, err := s.q.UseNotificationLink(ctx, item)
	return n > 0, err
}

// recordChannelResult records the result of an attempt in its channel.
func recordChannelResult(
	ctx context.Context, q *queries, channel uuid.UUID, r webhook.Result, failureTimeout time.Duration,
) (disabled bool, err error) {
	if r.Status == webhook.Delivered {
		return false, q.ChannelSucceeded(ctx, channel)
	}
	if err := q.ChannelFailed(ctx, channel); err != nil {
		return false, err
	}
	reason := webhook.Failing
	if r.Gone {
		reason = webhook.Gone
	}
	n, err := q.DisableChannel(ctx, db.DisableChannelParams{
		ID: channel, Reason: reason, AfterSeconds: failureTimeout.Seconds(),
	})
	return n > 0, err
}

func quietParams(quiet *notification.Quiet) (from, to *int) {
	if quiet == nil {
		return nil, nil
	}
	a, b := quiet.From, quiet.To
	return &a, &b
}

func channelFromRow(r db.NotificationChannel) notification.Channel {
	c := notification.Channel{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Kind: notification.Kind(r.Kind),
		Name: r.Name, Sealed: r.Destination, Hint: r.Hint, Types: r.Types,
		OwnPostsOnly: r.OwnPostsOnly, Digest: notification.Digest(r.Digest), TimeZone: r.TimeZone,
		Language: webpage.Language(r.Language), Status: notification.Status(r.Status),
		DisabledReason: r.DisabledReason, ConfirmedAt: r.ConfirmedAt, FailingSince: r.FailingSince,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	if r.QuietFrom != nil && r.QuietTo != nil {
		c.Quiet = &notification.Quiet{From: *r.QuietFrom, To: *r.QuietTo}
	}
	return c
}
