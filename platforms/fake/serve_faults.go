package fake

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"time"
)

// requestConditions are changes that faults make inside a handler.
type requestConditions struct {
	skew time.Duration // of the network's clock
	hide time.Duration // hides new posts from listings

	ignoreKey   bool // ignores the Idempotency-Key of a request
	ignoreSince bool // ignores the lower bound of a listing
	rewrite     bool // rewrites the text of a new post in listings

	alter []string // parts of a new post that are made otherwise than asked

	retired []string // metrics that the network does not know
	denied  []string // scopes that the token lacks

	processingResult FaultKind     // outcome of an upload's processing; empty: success
	processingTime   time.Duration // duration of the processing; 0: the default
	mediaTTL         time.Duration // lifetime of an upload; 0: the default
}

type conditionsKey struct{}

func conditionsOf(r *http.Request) requestConditions {
	c, _ := r.Context().Value(conditionsKey{}).(requestConditions)
	return c
}

// serveWithFaults serves a request according to the faults that match it. Those
// that only change conditions apply first. Of those that replace the response,
// the first applies.
func (s *Server) serveWithFaults(w http.ResponseWriter, r *http.Request, as *fakeNetwork) {
	s.count(r, as)
	var c requestConditions
	var last *Fault
	for _, f := range s.matchFaults(r, as) {
		switch f.Kind {
		case ClockSkew:
			c.skew = f.For
		case Hide:
			c.hide = f.For
		case IgnoreKey:
			c.ignoreKey = true
		case IgnoreSince:
			c.ignoreSince = true
		case RewriteText:
			c.rewrite = true
		case Alter:
			c.alter = append(c.alter, f.Part)
		case RetiredMetric:
			c.retired = append(c.retired, f.Metric)
		case MissingScope:
			c.denied = append(c.denied, f.Scope)
		case MediaFinished, MediaError, MediaExpired:
			c.processingResult, c.processingTime = f.Kind, f.For
		case MediaTTL:
			c.mediaTTL = f.For
		case Latency:
			s.wait(r.Context(), f.For)
		case SlowUpload:
			r.Body = &slowBody{ReadCloser: r.Body, server: s, ctx: r.Context(), left: f.For}
		default:
			if last == nil {
				last = &f
			}
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), conditionsKey{}, c))
	w.Header().Set("Date", s.now().Add(c.skew).Format(http.TimeFormat))
	if as.requestID != "" {
		w.Header().Set(as.requestID, requestID())
	}
	if last == nil {
		s.mux.ServeHTTP(w, r)
		return
	}
	s.serveFault(w, r, as, *last)
}

func (s *Server) serveFault(w http.ResponseWriter, r *http.Request, as *fakeNetwork, f Fault) {
	switch f.Kind {
	case ResetBefore:
		reset(w)
		return
	case TokenExpired:
		as.expired(w)
		return
	case Status:
		s.answerStatus(w, as, f)
		return
	}
	lost := &recorder{header: http.Header{}}
	if f.Kind == ActLate {
		s.actLate(w, r, lost, f.For)
		return
	}
	s.mux.ServeHTTP(lost, r)
	switch f.Kind {
	case ActThenReset:
		reset(w)
	case ActThen500:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>We're sorry, but something went wrong (500)</title>")
	case ActThenHang:
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices a closed connection only after the body was read
		s.wait(r.Context(), f.For)
		reset(w)
	case Malformed2xx:
		maps.Copy(w.Header(), lost.header)
		if as.corruptHeaders != nil {
			as.corruptHeaders(w.Header())
		}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(lost.body.Bytes()[:lost.body.Len()/2])
	}
}

// actLate finishes a request whose connection is gone, as PHP and Node do.
func (s *Server) actLate(w http.ResponseWriter, r *http.Request, lost *recorder, after time.Duration) {
	body, err := io.ReadAll(r.Body)
	reset(w)
	if err != nil {
		return // a body that was cut short makes nothing
	}
	late := r.Clone(context.WithoutCancel(r.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	go func() {
		select {
		case <-time.After(after):
			s.mux.ServeHTTP(lost, late)
		case <-s.closed:
		}
	}()
}

func (s *Server) answerStatus(w http.ResponseWriter, as *fakeNetwork, f Fault) {
	wait := max(f.For, time.Second)
	if f.Status == http.StatusTooManyRequests && as.writeRateHeaders != nil {
		as.writeRateHeaders(w.Header(), s.options.Rates.API, 0, s.now().Add(wait))
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	if f.Body != "" {
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
		return
	}
	if f.Status == http.StatusTooManyRequests {
		as.refuseThrottled(w, wait)
		return
	}
	as.refuse(w, f.Status, "")
}

// wait sleeps; 0 waits until the client disconnects or the server closes.
func (s *Server) wait(ctx context.Context, d time.Duration) {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-ctx.Done():
	case <-s.closed:
	}
}

// reset closes the connection with a TCP reset, so that nothing of a response
// arrives. If the connection cannot be hijacked, it aborts the handler.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http aborts the response
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // makes Close send a reset
	}
	_ = conn.Close()
}

// recorder records a response that will be lost.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// slowBody distributes its delay over the first reads, a tenth on each.
type slowBody struct {
	io.ReadCloser
	server *Server
	ctx    context.Context
	left   time.Duration
	step   time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.step == 0 {
		b.step = max(b.left/10, time.Millisecond)
	}
	if b.left > 0 {
		b.server.wait(b.ctx, b.step)
		b.left -= b.step
		p = p[:min(len(p), 4096)]
	}
	return b.ReadCloser.Read(p)
}
