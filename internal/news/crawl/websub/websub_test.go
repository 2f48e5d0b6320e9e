package websub_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/websub"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/hubtest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const requestDelay = 30 * time.Millisecond

// rig is a newsroom that crawls a site whose feed names a hub.
type rig struct {
	*newsroomtest.Newsroom
	world      *crawltest.World
	site       *crawltest.Site
	hub        *hubtest.Hub
	guard      *ssrf.Guard
	made       *crawlrig.Rig
	subscriber *websub.Subscriber
	callback   *websub.Callback
	server     *httptest.Server
	counts     *counts
}

// counts counts metrics, and crawls that were started.
type counts struct {
	mu         sync.Mutex
	requests   map[string]int
	deliveries map[string]int
	articles   int
	started    int
	err        error // of starting a crawl
}

func (c *counts) HubRequested(_ context.Context, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[result]++
}

func (c *counts) HubDelivered(_ context.Context, result string, articles int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deliveries[result]++
	c.articles += articles
}

func (c *counts) StartCrawl(context.Context, string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started++
	return c.err
}

func (c *counts) delivered(result string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deliveries[result]
}

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	d := &rig{Newsroom: newsroomtest.Open(t), hub: hubtest.Start(t), counts: &counts{
		requests: map[string]int{}, deliveries: map[string]int{},
	}}
	var err error
	d.world, err = crawltest.New(crawltest.Options{Articles: 3, Hub: d.hub.URL})
	d.Must(err)
	t.Cleanup(d.world.Close)
	d.site = d.world.Site(0)
	log := slog.New(slog.DiscardHandler)
	limits := crawler.DefaultLimits()
	limits.RequestDelay, limits.IPDelay, limits.FetchTimeout, limits.MaxIdleWait = requestDelay, 0, 5*time.Second, 0
	trusted := append(d.world.AllowPrivate(), d.hub.Host(),
		strings.TrimPrefix(d.site.Home()[:strings.LastIndex(d.site.Home(), "/")], "http://"))
	d.guard, err = ssrf.New(trusted)
	d.Must(err)
	d.made, err = crawlrig.New(t.Context(),
		crawlrig.Options{
			Store: d.Store, Redis: enginetest.RedisClient(t, d.RedisURL), Objects: d.Objects,
			Limits: limits,
			Policy: crawl.DefaultRevisitPolicy(), Log: log, AllowPrivate: d.world.AllowPrivate(),
			Resolver: d.world.Resolver(),
		})
	d.Must(err)
	t.Cleanup(d.made.Fetcher.Close)
	d.made.Crawler.Subscriptions = &websub.Subscriptions{Store: d.Store.News.Domains, Sealer: d.Sealer, Guard: d.guard}
	d.callback = &websub.Callback{
		Store: d.Store.News.Domains, Frontier: d.made.Crawler, Crawls: d.counts, Sealer: d.Sealer, Metrics: d.counts, Log: log,
	}
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.URL.Path, websub.CallbackPath)
		if r.Method == http.MethodPost {
			status, err := d.callback.Deliver(r.Context(), token, r.Header, r.Body)
			if err != nil {
				status = http.StatusServiceUnavailable
			}
			w.WriteHeader(status)
			return
		}
		status, text, err := d.callback.Verify(r.Context(), token, r.URL.Query())
		if err != nil {
			status = http.StatusServiceUnavailable
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(d.server.Close)
	d.subscriber = d.newSubscriber()
	return d
}

func (d *rig) newSubscriber() *websub.Subscriber {
	return &websub.Subscriber{
		Store: d.Store.News.Domains, Feeds: d.made.Crawler, Client: &http.Client{}, Guard: d.guard,
		Sealer: d.Sealer, BaseURL: d.server.URL, Metrics: d.counts,
		Log: slog.New(slog.DiscardHandler),
	}
}

// seedFeed makes the feed a seed and crawls the site.
func (d *rig) seedFeed() {
	d.T.Helper()
	d.Must(crawlrig.CreateSeeds(d.T.Context(), d.Store, d.Workspace, crawl.DefaultRevisitPolicy(), crawl.Feed,
		d.site.FeedURL()))
	d.crawl()
}

