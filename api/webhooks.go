package api

import (
	"context"
	"encoding/json"
	"slices"

	"dateline/api/spec"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/optional"
	"dateline/internal/notify/webhook"
)

// WebhookHandler serves webhooks.
type WebhookHandler struct{ Webhooks Webhooks }

// ListWebhooks lists the webhook endpoints.
func (s *WebhookHandler) ListWebhooks(
	ctx context.Context, _ spec.ListWebhooksRequestObject,
) (spec.ListWebhooksResponseObject, error) {
	endpoints, err := s.Webhooks.List(ctx, principal(ctx))
	out := spec.ListWebhooks200JSONResponse{Webhooks: []spec.Webhook{}}
	for _, e := range endpoints {
		out.Webhooks = append(out.Webhooks, webhookJSON(e))
	}
	return out, err
}

// CreateWebhook creates a webhook endpoint.
func (s *WebhookHandler) CreateWebhook(
	ctx context.Context, r spec.CreateWebhookRequestObject,
) (spec.CreateWebhookResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "webhook", r.Body)
	if err != nil {
		return nil, err
	}
	e, plain, replayed, err := s.Webhooks.Create(ctx, principal(ctx), r.Body.Url, optional.Value(r.Body.Description),
		typeNames(r.Body.Types), key)
	location := "/api/v1/webhooks/" + e.ID.String()
	return spec.CreateWebhook201JSONResponse{
			Body: withSecret(e, plain),
			Headers: spec.CreateWebhook201ResponseHeaders{
				Location: &location, IdempotentReplayed: ifReplayed(replayed),
			},
		},
		err
}

// GetWebhook returns a webhook endpoint.
func (s *WebhookHandler) GetWebhook(
	ctx context.Context, r spec.GetWebhookRequestObject,
) (spec.GetWebhookResponseObject, error) {
	e, err := s.Webhooks.Get(ctx, principal(ctx), r.Id)
	return spec.GetWebhook200JSONResponse(webhookJSON(e)), err
}

// UpdateWebhook changes, disables or enables a webhook endpoint.
func (s *WebhookHandler) UpdateWebhook(
	ctx context.Context, r spec.UpdateWebhookRequestObject,
) (spec.UpdateWebhookResponseObject, error) {
	change := webhook.Change{URL: r.Body.Url, Description: r.Body.Description}
	if r.Body.Types != nil {
		types := typeNames(r.Body.Types)
		change.Types = &types
	}
	if r.Body.Status != nil {
		status := webhook.Status(*r.Body.Status)
		change.Status = &status
	}
	e, err := s.Webhooks.Update(ctx, principal(ctx), r.Id, change)
	return spec.UpdateWebhook200JSONResponse(webhookJSON(e)), err
}

// DeleteWebhook deletes a webhook endpoint with its deliveries.
func (s *WebhookHandler) DeleteWebhook(
	ctx context.Context, r spec.DeleteWebhookRequestObject,
) (spec.DeleteWebhookResponseObject, error) {
	return spec.DeleteWebhook204Response{}, s.Webhooks.Delete(ctx, principal(ctx), r.Id)
}

// RotateWebhookSecret creates a new signing secret.
func (s *WebhookHandler) RotateWebhookSecret(
	ctx context.Context, r spec.RotateWebhookSecretRequestObject,
) (spec.RotateWebhookSecretResponseObject, error) {
	e, plain, err := s.Webhooks.Rotate(ctx, principal(ctx), r.Id)
	return spec.RotateWebhookSecret200JSONResponse(withSecret(e, plain)), err
}

