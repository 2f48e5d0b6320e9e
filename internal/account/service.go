package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audit"
	"dateline/internal/people"
	"dateline/internal/post"
	"dateline/internal/secret"
	"dateline/platforms/network"
)

// Store keeps accounts, registrations and attempts.
type Store interface {
	SaveAccount(ctx context.Context, a Account, seal func(id uuid.UUID) ([]byte, error)) (Account, error)
	Account(ctx context.Context, id uuid.UUID) (Account, error)
	App(ctx context.Context, network, baseURL, redirectURI string) (App, bool, error)
	SaveApp(ctx context.Context, a App) error
	SaveAttempt(ctx context.Context, a Attempt) error
	TakeAttempt(ctx context.Context, stateHash []byte) (Attempt, bool, error)
}

// Connectors finds a network's way to connect accounts.
type Connectors interface {
	Connector(name string) (network.Connector, bool)
}

// Service connects accounts and opens their tokens for the moment of use.
type Service struct {
	Store       Store
	Connectors  Connectors
	Sealer      *secret.Sealer
	RedirectURI string // of our OAuth callback
}

const attemptLife = 10 * time.Minute

func tokenName(id uuid.UUID) string { return "account/" + id.String() }

// Open reads an account with its token, ready for an adapter.
func (s *Service) Open(ctx context.Context, id uuid.UUID) (Account, network.Account, error) {
	a, err := s.Store.Account(ctx, id)
	if err != nil {
		return Account{}, network.Account{}, err
	}
	token, err := s.Sealer.Open(a.SealedToken, tokenName(a.ID))
	return a, network.Account{ID: a.ID.String(), BaseURL: a.BaseURL, RemoteID: a.RemoteID,
		Handle: a.Handle, Name: a.Name, Token: token, Scopes: a.Scopes}, err
}

// ConnectWithToken connects the account that a token belongs to.
func (s *Service) ConnectWithToken(ctx context.Context, who people.Principal, networkName, baseURL string, token secret.Text) (Account, error) {
	connector, base, err := s.connector(networkName, baseURL)
	if err != nil {
		return Account{}, err
	}
	if token.Empty() {
		return Account{}, invalid("access_token", "required", "Give the access token of the account.")
	}
	found, err := connector.Accounts(ctx, network.Account{BaseURL: base, Token: token})
	if err != nil {
		return Account{}, refusal(err, "access_token")
	}
	if len(found) == 0 {
		return Account{}, invalid("access_token", "nobody", "This token may post as nobody.")
	}
	return s.save(ctx, who, networkName, found[0])
}

// Begin sends a person to the network's consent page; the answer comes to the
// callback, see Complete.
func (s *Service) Begin(ctx context.Context, who people.Principal, networkName, baseURL string) (authorizeURL string, err error) {
	connector, base, err := s.connector(networkName, baseURL)
	if err != nil {
		return "", err
	}
	app, err := s.app(ctx, connector, networkName, base)
	if err != nil {
		return "", err
	}
	state, verifier := randomText(), randomText()
	sealed, err := s.Sealer.Seal(secret.NewText(verifier), "attempt/"+state)
	if err != nil {
		return "", err
	}
	err = s.Store.SaveAttempt(ctx, Attempt{StateHash: hash(state), WorkspaceID: who.WorkspaceID, UserID: who.UserID, Network: networkName,
		BaseURL: base, RedirectURI: s.RedirectURI, SealedVerifier: sealed, ExpiresAt: time.Now().Add(attemptLife)})
	if err != nil {
		return "", err
	}
	// RFC 7636, 4.2: S256.
	return connector.AuthorizeURL(app, state, base64.RawURLEncoding.EncodeToString(hash(verifier))), nil
}