// crawl makes the seeds due and crawls the site.
func (d *rig) crawl() {
	d.T.Helper()
	d.Exec("update seeds set next_crawl = now()")
	_, err := d.Store.News.Domains.EnqueueDueSeeds(d.T.Context(), 100)
	d.Must(err)
	d.fetchDue()
}

// fetchDue crawls what is due.
func (d *rig) fetchDue() {
	d.T.Helper()
	_, err := d.made.Crawler.Crawl(d.T.Context(), d.site.Host(), nil, func(crawler.Result) {})
	d.Must(err)
}

// request requests the subscriptions that are due.
func (d *rig) request() {
	d.T.Helper()
	_, err := d.subscriber.RequestDue(d.T.Context(), func() {})
	d.Must(err)
}

// subscribe crawls the site and subscribes to its hub.
func (d *rig) subscribe() hubtest.Subscription {
	d.T.Helper()
	d.seedFeed()
	d.request()
	e2etest.Eventually(d.T, 20*time.Second, "the hub to verify the subscription", func() bool {
		return len(d.hub.Subscriptions(d.site.FeedURL())) == 1
	})
	return d.hub.Subscriptions(d.site.FeedURL())[0]
}

// feed returns the subscription of the site's feed.
func (d *rig) feed() crawl.PushedFeed {
	d.T.Helper()
	domain, err := d.Store.News.Domains.GetCrawlDomain(d.T.Context(), d.site.Host())
	d.Must(err)
	all, err := d.Store.News.Domains.PushedFeeds(d.T.Context(), domain.ID, 10)
	d.Must(err)
	if len(all) != 1 {
		d.T.Fatalf("got the subscriptions %+v, want one", all)
	}
	return all[0]
}

// deliver lets the hub deliver a feed with some articles, and checks the responses.
func (d *rig) deliver(want int, articles ...crawltest.Article) {
	d.T.Helper()
	if got := d.hub.Publish(d.site.FeedURL(), "application/rss+xml", d.site.RSS(articles)); !slices.Equal(got,
		[]int{want}) {
		d.T.Fatalf("got the responses %v to a delivery, want %d", got, want)
	}
}

// queued returns how many articles wait for their first fetch.
func (d *rig) queued() int {
	return d.Count("select count(*) from urls where kind = 'article' and state = 'pending'")
}

func (d *rig) stored(a crawltest.Article) bool {
	return d.Count("select count(*) from urls where url = $1 and state = 'stored'", a.URL) == 1
}

// secondsUntil returns the seconds from now until a time.
func (d *rig) secondsUntil(column, table string) int {
	return d.Count("select coalesce(round(extract(epoch from " + column + " - now())), -1)::int from " + table)
}

func near(got, want int) bool { return got > want-30 && got < want+30 }

func TestSubscriber_SubscribesToTheHubOfAFeed(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Lag: 300 * time.Millisecond})
	d.seedFeed()
	if got := d.feed(); got.Status != crawl.PushPending || got.Hub != d.hub.URL || got.Topic != d.site.FeedURL() {
		t.Fatalf("got %+v after the first crawl, want a pending subscription", got)
	}
	fetches := len(d.world.Log())
	d.request()
	if got := len(d.world.Log()); got != fetches {
		t.Errorf("got %d requests to the site, want none: its feed was just fetched", got-fetches)
	}
	if got := d.feed(); got.Status != crawl.PushPending {
		t.Errorf("got the status %q before the hub has verified the request, want pending", got.Status)
	}
	e2etest.Eventually(t, 20*time.Second, "the verification", func() bool {
		return d.feed().Status == crawl.PushActive
	})
	form := d.hub.Requests()[0]
	if secret := form.Get("hub.secret"); len(secret) < 32 || len(secret) >= 200 {
		t.Errorf("got a secret of %d bytes, want 32 to 199", len(secret))
	}
	if token := form.Get("hub.callback")[len(d.server.URL+websub.CallbackPath):]; len(token) < 40 {
		t.Errorf("got the callback %q, want one that cannot be guessed", form.Get("hub.callback"))
	}
	if d.Count("select count(*) from websub_subscriptions where position($1 in key) > 0 or position($1 in "+
		"callback_hash) > 0", []byte(form.Get("hub.secret"))) > 0 {
		t.Error("the secret is stored in plain text")
	}
	if got := d.secondsUntil("due_at", "websub_subscriptions"); !near(got, 10*24*3600*2/3) {
		t.Errorf("got %d seconds until the renewal, want two thirds of ten days", got)
	}
	d.request()
	if got := len(d.hub.Requests()); got != 1 {
		t.Errorf("got %d requests to the hub, want one", got)
	}
}

