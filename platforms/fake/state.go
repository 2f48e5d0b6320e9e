package fake

import (
	"strconv"
	"time"
)

// Account is one account of the fake network.
type Account struct {
	ID      string `json:"id"`
	Network string `json:"network,omitempty"` // empty: mastodon
	Kind    string `json:"kind,omitempty"`    // the network's term; empty: personal
	// Id of the personal account that can post as this page, organization or channel
	OwnerID   string    `json:"owner_id,omitempty"`
	Name      string    `json:"name"`
	Token     string    `json:"token,omitempty"` // set by AddAccount
	CreatedAt time.Time `json:"created_at"`
}

func (a Account) network() string {
	if a.Network == "" {
		return "mastodon"
	}
	return a.Network
}

// Post is a published post, whatever the response was.
type Post struct {
	ID         string  `json:"id"`
	Network    string  `json:"network"`
	AccountID  string  `json:"account_id"`
	Account    string  `json:"account"`
	Text       string  `json:"text"`
	ListedText string  `json:"listed,omitempty"` // the text in listings, if it was rewritten
	Media      []Media `json:"media"`
	ReplyTo    string  `json:"reply_to,omitempty"`
	Language   string  `json:"language,omitempty"`
	Visibility string  `json:"visibility"`
	// Options are the other parameters of the request, under the network's names.
	Options        map[string]any `json:"options,omitempty"`
	URL            string         `json:"url"`
	CreatedAt      time.Time      `json:"created_at"`  // in the network's format
	ReceivedAt     time.Time      `json:"received_at"` // arrival of the request, by the real clock
	IdempotencyKey string         `json:"idempotency_key,omitempty"`
	Requests       int            `json:"requests"` // number of calls that returned this post
	Deleted        bool           `json:"deleted"`
	HiddenUntil    time.Time      `json:"hidden_until,omitzero"`
}

// Media is an uploaded attachment.
type Media struct {
	ID          string    `json:"id"`
	AccountID   string    `json:"account_id"`
	MIMEType    string    `json:"mime_type"`
	Bytes       int64     `json:"bytes"`
	Description string    `json:"description,omitempty"`
	ReadyAt     time.Time `json:"ready_at"`
	Failed      bool      `json:"failed,omitempty"`    // outcome of the processing at ReadyAt
	ExpiresAt   time.Time `json:"expires_at,omitzero"` // deleted then, unless a post uses it
	PostID      string    `json:"post_id,omitempty"`
}

type app struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret"`
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirect_uris"`
	Scopes       []string `json:"scopes"`
}

