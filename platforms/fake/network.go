package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// maxFormMemory is how much of the files in a form is held in memory; the rest of
// them waits in temporary files, which net/http removes.
const maxFormMemory = 64 << 10

// fakeNetwork is how one network looks from outside: where its API lies, and how it
// words what all of them have to say. A network is a file of its own that gives
// its face, and a line in faces.
type fakeNetwork struct {
	name   string // as adapters name it
	prefix string // of all its addresses, such as "/x"; Mastodon's, the oldest, has none

	// isAPI reports whether faults apply to an address, which is so for the API
	// and not for pages; nil: to all below prefix.
	isAPI func(path string) bool
	// token finds the token of a request.
	token func(r *http.Request) string
	// refuse words a refusal. text is empty or what to say instead of the usual.
	refuse func(w http.ResponseWriter, status int, text string)
	// expired words the refusal of a token that was good once.
	expired func(w http.ResponseWriter)
	// writeRateHeaders writes the headers that tell how a limit stands; nil: it tells nobody.
	writeRateHeaders func(h http.Header, rate Rate, left int, reset time.Time)
	// writeThrottled adds to a 429 what is said besides its headers; nil: refuse says it.
	writeThrottled func(w http.ResponseWriter, wait time.Duration)
	// corruptHeaders breaks the headers of a success as Malformed2xx breaks its body, for
	// networks that answer in headers; nil: nothing to break.
	corruptHeaders func(h http.Header)
	// requestID names the header that identifies a call; empty: none does.
	requestID string
	// routes adds the handlers, whose addresses all begin with prefix.
	routes func(mux *http.ServeMux)
}

// faces lists the networks that the server plays.
func (s *Server) newNetworks() []*fakeNetwork {
	return []*fakeNetwork{s.mastodonNetwork(), s.telegramNetwork(), s.discordNetwork(), s.instagramNetwork(), s.threadsNetwork(), s.xNetwork(), s.linkedinNetwork(), s.facebookNetwork(), s.blueskyNetwork()}
}

// networkOf finds whose API an address is of; nil for pages and controls.
func (s *Server) networkOf(path string) *fakeNetwork {
	for _, f := range s.networks {
		if f.prefix != "" && !strings.HasPrefix(path, f.prefix+"/") {
			continue
		}
		if f.isAPI == nil || f.isAPI(path) {
			return f
		}
	}
	return nil
}

func (s *Server) networkNamed(network string) *fakeNetwork {
	for _, f := range s.networks {
		if f.name == network {
			return f
		}
	}
	return nil
}

// root is the address of a network as its callers see it.
func (f *fakeNetwork) root(r *http.Request) string { return base(r) + f.prefix }

// callerOf finds who makes a call. problem is how the face has answered already.
func (s *Server) callerOf(w http.ResponseWriter, r *http.Request, f *fakeNetwork) (c caller, ok bool) {
	s.mu.Lock()
	t := s.state.tokens[f.token(r)]
	if t != nil {
		c = caller{account: *s.state.accounts[t.AccountID], app: t.App, scopes: t.Scopes}
	}
	s.mu.Unlock()
	switch {
	case t == nil || c.account.network() != f.name:
		f.refuse(w, http.StatusUnauthorized, "")
		return caller{}, false
	case !t.Expires.IsZero() && !s.now().Before(t.Expires):
		f.expired(w)
		return caller{}, false
	}
	return c, true
}

// authenticatedFor serves calls that carry a good token, within the network's rates for
// the buckets.
func (s *Server) authenticatedFor(f *fakeNetwork, next func(http.ResponseWriter, *http.Request, caller), buckets ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, ok := s.callerOf(w, r, f)
		if !ok {
			return
		}
		wait, ok := s.limiter.take(w, f, s.options.NetworkRates[f.name], c, s.now(), buckets...)
		if !ok {
			f.refuseThrottled(w, wait)
			return
		}
		next(w, r, c)
	}
}

func (f *fakeNetwork) refuseThrottled(w http.ResponseWriter, wait time.Duration) {
	if f.writeThrottled != nil {
		f.writeThrottled(w, wait)
		return
	}
	f.refuse(w, http.StatusTooManyRequests, "")
}

// Object is whatever else a network holds between two calls: a container, an
// upload that is not whole. Data is the network's own JSON.
type Object struct {
	ID        string          `json:"id"`
	Network   string          `json:"network"`
	Kind      string          `json:"kind"`
	AccountID string          `json:"account_id"`
	CreatedAt time.Time       `json:"created_at"`
	Data      json.RawMessage `json:"data"`
}

// putObject keeps a thing, in place of an earlier one of its id. The caller must
// hold s.mu.
func (s *Server) putObject(t Object, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	t.Data = raw
	return s.commit(record{Kind: kindObject, Object: &t})
}

// object reads one into data. The caller must hold s.mu.
func (s *Server) object(network, kind, id string, data any) (Object, bool) {
	t := s.state.objects[id]
	if t == nil || t.Network != network || t.Kind != kind || json.Unmarshal(t.Data, data) != nil {
		return Object{}, false
	}
	return *t, true
}

// storePost makes a post, whose ID, URL and all that people wrote are filled in;
// CreatedAt too where the network dates other than to the millisecond. The caller
// must hold s.mu.
func (s *Server) storePost(r *http.Request, post *Post) error {
	c := conditionsOf(r)
	if post.CreatedAt.IsZero() {
		post.CreatedAt = s.now().Add(c.skew)
	}
	if c.hide > 0 {
		post.HiddenUntil = s.now().Add(c.hide)
	}
	if post.Media == nil {
		post.Media = []Media{}
	}
	post.Requests = max(post.Requests, 1)
	applyRewrite(r, post)
	stored := *post
	return s.commit(record{Kind: kindPost, Post: &stored})
}

// isListed reports whether listings show a post already. The caller must hold
// s.mu.
func (s *Server) isListed(p *Post) bool { return !p.Deleted && !s.now().Before(p.HiddenUntil) }

// scheduleMedia fills in how the processing of an upload goes, by the faults that hit
// the request.
func (s *Server) scheduleMedia(r *http.Request, m *Media) {
	c := conditionsOf(r)
	delay := s.options.MediaDelay
	if c.processingTime > 0 {
		delay = c.processingTime
	}
	m.ReadyAt = s.now().Add(delay)
	m.Failed = c.processingResult == MediaError
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = s.now().Add(s.options.MediaTTL)
	}
	if c.mediaTTL > 0 {
		m.ExpiresAt = s.now().Add(c.mediaTTL)
	}
	if c.processingResult == MediaExpired {
		m.ExpiresAt = m.ReadyAt
	}
}
