package api

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/throttle"
)

// Limits bound the load of a process. 0 means unlimited.
type Limits struct {
	PerToken   int // requests per second of a token or session
	PerAddress int // requests per second of an IP address without a valid token or session
	AtOnce     int // concurrent requests

	Streams          int           // open event streams
	StreamsPerCaller int           // open event streams of a token or session
	StreamCheck      time.Duration // interval of authorization checks of streams; 0: a default
}

// load protects a process from overload: requests beyond its limits are rejected
// immediately and cheaply, with a Retry-After.
type load struct {
	tokens, addresses *throttle.Limiter
	requests, hits    *admission
}

// hitsPerRequest is the number of concurrent hits that count as one request: they share
// round trips to Redis.
const hitsPerRequest = 16

func newLoad(l Limits, log *slog.Logger) *load {
	return &load{
		tokens: throttle.PerSecond(l.PerToken), addresses: throttle.PerSecond(l.PerAddress),
		requests: newAdmission(l.AtOnce, "requests", log), hits: newAdmission(l.AtOnce*hitsPerRequest, "hits", log),
	}
}

// admission limits the number of concurrent requests.
type admission struct {
	room chan struct{}
	what string
	log  *slog.Logger

	mu       sync.Mutex
	refused  int
	loggedAt time.Time
}

func newAdmission(atOnce int, what string, log *slog.Logger) *admission {
	if atOnce <= 0 {
		return nil
	}
	return &admission{room: make(chan struct{}, atOnce), what: what, log: log}
}

const (
	// admissionTimeout is how long a request waits for admission: enough for a short
	// burst, and short enough that the queue stays short under overload.
	admissionTimeout = 500 * time.Millisecond
	// rejectionLogInterval is the minimum time between log messages about rejections.
	rejectionLogInterval = 10 * time.Second
	// overloadRetryAfter is the Retry-After of rejected requests, in seconds.
	overloadRetryAfter = "1"
)

// acquire waits for a slot; release frees it.
func (g *admission) acquire(ctx context.Context) bool {
	if g == nil {
		return true
	}
	select {
	case g.room <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(admissionTimeout)
	defer timer.Stop()
	select {
	case g.room <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	g.refuse()
	return false
}

func (g *admission) release() {
	if g != nil {
		<-g.room
	}
}

func (g *admission) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused++
	if time.Since(g.loggedAt) >= rejectionLogInterval {
		g.log.Warn("too many concurrent requests: some are rejected", "what", g.what, "limit", cap(g.room), "rejected",
			g.refused)
		g.loggedAt, g.refused = time.Now(), 0
	}
}

// refusedKey marks requests that were rejected because of overload. They are not
// logged one by one as errors: admission logs a summary.
const refusedKey = "refused-for-load"

// makeRoom rejects requests when too many are running.
func (l *load) makeRoom(c *gin.Context) {
	if l.requests == nil || lasting(c) {
		return
	}
	if !l.requests.acquire(c.Request.Context()) {
		c.Set(refusedKey, true)
		c.Header("Retry-After", overloadRetryAfter)
		writeProblem(c, http.StatusServiceUnavailable, "overloaded",
			"More is asked than can be done right now. Nothing was changed; try again in a moment.", nil)
		return
	}
	defer l.requests.release()
	c.Next()
}

// lasting reports whether a request is a health check, or may last as long as its client
// wants: streams, uploads and downloads, which need few resources at a time.
func lasting(c *gin.Context) bool {
	route := c.FullPath()
	if route == "/livez" || route == "/readyz" || isUpload(c) || isBulk(c) {
		return true
	}
	for _, end := range []string{"/events", "/live", "/content", "/archive", "/warc", "/export"} {
		if c.Request.Method == http.MethodGet && strings.HasSuffix(route, end) {
			return true
		}
	}
	return false
}

// paced reports whether a principal is within its rate limit; otherwise it responds.
func (l *load) paced(c *gin.Context, who workspace.Principal) bool {
	of := who.TokenID
	if of == uuid.Nil {
		of = who.UserID
	}
	return slower(c, l.tokens, of.String(), "You send more requests than one token or session may.")
}

// anonymous is paced for clients without a valid token. It runs after the token was
// checked, so that a client with a valid token is not limited because of another client
// behind the same address.
func (l *load) anonymous(c *gin.Context) bool {
	return slower(c, l.addresses, throttle.ClientKey(clientIP(c)),
		"Too many requests without a good token come from your address.")
}

// slower responds with 429 (RFC 6585, 4).
func slower(c *gin.Context, l *throttle.Limiter, who, detail string) bool {
	wait, ok := l.Allow(who, time.Now())
	if ok {
		return true
	}
	c.Header("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	writeProblem(c, http.StatusTooManyRequests, "rate_limited", detail+" Try again after the time in Retry-After.", nil)
	return false
}