// Complete ends what Begin began: state and code are the callback's parameters.
func (s *Service) Complete(ctx context.Context, state, code string) (Account, error) {
	attempt, known, err := s.Store.TakeAttempt(ctx, hash(state))
	if err != nil {
		return Account{}, err
	}
	if !known {
		return Account{}, invalid("state", "unknown", "This connection was not started here or took longer than 10 minutes. Start it again.")
	}
	connector, ok := s.Connectors.Connector(attempt.Network)
	if !ok {
		return Account{}, invalid("network", "unknown", "This network is not available any more.")
	}
	app, err := s.app(ctx, connector, attempt.Network, attempt.BaseURL)
	if err != nil {
		return Account{}, err
	}
	verifier, err := s.Sealer.Open(attempt.SealedVerifier, "attempt/"+state)
	if err != nil {
		return Account{}, err
	}
	connected, err := connector.Exchange(ctx, app, code, verifier.Reveal())
	if err != nil {
		return Account{}, refusal(err, "code")
	}
	// Exchange gives the token only.
	found, err := connector.Accounts(ctx, connected)
	if err != nil {
		return Account{}, refusal(err, "code")
	}
	if len(found) == 0 {
		return Account{}, invalid("code", "nobody", "Nobody can be posted as with this access.")
	}
	who := people.Principal{WorkspaceID: attempt.WorkspaceID, UserID: attempt.UserID}
	return s.save(ctx, who, attempt.Network, found[0])
}

func (s *Service) connector(name, baseURL string) (network.Connector, string, error) {
	connector, ok := s.Connectors.Connector(name)
	if !ok {
		return nil, "", invalid("network", "unknown", "There is no network of this name here.")
	}
	u, err := url.Parse(strings.TrimSpace(baseURL))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return nil, "", invalid("base_url", "invalid", "Give the address of the instance, like https://social.example.")
	}
	return connector, u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// app finds our registration at an instance, or registers there.
func (s *Service) app(ctx context.Context, connector network.Connector, networkName, base string) (network.App, error) {
	name := "app/" + networkName + "/" + base
	stored, found, err := s.Store.App(ctx, networkName, base, s.RedirectURI)
	if err != nil {
		return network.App{}, err
	}
	if !found {
		app, err := connector.Register(ctx, base, s.RedirectURI)
		if err != nil {
			return network.App{}, refusal(err, "base_url")
		}
		sealed, err := s.Sealer.Seal(app.ClientSecret, name)
		if err != nil {
			return network.App{}, err
		}
		if err := s.Store.SaveApp(ctx, App{Network: networkName, BaseURL: base, RedirectURI: s.RedirectURI, ClientID: app.ClientID, SealedSecret: sealed}); err != nil {
			return network.App{}, err
		}
		// Somebody else may have registered meanwhile: the stored one counts.
		if stored, _, err = s.Store.App(ctx, networkName, base, s.RedirectURI); err != nil {
			return network.App{}, err
		}
	}
	clientSecret, err := s.Sealer.Open(stored.SealedSecret, name)
	return network.App{BaseURL: base, RedirectURI: s.RedirectURI, ClientID: stored.ClientID, ClientSecret: clientSecret}, err
}

func (s *Service) save(ctx context.Context, who people.Principal, networkName string, a network.Account) (Account, error) {
	// Who comes back from a network brings no token: the attempt says who it is.
	return s.Store.SaveAccount(audit.ByUser(ctx, who.UserID), Account{WorkspaceID: who.WorkspaceID, Network: networkName, BaseURL: a.BaseURL, RemoteID: a.RemoteID,
		Handle: a.Handle, Name: a.Name, Scopes: a.Scopes},
		func(id uuid.UUID) ([]byte, error) { return s.Sealer.Seal(a.Token, tokenName(id)) })
}

// refusal turns a network's answer into an error for the person who connects.
func refusal(err error, field string) error {
	var e *network.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Class == network.NotSent {
		// The cause names addresses, which may be those of our own network.
		return &post.Error{Kind: post.Invalid, Code: "network_unreachable", Message: "The network cannot be reached. Check the address; private addresses are not allowed.",
			Problems: []post.Problem{{Field: "base_url", Code: string(e.Class), Message: "This address cannot be reached."}}}
	}
	return &post.Error{Kind: post.Invalid, Code: "network_refused", Message: "The network did not accept this: " + e.Message,
		Problems: []post.Problem{{Field: field, Code: string(e.Class), Message: e.Message}}}
}

func invalid(field, code, message string) error {
	return post.InvalidFields(post.Problem{Field: field, Code: code, Message: message})
}

// randomText gives 256 random bits; RFC 7636, 4.1 wants at least 43 characters
// of this alphabet for a verifier.
func randomText() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(raw)
}

func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
