// Package fake contains fake social networks (the sandbox). They behave as the
// networks' API documentation describes, so that publishing can be tried without
// a real account, in tests and in an installation.
//
// Any request can be made to fail, for all accounts or for one, at any time
// ([Fault], PUT /__faults):
//
//   - slow responses and uploads (Latency, SlowUpload)
//   - a port that refuses connections, of all networks (Refuse)
//   - connections that are reset before or after the network acts (ResetBefore, ActThenReset)
//   - acting, then an error, no response, or an invalid one (ActThen500, ActThenHang, Malformed2xx)
//   - any status, 429 with its headers (Status)
//   - tokens that expire immediately or at a given time (TokenExpired with At)
//   - listings that show new posts late (Hide), clocks that are wrong (ClockSkew)
//   - metrics that the network no longer knows (RetiredMetric), scopes that a token
//     lacks (MissingScope)
//   - servers that ignore idempotency keys (IgnoreKey) or the start of a listing
//     (IgnoreSince), or that rewrite listed texts (RewriteText)
//   - servers that drop or change a part of a post and respond with success (Alter)
//   - attachments whose processing takes time and succeeds, fails, or loses the
//     attachment (MediaFinished, MediaError, MediaExpired), and attachments that
//     are deleted if no post uses them (MediaTTL)
//
// Rates limits what an account can do. Options.TokenTTL makes tokens short-lived
// and refresh tokens single-use; using one twice revokes its family.
//
// Likes, views and other metrics of a post grow with its age. DELETE
// /__state/posts?id=… deletes a post at its network, and POST /__state/age?by=24h
// makes all posts older.
//
// POST /__hooks accepts webhooks of any kind, for those who have no receiver to try them with.
//
// GET /__state/posts returns what was really published, even if responses were
// lost, and GET /__state/counts the totals by account.
//
// A network is one or more files with its own prefix, which return a fakeNetwork,
// and one line in newNetworks.
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

// Options configures a Server. The zero value works: state in memory only, and
// rate limits that normal use does not reach.
type Options struct {
	Journal       string           // file that stores the state; empty: none
	Clock         func() time.Time // nil: time.Now
	Rates         Rates            // zero: GenerousRates
	AutoApprove   bool             // the authorize page approves by itself, as the first account
	MediaDelay    time.Duration    // processing time of uploads; 0: none for images, 1 s for video
	CreateDelay   time.Duration    // delay between creating a post and storing its idempotency key
	MaxCharacters int              // 0: 500
	Software      string           // name and version that the Mastodon server reports; empty: "mastodon 4.6.0"
	MediaTTL      time.Duration    // of uploads that no post uses; 0: 24 h, as in Mastodon
	TokenTTL      time.Duration    // of tokens issued to an app, with a refresh token; 0: the network's default
	MetricTime    time.Duration    // age at which a post has two thirds of its final numbers; 0: 12 h
	// NetworkRates are the limits of the other networks, by name and bucket; a
	// missing bucket is not limited.
	NetworkRates map[string]map[string]Rate
}

// Server serves all fake networks. It is an http.Handler; Start gives it its own
// listener, which the fault Refuse requires.
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

// New returns a server, and restores the state in the journal if there is one.
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
	if options.MetricTime == 0 {
		options.MetricTime = 12 * time.Hour
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
	controls{s}.routes()
	s.networks = s.newNetworks()
	for _, f := range s.networks {
		f.routes(s.mux)
	}
	return s, nil
}

// HooksPath accepts webhooks of any kind, and does nothing.
const HooksPath = "/__hooks"

// controls shows and changes the state of the server.
type controls struct{ *Server }

