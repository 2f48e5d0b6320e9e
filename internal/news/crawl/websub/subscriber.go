package websub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
)

// Due is a subscription to request or renew.
type Due struct {
	Subscription
	IsWanted     bool          // there is an active seed on the domain
	DiscoveryAge time.Duration // since the feed named the hub
}

// DueStore claims subscriptions that are due.
type DueStore interface {
	FeedStore
	ClaimHubSubscriptions(ctx context.Context, claim uuid.UUID, limit int, lease time.Duration) ([]Due, error)
	// StartHubRequest lets the hub verify a request that is about to be sent. ok is false if
	// the claim has expired.
	StartHubRequest(ctx context.Context, claim uuid.UUID, d Due, within time.Duration) (ok bool, err error)
	// RecordHubRequest stores when a request is repeated, unless the hub has verified it.
	RecordHubRequest(ctx context.Context, claim, subscription uuid.UUID, lastError string, wait time.Duration) error
}

// FeedFetcher fetches a feed under the rules of the crawler: crawler.Crawler.
type FeedFetcher interface {
	FetchFeed(ctx context.Context, address string) (*fetch.Result, error)
}

// Metrics counts requests to hubs and deliveries.
type Metrics interface {
	HubRequested(ctx context.Context, result string)
	HubDelivered(ctx context.Context, result string, articles int)
}

// Subscriber requests and renews subscriptions.
type Subscriber struct {
	Store   DueStore
	Feeds   FeedFetcher
	Client  *http.Client // guarded against SSRF
	Guard   *ssrf.Guard
	Sealer  *secret.Sealer
	BaseURL string // of the API, for hubs
	Metrics Metrics
	Log     *slog.Logger
}

const (
	batchSize      = 20
	maxBatches     = 50
	maxParallel    = 4
	claimLease     = 10 * time.Minute // longer than a request takes
	requestTimeout = 30 * time.Second
	maxRedirects   = 3
	freshDiscovery = 10 * time.Minute
	busyRetry      = 5 * time.Minute
	firstRetry     = 10 * time.Minute
	maxRetry       = 24 * time.Hour
	maxAnswer      = 2 << 10
)

