package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// formMemory is how much of the files in a form is held in memory; the rest of
// them waits in temporary files, which net/http removes.
const formMemory = 64 << 10

// face is how one network looks from outside: where its API lies, and how it
// words what all of them have to say. A network is a file of its own that gives
// its face, and a line in faces.
type face struct {
	network string // as adapters name it
	prefix  string // of all its addresses, such as "/x"; Mastodon's, the oldest, has none

	// serves says whether faults apply to an address, which is so for the API
	// and not for pages; nil: to all below prefix.
	serves func(path string) bool
	// token finds the token of a request.
	token func(r *http.Request) string
	// refuse words a refusal. text is empty or what to say instead of the usual.
	refuse func(w http.ResponseWriter, status int, text string)
	// expired words the refusal of a token that was good once.
	expired func(w http.ResponseWriter)
	// rate writes the headers that tell how a limit stands; nil: it tells nobody.
	rate func(h http.Header, rate Rate, left int, reset time.Time)
	// throttled adds to a 429 what is said besides its headers; nil: refuse says it.
	throttled func(w http.ResponseWriter, wait time.Duration)
	// spoil breaks the headers of a success as Malformed2xx breaks its body, for
	// networks that answer in headers; nil: nothing to break.
	spoil func(h http.Header)
	// requestID names the header that identifies a call; empty: none does.
	requestID string
	// routes adds the handlers, whose addresses all begin with prefix.
	routes func(mux *http.ServeMux)
}

// faces lists the networks that the server plays.
func (s *Server) listFaces() []*face {
	return []*face{s.mastodonFace(), s.telegramFace(), s.discordFace(), s.instagramFace(), s.threadsFace(), s.xFace(), s.linkedinFace(), s.facebookFace(), s.blueskyFace()}
}

// faceOf finds whose API an address is of; nil for pages and controls.
func (s *Server) faceOf(path string) *face {
	for _, f := range s.faces {
		if f.prefix != "" && !strings.HasPrefix(path, f.prefix+"/") {
			continue
		}
		if f.serves == nil || f.serves(path) {
			return f
		}
	}
	return nil
}

func (s *Server) faceNamed(network string) *face {
	for _, f := range s.faces {
		if f.network == network {
			return f
		}
	}
	return nil
}

// root is the address of a network as its callers see it.
func (f *face) root(r *http.Request) string { return base(r) + f.prefix }

// callerOf finds who makes a call. problem is how the face has answered already.
func (s *Server) callerOf(w http.ResponseWriter, r *http.Request, f *face) (c caller, ok bool) {
	s.mu.Lock()
	t := s.state.tokens[f.token(r)]
	if t != nil {
		c = caller{account: *s.state.accounts[t.AccountID], app: t.App, scopes: t.Scopes}
	}
	s.mu.Unlock()
	switch {
	case t == nil || c.account.network() != f.network:
		f.refuse(w, http.StatusUnauthorized, "")
		return caller{}, false
	case !t.Expires.IsZero() && !s.now().Before(t.Expires):
		f.expired(w)
		return caller{}, false
	}
	return c, true
}

// signedIn serves calls that carry a good token, within the network's rates for
// the buckets.
func (s *Server) signedIn(f *face, next func(http.ResponseWriter, *http.Request, caller), buckets ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, ok := s.callerOf(w, r, f)
		if !ok {
			return
		}
		wait, ok := s.limiter.take(w, f, s.options.NetworkRates[f.network], c, s.now(), buckets...)
		if !ok {
			f.tooMany(w, wait)
			return
		}
		next(w, r, c)
	}
}

func (f *face) tooMany(w http.ResponseWriter, wait time.Duration) {
	if f.throttled != nil {
		f.throttled(w, wait)
		return
	}
	f.refuse(w, http.StatusTooManyRequests, "")
}

// Thing is whatever else a network holds between two calls: a container, an
// upload that is not whole. Data is the network's own JSON.
type Thing struct {
	ID        string          `json:"id"`
	Network   string          `json:"network"`
	Kind      string          `json:"kind"`
	AccountID string          `json:"account_id"`
	CreatedAt time.Time       `json:"created_at"`
	Data      json.RawMessage `json:"data"`
}

// putThing keeps a thing, in place of an earlier one of its id. The caller holds
// s.mu.
func (s *Server) putThing(t Thing, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	t.Data = raw
	return s.commit(record{Kind: kindThing, Thing: &t})
}

// thing reads one into data. The caller holds s.mu.
func (s *Server) thing(network, kind, id string, data any) (Thing, bool) {
	t := s.state.things[id]
	if t == nil || t.Network != network || t.Kind != kind || json.Unmarshal(t.Data, data) != nil {
		return Thing{}, false
	}
	return *t, true
}

// storePost makes a post, whose ID, URL and all that people wrote are filled in;
// CreatedAt too where the network dates other than to the millisecond. The caller
// holds s.mu.
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
	rewritten(r, post)
	stored := *post
	return s.commit(record{Kind: kindPost, Post: &stored})
}

// shown says whether listings show a post already. The caller holds s.mu.
func (s *Server) shown(p *Post) bool { return !p.Deleted && !s.now().Before(p.HiddenUntil) }

// dueMedia fills in how the processing of an upload goes, by the faults that hit
// the request.
func (s *Server) dueMedia(r *http.Request, m *Media) {
	c := conditionsOf(r)
	delay := s.options.MediaDelay
	if c.delay > 0 {
		delay = c.delay
	}
	m.ReadyAt = s.now().Add(delay)
	m.Failed = c.processing == MediaError
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = s.now().Add(s.options.MediaLife)
	}
	if c.life > 0 {
		m.ExpiresAt = s.now().Add(c.life)
	}
	if c.processing == MediaExpired {
		m.ExpiresAt = m.ReadyAt
	}
}