func TestCallback_FetchesDeliveredArticlesFirst(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	d.Exec("update urls set due_at = now() where kind = 'article'") // all others are due as well
	fresh := d.site.Publish()
	before := len(d.world.Log())
	d.deliver(http.StatusAccepted, fresh) // a part of the feed
	if d.queued() != 1 || d.counts.started != 1 {
		t.Fatalf("got %d new articles and %d started crawls, want one each", d.queued(), d.counts.started)
	}
	if len(d.world.Log()) != before {
		t.Error("the delivery caused requests to the site before their turn")
	}
	d.fetchDue()
	if !d.stored(fresh) {
		t.Fatal("the delivered article was not fetched")
	}
	log := d.world.Log()[before:]
	if i := slices.IndexFunc(log, func(r crawltest.Request) bool {
		return r.Path != "/robots.txt" && !strings.HasPrefix(r.Path, "/.well-known/")
	}); i < 0 || !strings.HasSuffix(fresh.URL, log[i].Path) {
		t.Errorf("got the requests %+v, want the delivered article first", log)
	}
	if violations := d.world.PolitenessViolations(requestDelay, 5*time.Millisecond); len(violations) > 0 {
		t.Errorf("the delivery broke the site's delay: %v", violations)
	}
}

func TestCallback_AddsAnArticleOnceHoweverOftenItIsDelivered(t *testing.T) {
	d := newRig(t)
	s := d.subscribe()
	fresh := d.site.Publish()
	document := d.site.RSS(d.site.Articles())
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if status, err := d.hub.Deliver(s, "application/rss+xml", document); status != http.StatusAccepted ||
				err != nil {
				t.Errorf("a repeated delivery got %d %v, want 202", status, err)
			}
		})
	}
	all.Wait()
	d.fetchDue()
	d.deliver(http.StatusAccepted, fresh)
	if !d.stored(fresh) || d.queued() != 0 || d.counts.articles != 1 {
		t.Errorf("got %d delivered articles and %d in the queue, want one that is stored", d.counts.articles,
			d.queued())
	}
}

func TestCallback_IgnoresDeliveriesWithoutValidSignature(t *testing.T) {
	d := newRig(t)
	s := d.subscribe()
	fresh := d.site.Publish()
	document := d.site.RSS([]crawltest.Article{fresh})
	for name, signature := range map[string]string{
		"none": "none", "another secret": hubtest.Sign("sha256", "guessed", document),
		"another document":  hubtest.Sign("sha256", s.Secret, []byte("x")),
		"an unknown method": "md5=00", "no hexadecimal number": "sha256=zz", "empty": "sha256=",
		"no method": hubtest.Sign("sha256", s.Secret, document)[7:],
	} {
		d.hub.Behave(hubtest.Behavior{Signature: signature})
		d.deliver(http.StatusAccepted, fresh)
		if d.queued() != 0 {
			t.Fatalf("a delivery with the signature %s was accepted", name)
		}
	}
	if got := d.counts.delivered("bad_signature"); got != 7 {
		t.Errorf("got %d deliveries with a bad signature, want 7", got)
	}
	if got := d.feed(); got.IsDelivering || got.DeliveredAt != nil {
		t.Errorf("got %+v, want no delivery", got)
	}
	for _, method := range []string{"sha1", "sha256", "sha384", "sha512"} {
		d.hub.Behave(hubtest.Behavior{Method: method})
		d.deliver(http.StatusAccepted, d.site.Publish())
	}
	if d.queued() != 4 {
		t.Errorf("got %d articles of deliveries that were signed with four methods, want 4", d.queued())
	}
}

