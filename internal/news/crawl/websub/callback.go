package websub

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/charset"
	"dateline/internal/news/crawl/crawler"
)

// CallbackStore finds and changes the subscription of a callback.
type CallbackStore interface {
	HubSubscription(ctx context.Context, callbackHash []byte) (s Subscription, known bool, err error)
	ConfirmHubSubscription(ctx context.Context, callbackHash []byte, topic string, lease, renewAfter,
		repeatWithin time.Duration) (ok bool, err error)
	DenyHubSubscription(ctx context.Context, callbackHash []byte, topic, reason string,
		retryAfter time.Duration) (ok bool, err error)
	DeleteHubSubscription(ctx context.Context, feed crawl.URLKey) error
	GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error)
	GetURL(ctx context.Context, domain int, id uuid.UUID) (u crawl.URL, known bool, err error)
	// RecordHubDelivery stores the time of a delivery, makes the domain due, and the feed as
	// well if poll is set.
	RecordHubDelivery(ctx context.Context, s Subscription, deliveringFor time.Duration, poll bool) error
}

// Frontier adds the articles of a delivery: crawler.Crawler.
type Frontier interface {
	AddDelivered(ctx context.Context, domain crawl.Domain, feed crawl.URL, doc []byte) (crawler.Delivery, error)
}

// CrawlWorkflows starts the crawl of a domain. Errors are harmless: a schedule starts it
// within a minute.
type CrawlWorkflows interface {
	StartCrawl(ctx context.Context, domain string) error
}

// Callback serves the requests of hubs.
type Callback struct {
	Store    CallbackStore
	Frontier Frontier
	Crawls   CrawlWorkflows
	Sealer   *secret.Sealer
	Metrics  Metrics
	Log      *slog.Logger
}

// MaxDelivery is the size of the largest delivery that is read.
const MaxDelivery = 4 << 20

const (
	maxToken     = 100
	maxChallenge = 4 << 10
)

// Verify answers a verification of intent or a denial (W3C WebSub, section 5.3). It
// returns the status and the text of the response.
func (c *Callback) Verify(ctx context.Context, token string, query url.Values) (status int, text string, err error) {
	if len(token) > maxToken {
		return http.StatusNotFound, "", nil
	}
	topic := query.Get("hub.topic")
	switch query.Get("hub.mode") {
	case "subscribe":
		challenge := query.Get("hub.challenge")
		if challenge == "" || len(challenge) > maxChallenge {
			return http.StatusNotFound, "", nil
		}
		lease := leaseOf(query.Get("hub.lease_seconds"))
		ok, err := c.Store.ConfirmHubSubscription(ctx, hashOf(token), topic, lease, renewAfter(lease), repeatWithin)
		if err != nil || !ok {
			return http.StatusNotFound, "", err
		}
		c.Metrics.HubRequested(ctx, "verified")
		return http.StatusOK, challenge, nil
	case "denied":
		ok, err := c.Store.DenyHubSubscription(ctx, hashOf(token), topic,
			shorten("denied: "+printable([]byte(query.Get("hub.reason")))), retryDenied)
		if err != nil || !ok {
			return http.StatusNotFound, "", err
		}
		c.Metrics.HubRequested(ctx, "denied")
		return http.StatusOK, "", nil
	default: // we never unsubscribe
		return http.StatusNotFound, "", nil
	}
}

// leaseOf returns the lease that a hub grants, within limits.
func leaseOf(seconds string) time.Duration {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 {
		return requestedLease
	}
	return min(max(time.Duration(min(n, int64(maxLease/time.Second)))*time.Second, minLease), maxLease)
}

// Deliver handles a delivery and returns the status of the response. A delivery without a
// valid signature is ignored, but not refused (W3C WebSub, section 7). An unknown callback
// is gone, which ends the subscription at the hub.
func (c *Callback) Deliver(
	ctx context.Context, token string, header http.Header, body io.Reader,
) (status int, err error) {
	if len(token) > maxToken {
		return http.StatusGone, nil
	}
	s, known, err := c.Store.HubSubscription(ctx, hashOf(token))
	if err != nil {
		return 0, err
	}
	if !known {
		c.Metrics.HubDelivered(ctx, "unknown", 0)
		return http.StatusGone, nil
	}
	raw, err := io.ReadAll(io.LimitReader(body, MaxDelivery+1))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || len(raw) > MaxDelivery {
		c.Metrics.HubDelivered(ctx, "too_large", 0)
		return http.StatusRequestEntityTooLarge, nil
	}
	if err != nil {
		return http.StatusBadRequest, nil //nolint:nilerr // the hub has broken the connection
	}
	k, err := openKey(c.Sealer, s)
	if err != nil {
		return 0, err
	}
	if !hasSignature(header.Get("X-Hub-Signature"), k.secret(), raw) {
		c.Metrics.HubDelivered(ctx, "bad_signature", 0)
		return http.StatusAccepted, nil
	}
	return c.add(ctx, s, raw, header.Get("Content-Type"))
}

// add adds the articles of a delivery to the frontier. A document without entries makes
// the feed due instead.
func (c *Callback) add(ctx context.Context, s Subscription, raw []byte, contentType string) (status int, err error) {
	domain, err := c.Store.GetCrawlDomain(ctx, s.Domain)
	if err != nil {
		return 0, err
	}
	feed, known, err := c.Store.GetURL(ctx, s.DomainID, s.ID)
	if err != nil {
		return 0, err
	}
	text, _ := charset.Decode(raw, contentType)
	var d crawler.Delivery
	if known {
		if d, err = c.Frontier.AddDelivered(ctx, domain, feed, text); err != nil {
			return 0, err
		}
	}
	if !d.IsWanted {
		c.Metrics.HubDelivered(ctx, "unwanted", 0)
		return http.StatusGone, c.Store.DeleteHubSubscription(ctx, s.URLKey)
	}
	if err := c.Store.RecordHubDelivery(ctx, s, deliveringFor, d.Entries == 0); err != nil {
		return 0, err
	}
	c.Metrics.HubDelivered(ctx, "accepted", d.Added)
	if d.Entries > 0 && d.Added+d.Refreshed == 0 {
		return http.StatusAccepted, nil // everything is known
	}
	if err := c.Crawls.StartCrawl(context.WithoutCancel(ctx), s.Domain); err != nil {
		c.Log.WarnContext(ctx, "the crawl could not be started and will start within a minute", "domain", s.Domain,
			"error", err)
	}
	return http.StatusAccepted, nil
}
