package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/api"
	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
	"dateline/internal/notify/pubsub"
)

// overHTTP compares ingesting over HTTP with a handler that counts naively, on
// keep-alive connections.
func overHTTP(ctx context.Context, out io.Writer, o options, r *report) error {
	e, err := startEngine(ctx, o.redis)
	if err != nil {
		return err
	}
	defer e.stop()
	one, err := newSite()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	viewCounter := counter.New(e.Client, counter.Options{})
	batcher := counter.NewBatcher(viewCounter)
	defer batcher.Close()
	handler, err := newIngestHandler(ctx, e, one, viewCounter, batcher)
	if err != nil {
		return err
	}
	go viewCounter.Run(ctx, func(err error) { fmt.Fprintln(out, "fold:", err) })
	naive := newNaive(e, one)
	pages := newPages(o.posts)
	handlers := []struct {
		name string
		http.Handler
	}{{"HTTP, naive", naive}, {"HTTP, ingest", handler}}
	perS, cost := make([][]float64, len(handlers)), make([][]float64, len(handlers))
	for range o.runs {
		for i, h := range handlers {
			if err := e.FlushAll(ctx).Err(); err != nil {
				return err
			}
			var t result
			var cpu used
			err := e.measure(ctx, &cpu, func() (err error) {
				t, err = load(ctx, o, h, pages)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
			perS[i] = append(perS[i], t.perS)
			cost[i] = append(cost[i], (cpu.redis+cpu.own)*1e6/float64(t.count))
			fmt.Fprintf(out, "%-28s %8.0f/s  p50 %6.2f ms  p99 %6.2f ms  Redis %5.1f µs, server and client %5.1f µs "+
				"of processor\n", h.name, t.perS, ms(t.p50), ms(t.p99),
				cpu.redis*1e6/float64(t.count), cpu.own*1e6/float64(t.count))
		}
	}
	for i := range perS {
		slices.Sort(perS[i])
		slices.Sort(cost[i])
	}
	r.HTTPNaivePerS, r.HTTPPerS = perS[0][o.runs/2], perS[1][o.runs/2]
	r.HTTPTimesNaive = r.HTTPPerS / r.HTTPNaivePerS
	// CPU time, including that of the load generator, is affected least by other load.
	r.HTTPUS, r.HTTPNaiveUS = cost[1][o.runs/2], cost[0][o.runs/2]
	fmt.Fprintf(out, "over HTTP ingest is %.1f × the naive way, with %.2f of its processor time\n", r.HTTPTimesNaive,
		r.HTTPUS/r.HTTPNaiveUS)
	return nil
}

// oneSite is a site store with one site.
type oneSite struct{ *site.Active }

func (s oneSite) ByKey(key string) (*site.Active, bool) { return s.Active, key == s.WriteKey }

func (s oneSite) ByDomain(string) (*site.Active, bool) { return s.Active, false }
func (s oneSite) BySecret(string) (*site.Active, bool) { return nil, false }
func (s oneSite) AnyAllows(string) bool                { return true }

const writeKey = "dlw_benchbenchbench1"

func newIngestHandler(
	ctx context.Context, e *engine, one counter.Site, viewCounter *counter.Counter, batcher *counter.Batcher,
) (http.Handler, error) {
	robots, err := botfilter.New()
	if err != nil {
		return nil, err
	}
	tracker, err := ingest.NewTracker()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	active := &site.Active{
		Site: site.Site{
			ID: one.ID, WriteKey: writeKey, RateHits: site.DefaultRateHits,
			RateSeconds: 10, Visitors: site.Cookieless,
		}, CounterSite: one,
		VisitorSite: visitor.Site{ID: one.ID, Zone: one.Zone},
	}
	return &ingest.Handler{
		Sites: oneSite{active}, Counter: batcher, Bulk: viewCounter,
		Notifier: pubsub.NewSiteSignals(e.Client, log),
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(e.Client)}, Bots: robots,
		RateLimiter: botfilter.NewRateLimiter(ctx, e.Client), Referrers: dimensions.NewReferrers(),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Log: log, Tracker: tracker,
	}, nil
}

// newNaive is a handler as shown in tutorials.
func newNaive(e *engine, one counter.Site) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	robots := regexp.MustCompile(`(?i)bot|crawl|spider|slurp|curl|wget|python|headless`)
	r.POST("/v1/view", func(c *gin.Context) {
		var body struct {
			Site string `json:"site" binding:"required"`
			Page string `json:"page" binding:"required"`
		}
		if err := c.ShouldBindJSON(&body); err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		agent := c.GetHeader("User-Agent")
		if robots.MatchString(agent) {
			c.Status(http.StatusAccepted)
			return
		}
		sum := sha256.Sum256([]byte(c.GetHeader("X-Forwarded-For") + agent))
		h := counter.Hit{
			Site: one, Page: body.Page, Kind: counter.View,
			Visitor: counter.Visitor{Hash: binary.BigEndian.Uint64(sum[:])}, At: time.Now(),
		}
		if err := e.countNaively(c.Request.Context(), h); err != nil {
			c.AbortWithStatus(http.StatusServiceUnavailable)
			return
		}
		c.Status(http.StatusAccepted)
	})
	return r
}

