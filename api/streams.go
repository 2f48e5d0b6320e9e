package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
)

// isStream reports whether an operation's response is a stream of server-sent events,
// which stays open while its client has access.
func isStream(operation string) bool {
	return operation == "postEvents" || operation == "workspaceEvents" || operation == "liveViews"
}

const (
	// streamCheck is the interval of authorization checks: a revocation ends a stream
	// within ten seconds even if its notification is lost.
	streamCheck = 8 * time.Second
	// closingTimeout is how long a slow client has to receive the last event.
	closingTimeout = 5 * time.Second
)

// refusal is the reason for rejecting a request or closing a stream.
type refusal struct {
	status       int
	code, detail string
}

func (r *refusal) Error() string { return r.code }

// streams limits the open event streams of a process, and closes those whose client has
// lost access.
type streams struct {
	perCaller, atOnce int           // 0: no limit
	check             time.Duration // interval of authorization checks
	access            Live

	mu     sync.Mutex
	open   map[*stream]struct{}
	counts map[uuid.UUID]int // by token or session
	stop   context.CancelFunc
}

// stream is an open stream. A notification about any of the ids triggers a check.
type stream struct {
	caller uuid.UUID // the token or session
	ids    []uuid.UUID
	notice chan struct{}
}

func newStreams(l Limits, access Live) *streams {
	check := l.StreamCheck
	if check == 0 {
		check = streamCheck
	}
	return &streams{
		perCaller: l.StreamsPerCaller, atOnce: l.Streams, check: check, access: access,
		open: map[*stream]struct{}{}, counts: map[uuid.UUID]int{},
	}
}

// add admits a stream.
func (s *streams) add(who workspace.Principal) (*stream, *refusal) {
	one := &stream{caller: who.TokenID, notice: make(chan struct{}, 1)}
	if one.caller == uuid.Nil {
		one.caller = who.SessionID
	}
	one.ids = []uuid.UUID{one.caller, who.UserID, who.WorkspaceID}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.perCaller > 0 && s.counts[one.caller] >= s.perCaller:
		return nil, &refusal{
			http.StatusTooManyRequests, "too_many_streams",
			fmt.Sprintf("One token or session may hold %d event streams open. Close one first.", s.perCaller),
		}
	case s.atOnce > 0 && len(s.open) >= s.atOnce:
		return nil, &refusal{
			http.StatusServiceUnavailable, "overloaded",
			"This server holds as many event streams as it can. Try again in a moment.",
		}
	}
	s.open[one] = struct{}{}
	s.counts[one.caller]++
	if s.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		s.stop = stop
		go s.listen(ctx)
	}
	return one, nil
}

func (s *streams) remove(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
	if s.counts[one.caller]--; s.counts[one.caller] == 0 {
		delete(s.counts, one.caller)
	}
	if len(s.open) == 0 && s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// listen forwards notifications of one subscription while any stream is open.
func (s *streams) listen(ctx context.Context) {
	notices := s.access.ListenAccess(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-notices:
			s.notify(id)
		}
	}
}

func (s *streams) notify(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.open {
		for _, of := range one.ids {
			if of != id {
				continue
			}
			select {
			case one.notice <- struct{}{}:
			default:
			}
		}
	}
}

// errUnchecked ends a stream whose authorization could not be checked. The client
// reconnects and gets an error if the problem persists.
var errUnchecked = errors.New("access could not be checked")

// serve handles a request for a stream until check returns a refusal.
func (s *streams) serve(c *gin.Context, who workspace.Principal, check func(ctx context.Context) (*refusal, error)) {
	one, refused := s.add(who)
	if refused != nil {
		c.Header("Retry-After", "10")
		writeProblem(c, refused.status, refused.code, refused.detail, nil)
		return
	}
	defer s.remove(one)
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	writer := http.NewResponseController(c.Writer)
	go func() {
		defer close(watched)
		cause := s.watch(ctx, one, check)
		if cause != nil {
			_ = writer.SetWriteDeadline(time.Now().Add(closingTimeout))
		}
		cancel(cause)
	}()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// watch returns why a stream must be closed; nil: it has ended.
func (s *streams) watch(ctx context.Context, one *stream, check func(ctx context.Context) (*refusal, error)) error {
	tick := time.NewTicker(s.check)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-one.notice:
		case <-tick.C:
		}
		refused, err := check(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return errUnchecked
		case refused != nil:
			return refused
		}
	}
}

// endStream sends the reason to the client of a closed stream. Streams that end for
// another reason end without an event, and their clients reconnect.
func endStream(ctx context.Context, w http.ResponseWriter) {
	var why *refusal
	if !errors.As(context.Cause(ctx), &why) {
		return
	}
	raw, err := json.Marshal(map[string]string{"code": why.code, "message": why.detail})
	if err != nil {
		return
	}
	if _, err := fmt.Fprintf(w, "event: closed\ndata: %s\n\n", raw); err == nil {
		_ = http.NewResponseController(w).Flush()
	}
}