func TestCallback_VerifiesOnlyItsOwnRequests(t *testing.T) {
	d := newRig(t)
	s := d.subscribe()
	if got := d.hub.Verify(s); got != http.StatusOK {
		t.Errorf("a hub that did not get the answer repeats its question: got %d, want 200", got)
	}
	d.Exec("update websub_subscriptions set requested_until = now() - interval '1 second'")
	for name, c := range map[string]struct {
		callback string
		query    url.Values
	}{
		"no pending request": {s.Callback, url.Values{
			"hub.mode": {"subscribe"}, "hub.topic": {s.Topic}, "hub.challenge": {"x"}, "hub.lease_seconds": {"10"},
		}},
		"another topic": {
			s.Callback, url.Values{"hub.mode": {"subscribe"}, "hub.topic": {s.Topic + "x"}, "hub.challenge": {"x"}},
		},
		"unsubscribe": {
			s.Callback, url.Values{"hub.mode": {"unsubscribe"}, "hub.topic": {s.Topic}, "hub.challenge": {"x"}},
		},
		"another callback": {d.server.URL + websub.CallbackPath + "guess", url.Values{
			"hub.mode": {"subscribe"}, "hub.topic": {s.Topic}, "hub.challenge": {"x"},
		}},
		"a foreign denial": {d.server.URL + websub.CallbackPath + "guess", url.Values{
			"hub.mode": {"denied"}, "hub.topic": {s.Topic},
		}},
	} {
		if strings.HasPrefix(name, "another topic") {
			d.Exec("update websub_subscriptions set requested_until = now() + interval '1 hour'")
		}
		res, err := http.Get(c.callback + "?" + c.query.Encode())
		d.Must(err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", name, res.StatusCode)
		}
		d.Exec("update websub_subscriptions set requested_until = now() - interval '1 second'")
	}
	if got := d.feed(); got.Status != crawl.PushActive {
		t.Errorf("got the status %q, want active", got.Status)
	}
}

func TestSubscriber_RenewsWithTheDiscoveredHub(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Lease: 20 * time.Minute}) // shorter than asked for
	first := d.subscribe()
	if got := d.secondsUntil("due_at", "websub_subscriptions"); !near(got, 800) {
		t.Errorf("got %d seconds until the renewal, want two thirds of the lease", got)
	}
	expire := func() {
		d.Exec("update websub_subscriptions set due_at = now(), discovered_at = now() - interval '1 hour', " +
			"lease_ends_at = now() + interval '1 minute'")
	}
	expire()
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the renewal", func() bool {
		return d.secondsUntil("lease_ends_at", "websub_subscriptions") > 600
	})
	requests := d.hub.Requests()
	if len(requests) != 2 || requests[1].Get("hub.callback") != first.Callback ||
		requests[1].Get("hub.secret") != first.Secret {
		t.Errorf("got the requests %v, want a renewal of the same subscription", requests)
	}

	next := hubtest.Start(t)
	next.Behave(hubtest.Behavior{})
	d.guard, _ = ssrf.New(append(d.world.AllowPrivate(), d.hub.Host(), next.Host(),
		strings.TrimSuffix(strings.TrimPrefix(d.site.Home(), "http://"), "/")))
	d.subscriber = d.newSubscriber()
	d.site.SetHub(next.URL)
	expire()
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the subscription to the new hub", func() bool {
		return len(next.Subscriptions(d.site.FeedURL())) == 1
	})
	if got := next.Subscriptions(d.site.FeedURL())[0]; got.Callback == first.Callback || got.Secret == first.Secret {
		t.Error("the new hub got the callback or the secret of the former one")
	}
	d.deliver(http.StatusGone, d.site.Publish())
	if len(d.hub.Subscriptions(d.site.FeedURL())) != 0 || d.queued() != 0 {
		t.Error("the former hub can still deliver")
	}

	d.site.SetHub("")
	expire()
	d.request()
	if got := d.Count("select count(*) from websub_subscriptions"); got != 0 {
		t.Errorf("got %d subscriptions of a feed that names no hub, want none", got)
	}
}

func TestSubscriber_FollowsRedirectsOfTheHub(t *testing.T) {
	for _, status := range []string{"307", "308"} {
		t.Run(status, func(t *testing.T) {
			d := newRig(t)
			d.site.SetHub(d.hub.URL + "/" + status)
			d.subscribe()
		})
	}
	t.Run("OthersAreFailures", func(t *testing.T) {
		d := newRig(t)
		d.site.SetHub(d.hub.URL + "/302")
		d.seedFeed()
		d.request()
		if got := d.feed(); got.Status != crawl.PushPending || !strings.HasPrefix(got.LastError, "hub_refused: 302") ||
			len(d.hub.Requests()) != 0 {
			t.Errorf("got %+v, want a refused request", got)
		}
	})
}

