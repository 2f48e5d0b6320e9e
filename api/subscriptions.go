package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
	"dateline/internal/audience/subscription"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/webpage"
)

// SubscriptionHandler serves recipients of reports and alerts.
type SubscriptionHandler struct {
	Subscriptions    *subscription.Service
	UnsubscribePages *subscription.Pages
}

// unsubscribeRoute is a page for browsers and mail programs, and not part of
// openapi.yaml.
const unsubscribeRoute = subscription.Path + ":token"

// unsubscribe serves the page for unsubscribing.
func (s *SubscriptionHandler) unsubscribe(c *gin.Context) {
	s.UnsubscribePages.Serve(c.Writer, c.Request, c.Param("token"), clientIP(c))
}

// ListSubscriptions lists the recipients of emails about a site.
func (s *SubscriptionHandler) ListSubscriptions(
	ctx context.Context, r spec.ListSubscriptionsRequestObject,
) (spec.ListSubscriptionsResponseObject, error) {
	list, err := s.Subscriptions.List(ctx, principal(ctx), r.Id)
	out := spec.ListSubscriptions200JSONResponse{
		Subscriptions: []spec.Subscription{}, CanSendEmail: s.Subscriptions.CanSendEmail,
	}
	for _, one := range list {
		out.Subscriptions = append(out.Subscriptions, subscriptionJSON(one))
	}
	return out, err
}

// CreateSubscription adds a recipient.
func (s *SubscriptionHandler) CreateSubscription(
	ctx context.Context, r spec.CreateSubscriptionRequestObject,
) (spec.CreateSubscriptionResponseObject, error) {
	language := webpage.English
	if r.Body.Language != nil {
		language = webpage.Language(*r.Body.Language)
	}
	one, err := s.Subscriptions.Create(ctx, principal(ctx), r.Id, subscription.Kind(r.Body.Kind), r.Body.Email,
		language)
	return spec.CreateSubscription201JSONResponse(subscriptionJSON(one)), err
}

// DeleteSubscription removes a recipient.
func (s *SubscriptionHandler) DeleteSubscription(
	ctx context.Context, r spec.DeleteSubscriptionRequestObject,
) (spec.DeleteSubscriptionResponseObject, error) {
	return spec.DeleteSubscription204Response{}, s.Subscriptions.Delete(ctx, principal(ctx), r.Id, r.Subscription)
}

// ResendEmail sends the last email of a recipient again.
func (s *SubscriptionHandler) ResendEmail(
	ctx context.Context, r spec.ResendEmailRequestObject,
) (spec.ResendEmailResponseObject, error) {
	return spec.ResendEmail204Response{}, s.Subscriptions.Resend(ctx, principal(ctx), r.Id, r.Subscription)
}

func subscriptionJSON(s subscription.Subscription) spec.Subscription {
	out := spec.Subscription{
		Id: s.ID, Kind: spec.SubscriptionKind(s.Kind), Email: s.Email, Language: spec.SubscriptionLanguage(s.Language),
		CreatedAt: s.CreatedAt,
	}
	if e := s.LastEmail; e != nil {
		out.LastEmail = &spec.EmailState{
			Status: spec.EmailStateStatus(e.Status), Error: optional.Of(e.Error), CreatedAt: e.CreatedAt,
			SentAt: e.SentAt,
		}
	}
	return out
}

// GetAlertRule returns when a site's views are unusual.
func (s *SubscriptionHandler) GetAlertRule(
	ctx context.Context, r spec.GetAlertRuleRequestObject,
) (spec.GetAlertRuleResponseObject, error) {
	rule, err := s.Subscriptions.Rule(ctx, principal(ctx), r.Id)
	return spec.GetAlertRule200JSONResponse(ruleJSON(rule)), err
}

// SetAlertRule changes when a site's views are unusual.
func (s *SubscriptionHandler) SetAlertRule(
	ctx context.Context, r spec.SetAlertRuleRequestObject,
) (spec.SetAlertRuleResponseObject, error) {
	b := r.Body
	rule := subscription.Rule{
		Enabled: b.Enabled, SpikeFactor: b.SpikeFactor, DropShare: b.DropShare, MinViews: b.MinViews,
	}
	return spec.SetAlertRule200JSONResponse(ruleJSON(rule)), s.Subscriptions.SetRule(ctx, principal(ctx), r.Id,
		rule)
}

func ruleJSON(r subscription.Rule) spec.AlertRule {
	return spec.AlertRule{Enabled: r.Enabled, SpikeFactor: r.SpikeFactor, DropShare: r.DropShare, MinViews: r.MinViews}
}

// ListSiteAlerts lists the alerts of a site.
func (s *SubscriptionHandler) ListSiteAlerts(
	ctx context.Context, r spec.ListSiteAlertsRequestObject,
) (spec.ListSiteAlertsResponseObject, error) {
	list, err := s.Subscriptions.Alerts(ctx, principal(ctx), r.Id)
	out := spec.ListSiteAlerts200JSONResponse{Alerts: []spec.SiteAlert{}}
	for _, a := range list {
		out.Alerts = append(out.Alerts, spec.SiteAlert{
			Id: a.ID, Kind: spec.SiteAlertKind(a.Kind), Hour: a.Hour, Views: a.Views, Usual: a.Usual,
			CreatedAt: a.CreatedAt,
		})
	}
	return out, err
}
