package audience

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/report"
	"dateline/internal/audience/site"
	"dateline/internal/audience/subscription"
	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/webpage"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateSubscription stores a subscription unless its site has as many as the limit.
func (s *SubscriptionStore) CreateSubscription(
	ctx context.Context, n subscription.Subscription, limit int,
) (made subscription.Subscription, err error) {
	err = s.sites().lockedSite(ctx, n.WorkspaceID, n.SiteID, func(q *queries, _ site.Site) error {
		row, err := q.InsertSubscription(ctx, db.InsertSubscriptionParams{
			ID: n.ID, WorkspaceID: n.WorkspaceID,
			SiteID: n.SiteID, Kind: string(n.Kind), Email: n.Email,
			Language: string(n.Language), Token: n.Token, MaxSubscriptions: limit,
		})
		switch {
		case tx.NoRows(err):
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_subscriptions",
				Message: fmt.Sprintf("This site has reached the limit of %d recipients. Remove one first.", limit),
			}
		case tx.Violates(err, "report_subscriptions_email"):
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "already_subscribed",
				Message: "This address already gets these emails.",
			}
		case err != nil:
			return err
		}
		made = subscriptionFromRow(row)
		return tx.Record(ctx, q.tx, n.WorkspaceID, audit.RecipientAdded, "report_subscription", n.ID, map[string]any{
			"kind": n.Kind,
		})
	})
	return made, err
}

// Subscriptions lists the subscriptions of a site with their last emails.
func (s *SubscriptionStore) Subscriptions(
	ctx context.Context, workspace, siteID uuid.UUID,
) ([]subscription.Subscription, error) {
	if _, err := s.sites().Site(ctx, workspace, siteID); err != nil {
		return nil, err
	}
	rows, err := s.q.ListSubscriptions(ctx, db.ListSubscriptionsParams{SiteID: siteID, WorkspaceID: workspace})
	list := make([]subscription.Subscription, len(rows))
	for i, r := range rows {
		list[i] = subscriptionFromRow(r.ReportSubscription)
		if r.EmailStatus != "" {
			list[i].LastEmail = &subscription.EmailState{
				Status: r.EmailStatus, Error: r.EmailError, CreatedAt: r.EmailCreatedAt, SentAt: r.EmailSentAt,
			}
		}
	}
	return list, err
}

// DeleteSubscription deletes a subscription with its emails.
func (s *SubscriptionStore) DeleteSubscription(ctx context.Context, workspace, siteID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		kind, err := q.DeleteSubscription(ctx, db.DeleteSubscriptionParams{
			ID: id, SiteID: siteID, WorkspaceID: workspace,
		})
		if err != nil {
			return tx.OrNotFound(err, "subscription")
		}
		return tx.Record(ctx, q.tx, workspace, audit.RecipientRemoved, "report_subscription", id, map[string]any{
			"kind": kind,
		})
	})
}

// ResendEmail makes the last email of a subscription due again if it is dead.
func (s *SubscriptionStore) ResendEmail(ctx context.Context, workspace, siteID, id uuid.UUID) error {
	n, err := s.q.ResendEmail(ctx, db.ResendEmailParams{SubscriptionID: id, SiteID: siteID, WorkspaceID: workspace})
	if err == nil && n == 0 {
		return apperr.NotFound("dead_email")
	}
	return err
}

// SubscriptionByToken returns the subscription of a token with its site's name.
func (s *SubscriptionStore) SubscriptionByToken(
	ctx context.Context, token string,
) (subscription.Subscription, string, error) {
	row, err := s.q.SubscriptionByToken(ctx, token)
	return subscriptionFromRow(row.ReportSubscription), row.SiteName, tx.OrNotFound(err, "subscription")
}

// Unsubscribe deletes the subscription of a token with its emails.
func (s *SubscriptionStore) Unsubscribe(ctx context.Context, token string) error {
	_, err := s.q.Unsubscribe(ctx, token)
	return err
}

// ReportSubscriptions lists the weekly and monthly subscriptions of all sites.
func (s *SubscriptionStore) ReportSubscriptions(ctx context.Context) ([]subscription.SiteSubscription, error) {
	rows, err := s.q.ReportSubscriptions(ctx)
	list := make([]subscription.SiteSubscription, len(rows))
	for i, r := range rows {
		list[i] = subscription.SiteSubscription{
			Subscription: subscriptionFromRow(r.ReportSubscription), Site: siteFromRow(r.Site),
		}
	}
	return list, err
}

// SiteSubscriptions lists the subscriptions of a site of one kind.
func (s *SubscriptionStore) SiteSubscriptions(
	ctx context.Context, siteID uuid.UUID, kind subscription.Kind,
) ([]subscription.Subscription, error) {
	rows, err := s.q.SiteSubscriptions(ctx, db.SiteSubscriptionsParams{SiteID: siteID, Kind: string(kind)})
	list := make([]subscription.Subscription, len(rows))
	for i, r := range rows {
		list[i] = subscriptionFromRow(r)
	}
	return list, err
}

