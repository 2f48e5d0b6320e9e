package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// maxFormMemory is how much of a form's files is held in memory; the rest is
// stored in temporary files, which net/http removes.
const maxFormMemory = 64 << 10

// fakeNetwork is how one network looks to clients: the prefix of its API, and its
// formats for what all networks have in common.
type fakeNetwork struct {
	name   string // name as in adapters
	prefix string // of all of its paths, such as "/x"; empty for Mastodon

	// isAPI reports whether faults apply to a path, which they do for the API and
	// not for pages; nil: all paths below prefix.
	isAPI func(path string) bool
	// token returns the token of a request.
	token func(r *http.Request) string
	// refuse writes a refusal. text replaces the usual message unless it is
	// empty.
	refuse func(w http.ResponseWriter, status int, text string)
	// expired writes the refusal of an expired token.
	expired func(w http.ResponseWriter)
	// writeRateHeaders writes the headers that report a rate limit; nil: it
	// reports none.
	writeRateHeaders func(h http.Header, rate Rate, left int, reset time.Time)
	// writeThrottled writes a 429 if it differs from other refusals; nil: refuse
	// writes it.
	writeThrottled func(w http.ResponseWriter, wait time.Duration)
	// corruptHeaders corrupts the headers of a success the way Malformed2xx
	// corrupts its body, for networks that respond with headers; nil: nothing to
	// corrupt.
	corruptHeaders func(h http.Header)
	// putPublishes means that faults of POST also apply to PUT, with which the network
	// publishes.
	putPublishes bool
	// requestID is the header with the request id; empty: none.
	requestID string
	// routes adds the handlers, whose paths all begin with prefix.
	routes func(mux *http.ServeMux)
}

// The fakes of the networks share the state of the server.
type (
	mastodonFake struct{ *Server }
	telegramFake struct{ *Server }
	discordFake  struct{ *Server }
	graphFake    struct{ *Server } // Facebook, Instagram and Threads
	xFake        struct{ *Server }
	linkedinFake struct{ *Server }
	blueskyFake  struct{ *Server }

	ghostFake     struct{ *Server }
	nostrFake     struct{ *Server }
	slackFake     struct{ *Server }
	wordpressFake struct{ *Server }
	zaloFake      struct{ *Server }
)

// newNetworks returns the fake networks.
func (s *Server) newNetworks() []*fakeNetwork {
	return []*fakeNetwork{
		mastodonFake{s}.mastodonNetwork(), telegramFake{s}.telegramNetwork(), discordFake{s}.discordNetwork(),
		graphFake{s}.instagramNetwork(), graphFake{s}.threadsNetwork(), xFake{s}.xNetwork(),
		linkedinFake{s}.linkedinNetwork(), graphFake{s}.facebookNetwork(), blueskyFake{s}.blueskyNetwork(),
		ghostFake{s}.ghostNetwork(), nostrFake{s}.nostrNetwork(), slackFake{s}.slackNetwork(),
		wordpressFake{s}.wordpressNetwork(), zaloFake{s}.zaloNetwork(),
	}
}

// networkOf returns the network whose API a path belongs to; nil for pages and
// controls.
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

// root returns the base URL of a network for its clients.
func (f *fakeNetwork) root(r *http.Request) string { return base(r) + f.prefix }

// callerOf returns the account that makes a request. ok is false if a refusal was
// written.
func (s *Server) callerOf(w http.ResponseWriter, r *http.Request, f *fakeNetwork) (c caller, ok bool) {
	s.mu.Lock()
	t := s.state.tokens[f.token(r)]
	if t != nil {
		c = caller{
			account: *s.state.accounts[t.AccountID], app: t.App, scopes: t.Scopes,
			denied: conditionsOf(r).denied,
		}
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

// authenticatedFor serves calls with a valid token, within the network's rates
// for the buckets.
func (s *Server) authenticatedFor(
	f *fakeNetwork, next func(http.ResponseWriter, *http.Request, caller), buckets ...string,
) http.HandlerFunc {
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

// Object is other state of a network between two calls: a container, an
// incomplete upload. Data is the network's own JSON.
type Object struct {
	ID        string          `json:"id"`
	Network   string          `json:"network"`
	Kind      string          `json:"kind"`
	AccountID string          `json:"account_id"`
	CreatedAt time.Time       `json:"created_at"`
	Data      json.RawMessage `json:"data"`
}

// putObject stores an object and replaces an earlier one with the same id. The
// caller must hold s.mu.
func (s *Server) putObject(t Object, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	t.Data = raw
	return s.commit(record{Kind: kindObject, Object: &t})
}

// object reads an object into data. The caller must hold s.mu.
func (s *Server) object(network, kind, id string, data any) (Object, bool) {
	t := s.state.objects[id]
	if t == nil || t.Network != network || t.Kind != kind || json.Unmarshal(t.Data, data) != nil {
		return Object{}, false
	}
	return *t, true
}

// storePost stores a post with its ID, URL and content. CreatedAt is set unless
// the network's resolution is not milliseconds. The caller must hold s.mu.
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

// scheduleMedia sets the outcome and time of an upload's processing, according to
// the faults that match the request.
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
