package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/notify/webhook"

	"dateline/internal/storage/postgres/db"
)

// AddTestDelivery puts a delivery of no event into the outbox.
func (s *Store) AddTestDelivery(ctx context.Context, workspaceID uuid.UUID, d webhook.Delivery) (added webhook.Delivery, err error) {
	err = s.lockedWebhook(ctx, workspaceID, d.EndpointID, func(q *db.Queries, e db.WebhookEndpoint) error {
		if e.Status != db.WebhookStatusEnabled {
			return disabled()
		}
		row, err := q.InsertTestDelivery(ctx, db.InsertTestDeliveryParams{ID: d.ID, EndpointID: d.EndpointID, Type: d.Type, Body: d.Body})
		added = deliveryFromRow(row)
		return err
	})
	return added, err
}

func disabled() error {
	return &apperr.Error{Kind: apperr.KindConflict, Code: "webhook_disabled", Message: "This webhook endpoint is disabled. Enable it first."}
}

// Deliveries lists an endpoint's deliveries, the newest first.
func (s *Store) Deliveries(ctx context.Context, f webhook.DeliveryFilter) ([]webhook.Delivery, error) {
	p := db.ListDeliveriesParams{EndpointID: f.EndpointID, WorkspaceID: f.WorkspaceID, Before: f.Before, PageSize: int32(f.Limit)} //nolint:gosec // the API caps it
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

// Redeliver makes a delivery due at once, with all its tries.
func (s *Store) Redeliver(ctx context.Context, workspaceID, endpoint, id uuid.UUID) (webhook.Delivery, error) {
	row, err := s.q.RedeliverOne(ctx, db.RedeliverOneParams{ID: id, EndpointID: endpoint, WorkspaceID: workspaceID})
	if !noRows(err) {
		return deliveryFromRow(row), err
	}
	if _, err := s.Webhook(ctx, workspaceID, endpoint); err != nil {
		return webhook.Delivery{}, err
	}
	if _, err := s.q.GetDelivery(ctx, db.GetDeliveryParams{ID: id, EndpointID: endpoint, WorkspaceID: workspaceID}); noRows(err) {
		return webhook.Delivery{}, apperr.NotFound("delivery")
	} else if err != nil {
		return webhook.Delivery{}, err
	}
	return webhook.Delivery{}, disabled()
}

// RedeliverDead does so with all dead deliveries of an endpoint, and says how
// many there were.
func (s *Store) RedeliverDead(ctx context.Context, workspaceID, endpoint uuid.UUID) (n int64, err error) {
	err = s.lockedWebhook(ctx, workspaceID, endpoint, func(q *db.Queries, e db.WebhookEndpoint) error {
		if e.Status != db.WebhookStatusEnabled {
			return disabled()
		}
		n, err = q.RedeliverDead(ctx, db.RedeliverDeadParams{EndpointID: endpoint, WorkspaceID: workspaceID})
		return err
	})
	return n, err
}

// DeliveryJob reads a delivery for an attempt.
func (s *Store) DeliveryJob(ctx context.Context, id uuid.UUID) (webhook.Job, error) {
	r, err := s.q.DeliveryForAttempt(ctx, id)
	if noRows(err) {
		return webhook.Job{}, apperr.NotFound("delivery")
	}
	if err != nil {
		return webhook.Job{}, err
	}
	return webhook.Job{URL: r.Url, Enabled: r.EndpointStatus == db.WebhookStatusEnabled, Wait: time.Duration(r.DueIn * float64(time.Second)),
		Delivery: webhook.Delivery{ID: r.ID, EndpointID: r.EndpointID, Type: r.Type, Body: r.Body,
			Status: webhook.DeliveryStatus(r.Status), Attempts: int(r.Attempts), Tries: int(r.Tries), DueAt: r.DueAt}}, nil
}

// PostponeDelivery puts a delivery off that could not be tried yet.
func (s *Store) PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error {
	return s.q.PostponeDelivery(ctx, db.PostponeDeliveryParams{ID: id, AgainSeconds: by.Seconds()})
}

// RecordAttempt notes what became of an attempt, in delivery and endpoint at
// once. disabled says that it was one failure too many for the endpoint. An
// attempt that another one has overtaken counts for nothing.
func (s *Store) RecordAttempt(ctx context.Context, j webhook.Job, r webhook.Result, patience time.Duration) (disabled bool, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		p := db.RecordAttemptParams{ID: j.ID, AttemptsBefore: int32(j.Attempts), Status: db.DeliveryStatus(r.Status), //nolint:gosec // dozens
			AgainSeconds: r.Again.Seconds(), ResponseBody: r.ResponseBody, LastError: r.Error}
		if r.Made {
			p.Made = 1
		}
		if r.ResponseStatus != 0 {
			status := int32(r.ResponseStatus) //nolint:gosec // three digits
			p.ResponseStatus = &status
		}
		n, err := q.RecordAttempt(ctx, p)
		if err != nil || n == 0 || !r.Made {
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
		n, err = q.DisableWebhook(ctx, db.DisableWebhookParams{ID: j.EndpointID, Reason: reason, AfterSeconds: patience.Seconds()})
		disabled = n > 0
		return err
	})
	return disabled, err
}

func deliveryFromRow(r db.WebhookDelivery) webhook.Delivery {
	d := webhook.Delivery{ID: r.ID, EndpointID: r.EndpointID, Type: r.Type, Body: r.Body, Status: webhook.DeliveryStatus(r.Status),
		Attempts: int(r.Attempts), Tries: int(r.Tries), DueAt: r.DueAt.UTC(), ResponseBody: r.ResponseBody, LastError: r.LastError,
		AttemptedAt: r.AttemptedAt, DeliveredAt: r.DeliveredAt, CreatedAt: r.CreatedAt.UTC()}
	if r.ResponseStatus != nil {
		d.ResponseStatus = int(*r.ResponseStatus)
	}
	return d
}
