package notify

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/notify/webhook"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/notify/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateWebhook stores an endpoint with its secret, unless the workspace already
// has maxCount endpoints.
func (s *WebhookStore) CreateWebhook(
	ctx context.Context, e webhook.Endpoint, secret webhook.SealedSecret, maxCount int, key idempotency.Key,
) (created webhook.Endpoint, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, e.WorkspaceID, key, e.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err := q.GetWebhook(ctx, db.GetWebhookParams{ID: earlier, WorkspaceID: e.WorkspaceID})
			created = endpointFromRow(row)
			return tx.OrNotFound(err, "webhook")
		}
		row, err := q.InsertWebhook(ctx, db.InsertWebhookParams{
			ID: e.ID, WorkspaceID: e.WorkspaceID, Url: e.URL,
			Description: e.Description, Types: column.List(e.Types), MaxCount: maxCount,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_webhooks",
				Message: fmt.Sprintf("This workspace has the maximum of %d webhook endpoints. Delete one first.",
					maxCount),
			}
		}
		if err != nil {
			return err
		}
		created = endpointFromRow(row)
		if err := q.InsertWebhookSecret(ctx, db.InsertWebhookSecretParams{
			ID: secret.ID, EndpointID: e.ID,
			Secret: secret.Sealed,
		}); err != nil {
			return err
		}
		return recordWebhook(ctx, q, row, audit.WebhookCreated)
	})
	return created, replayed, err
}

// Webhooks lists a workspace's endpoints, oldest first.
func (s *WebhookStore) Webhooks(ctx context.Context, workspaceID uuid.UUID) ([]webhook.Endpoint, error) {
	rows, err := s.q.ListWebhooks(ctx, workspaceID)
	endpoints := make([]webhook.Endpoint, len(rows))
	for i, r := range rows {
		endpoints[i] = endpointFromRow(r)
	}
	return endpoints, err
}

// Webhook returns an endpoint of a workspace.
func (s *WebhookStore) Webhook(ctx context.Context, workspaceID, id uuid.UUID) (webhook.Endpoint, error) {
	row, err := s.q.GetWebhook(ctx, db.GetWebhookParams{ID: id, WorkspaceID: workspaceID})
	if tx.NoRows(err) {
		err = apperr.NotFound("webhook")
	}
	return endpointFromRow(row), err
}

// UpdateWebhook changes an endpoint under its row lock.
func (s *WebhookStore) UpdateWebhook(
	ctx context.Context, workspaceID, id uuid.UUID, change func(*webhook.Endpoint),
) (changed webhook.Endpoint, err error) {
	err = s.lockedWebhook(ctx, workspaceID, id, func(q *queries, row db.WebhookEndpoint) error {
		e := endpointFromRow(row)
		change(&e)
		row, err := q.UpdateWebhook(ctx, db.UpdateWebhookParams{
			ID: id, Url: e.URL, Description: e.Description,
			Types:  column.List(e.Types),
			Status: db.WebhookStatus(e.Status), DisabledReason: e.DisabledReason, FailingSince: e.FailingSince,
		})
		if err != nil {
			return err
		}
		changed = endpointFromRow(row)
		return recordWebhook(ctx, q, row, audit.WebhookChanged)
	})
	return changed, err
}

// DeleteWebhook deletes an endpoint with its secrets and deliveries.
func (s *WebhookStore) DeleteWebhook(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.lockedWebhook(ctx, workspaceID, id, func(q *queries, row db.WebhookEndpoint) error {
		if err := q.DeleteWebhook(ctx, id); err != nil {
			return err
		}
		return recordWebhook(ctx, q, row, audit.WebhookDeleted)
	})
}

// recordWebhook records only the host, because URLs may contain credentials.
func recordWebhook(ctx context.Context, q *queries, row db.WebhookEndpoint, action audit.Action) error {
	data := map[string]any{"status": row.Status}
	if u, err := url.Parse(row.Url); err == nil {
		data["host"] = u.Host
	}
	return tx.Record(ctx, q.tx, row.WorkspaceID, action, "webhook", row.ID, data)
}

// RotateWebhookSecret creates a new secret; the previous one also signs during overlap.
func (s *WebhookStore) RotateWebhookSecret(
	ctx context.Context, workspaceID, id uuid.UUID, secret webhook.SealedSecret, overlap time.Duration,
) (e webhook.Endpoint, err error) {
	err = s.lockedWebhook(ctx, workspaceID, id, func(q *queries, row db.WebhookEndpoint) error {
		e = endpointFromRow(row)
		if err := q.DropWebhookSecrets(ctx, id); err != nil {
			return err
		}
		if err := q.RetireWebhookSecret(ctx,
			db.RetireWebhookSecretParams{EndpointID: id, OverlapSeconds: overlap.Seconds()}); err != nil {
			return err
		}
		if err := q.InsertWebhookSecret(ctx, db.InsertWebhookSecretParams{
			ID: secret.ID, EndpointID: id,
			Secret: secret.Sealed,
		}); err != nil {
			return err
		}
		return recordWebhook(ctx, q, row, audit.WebhookRotated)
	})
	return e, err
}

func (s *WebhookStore) lockedWebhook(
	ctx context.Context, workspaceID, id uuid.UUID, f func(*queries, db.WebhookEndpoint) error,
) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockWebhook(ctx, db.LockWebhookParams{ID: id, WorkspaceID: workspaceID})
		if tx.NoRows(err) {
			return apperr.NotFound("webhook")
		}
		if err != nil {
			return err
		}
		return f(q, row)
	})
}

// WebhookSecrets returns the current signing secrets of an endpoint, newest first.
func (s *WebhookStore) WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]webhook.SealedSecret, error) {
	rows, err := s.q.WebhookSecrets(ctx, endpoint)
	secrets := make([]webhook.SealedSecret, len(rows))
	for i, r := range rows {
		secrets[i] = webhook.SealedSecret{ID: r.ID, Sealed: r.Secret}
	}
	return secrets, err
}

func endpointFromRow(r db.WebhookEndpoint) webhook.Endpoint {
	return webhook.Endpoint{
		ID: r.ID, WorkspaceID: r.WorkspaceID, URL: r.Url, Description: r.Description,
		Types:  r.Types,
		Status: webhook.Status(r.Status), DisabledReason: r.DisabledReason, FailingSince: r.FailingSince,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}
