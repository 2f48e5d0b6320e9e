package network

import (
	"context"

	"dateline/internal/identity/secret"
)

// Connector connects accounts of a network that uses OAuth 2 (RFC 6749).
type Connector interface {
	// Register registers Dateline as an application at baseURL (federated
	// networks). Other networks return the operator's configured application, and
	// SandboxApp for the sandbox. CodeNotConfigured means that the operator has
	// to configure one.
	Register(ctx context.Context, baseURL, redirectURI string) (App, error)

	// AuthorizeURL returns the page on which the user grants access. challenge
	// is the S256 code challenge of RFC 7636; networks without PKCE ignore it.
	AuthorizeURL(app App, state, challenge string) string

	// Exchange exchanges the authorization code for tokens. The account that it
	// returns is not identified yet.
	Exchange(ctx context.Context, app App, code, verifier string) (Account, error)

	// Accounts lists the accounts that the tokens can post as, identified and
	// each with its own tokens: the user, and their pages or organizations.
	Accounts(ctx context.Context, account Account) ([]Account, error)
}

// FormConnector connects accounts with values that a user enters: a bot token,
// an app password.
type FormConnector interface {
	// Fields returns the fields of the form.
	Fields() []FormField

	// ConnectForm verifies the values, by field name, and lists the accounts
	// that they can post as, identified and with tokens. Error.Field names the
	// field that a Rejected or Auth error is about.
	ConnectForm(ctx context.Context, baseURL string, values map[string]secret.Text) ([]Account, error)
}

// FormField is one field of a FormConnector's form.
type FormField struct {
	Name     string // stable, lowercase
	Label    string
	Help     string // one sentence: where to find the value
	Secret   bool
	Optional bool
}

// Refresher refreshes access tokens that expire.
type Refresher interface {
	// Refresh returns the account with new tokens. An error of class Auth means
	// that the account has to be reconnected; any other class, that the refresh
	// can be retried. Ambiguous: the old refresh token may be used up.
	Refresh(ctx context.Context, app App, account Account) (Account, error)
}

// Revoker revokes tokens when an account is disconnected.
type Revoker interface {
	// Revoke invalidates the tokens. Revoking invalid tokens is not an error.
	Revoke(ctx context.Context, app App, account Account) error
}

// Federated is a network of many instances, each with its own address, which is
// Account.BaseURL. Dateline stores the application that Register returns for
// each instance; it reads the applications of other networks from the
// operator's configuration each time.
type Federated interface {
	// DefaultInstance returns the instance of accounts that name none; empty: an
	// instance is required.
	DefaultInstance() string
}

// Identifier is a Network that can read the profile of a connected account.
// Networks without it are read through Connector.Accounts; those that are
// connected with a form only cannot be read.
type Identifier interface {
	// Identify returns the account as the network knows it now.
	Identify(ctx context.Context, account Account) (Account, error)
}

// LimitsDefaulter is a Network that knows its usual limits before an account is
// connected.
type LimitsDefaulter interface {
	// DefaultLimits does no I/O.
	DefaultLimits() Limits
}

// App is Dateline's registration as an OAuth client at one network or instance.
type App struct {
	BaseURL      string
	RedirectURI  string
	ClientID     string
	ClientSecret secret.Text
}

// SandboxApp returns Dateline's application at the fake networks (sandbox) of
// those networks at which operators register by hand. Its secret protects
// nothing.
func SandboxApp(baseURL, redirectURI string) App {
	return App{
		BaseURL: baseURL, RedirectURI: redirectURI, ClientID: "dateline-sandbox",
		ClientSecret: secret.NewText("dateline-sandbox-secret"),
	}
}
