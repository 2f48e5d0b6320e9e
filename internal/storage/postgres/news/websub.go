package news

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/websub"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// PushedFeeds returns the feeds of a domain with a subscription to a hub.
func (s *DomainStore) PushedFeeds(ctx context.Context, domain int, limit int) ([]crawl.PushedFeed, error) {
	rows, err := s.q.ListHubSubscriptions(ctx, db.ListHubSubscriptionsParams{DomainID: domain, Batch: limit})
	out := make([]crawl.PushedFeed, len(rows))
	for i, r := range rows {
		out[i] = crawl.PushedFeed{
			URLKey: crawl.URLKey{DomainID: domain, ID: r.UrlID}, FeedURL: r.FeedUrl, Hub: r.Hub,
			Topic: r.Topic, Status: crawl.PushStatus(r.Status),
			LeaseEndsAt: optional.UTC(r.LeaseEndsAt), DeliveredAt: optional.UTC(r.DeliveredAt), LastError: r.LastError,
			IsDelivering: r.Delivering,
		}
	}
	return out, err
}

// UpsertHubSubscription stores a new subscription of a feed. It replaces one to another hub or
// topic.
func (s *DomainStore) UpsertHubSubscription(ctx context.Context, sub websub.Subscription) error {
	return s.q.UpsertHubSubscription(ctx, db.UpsertHubSubscriptionParams{
		ID: sub.SubscriptionID, DomainID: sub.DomainID,
		UrlID: sub.ID, FeedUrl: sub.FeedURL, Hub: sub.Hub, Topic: sub.Topic,
		Key: sub.Sealed, CallbackHash: sub.CallbackHash,
	})
}

// DeleteHubSubscription deletes the subscription of a feed.
func (s *DomainStore) DeleteHubSubscription(ctx context.Context, feed crawl.URLKey) error {
	return s.q.DeleteHubSubscription(ctx, db.DeleteHubSubscriptionParams{DomainID: feed.DomainID, UrlID: feed.ID})
}

// DistrustHub polls a feed at its normal pace until the hub delivers again.
func (s *DomainStore) DistrustHub(ctx context.Context, feed crawl.URLKey) error {
	return s.q.DistrustHub(ctx, db.DistrustHubParams{DomainID: feed.DomainID, UrlID: feed.ID})
}

// ClaimHubSubscriptions claims subscriptions that are due.
func (s *DomainStore) ClaimHubSubscriptions(
	ctx context.Context, claim uuid.UUID, limit int, lease time.Duration,
) ([]websub.Due, error) {
	rows, err := s.q.ClaimHubSubscriptions(ctx, db.ClaimHubSubscriptionsParams{
		Claim: claim, Batch: limit, Seconds: lease.Seconds(),
	})
	out := make([]websub.Due, len(rows))
	for i, r := range rows {
		out[i] = websub.Due{
			Subscription: hubSubscriptionFromRow(r.WebsubSubscription, r.Domain), IsWanted: r.Wanted,
			DiscoveryAge: time.Duration(r.DiscoveryAge * float64(time.Second)),
		}
	}
	return out, err
}

// StartHubRequest lets the hub verify a request. ok is false if the claim has expired.
func (s *DomainStore) StartHubRequest(
	ctx context.Context, claim uuid.UUID, d websub.Due, within time.Duration,
) (ok bool, err error) {
	n, err := s.q.StartHubRequest(ctx, db.StartHubRequestParams{
		ID: d.SubscriptionID, Claim: claim, Seconds: within.Seconds(), DiscoveryAge: d.DiscoveryAge.Seconds(),
	})
	return n == 1, err
}

// RecordHubRequest stores when a request is repeated, unless the hub has verified it.
func (s *DomainStore) RecordHubRequest(
	ctx context.Context, claim, subscription uuid.UUID, lastError string, wait time.Duration,
) error {
	return s.q.RecordHubRequest(ctx, db.RecordHubRequestParams{
		ID: subscription, Claim: claim, LastError: lastError, Seconds: wait.Seconds(),
	})
}

// HubSubscription returns the subscription of a callback.
func (s *DomainStore) HubSubscription(
	ctx context.Context, callbackHash []byte,
) (sub websub.Subscription, known bool, err error) {
	row, err := s.q.GetHubSubscription(ctx, callbackHash)
	if tx.NoRows(err) {
		return sub, false, nil
	}
	return hubSubscriptionFromRow(row.WebsubSubscription, row.Domain), err == nil, err
}

// ConfirmHubSubscription starts the lease of a subscription that was requested.
func (s *DomainStore) ConfirmHubSubscription(
	ctx context.Context, callbackHash []byte, topic string, lease, renewAfter, repeatWithin time.Duration,
) (ok bool, err error) {
	n, err := s.q.ConfirmHubSubscription(ctx, db.ConfirmHubSubscriptionParams{
		CallbackHash: callbackHash, Topic: topic,
		LeaseSeconds: lease.Seconds(), RenewSeconds: renewAfter.Seconds(),
		RepeatSeconds: repeatWithin.Seconds(),
	})
	return n == 1, err
}

// DenyHubSubscription records that a hub denied a subscription.
func (s *DomainStore) DenyHubSubscription(
	ctx context.Context, callbackHash []byte, topic, reason string, retryAfter time.Duration,
) (ok bool, err error) {
	n, err := s.q.DenyHubSubscription(ctx, db.DenyHubSubscriptionParams{
		CallbackHash: callbackHash, Topic: topic, LastError: reason, Seconds: retryAfter.Seconds(),
	})
	return n == 1, err
}

// RecordHubDelivery stores the time of a delivery and makes the domain due, and with poll the
// feed as well.
func (s *DomainStore) RecordHubDelivery(
	ctx context.Context, sub websub.Subscription, deliveringFor time.Duration, poll bool,
) error {
	return s.inTx(ctx, func(q *queries) error {
		if err := q.LockDomains(ctx, []int{sub.DomainID}); err != nil {
			return err
		}
		if poll {
			if err := q.MakeURLDue(ctx, db.MakeURLDueParams{DomainID: sub.DomainID, ID: sub.ID}); err != nil {
				return err
			}
		}
		if err := q.RecordHubDelivery(ctx,
			db.RecordHubDeliveryParams{ID: sub.SubscriptionID, Seconds: deliveringFor.Seconds()}); err != nil {
			return err
		}
		return q.MarkDomainsDue(ctx, []int{sub.DomainID})
	})
}

// CountHubSubscriptions counts subscriptions to hubs by status; those whose lease is over are
// expired.
func (s *DomainStore) CountHubSubscriptions(ctx context.Context) (map[string]int64, error) {
	rows, err := s.q.CountHubSubscriptions(ctx)
	out := map[string]int64{"pending": 0, "active": 0, "expired": 0, "denied": 0}
	for _, r := range rows {
		out[r.Status] = r.Subscriptions
	}
	return out, err
}

func hubSubscriptionFromRow(r db.WebsubSubscription, domain string) websub.Subscription {
	return websub.Subscription{
		SubscriptionID: r.ID, Domain: domain, Sealed: r.Key, CallbackHash: r.CallbackHash,
		Failures: r.Failures,
		PushedFeed: crawl.PushedFeed{
			URLKey: crawl.URLKey{DomainID: r.DomainID, ID: r.UrlID}, FeedURL: r.FeedUrl,
			Hub: r.Hub, Topic: r.Topic, Status: crawl.PushStatus(r.Status),
			LeaseEndsAt: optional.UTC(r.LeaseEndsAt), DeliveredAt: optional.UTC(r.DeliveredAt), LastError: r.LastError,
		},
	}
}