func TestSubscriber_AcceptsADenial(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Deny: "only for partners"})
	d.seedFeed()
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the denial", func() bool { return d.feed().Status == crawl.PushDenied })
	if got := d.feed(); got.LastError != "denied: only for partners" {
		t.Errorf("got %q, want the hub's reason", got.LastError)
	}
	if got := d.secondsUntil("due_at", "websub_subscriptions"); !near(got, 7*24*3600) {
		t.Errorf("got %d seconds until the next request, want a week", got)
	}
	// What it delivers nevertheless does not slow down polling.
	form := d.hub.Requests()[0]
	status, err := d.hub.Deliver(hubtest.Subscription{
		Topic: form.Get("hub.topic"), Callback: form.Get("hub.callback"),
		Secret: form.Get("hub.secret"),
	}, "application/rss+xml", d.site.RSS(d.site.Articles()))
	if d.Must(err); status != http.StatusAccepted || d.feed().IsDelivering {
		t.Errorf("got %d and %+v, want the delivery accepted and the normal pace", status, d.feed())
	}
}

// nextPoll returns the seconds between the last crawl of the seed and the next one.
func (d *rig) nextPoll() int {
	return d.Count("select round(extract(epoch from next_crawl - last_crawl))::int from seeds")
}

func TestCrawler_PollsLessOftenOnlyWhileTheHubDelivers(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	if got := d.nextPoll(); got > 1200 {
		t.Errorf("got a poll after %d s before the first delivery, want the normal pace", got)
	}
	d.deliver(http.StatusAccepted, d.site.Publish())
	d.fetchDue()
	d.crawl()
	if got := d.nextPoll(); !near(got, 3600) {
		t.Errorf("got a poll after %d s while the hub delivers, want an hour", got)
	}

	// The hub loses a delivery: the poll finds the article.
	missed := d.site.Publish()
	d.crawl()
	if got := d.nextPoll(); !d.stored(missed) || got > 1200 || d.feed().IsDelivering {
		t.Errorf("got a poll after %d s, want the normal pace after a lost delivery", got)
	}
	d.deliver(http.StatusAccepted, d.site.Publish())
	d.fetchDue()
	d.crawl()
	if got := d.nextPoll(); !near(got, 3600) {
		t.Errorf("got a poll after %d s while the hub delivers again, want an hour", got)
	}

	// The hub dies: nothing is delivered for a day.
	d.hub.Stop()
	d.Exec("update websub_subscriptions set delivering_until = now()")
	d.crawl()
	if got := d.nextPoll(); got > 1200 {
		t.Errorf("got a poll after %d s, want the normal pace without deliveries", got)
	}
	late := d.site.Publish()
	d.crawl()
	if !d.stored(late) {
		t.Error("polling has stopped")
	}
}

func TestCrawler_PollsDiscoveredFeedsLessOftenWhileTheHubDelivers(t *testing.T) {
	d := newRig(t)
	d.Must(crawlrig.CreateSeeds(t.Context(), d.Store, d.Workspace, crawl.DefaultRevisitPolicy(), crawl.Home,
		d.site.Home()))
	d.crawl()
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the subscription", func() bool {
		return len(d.hub.Subscriptions(d.site.FeedURL())) == 1
	})
	d.deliver(http.StatusAccepted, d.site.Publish())
	d.Exec("update urls set due_at = now() where kind = 'feed'")
	d.fetchDue()
	if got := d.Count("select round(extract(epoch from due_at - now()))::int from urls where kind = 'feed'"); !near(got,
		3600) {
		t.Errorf("got a poll after %d s, want an hour", got)
	}
}

func TestSubscriber_RetriesAHubThatDied(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Refuse: http.StatusBadGateway})
	d.seedFeed()
	for i, want := range []int{600, 1200, 2400} {
		d.request()
		if got := d.secondsUntil("due_at", "websub_subscriptions"); !near(got, want) {
			t.Errorf("attempt %d: got the next one after %d s, want %d", i+1, got, want)
		}
		d.Exec("update websub_subscriptions set due_at = now(), discovered_at = now()")
	}
	if got := d.feed(); got.LastError != "hub_refused: 502 not today" {
		t.Errorf("got the problem %q, want the response of the hub", got.LastError)
	}
	d.hub.Behave(hubtest.Behavior{})
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the subscription", func() bool {
		return d.feed().Status == crawl.PushActive && d.feed().LastError == ""
	})
}