// RequestDue requests and renews the subscriptions that are due, and returns their number.
func (s *Subscriber) RequestDue(ctx context.Context, heartbeat func()) (requested int, err error) {
	for range maxBatches {
		claim := uuid.New()
		due, err := s.Store.ClaimHubSubscriptions(ctx, claim, batchSize, claimLease)
		if err != nil || len(due) == 0 {
			return requested, err
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		var failures []error
		slots := make(chan struct{}, maxParallel)
		for _, d := range due {
			slots <- struct{}{}
			heartbeat()
			all.Go(func() {
				defer func() { <-slots }()
				if err := s.request(ctx, claim, d); err != nil {
					mu.Lock()
					failures = append(failures, err)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		requested += len(due)
		if len(failures) > 0 {
			return requested, errors.Join(failures...)
		}
	}
	return requested, nil
}

// request requests a subscription from a hub that the feed names now.
func (s *Subscriber) request(ctx context.Context, claim uuid.UUID, d Due) error {
	if !d.IsWanted {
		return s.Store.DeleteHubSubscription(ctx, d.URLKey)
	}
	if d.DiscoveryAge > freshDiscovery {
		hubs, problem, err := s.discover(ctx, d)
		if err != nil {
			return err
		}
		if problem != "" {
			wait := retryAfter(d.Failures)
			if problem == busy {
				wait = busyRetry
			}
			return s.Store.RecordHubRequest(ctx, claim, d.SubscriptionID, problem, wait)
		}
		usable := acceptable(s.Guard, hubs)
		if len(usable) == 0 {
			return s.Store.DeleteHubSubscription(ctx, d.URLKey)
		}
		hub := nextHub(usable, d.Hub, d.Failures)
		if hubs.Self != d.Topic || hub != d.Hub {
			// Its callback is another one, so that the former hub cannot use it.
			found := Subscriptions{Store: s.Store, Sealer: s.Sealer, Guard: s.Guard}
			return found.subscribe(ctx, d.URLKey, d.FeedURL, hub, hubs.Self)
		}
		d.DiscoveryAge = 0
	}
	k, err := openKey(s.Sealer, d.Subscription)
	if err != nil {
		return err
	}
	if ok, err := s.Store.StartHubRequest(ctx, claim, d, verifyWithin); err != nil || !ok {
		return err
	}
	problem := s.post(ctx, d, k)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	result := "accepted"
	if problem != "" {
		result = "failed"
		s.Log.InfoContext(ctx, "a hub did not accept a subscription", "domain", d.Domain, "problem", problem)
	}
	s.Metrics.HubRequested(ctx, result)
	return s.Store.RecordHubRequest(ctx, claim, d.SubscriptionID, problem, retryAfter(d.Failures))
}

// hubFailures is how many requests in a row a hub may leave unanswered before another hub
// of the feed is asked.
const hubFailures = 3

// nextHub returns the current hub, if the feed still names it, unless it has failed and
// there is another one.
func nextHub(usable []string, current string, failures int) string {
	i := slices.Index(usable, current)
	if i < 0 {
		return usable[0]
	}
	if failures < hubFailures {
		return current
	}
	return usable[(i+1)%len(usable)]
}

func retryAfter(failures int) time.Duration { return min(firstRetry<<min(failures, 10), maxRetry) }

const busy = "feed_busy"

// discover fetches the feed. A feed that does not exist, or may not be fetched, names no
// hub.
func (s *Subscriber) discover(ctx context.Context, d Due) (found discover.HubLinks, problem string, err error) {
	res, err := s.Feeds.FetchFeed(ctx, d.FeedURL)
	switch {
	case err != nil:
		return found, "", err
	case res == nil:
		return found, busy, nil
	case res.Outcome == fetch.OK:
		text := res.Text
		if text == nil {
			text = res.Body
		}
		return discover.FindHubs(res.Header.Values("Link"), text, res.FinalURL), "", nil
	case res.Transient():
		return found, "feed_unavailable: " + string(res.Outcome), nil
	default:
		return found, "", nil
	}
}

// post sends a subscription request (W3C WebSub, section 5.1) and returns why it failed.
func (s *Subscriber) post(ctx context.Context, d Due, k key) (problem string) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	form := url.Values{
		"hub.mode": {"subscribe"}, "hub.topic": {d.Topic}, "hub.callback": {
			strings.TrimSuffix(s.BaseURL, "/") + CallbackPath + k.token(),
		},
		"hub.lease_seconds": {strconv.Itoa(int(requestedLease.Seconds()))}, "hub.secret": {k.secret()},
	}.Encode()
	client := *s.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	hub := d.Hub
	for range maxRedirects + 1 {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, hub, strings.NewReader(form))
		if err != nil {
			return "hub_invalid"
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := client.Do(r)
		if err != nil {
			return "hub_unreachable"
		}
		answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		_ = res.Body.Close()
		switch {
		case res.StatusCode/100 == 2:
			return ""
		case res.StatusCode == http.StatusTemporaryRedirect || res.StatusCode == http.StatusPermanentRedirect:
			to, err := r.URL.Parse(res.Header.Get("Location"))
			if err != nil || res.Header.Get("Location") == "" || !isPublic(s.Guard, to.String(), "https") {
				return "hub_redirects: to an address that is not allowed"
			}
			hub = to.String()
		default:
			return shorten(fmt.Sprintf("hub_refused: %d %s", res.StatusCode, printable(answer)))
		}
	}
	return "hub_redirects: too often"
}

// printable returns the text of a response in one line.
func printable(text []byte) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(text), ""),
		func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
}

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxLastError {
		return text
	}
	return string([]rune(text)[:maxLastError])
}