// load sends views on keep-alive connections for a while.
func load(ctx context.Context, o options, h http.Handler, pages []string) (result, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return result{}, err
	}
	server := api.NewHTTPServer(h)
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Close() }()
	var wait sync.WaitGroup
	took, failed := make([][]time.Duration, o.callers), make([]error, o.callers)
	start := time.Now()
	for i := range o.callers {
		wait.Go(func() {
			took[i], failed[i] = reader(l.Addr().String(), start.Add(o.duration), pages, o.visitors,
				uint64(i)+uint64(start.UnixNano())) //nolint:gosec // a seed
		})
	}
	wait.Wait()
	elapsed := time.Since(start)
	for _, err := range failed {
		if err != nil {
			return result{}, err
		}
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	n := len(all)
	return result{count: n, perS: float64(n) / elapsed.Seconds(), p50: all[n/2], p99: all[n*99/100]}, nil
}

// reader writes requests and reads responses with as little work as possible, so that
// the measurement covers the server.
func reader(address string, until time.Time, pages []string, visitors int, seed uint64) ([]time.Duration, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	random := rand.New(rand.NewPCG(seed, 2))                    //nolint:gosec // readers are no secret
	zipf := rand.NewZipf(random, 1.01, 1, uint64(len(pages)-1)) //nolint:gosec // a few
	answers := bufio.NewReader(c)
	var took []time.Duration
	for last := time.Now(); last.Before(until); {
		who := random.IntN(visitors)
		body := `{"site":"` + writeKey + `","page":"` + pages[zipf.Uint64()] +
			`","referrer":"https://l.facebook.com/l.php"}`
		if _, err := fmt.Fprintf(c,
			"POST /v1/view HTTP/1.1\r\nHost: stats.example\r\nUser-Agent: Mozilla/5.0 (Linux; Android 10; K) "+
				"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36\r\n"+
				"Accept-Language: vi\r\nX-Forwarded-For: 10.%d.%d.%d\r\nContent-Type: text/plain\r\nContent-Length: "+
				"%d\r\n\r\n%s", 100+who%30, who>>16&255, who>>8&255, who&255, len(body), body); err != nil {
			return nil, err
		}
		if err := accepted(answers); err != nil {
			return nil, err
		}
		now := time.Now()
		took = append(took, now.Sub(last))
		last = now
	}
	return took, nil
}

// accepted reads a response, which has no body.
func accepted(from *bufio.Reader) error {
	status, err := from.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 202") {
		return fmt.Errorf("unexpected status %s", status)
	}
	for {
		line, err := from.ReadString('\n')
		if err != nil || line == "\r\n" {
			return err
		}
	}
}
