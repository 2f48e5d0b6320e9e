package network

import (
	"context"

	"dateline/internal/identity/secret"
)

// Connector connects accounts of a network that uses OAuth 2 (RFC 6749).
type Connector interface {
	// Register makes Dateline known at baseURL (for federated networks; others
	// return the operator's configured application, and SandboxApp for the
	// sandbox). CodeNotConfigured says that the operator has to set one up.
	Register(ctx context.Context, baseURL, redirectURI string) (App, error)

	// AuthorizeURL is where the person goes to allow access. challenge is the
	// S256 code challenge of RFC 7636; networks without PKCE leave it out.
	AuthorizeURL(app App, state, challenge string) string

	// Exchange turns the code of the callback into tokens: an account that is
	// not identified yet.
	Exchange(ctx context.Context, app App, code, verifier string) (Account, error)

	// Accounts lists whom the tokens may post as, identified and each with its
	// own tokens: the person, and their pages or organisations.
	Accounts(ctx context.Context, account Account) ([]Account, error)
}

// FormConnector connects accounts by what a person types in: a bot's token, an
// app password.
type FormConnector interface {
	// Fields are what the form asks for.
	Fields() []FormField

	// ConnectForm tries the values, which Fields names, and lists whom they may
	// post as, identified and with tokens. A Rejected or Auth error is about the
	// field that Error.Field names.
	ConnectForm(ctx context.Context, baseURL string, values map[string]secret.Text) ([]Account, error)
}

// FormField is one line of a FormConnector's form.
type FormField struct {
	Name     string // stable, lower case
	Label    string
	Help     string // one sentence: where to find it
	Secret   bool
	Optional bool
}

// Refresher renews tokens that expire.
type Refresher interface {
	// Refresh gives the account with new tokens. An error of class Auth means
	// that only its owner can connect it anew; any other, that it is to be tried
	// again. Ambiguous: the old refresh token may be used up.
	Refresh(ctx context.Context, app App, account Account) (Account, error)
}

// Revoker gives tokens back when an account is disconnected.
type Revoker interface {
	// Revoke makes the tokens useless. Tokens that are no good any more are no
	// error.
	Revoke(ctx context.Context, app App, account Account) error
}

// Federated is a network of many instances, each at an address of its own, which
// is Account.BaseURL. Dateline keeps what Register gives there; the applications
// of other networks are the operator's, and are asked for anew each time.
type Federated interface {
	// DefaultInstance is where accounts are that name no instance; empty: they must.
	DefaultInstance() string
}

// Identifier is a Network that can be asked who an account is that is connected
// already. Networks without it are asked by Connector.Accounts; those that are
// connected by a form alone cannot be asked.
type Identifier interface {
	// Identify gives the account as the network knows it now.
	Identify(ctx context.Context, account Account) (Account, error)
}

// LimitsDefaulter is a Network that can say what it usually allows before any
// account is connected.
type LimitsDefaulter interface {
	// DefaultLimits does no input or output.
	DefaultLimits() Limits
}

// App is Dateline's registration at one network or instance.
type App struct {
	BaseURL      string
	RedirectURI  string
	ClientID     string
	ClientSecret secret.Text
}

// SandboxApp is how Dateline is known at the sandbox's copies of networks at
// which operators register by hand. Its secret is none: it opens nothing else.
func SandboxApp(baseURL, redirectURI string) App {
	return App{BaseURL: baseURL, RedirectURI: redirectURI, ClientID: "dateline-sandbox", ClientSecret: secret.NewText("dateline-sandbox-secret")}
}