func TestSubscriber_EachWorkerRequestsOthers(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Unverified: true})
	d.seedFeed()
	d.Exec(`insert into websub_subscriptions (id, domain_id, url_id, feed_url, hub, topic, key, callback_hash)
		select gen_random_uuid(), domain_id, gen_random_uuid(), feed_url || n, hub, topic || n, '', sha256(n::text::bytea) from websub_subscriptions, generate_series(1, 60) n`)
	// Their keys are not sealed for them, so that all of them fail before a request, except for the first.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { _, _ = d.newSubscriber().RequestDue(t.Context(), func() {}) })
	}
	all.Wait()
	if got := len(d.hub.Requests()); got != 1 {
		t.Errorf("got %d requests of four workers, want one", got)
	}
}

// A worker that dies after it claimed a subscription, or after its request, delays it only.
func TestSubscriber_ContinuesAfterAWorkerDied(t *testing.T) {
	d := newRig(t)
	d.hub.Behave(hubtest.Behavior{Unverified: true})
	d.seedFeed()
	due, err := d.Store.News.Domains.ClaimHubSubscriptions(t.Context(), uuid.New(), 10, 10*time.Minute)
	d.Must(err)
	if len(due) != 1 {
		t.Fatalf("got %d claimed subscriptions, want one", len(due))
	}
	d.request()
	if got := len(d.hub.Requests()); got != 0 {
		t.Errorf("got %d requests while the claim holds, want none", got)
	}
	d.hub.Behave(hubtest.Behavior{})
	d.Exec("update websub_subscriptions set due_at = now()") // the claim has expired
	d.request()
	e2etest.Eventually(t, 20*time.Second, "the subscription", func() bool {
		return d.feed().Status == crawl.PushActive
	})
	// The dead worker records its request after all: nothing changes.
	d.Must(d.Store.News.Domains.RecordHubRequest(t.Context(), uuid.New(), due[0].SubscriptionID, "hub_unreachable", time.Minute))
	if got := d.feed(); got.LastError != "" {
		t.Errorf("got %+v, want the newer result", got)
	}
}

func TestCallback_EndsSubscriptionsThatNobodyWants(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	d.Exec("delete from seeds")
	d.deliver(http.StatusGone, d.site.Publish())
	if got := d.Count("select count(*) from websub_subscriptions"); got != 0 || d.queued() != 0 ||
		len(d.hub.Subscriptions(d.site.FeedURL())) != 0 {
		t.Errorf("got %d subscriptions and %d articles, want none", got, d.queued())
	}
}

func TestSubscriber_EndsSubscriptionsThatNobodyWants(t *testing.T) {
	d := newRig(t)
	d.seedFeed()
	d.Exec("update seeds set status = 'paused'")
	d.request()
	if got := d.Count("select count(*) from websub_subscriptions"); got != 0 || len(d.hub.Requests()) != 0 {
		t.Errorf("got %d subscriptions and %d requests, want none", got, len(d.hub.Requests()))
	}
}

func TestCallback_PollsTheFeedAfterADeliveryWithoutEntries(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	fresh := d.site.Publish()
	if got := d.hub.Publish(d.site.FeedURL(), "text/plain", []byte("something is new")); !slices.Equal(got,
		[]int{http.StatusAccepted}) {
		t.Fatalf("got the responses %v, want 202", got)
	}
	d.fetchDue()
	if !d.stored(fresh) {
		t.Error("the feed was not polled")
	}
}

func TestCallback_RefetchesUpdatedArticles(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	a := d.site.Articles()[0]
	entry := func(updated time.Time) []byte {
		return []byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>x</title><link href="` + a.URL +
			`"/><updated>` + updated.Format(time.RFC3339) + `</updated></entry></feed>`)
	}
	due := func() int { return d.Count("select count(*) from urls where url = $1 and due_at <= now()", a.URL) }
	d.hub.Publish(d.site.FeedURL(), "application/atom+xml", entry(a.PublishedAt))
	if due() != 0 {
		t.Error("an article that did not change is fetched again")
	}
	d.Exec("update urls set last_crawl = now() - interval '10 minutes'")
	d.hub.Publish(d.site.FeedURL(), "application/atom+xml", entry(time.Now().Add(-time.Minute)))
	if due() != 1 {
		t.Error("an updated article is not fetched again")
	}
}