func subscriptionFromRow(r db.ReportSubscription) subscription.Subscription {
	return subscription.Subscription{
		ID: r.ID, WorkspaceID: r.WorkspaceID, SiteID: r.SiteID,
		Kind: subscription.Kind(r.Kind), Email: r.Email,
		Language: webpage.Language(r.Language), Token: r.Token, CreatedAt: r.CreatedAt,
	}
}

// AlertRule returns the rule of a site, or the default one.
func (s *SubscriptionStore) AlertRule(ctx context.Context, workspace, siteID uuid.UUID) (subscription.Rule, error) {
	if _, err := s.sites().Site(ctx, workspace, siteID); err != nil {
		return subscription.Rule{}, err
	}
	row, err := s.q.GetAlertRule(ctx, siteID)
	if tx.NoRows(err) {
		return subscription.DefaultRule(), nil
	}
	return ruleFromRow(row), err
}

// SetAlertRule changes the rule of a site.
func (s *SubscriptionStore) SetAlertRule(ctx context.Context, workspace, siteID uuid.UUID, r subscription.Rule) error {
	return s.sites().lockedSite(ctx, workspace, siteID, func(q *queries, w site.Site) error {
		err := q.SetAlertRule(ctx, db.SetAlertRuleParams{
			SiteID: siteID, Enabled: r.Enabled, SpikeFactor: r.SpikeFactor,
			DropShare: r.DropShare, MinViews: r.MinViews,
		})
		if err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspace, audit.SiteChanged, "site", siteID, map[string]any{"name": w.Name})
	})
}

// RuledSites lists the sites whose rule is enabled.
func (s *SubscriptionStore) RuledSites(ctx context.Context) ([]subscription.RuledSite, error) {
	rows, err := s.q.RuledSites(ctx)
	list := make([]subscription.RuledSite, len(rows))
	for i, r := range rows {
		list[i] = subscription.RuledSite{Site: siteFromRow(r.Site), Rule: ruleFromRow(r.SiteAlertRule)}
	}
	return list, err
}

func ruleFromRow(r db.SiteAlertRule) subscription.Rule {
	return subscription.Rule{
		Enabled: r.Enabled, SpikeFactor: r.SpikeFactor, DropShare: r.DropShare, MinViews: r.MinViews,
	}
}

// HasAlert reports whether a site had an alert of a kind for an hour after a time.
func (s *SubscriptionStore) HasAlert(
	ctx context.Context, siteID uuid.UUID, kind subscription.AlertKind, since time.Time,
) (bool, error) {
	return s.q.HasAlert(ctx, db.HasAlertParams{SiteID: siteID, Kind: string(kind), Since: since})
}

// AddAlert stores an alert once, with its emails and an event for webhooks.
func (s *SubscriptionStore) AddAlert(ctx context.Context, a subscription.Alert, emails []subscription.Email) error {
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.InsertAlert(ctx, db.InsertAlertParams{
			ID: a.ID, WorkspaceID: a.WorkspaceID, SiteID: a.SiteID, Kind: string(a.Kind), Hour: a.Hour, Views: a.Views,
			Usual: a.Usual,
		})
		if err != nil || n == 0 {
			return err
		}
		if err := q.InsertAlertEvent(ctx,
			db.InsertAlertEventParams{
				WorkspaceID: a.WorkspaceID, Type: "site_" + string(a.Kind), SiteID: a.SiteID,
				Hour: a.Hour, Views: a.Views, Usual: a.Usual,
			}); err != nil {
			return err
		}
		for _, e := range emails {
			if err := addEmail(ctx, q, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// SiteAlerts lists the alerts of a site, the newest first.
func (s *SubscriptionStore) SiteAlerts(
	ctx context.Context, workspace, siteID uuid.UUID, limit int,
) ([]subscription.Alert, error) {
	if _, err := s.sites().Site(ctx, workspace, siteID); err != nil {
		return nil, err
	}
	rows, err := s.q.ListAlerts(ctx, db.ListAlertsParams{
		SiteID: siteID, WorkspaceID: workspace, PageSize: limit,
	})
	list := make([]subscription.Alert, len(rows))
	for i, r := range rows {
		list[i] = subscription.Alert{
			ID: r.ID, WorkspaceID: r.WorkspaceID, SiteID: r.SiteID, Kind: subscription.AlertKind(r.Kind), Hour: r.Hour,
			Views: r.Views, Usual: r.Usual, CreatedAt: r.CreatedAt,
		}
	}
	return list, err
}

// Time returns the time of the database's clock.
func (s *SubscriptionStore) Time(ctx context.Context) (time.Time, error) { return tx.Time(ctx, s.pool) }

// ReportHours is that of Reports, for alerts.
func (s *SubscriptionStore) ReportHours(
	ctx context.Context, site uuid.UUID, from, to time.Time,
) ([]report.Bucket, error) {
	return (&ReportStore{s.store}).ReportHours(ctx, site, from, to)
}
