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

// Limits bound what a process takes upon itself. What is zero is not bounded.
type Limits struct {
	PerToken   int // requests a second of one token or session
	PerAddress int // of one address without a good one
	AtOnce     int // requests that are carried out at the same time

	Streams          int           // event streams that are open at the same time
	StreamsPerCaller int           // of them, those of one token or session
	StreamCheck      time.Duration // between two authorizations of a stream's reader; 0: a default
}

// load keeps a process from collapsing under more than it can do: what exceeds
// its limits is refused at once, which costs next to nothing, with the time
// after which to try again.
type load struct {
	tokens, addresses *throttle.Limiter
	requests, hits    *gate
}

// hitsPerRequest is how many hits of readers count for one request: they wait
// together for a round trip to Redis.
const hitsPerRequest = 16

func newLoad(l Limits, log *slog.Logger) *load {
	return &load{tokens: throttle.PerSecond(l.PerToken), addresses: throttle.PerSecond(l.PerAddress),
		requests: newGate(l.AtOnce, "requests", log), hits: newGate(l.AtOnce*hitsPerRequest, "hits", log)}
}

// gate lets so many in at once.
type gate struct {
	room chan struct{}
	what string
	log  *slog.Logger

	mu      sync.Mutex
	refused int
	told    time.Time
}

func newGate(atOnce int, what string, log *slog.Logger) *gate {
	if atOnce <= 0 {
		return nil
	}
	return &gate{room: make(chan struct{}, atOnce), what: what, log: log}
}

const (
	// roomPatience is how long somebody waits for room: a moment's crowd passes,
	// and with more than can be done the queue stays short.
	roomPatience = 500 * time.Millisecond
	// tellEvery is how often the log is told of refusals.
	tellEvery = 10 * time.Second
	// comeBack is when to try again after a refusal for lack of room, in seconds.
	comeBack = "1"
)

// enter waits for room; leave gives it back.
func (g *gate) enter(ctx context.Context) bool {
	if g == nil {
		return true
	}
	select {
	case g.room <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(roomPatience)
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

func (g *gate) leave() {
	if g != nil {
		<-g.room
	}
}

func (g *gate) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused++
	if time.Since(g.told) >= tellEvery {
		g.log.Warn("too many concurrent requests: some are rejected", "what", g.what, "limit", cap(g.room), "rejected", g.refused)
		g.told, g.refused = time.Now(), 0
	}
}

// refusedKey marks requests that were refused for the load: each is no error of
// ours, and all together are told of by the gate.
const refusedKey = "refused-for-load"

// makeRoom refuses requests when too many are being carried out.
func (l *load) makeRoom(c *gin.Context) {
	if l.requests == nil || lasting(c) {
		return
	}
	if !l.requests.enter(c.Request.Context()) {
		c.Set(refusedKey, true)
		c.Header("Retry-After", comeBack)
		writeProblem(c, http.StatusServiceUnavailable, "overloaded", "More is asked than can be done right now. Nothing was changed; try again in a moment.", nil)
		return
	}
	defer l.requests.leave()
	c.Next()
}

// lasting says of a request that it is health's, or may last as long as its
// client likes: streams, uploads and downloads. Those do little at a time.
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

// paced says whether a principal has not asked for too much; else it answers.
func (l *load) paced(c *gin.Context, who workspace.Principal) bool {
	of := who.TokenID
	if of == uuid.Nil {
		of = who.UserID
	}
	return slower(c, l.tokens, of.String(), "You send more requests than one token or session may.")
}

// anonymous is paced for who has no good token. It is asked after the token was
// looked up, so that a client that has a good one does not suffer for another
// one behind the same address.
func (l *load) anonymous(c *gin.Context) bool {
	return slower(c, l.addresses, throttle.ClientKey(c.ClientIP()), "Too many requests without a good token come from your address.")
}

// slower answers 429 to who has used up an allowance (RFC 6585, 4).
func slower(c *gin.Context, l *throttle.Limiter, who, detail string) bool {
	wait, ok := l.Allow(who, time.Now())
	if ok {
		return true
	}
	c.Header("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	writeProblem(c, http.StatusTooManyRequests, "rate_limited", detail+" Try again after the time in Retry-After.", nil)
	return false
}