func TestCallback_AddsOnlyWhatTheSeedAllows(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	d.Exec("update seeds set deny = '{/denied/}'")
	document := `<rss><channel>`
	for _, link := range []string{
		"https://other.example/a.html", d.site.URL("/denied/a.html"),
		d.site.URL("/private/../denied/b.html"), "javascript:alert(1)", "http://10.0.0.1/x",
	} {
		document += "<item><title>x</title><link>" + link + "</link></item>"
	}
	if got := d.hub.Publish(d.site.FeedURL(), "application/rss+xml",
		[]byte(document+"</channel></rss>")); !slices.Equal(got, []int{http.StatusAccepted}) {
		t.Fatalf("got the responses %v, want 202", got)
	}
	if d.queued() != 0 {
		t.Errorf("got %d articles, want none", d.queued())
	}
}

func TestCallback_BoundsDeliveries(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	if got := d.hub.Publish(d.site.FeedURL(), "application/rss+xml",
		make([]byte, websub.MaxDelivery+1)); !slices.Equal(got, []int{http.StatusRequestEntityTooLarge}) {
		t.Errorf("got the responses %v, want 413", got)
	}
}

// A delivery whose crawl cannot be started is not lost: its domain is due.
func TestCallback_DoesNotDependOnTemporal(t *testing.T) {
	d := newRig(t)
	d.subscribe()
	d.Exec("update crawl_domains set next_due = null")
	d.counts.err = errors.New("Temporal does not respond")
	d.deliver(http.StatusAccepted, d.site.Publish())
	due, err := d.Store.News.Domains.ListDueDomains(t.Context(), 10)
	if d.Must(err); !slices.Contains(due, d.site.Host()) {
		t.Errorf("got the due domains %q, want the site", due)
	}
}

func TestSubscriptions_AcceptsOnlySafeHubs(t *testing.T) {
	d := newRig(t)
	d.seedFeed()
	d.Exec("delete from websub_subscriptions")
	domain, err := d.Store.News.Domains.GetCrawlDomain(t.Context(), d.site.Host())
	d.Must(err)
	u, err := weburl.Parse(d.site.FeedURL(), weburl.Rules{})
	d.Must(err)
	key := crawl.URLKey{DomainID: domain.ID, ID: crawl.URLID(u)}
	for name, c := range map[string]struct {
		hubs []string
		self string
		want string // hub
	}{
		"HTTPS":      {[]string{"https://hub.example/"}, "http://news.example/feed", "https://hub.example/"},
		"plain HTTP": {[]string{"http://hub.example/"}, "https://news.example/feed", ""},
		"the second": {
			[]string{"http://hub.example/", "https://b.example/"},
			"https://news.example/feed",
			"https://b.example/",
		},
		"a private address": {
			[]string{
				"https://10.0.0.1/", "https://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/",
				"https://2130706433/", "https://localhost/",
			}, "https://news.example/feed", "",
		},
		"another port":    {[]string{"https://hub.example:8443/"}, "https://news.example/feed", ""},
		"credentials":     {[]string{"https://user:secret@hub.example/"}, "https://news.example/feed", ""},
		"a private topic": {[]string{"https://hub.example/"}, "http://192.168.0.1/feed", ""},
		"trusted":         {[]string{d.hub.URL}, "https://news.example/feed", d.hub.URL},
	} {
		d.Must(d.made.Crawler.Subscriptions.NoteHubs(t.Context(), key, d.site.FeedURL(), discover.HubLinks{
			Hubs: c.hubs, Self: c.self,
		}))
		all, err := d.Store.News.Domains.PushedFeeds(t.Context(), domain.ID, 10)
		d.Must(err)
		got := ""
		if len(all) > 0 {
			got = all[0].Hub
		}
		if got != c.want {
			t.Errorf("%s: got the hub %q, want %q", name, got, c.want)
		}
	}
}
