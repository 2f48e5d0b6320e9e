package ingest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
	"dateline/internal/notify/pubsub"
	"dateline/internal/testing/enginetest"
)

// servedRedis is the environment variable that makes a process of this test serve
// the handler, with the address of Redis.
const servedRedis = "INGEST_TEST_REDIS"

const servedKey = "dlw_killedkilledkille"

// served is the only site of such a process.
func served() counter.Site {
	return counter.Site{
		ID: uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000002"), Zone: time.UTC,
		Window: 30 * time.Minute, UniqueMethod: counter.Set,
	}
}

type servedSite struct{ *site.Active }

func (s servedSite) ByKey(key string) (*site.Active, bool) { return s.Active, key == s.WriteKey }

func (s servedSite) ByDomain(string) (*site.Active, bool) { return s.Active, false }
func (s servedSite) BySecret(string) (*site.Active, bool) { return nil, false }
func (s servedSite) AnyAllows(string) bool                { return true }

// serve runs a handler and prints its address, until it is killed.
func serve(redisURL string) error {
	ctx := context.Background()
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return err
	}
	client, log, one := redis.NewClient(options), slog.New(slog.DiscardHandler), served()
	robots, err := botfilter.New()
	if err != nil {
		return err
	}
	tracker, err := ingest.NewTracker()
	if err != nil {
		return err
	}
	viewCounter := counter.New(client, counter.Options{})
	go viewCounter.Run(ctx, func(err error) { fmt.Fprintln(os.Stderr, err) })
	active := &site.Active{
		Site: site.Site{
			ID: one.ID, WriteKey: servedKey, RateHits: site.DefaultRateHits,
			RateSeconds: 10, Visitors: site.Cookieless,
		}, CounterSite: one,
		VisitorSite: visitor.Site{ID: one.ID, Zone: one.Zone},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, &ingest.Handler{
		Sites: servedSite{active}, Counter: counter.NewBatcher(viewCounter),
		Bulk: viewCounter, Notifier: pubsub.NewSiteSignals(client, log),
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(client)}, Bots: robots,
		RateLimiter: botfilter.NewRateLimiter(ctx, client), Referrers: dimensions.NewReferrers(),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Log: log, Tracker: tracker,
	})
}

// startServer starts a process and returns its address.
func startServer(t *testing.T, redisURL string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), servedRedis+"="+redisURL), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, "http://" + strings.TrimSpace(address)
}

// Readers resend their view until it is acknowledged; each counts once.
func TestIngest_KilledProcessLosesNoAcknowledgedView(t *testing.T) {
	t.Parallel()
	const senders, each, pages, deaths = 24, 200, 7, 4
	redisURL := enginetest.Redis(t)
	var url atomic.Pointer[string]
	cmd, first := startServer(t, redisURL)
	url.Store(&first)
	var answered, unanswered atomic.Int64
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	send := func(sender, n int) bool {
		body := fmt.Sprintf(`{"site":"%s","page":"/%d"}`, servedKey, n%pages)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, *url.Load()+"/v1/view",
			strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return true
		}
		r.Header.Set("User-Agent", firefox)
		r.Header.Set("Accept-Language", "vi")
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", sender, n>>8, n&255))
		a, err := client.Do(r)
		if err != nil {
			return false
		}
		text, _ := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if a.StatusCode != http.StatusAccepted {
			t.Errorf("got %s %s, want 202", a.Status, text)
		}
		return true
	}
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			for n := range each {
				for !send(sender, n) && !t.Failed() {
					unanswered.Add(1)
					time.Sleep(5 * time.Millisecond)
				}
				answered.Add(1)
			}
		})
	}
	for death := range deaths {
		for answered.Load() < int64(senders*each*(death+1)/(deaths+2)) && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		var next string
		cmd, next = startServer(t, redisURL)
		url.Store(&next)
	}
	all.Wait()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if unanswered.Load() == 0 {
		t.Error("no request failed although the API was killed")
	}
	viewCounter := counter.New(enginetest.RedisClient(t, redisURL), counter.Options{})
	if err := viewCounter.Aggregate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for page := range pages {
		want := int64(0)
		for n := range each {
			if n%pages == page {
				want += senders
			}
		}
		s, err := viewCounter.Stats(t.Context(), served(), fmt.Sprintf("/%d", page))
		if err != nil {
			t.Fatal(err)
		}
		var days int64
		for _, day := range s.Days {
			days += day.Count
		}
		if s.Views != want || s.Uniques.AllTime != want || days != want {
			t.Errorf("page %d has %d views of %d visitors, %d by day; want %d of each", page, s.Views,
				s.Uniques.AllTime, days, want)
		}
	}
}
