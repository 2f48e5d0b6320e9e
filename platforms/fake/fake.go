// Package fake serves social networks as their contracts describe them, so that
// publishing can be tried without an account anywhere: in tests, and as the
// sandbox of an installation.
//
// Every request may be made to fail on purpose, for all accounts or for one,
// at any time (Fault, PUT /__faults):
//
//   - slow answers, slow uploads (Latency, SlowUpload)
//   - a port that refuses connections (Refuse; of the whole network)
//   - connections reset before or after acting (ResetBefore, ActThenReset)
//   - acting, then an error, silence or nonsense (ActThen500, ActThenHang, Malformed2xx)
//   - any status, 429 with its headers (Status)
//   - tokens that expire, at once or at a time (TokenExpired with At)
//   - new posts that listings show late (Hide), clocks that are wrong (ClockSkew)
//   - servers that ignore idempotency keys (IgnoreKey) or the start of a listing
//     (IgnoreSince), or that rewrite what they list (RewriteText)
//   - attachments whose processing takes a while and ends well, in an error, or
//     in nothing (MediaFinished, MediaError, MediaExpired), and ones that are
//     dropped when no post takes them (MediaLife)
//
// Rates limits what an account may do. Options.TokenLife makes tokens short-lived
// and their refresh tokens good for one use; using one twice ends its family.
//
// GET /__state/posts tells the truth about what was published, however the
// answers were lost, and GET /__state/counts sums it up by account.
package fake

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"html/template"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options for a Server. The zero value works: memory only, no rate limits that a
// user would meet.
type Options struct {
	Journal       string           // file that keeps the state; empty: none
	Clock         func() time.Time // nil: time.Now
	Rates         Rates            // zero: GenerousRates
	AutoApprove   bool             // the authorize page approves by itself, as the first account
	MediaDelay    time.Duration    // processing time of uploads; 0: images at once, video 1 s
	CreateDelay   time.Duration    // between making a post and remembering its key
	MaxCharacters int              // 0: 500
	Software      string           // name and version that the Mastodon server reports; empty: "mastodon 4.6.0"
	MediaTTL      time.Duration    // of uploads that no post takes; 0: 24 h, as in Mastodon
	TokenTTL      time.Duration    // of tokens that an app gets, with a refresh token; 0: as the network has it
	// NetworkRates limit the other networks, by name and bucket; a bucket that is
	// missing is not limited.
	NetworkRates map[string]map[string]Rate
}

// Server is a fake network. It is an http.Handler; Start gives it a listener
// of its own, which the fault Refuse needs.
type Server struct {
	options  Options
	mux      *http.ServeMux
	networks []*fakeNetwork
	limiter  *limiter
	renderer htmlRenderer
	pages    *template.Template

	mu      sync.Mutex
	state   state
	journal *os.File
	faults  []*Fault
	changed chan struct{} // closed and replaced at every change
	codes   map[string]grant
	calls   map[string]int // by account id, since the last reset

	listenMu sync.Mutex
	listener net.Listener
	server   *http.Server
	address  string
	closed   chan struct{}
	closing  sync.Once
}

