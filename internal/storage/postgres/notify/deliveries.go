package notify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/notify/webhook"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/notify/db"
	"dateline/internal/storage/postgres/tx"
)

// AddTestDelivery inserts a delivery without an event.
func (s *WebhookStore) AddTestDelivery(
	ctx context.Context, workspaceID uuid.UUID, d webhook.Delivery,
) (added webhook.Delivery, err error) {
	err = s.lockedWebhook(ctx, workspaceID, d.EndpointID, func(q *queries, e db.WebhookEndpoint) error {
		if e.Status != db.WebhookStatusEnabled {
			return errDisabled()
		}
		row, err := q.InsertTestDelivery(ctx, db.InsertTestDeliveryParams{
			ID: d.ID, EndpointID: d.EndpointID, Type: d.Type, Body: d.Body,
		})
		added = deliveryFromRow(row)
		return err
	})
	return added, err
}

func errDisabled() error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "webhook_disabled",
		Message: "This webhook endpoint is disabled. Enable it first.",
	}
}

// Deliveries returns deliveries of an endpoint, newest first.
func (s *WebhookStore) Deliveries(ctx context.Context, f webhook.DeliveryFilter) ([]webhook.Delivery, error) {
	p := db.ListDeliveriesParams{
		EndpointID: f.EndpointID, WorkspaceID: f.WorkspaceID, Before: f.Before, PageSize: f.Limit,
	}
	if f.Status != "" {
		status := db.DeliveryStatus(f.Status)
		p.Status = &status
	}
	rows, err := s.q.ListDeliveries(ctx, p)
	deliveries := make([]webhook.Delivery, len(rows))
	for i, r := range rows {
		deliveries[i] = deliveryFromRow(r)
	}
	return deliveries, err
}

// Redeliver makes a delivery due immediately, with all retries.
func (s *WebhookStore) Redeliver(ctx context.Context, workspaceID, endpoint, id uuid.UUID) (webhook.Delivery, error) {
	row, err := s.q.RedeliverOne(ctx, db.RedeliverOneParams{ID: id, EndpointID: endpoint, WorkspaceID: workspaceID})
	if !tx.NoRows(err) {
		return deliveryFromRow(row), err
	}
	if _, err := s.Webhook(ctx, workspaceID, endpoint); err != nil {
		return webhook.Delivery{}, err
	}
	if _, err := s.q.GetDelivery(ctx,
		db.GetDeliveryParams{ID: id, EndpointID: endpoint, WorkspaceID: workspaceID}); tx.NoRows(err) {
		return webhook.Delivery{}, apperr.NotFound("delivery")
	} else if err != nil {
		return webhook.Delivery{}, err
	}
	return webhook.Delivery{}, errDisabled()
}

// RedeliverDead redelivers all dead deliveries of an endpoint and returns their number.
func (s *WebhookStore) RedeliverDead(ctx context.Context, workspaceID, endpoint uuid.UUID) (n int64, err error) {
	err = s.lockedWebhook(ctx, workspaceID, endpoint, func(q *queries, e db.WebhookEndpoint) error {
		if e.Status != db.WebhookStatusEnabled {
			return errDisabled()
		}
		n, err = q.RedeliverDead(ctx, db.RedeliverDeadParams{EndpointID: endpoint, WorkspaceID: workspaceID})
		return err
	})
	return n, err
}

// DeliveryJob returns a delivery for an attempt.
func (s *WebhookStore) DeliveryJob(ctx context.Context, id uuid.UUID) (webhook.Job, error) {
	r, err := s.q.DeliveryForAttempt(ctx, id)
	if tx.NoRows(err) {
		return webhook.Job{}, apperr.NotFound("delivery")
	}
	if err != nil {
		return webhook.Job{}, err
	}
	return webhook.Job{
		URL: r.Url, Enabled: r.Enabled, Wait: time.Duration(r.DueIn * float64(time.Second)),
		ChannelID: optional.Value(r.ChannelID),
		Delivery: webhook.Delivery{
			ID: r.ID, EndpointID: optional.Value(r.EndpointID), Type: r.Type, Body: r.Body,
			Status: webhook.DeliveryStatus(r.Status), Attempts: r.Attempts, Retries: r.Retries,
			DueAt: r.DueAt,
		},
	}, nil
}

// PostponeDelivery postpones a delivery that could not be attempted yet.
func (s *WebhookStore) PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error {
	return s.q.PostponeDelivery(ctx, db.PostponeDeliveryParams{ID: id, RetrySeconds: by.Seconds()})
}

// RecordAttempt records the result of an attempt in the delivery and its endpoint or
// channel. disabled reports whether that was disabled because of it. The result is ignored
// if another attempt was recorded since the job was read.
func (s *WebhookStore) RecordAttempt(
	ctx context.Context, j webhook.Job, r webhook.Result, failureTimeout time.Duration,
) (disabled bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		p := db.RecordAttemptParams{
			ID: j.ID, AttemptsBefore: j.Attempts, Status: db.DeliveryStatus(r.Status),
			RetrySeconds: r.RetryIn.Seconds(), ResponseBody: r.ResponseBody, LastError: column.Message(r.Error),
		}
		if r.Sent {
			p.Sent = 1
		}
		if r.ResponseStatus != 0 {
			status := r.ResponseStatus
			p.ResponseStatus = &status
		}
		n, err := q.RecordAttempt(ctx, p)
		if err != nil || n == 0 || !r.Sent {
			return err
		}
		if j.ChannelID != uuid.Nil {
			disabled, err = recordChannelResult(ctx, q, j.ChannelID, r, failureTimeout)
			return err
		}
		if r.Status == webhook.Delivered {
			return q.WebhookSucceeded(ctx, j.EndpointID)
		}
		if err := q.WebhookFailed(ctx, j.EndpointID); err != nil {
			return err
		}
		reason := webhook.Failing
		if r.Gone {
			reason = webhook.Gone
		}
		n, err = q.DisableWebhook(ctx, db.DisableWebhookParams{
			ID: j.EndpointID, Reason: reason, AfterSeconds: failureTimeout.Seconds(),
		})
		disabled = n > 0
		return err
	})
	return disabled, err
}

func deliveryFromRow(r db.WebhookDelivery) webhook.Delivery {
	d := webhook.Delivery{
		ID: r.ID, EndpointID: optional.Value(r.EndpointID), Type: r.Type, Body: r.Body,
		Status:   webhook.DeliveryStatus(r.Status),
		Attempts: r.Attempts, Retries: r.Retries, DueAt: r.DueAt.UTC(), ResponseBody: r.ResponseBody,
		LastError:   column.ReadMessage(r.LastError),
		AttemptedAt: r.AttemptedAt, DeliveredAt: r.DeliveredAt, CreatedAt: r.CreatedAt.UTC(),
	}
	if r.ResponseStatus != nil {
		d.ResponseStatus = *r.ResponseStatus
	}
	return d
}