func (s controls) routes() {
	s.mux.HandleFunc("GET /__state/posts", s.showPosts)
	s.mux.HandleFunc("DELETE /__state/posts", s.deletePost)
	s.mux.HandleFunc("POST /__state/age", s.agePosts)
	s.mux.HandleFunc("GET /__state/counts", s.showCounts)
	s.mux.HandleFunc("GET /__state/accounts", s.showAccounts)
	s.mux.HandleFunc("POST /__state/reset", s.resetState)
	s.mux.HandleFunc("GET /__state/events", s.streamChanges)
	s.mux.HandleFunc("GET /__faults", s.showFaults)
	s.mux.HandleFunc("PUT /__faults", s.putFaults)
	s.mux.HandleFunc("DELETE /__faults", s.deleteFaults)
	s.mux.HandleFunc("POST "+HooksPath, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	s.mux.HandleFunc("GET /media/{id}", s.showMedia)
	s.mux.HandleFunc("GET /{$}", s.showTimeline)
}

// ServeHTTP serves a request, or lets it fail according to the faults.
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

// AddAccount creates a Mastodon account, or returns the existing one of that
// name, with a token for all scopes.
func (s *Server) AddAccount(name string) (Account, error) {
	return s.Add(Account{Name: name})
}

// Add creates an account, or returns the existing one of that network and name,
// with a token for all scopes. An empty ID is filled in.
func (s *Server) Add(created Account) (Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account := s.state.accountByName(created.network(), created.Name)
	value := ""
	if account == nil {
		if created.network() == nostrName {
			value, created.ID = nostrKey()
		}
		created.CreatedAt = s.now()
		if created.ID == "" {
			created.ID = s.state.nextID(s.now())
		}
		if err := s.commit(record{Kind: kindAccount, Account: &created}); err != nil {
			return Account{}, err
		}
		account = s.state.accounts[created.ID]
	}
	if account.Token == "" {
		if value == "" {
			value = rand.Text()
		}
		t := token{Value: value, AccountID: account.ID, Scopes: []string{"read", "write", "*"}, Seeded: true}
		if err := s.commit(record{Kind: kindToken, Token: &t}); err != nil {
			return Account{}, err
		}
	}
	return *account, nil
}

// Posts returns every post since the last reset, oldest first.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	posts := make([]Post, len(s.state.posts))
	for i, p := range s.state.posts {
		posts[i] = *p
	}
	return posts
}

// Issued returns every secret that the networks ever issued: tokens, refresh
// tokens, application secrets, codes. None may appear anywhere else.
func (s *Server) Issued() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.issued)
}

// Reset deletes posts, media, keys and faults. Accounts, apps and tokens are
// kept, so that connected accounts stay connected.
func (s *Server) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	clear(s.calls)
	return s.commit(record{Kind: kindReset})
}

// showAccounts lists the accounts and the tokens with which bots are connected.
// The tokens are only valid for this server.
func (s controls) showAccounts(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	accounts := make([]Account, len(s.state.accountOrder))
	for i, a := range s.state.accountOrder {
		accounts[i] = *a
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, accounts)
}

func (s controls) showPosts(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Posts())
}

func (s controls) resetState(w http.ResponseWriter, _ *http.Request) {
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
	_ = json.NewEncoder(w).Encode(value) // the client may have disconnected
}

// FormValues returns the values with which the form of a network connects an account;
// nil if the network has no form, or no such account.
func (s *Server) FormValues(network, name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	account := s.state.accountByName(network, name)
	if account == nil {
		return nil
	}
	switch network {
	case "bluesky":
		return map[string]string{"handle": account.Name + ".test", "app_password": BlueskyAppPassword}
	case "discord":
		return map[string]string{"bot_token": account.Token, "channel_id": account.ID}
	case ghostName:
		return map[string]string{
			"site": s.NetworkURL(network) + "/" + account.Name, "admin_key": GhostKey(account.Token),
		}
	case "mastodon":
		return map[string]string{"access_token": account.Token}
	case nostrName:
		return map[string]string{"key": account.Token}
	case slackName:
		return map[string]string{"bot_token": "xoxb-" + account.Token, "channel": account.Name}
	case "telegram":
		return map[string]string{"bot_token": account.Token, "chat": "@" + account.Name}
	case wordpressName:
		return map[string]string{
			"site": s.NetworkURL(network), "user": account.Name, "app_password": account.Token,
		}
	}
	return nil
}