// New makes a server and, with a journal, brings back what it held.
func New(options Options) (*Server, error) {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Rates == (Rates{}) {
		options.Rates = GenerousRates()
	}
	if options.Software == "" {
		options.Software = "mastodon 4.6.0"
	}
	if options.MaxCharacters == 0 {
		options.MaxCharacters = 500
	}
	if options.MediaTTL == 0 {
		options.MediaTTL = 24 * time.Hour // app/lib/vacuum/media_attachments_vacuum.rb
	}
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	s := &Server{
		renderer: newHTMLRenderer(),
		pages:    pages,
		options:  options,
		mux:      http.NewServeMux(),
		limiter:  newLimiter(options.Rates),
		state:    newState(),
		changed:  make(chan struct{}),
		codes:    map[string]grant{},
		calls:    map[string]int{},
		closed:   make(chan struct{}),
	}
	if options.Journal != "" {
		if err := s.openJournal(options.Journal); err != nil {
			return nil, err
		}
	}
	s.mux.HandleFunc("GET /__state/posts", s.showPosts)
	s.mux.HandleFunc("GET /__state/counts", s.showCounts)
	s.mux.HandleFunc("GET /__state/accounts", s.showAccounts)
	s.mux.HandleFunc("POST /__state/reset", s.resetState)
	s.mux.HandleFunc("GET /__state/events", s.streamChanges)
	s.mux.HandleFunc("GET /__faults", s.showFaults)
	s.mux.HandleFunc("PUT /__faults", s.putFaults)
	s.mux.HandleFunc("DELETE /__faults", s.deleteFaults)
	s.mux.HandleFunc("GET /media/{id}", s.showMedia)
	s.mux.HandleFunc("GET /{$}", s.showTimeline)
	s.networks = s.newNetworks()
	for _, f := range s.networks {
		f.routes(s.mux)
	}
	return s, nil
}

// ServeHTTP answers one request, or fails it as a fault says.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := s.networkOf(r.URL.Path); f != nil {
		s.serveWithFaults(w, r, f)
		return
	}
	// Permalinks: ServeMux has no wildcard inside a segment.
	if rest, ok := strings.CutPrefix(r.URL.Path, "/@"); ok {
		_, id, _ := strings.Cut(rest, "/")
		if _, err := strconv.ParseUint(id, 10, 64); err == nil {
			http.Redirect(w, r, "/#p"+id, http.StatusFound) //nolint:gosec // id is a number, checked above
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) now() time.Time { return s.options.Clock().UTC().Truncate(time.Millisecond) }

// AddAccount makes an account of the Mastodon network, or finds the one of that
// name, with a token for everything.
func (s *Server) AddAccount(name string) (Account, error) {
	return s.Add(Account{Name: name})
}

// Add makes an account, or finds the one of that network and name, with a token
// for everything. An empty ID is filled in.
func (s *Server) Add(made Account) (Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account := s.state.accountByName(made.network(), made.Name)
	if account == nil {
		made.CreatedAt = s.now()
		if made.ID == "" {
			made.ID = s.state.nextID(s.now())
		}
		if err := s.commit(record{Kind: kindAccount, Account: &made}); err != nil {
			return Account{}, err
		}
		account = s.state.accounts[made.ID]
	}
	if account.Token == "" {
		t := token{Value: rand.Text(), AccountID: account.ID, Scopes: []string{"read", "write", "*"}, Seeded: true}
		if err := s.commit(record{Kind: kindToken, Token: &t}); err != nil {
			return Account{}, err
		}
	}
	return *account, nil
}

// Posts tells every post ever made since the last reset, oldest first.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	posts := make([]Post, len(s.state.posts))
	for i, p := range s.state.posts {
		posts[i] = *p
	}
	return posts
}

// Issued tells every secret that the network has ever given out: tokens, refresh
// tokens, secrets of applications, codes. None may be found anywhere else.
func (s *Server) Issued() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.issued)
}

// Reset forgets posts, media, keys and faults. Accounts, apps and tokens stay,
// so that whoever is connected stays connected.
func (s *Server) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	clear(s.calls)
	return s.commit(record{Kind: kindReset})
}

// showAccounts tells who is there and with which tokens bots are connected. They
// open nothing but this server.
func (s *Server) showAccounts(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	accounts := make([]Account, len(s.state.accountOrder))
	for i, a := range s.state.accountOrder {
		accounts[i] = *a
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, accounts)
}

func (s *Server) showPosts(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Posts())
}

func (s *Server) resetState(w http.ResponseWriter, _ *http.Request) {
	if err := s.Reset(); err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Close stops the listener, ends hanging requests and closes the journal.
func (s *Server) Close() error {
	s.closing.Do(func() { close(s.closed) })
	err := s.stopListening()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil {
		err = errors.Join(err, s.journal.Close())
		s.journal = nil
	}
	return err
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the reader may be gone
}