// TestWebhook sends a test event to an endpoint.
func (s *WebhookHandler) TestWebhook(
	ctx context.Context, r spec.TestWebhookRequestObject,
) (spec.TestWebhookResponseObject, error) {
	d, err := s.Webhooks.Test(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	out, err := deliveryJSON(d)
	return spec.TestWebhook202JSONResponse(out), err
}

// ListWebhookDeliveries lists deliveries of an endpoint.
func (s *WebhookHandler) ListWebhookDeliveries(
	ctx context.Context, r spec.ListWebhookDeliveriesRequestObject,
) (spec.ListWebhookDeliveriesResponseObject, error) {
	f := webhook.DeliveryFilter{
		WorkspaceID: principal(ctx).WorkspaceID, EndpointID: r.Id, Before: r.Params.Cursor,
		Limit: defaultPage,
	}
	if r.Params.Status != nil {
		f.Status = webhook.DeliveryStatus(*r.Params.Status)
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	deliveries, err := s.Webhooks.Deliveries(ctx, f)
	if err != nil {
		return nil, err
	}
	out := spec.ListWebhookDeliveries200JSONResponse{Deliveries: []spec.WebhookDelivery{}}
	if len(deliveries) > limit {
		deliveries = deliveries[:limit]
		out.NextCursor = optional.Of(deliveries[limit-1].ID.String())
	}
	for _, d := range deliveries {
		one, err := deliveryJSON(d)
		if err != nil {
			return nil, err
		}
		out.Deliveries = append(out.Deliveries, one)
	}
	return out, nil
}

// RedeliverWebhook makes a delivery due at once.
func (s *WebhookHandler) RedeliverWebhook(
	ctx context.Context, r spec.RedeliverWebhookRequestObject,
) (spec.RedeliverWebhookResponseObject, error) {
	d, err := s.Webhooks.Redeliver(ctx, principal(ctx), r.Id, r.Delivery)
	if err != nil {
		return nil, err
	}
	out, err := deliveryJSON(d)
	return spec.RedeliverWebhook202JSONResponse(out), err
}

// RedeliverDeadWebhooks makes all dead deliveries of an endpoint due at once.
func (s *WebhookHandler) RedeliverDeadWebhooks(
	ctx context.Context, r spec.RedeliverDeadWebhooksRequestObject,
) (spec.RedeliverDeadWebhooksResponseObject, error) {
	n, err := s.Webhooks.RedeliverDead(ctx, principal(ctx), r.Id)
	return spec.RedeliverDeadWebhooks202JSONResponse{Redelivered: n}, err
}

func typeNames(types *[]spec.WebhookType) []string {
	var out []string
	if types != nil {
		for _, t := range *types {
			out = append(out, string(t))
		}
	}
	return out
}

func withSecret(e webhook.Endpoint, plain secret.Text) spec.WebhookWithSecret {
	return spec.WebhookWithSecret{Webhook: webhookJSON(e), Secret: plain.Reveal()}
}

func webhookJSON(e webhook.Endpoint) spec.Webhook {
	out := spec.Webhook{
		Id: e.ID, Url: e.URL, Description: e.Description, Types: []spec.WebhookType{},
		Status:       spec.WebhookStatus(e.Status),
		FailingSince: e.FailingSince, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
	for _, t := range slices.Sorted(slices.Values(e.Types)) {
		out.Types = append(out.Types, spec.WebhookType(t))
	}
	if e.DisabledReason != "" {
		reason := spec.WebhookDisabledReason(e.DisabledReason)
		out.DisabledReason = &reason
	}
	return out
}

func deliveryJSON(d webhook.Delivery) (spec.WebhookDelivery, error) {
	out := spec.WebhookDelivery{
		Id: d.ID, WebhookId: d.EndpointID, Type: d.Type, Status: spec.DeliveryStatus(d.Status),
		Attempts:      d.Attempts,
		LastAttemptAt: d.AttemptedAt, DeliveredAt: d.DeliveredAt, LastError: optionalNote(d.LastError),
		ResponseBody: optional.Of(d.ResponseBody), CreatedAt: d.CreatedAt,
	}
	if d.Status == webhook.Pending {
		out.NextAttemptAt = &d.DueAt
	}
	if d.ResponseStatus != 0 {
		out.ResponseStatus = &d.ResponseStatus
	}
	return out, json.Unmarshal([]byte(d.Body), &out.Payload)
}