type token struct {
	Value     string    `json:"value"`
	AccountID string    `json:"account_id"`
	Scopes    []string  `json:"scopes"`
	App       string    `json:"app,omitempty"`
	Seeded    bool      `json:"premade,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
	Refresh   *refresh  `json:"refresh,omitempty"`
}

// refresh is a refresh token. All tokens of one authorization form a family,
// which is revoked if a refresh token is used twice (RFC 9700, 4.14.2).
type refresh struct {
	Value    string `json:"value"`
	Family   string `json:"family"`
	ClientID string `json:"client_id"`
	Used     bool   `json:"used,omitempty"`
}

type key struct {
	AccountID string    `json:"account_id"`
	Key       string    `json:"key"`
	PostID    string    `json:"post_id"`
	Expires   time.Time `json:"expires"`
}

// state changes through records only, so that the journal can restore it.
type state struct {
	accounts     map[string]*Account
	accountOrder []*Account
	apps         map[string]*app
	tokens       map[string]*token
	media        map[string]*Media
	data         map[string][]byte // bytes of media, if there is no journal
	posts        []*Post
	postByID     map[string]*Post
	byAccount    map[string][]*Post
	keys         map[string]key
	lastID       uint64
	refreshes    map[string]*token // by refresh token
	objects      map[string]*Object
	issued       []string // every secret ever issued
}

func newState() state {
	s := state{
		accounts: map[string]*Account{}, apps: map[string]*app{}, tokens: map[string]*token{},
		refreshes: map[string]*token{},
	}
	s.clear()
	return s
}

func (s *state) clear() {
	s.media = map[string]*Media{}
	s.data = map[string][]byte{}
	s.posts = nil
	s.postByID = map[string]*Post{}
	s.byAccount = map[string][]*Post{}
	s.keys = map[string]key{}
	s.objects = map[string]*Object{}
}

// nextID returns ids like Mastodon's: milliseconds, then a number, always
// increasing (lib/mastodon/snowflake.rb).
func (s *state) nextID(now time.Time) string {
	s.lastID = max(s.lastID+1, uint64(now.UnixMilli())<<16)
	return strconv.FormatUint(s.lastID, 10)
}

func (s *state) accountByName(network, name string) *Account {
	for _, a := range s.accountOrder {
		if a.network() == network && a.Name == name {
			return a
		}
	}
	return nil
}

func (s *state) saw(id string) {
	if n, err := strconv.ParseUint(id, 10, 64); err == nil {
		s.lastID = max(s.lastID, n)
	}
}

type recordKind string

const (
	kindAccount recordKind = "account"
	kindApp     recordKind = "app"
	kindToken   recordKind = "token"
	kindMedia   recordKind = "media"
	kindPost    recordKind = "post"
	kindKey     recordKind = "key"
	kindRepeat  recordKind = "repeat" // a known idempotency key was repeated
	kindDelete  recordKind = "delete"
	kindUse     recordKind = "use"    // a refresh token was used
	kindRevoke  recordKind = "revoke" // a family of tokens was revoked
	kindEnd     recordKind = "end"    // one token was revoked
	kindObject  recordKind = "thing"
	kindReset   recordKind = "reset"
)

// record is one change, and one line of the journal.
type record struct {
	Kind recordKind `json:"kind"`
	// Repeat, delete: the post; use: the refresh token; revoke: the family; end: the token
	ID      string   `json:"id,omitempty"`
	Account *Account `json:"account,omitempty"`
	App     *app     `json:"app,omitempty"`
	Token   *token   `json:"token,omitempty"`
	Media   *Media   `json:"media,omitempty"`
	Post    *Post    `json:"post,omitempty"`
	Key     *key     `json:"key,omitempty"`
	Object  *Object  `json:"thing,omitempty"`
}

// end revokes a token. An account whose own token it was gets a new one the next
// time it is added.
func (s *state) end(value string) {
	if t := s.tokens[value]; t != nil {
		if a := s.accounts[t.AccountID]; a != nil && a.Token == value {
			a.Token = ""
		}
	}
	delete(s.tokens, value)
}

func (s *state) apply(r record) {
	switch {
	case r.Kind == kindAccount && r.Account != nil:
		s.accounts[r.Account.ID] = r.Account
		s.accountOrder = append(s.accountOrder, r.Account)
		s.saw(r.Account.ID)
	case r.Kind == kindApp && r.App != nil:
		s.apps[r.App.ClientID] = r.App
		s.issued = append(s.issued, r.App.ClientSecret)
	case r.Kind == kindToken && r.Token != nil:
		s.tokens[r.Token.Value] = r.Token
		s.issued = append(s.issued, r.Token.Value)
		if a := s.accounts[r.Token.AccountID]; a != nil && r.Token.Seeded {
			a.Token = r.Token.Value
		}
		if r.Token.Refresh != nil {
			s.refreshes[r.Token.Refresh.Value] = r.Token
			s.issued = append(s.issued, r.Token.Refresh.Value)
		}
	case r.Kind == kindUse && s.refreshes[r.ID] != nil:
		s.refreshes[r.ID].Refresh.Used = true
	case r.Kind == kindRevoke:
		for value, t := range s.refreshes {
			if t.Refresh.Family == r.ID {
				s.end(t.Value)
				delete(s.refreshes, value)
			}
		}
	case r.Kind == kindEnd:
		s.end(r.ID)
	case r.Kind == kindObject && r.Object != nil:
		s.objects[r.Object.ID] = r.Object
		s.saw(r.Object.ID)
	case r.Kind == kindMedia && r.Media != nil:
		s.media[r.Media.ID] = r.Media
		s.saw(r.Media.ID)
	case r.Kind == kindPost && r.Post != nil:
		s.posts = append(s.posts, r.Post)
		s.postByID[r.Post.ID] = r.Post
		s.byAccount[r.Post.AccountID] = append(s.byAccount[r.Post.AccountID], r.Post)
		for _, attached := range r.Post.Media {
			if m := s.media[attached.ID]; m != nil {
				m.PostID = r.Post.ID
			}
		}
		s.saw(r.Post.ID)
	case r.Kind == kindKey && r.Key != nil:
		s.keys[r.Key.AccountID+"\x00"+r.Key.Key] = *r.Key
	case r.Kind == kindRepeat && s.postByID[r.ID] != nil:
		s.postByID[r.ID].Requests++
	case r.Kind == kindDelete && s.postByID[r.ID] != nil:
		s.postByID[r.ID].Deleted = true
	case r.Kind == kindReset:
		s.clear()
	}
}
