package notify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/notify/webhook"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/notify/db"
	"dateline/internal/storage/postgres/tx"
)

// PendingWebhookWork reports whether there are events to dispatch and deliveries to
// start.
func (s *WebhookStore) PendingWebhookWork(
	ctx context.Context, overdue time.Duration,
) (events, deliveries bool, err error) {
	row, err := s.q.PendingWebhookWork(ctx, overdue.Seconds())
	return row.Events, row.Deliveries, err
}

// DispatchWebhooks inserts the deliveries of up to limit events, to webhooks and to the
// notification channels of members, and advances the cursor, in one transaction, so that each
// event is dispatched once. It returns the number of events, which is 0 if another dispatcher holds the lock.
func (s *WebhookStore) DispatchWebhooks(
	ctx context.Context, limit int, body func(webhook.Event) (string, error),
) (dispatched int, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		dispatched = 0
		cursor, err := q.LockWebhookCursor(ctx)
		if tx.NoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err := q.DueEvents(ctx, db.DueEventsParams{
			AfterTx: cursor.Tx, AfterID: cursor.EventID, PageSize: limit,
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		workspaces := make([]uuid.UUID, len(rows))
		for i, r := range rows {
			workspaces[i] = r.WorkspaceID
		}
		if err := insertDeliveries(ctx, q, rows, workspaces, body); err != nil {
			return err
		}
		if err := collectNotifications(ctx, q, rows, workspaces); err != nil {
			return err
		}
		last := rows[len(rows)-1]
		dispatched = len(rows)
		return q.MoveWebhookCursor(ctx, db.MoveWebhookCursorParams{Tx: last.Tx, EventID: last.ID})
	})
	return dispatched, err
}

func insertDeliveries(ctx context.Context, q *queries, rows []db.DueEventsRow, workspaces []uuid.UUID,
	body func(webhook.Event) (string, error),
) error {
	found, err := q.EnabledWebhooks(ctx, workspaces)
	if err != nil || len(found) == 0 {
		return err
	}
	var p db.InsertDeliveriesParams
	for _, r := range rows {
		e := webhook.Event{
			WorkspaceID: r.WorkspaceID, PostID: r.PostID, TargetID: r.TargetID,
			AccountID: r.AccountID, Type: r.Type, Actor: r.Actor, Data: r.Data, At: r.At, Network: r.Network,
			Handle:    r.Handle,
			RemoteURL: r.RemoteUrl, SentAt: r.SentAt, Scheduled: r.ScheduledTime,
		}
		kind, text := webhook.TypeOf(r.Type), ""
		for _, endpoint := range found {
			if !endpointFromRow(endpoint).Wants(r.WorkspaceID, kind, r.At) {
				continue
			}
			if text == "" {
				if text, err = body(e); err != nil {
					return err
				}
			}
			p.Ids = append(p.Ids, column.NewID())
			p.EndpointIds = append(p.EndpointIds, endpoint.ID)
			p.EventIds = append(p.EventIds, r.ID)
			p.Types = append(p.Types, kind)
			p.Bodies = append(p.Bodies, text)
		}
	}
	return q.InsertDeliveries(ctx, p)
}

// DeliveriesToStart returns deliveries without a workflow and overdue ones. They are not
// returned to other dispatchers for a while.
func (s *WebhookStore) DeliveriesToStart(ctx context.Context, limit int, l webhook.Limits) ([]uuid.UUID, error) {
	return s.q.DeliveriesToStart(ctx,
		db.DeliveriesToStartParams{
			MaxCount: limit, PerEndpoint: int64(l.PerEndpoint),
			RetrySeconds: l.RetryAfter.Seconds(), OverdueSeconds: l.Overdue.Seconds(),
		})
}

// DeliveryStarted marks a delivery whose workflow was started.
func (s *WebhookStore) DeliveryStarted(ctx context.Context, id uuid.UUID) error {
	return s.q.DeliveryStarted(ctx, id)
}

// PruneDeliveries deletes up to limit deliveries that succeeded before the retention.
func (s *WebhookStore) PruneDeliveries(ctx context.Context, retentionDays, limit int) (int64, error) {
	return s.q.PruneDeliveries(ctx, db.PruneDeliveriesParams{
		RetentionDays: retentionDays, MaxCount: limit,
	})
}

// AlignCursor adjusts event positions after a restore from a dump: transaction ids of
// the original server would be in the future of the new one.
func (s *WebhookStore) AlignCursor(ctx context.Context) (restored bool, err error) {
	if restored, err = s.q.HasLaterEvents(ctx); err != nil || !restored {
		return restored, err
	}
	return true, s.inTx(ctx, func(q *queries) error {
		if err := q.RestartCursor(ctx); err != nil {
			return err
		}
		return q.RestartEvents(ctx)
	})
}
