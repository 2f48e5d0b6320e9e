package account

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"

	"dateline/platforms/network"
)

const authorizationTTL = 10 * time.Minute

// authorizationName binds a sealed verifier to its row, which contains only the hash
// of the state.
func authorizationName(stateHash []byte) string { return "attempt/" + hex.EncodeToString(stateHash) }

// Instance identifies the network of an account, and its instance if the network
// is federated.
type Instance struct {
	Network string
	BaseURL string // of the instance; empty for networks with a single service
	Sandbox bool   // the fake network (sandbox); BaseURL is empty
}

// Connection is the result of connecting: accounts, or a choice to make.
type Connection struct {
	Account Account
	Choice  *Choice
}

// ConnectWithToken connects the account of an access token.
func (s *Service) ConnectWithToken(
	ctx context.Context, who workspace.Principal, networkName, baseURL string, token secret.Text,
) (Account, error) {
	at := Instance{Network: networkName, BaseURL: baseURL}
	connector, base, err := s.connector(at)
	if err != nil {
		return Account{}, err
	}
	if token.Empty() {
		return Account{}, invalid("access_token", "required", "Give the access token of the account.")
	}
	found, err := connector.Accounts(ctx, network.Account{BaseURL: base, Token: token})
	if err != nil {
		return Account{}, connectError(err, "access_token")
	}
	if len(found) == 0 {
		return Account{}, invalid("access_token", "nobody", "This token cannot post as any account.")
	}
	return s.save(ctx, who, networkName, "", found[0])
}

// ConnectForm connects the accounts that the values of a network's form give access to.
func (s *Service) ConnectForm(
	ctx context.Context, who workspace.Principal, at Instance, values map[string]secret.Text,
) (Connection, error) {
	form, ok := s.Connectors.FormConnector(at.Network)
	if !ok {
		return Connection{}, invalid("network", "unknown", "No network of this name connects accounts by a form.")
	}
	base, err := s.baseURL(at)
	if err != nil {
		return Connection{}, err
	}
	if err := checkForm(form.Fields(), values); err != nil {
		return Connection{}, err
	}
	found, err := form.ConnectForm(ctx, base, values)
	if err != nil {
		return Connection{}, formError(err, form.Fields())
	}
	return s.saveOrOfferChoice(ctx, who, at.Network, "", found, "values")
}

func checkForm(fields []network.FormField, values map[string]secret.Text) error {
	var problems []apperr.FieldError
	for _, f := range fields {
		if !f.Optional && values[f.Name].Empty() {
			problems = append(problems, apperr.FieldError{
				Field: "values." + f.Name, Code: "required", Message: "Fill in: " + f.Label + ".",
			})
		}
	}
	for name := range values {
		if !slices.ContainsFunc(fields, func(f network.FormField) bool { return f.Name == name }) {
			problems = append(problems, apperr.FieldError{
				Field: "values." + name, Code: "unknown_field", Message: "The form has no such field.",
			})
		}
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

// formError renames the fields of an error to those of the request.
func formError(err error, fields []network.FormField) error {
	if e := network.AsError(err); slices.ContainsFunc(fields,
		func(f network.FormField) bool { return f.Name == e.Field }) {
		named := *e
		named.Field = "values." + e.Field
		return connectError(&named, "values")
	}
	return connectError(err, "values")
}

// StartAuthorization returns the URL of the network's consent page. The network then
// redirects to the callback, see CompleteAuthorization.
func (s *Service) StartAuthorization(
	ctx context.Context, who workspace.Principal, at Instance,
) (authorizeURL string, err error) {
	connector, base, err := s.connector(at)
	if err != nil {
		return "", err
	}
	return s.startAuthorization(ctx, who, connector, at.Network, base, nil)
}

// Reconnect starts reauthorization of an account; only the same account is accepted.
func (s *Service) Reconnect(
	ctx context.Context, who workspace.Principal, id uuid.UUID,
) (authorizeURL string, err error) {
	a, err := s.Get(ctx, who, id)
	if err != nil {
		return "", err
	}
	connector, ok := s.Connectors.Connector(a.Network)
	if !ok {
		return "", &apperr.Error{
			Kind: apperr.KindConflict, Code: "connected_by_form",
			Message: "Accounts of this network are connected by its form. Submit the form again with the same " +
				"account to reconnect it.",
		}
	}
	return s.startAuthorization(ctx, who, connector, a.Network, a.BaseURL, &a.ID)
}

func (s *Service) startAuthorization(ctx context.Context, who workspace.Principal, connector network.Connector,
	networkName, base string, account *uuid.UUID,
) (string, error) {
	app, err := s.ensureApp(ctx, connector, networkName, base)
	if err != nil {
		return "", err
	}
	state, verifier := randomText(), randomText()
	sealed, err := s.Sealer.Seal(secret.NewText(verifier), authorizationName(hashOf(state)))
	if err != nil {
		return "", err
	}
	err = s.Store.SaveAuthorization(ctx, PendingAuthorization{
		StateHash: hashOf(state), WorkspaceID: who.WorkspaceID,
		UserID: who.UserID, Network: networkName,
		BaseURL: base, RedirectURI: s.RedirectURI, SealedVerifier: sealed, AccountID: account, SessionID: who.SessionID,
		ExpiresAt: time.Now().Add(authorizationTTL),
	})
	if err != nil {
		return "", err
	}
	// RFC 7636, 4.2: S256.
	return connector.AuthorizeURL(app, state, base64.RawURLEncoding.EncodeToString(hashOf(verifier))), nil
}

// Callback contains the parameters with which a network redirects to the callback.
type Callback struct {
	State, Code string
	SessionID   uuid.UUID // of the browser; Nil: none
}

// CompleteAuthorization completes an authorization. One that a browser session started
// must be completed by the same session, so that nobody can make another person's
// browser connect an account, or take over their authorization (RFC 6749, 10.12).
func (s *Service) CompleteAuthorization(ctx context.Context, back Callback) (Connection, error) {
	attempt, known, err := s.Store.ConsumeAuthorization(ctx, hashOf(back.State))
	if err != nil {
		return Connection{}, err
	}
	if !known {
		return Connection{}, invalid("state", "unknown",
			"This connection was not started here or has expired after 10 minutes. Start it again.")
	}
	if attempt.SessionID != uuid.Nil && attempt.SessionID != back.SessionID {
		return Connection{}, invalid("state", "other_session",
			"This connection was started in another browser, or before you logged in. Start it again here.")
	}
	connector, ok := s.Connectors.Connector(attempt.Network)
	if !ok {
		return Connection{}, invalid("network", "unknown", "This network is no longer available.")
	}
	app, err := s.ensureApp(ctx, connector, attempt.Network, attempt.BaseURL)
	if err != nil {
		return Connection{}, err
	}
	verifier, err := s.Sealer.Open(attempt.SealedVerifier, authorizationName(attempt.StateHash))
	if err != nil {
		return Connection{}, err
	}
	connected, err := connector.Exchange(ctx, app, back.Code, verifier.Reveal())
	if err != nil {
		return Connection{}, connectError(err, "code")
	}
	// Exchange returns only the tokens.
	found, err := connector.Accounts(ctx, connected)
	if err != nil {
		return Connection{}, connectError(err, "code")
	}
	who := workspace.Principal{WorkspaceID: attempt.WorkspaceID, UserID: attempt.UserID}
	if attempt.AccountID != nil {
		return s.saveReconnected(ctx, who, *attempt.AccountID, found)
	}
	return s.saveOrOfferChoice(ctx, who, attempt.Network, s.RedirectURI, found, "code")
}

// saveOrOfferChoice stores a single account, or offers several as a choice.
func (s *Service) saveOrOfferChoice(
	ctx context.Context, who workspace.Principal, networkName, app string, found []network.Account, field string,
) (Connection, error) {
	switch len(found) {
	case 0:
		return Connection{}, invalid(field, "nobody", "This access does not allow posting as any account.")
	case 1:
		a, err := s.save(ctx, who, networkName, app, found[0])
		return Connection{Account: a}, err
	default:
		choice, err := s.saveChoice(ctx, who, networkName, app, found)
		return Connection{Choice: choice}, err
	}
}

// saveReconnected stores new tokens of an account, which must be among those found.
func (s *Service) saveReconnected(
	ctx context.Context, who workspace.Principal, id uuid.UUID, found []network.Account,
) (Connection, error) {
	want, err := s.Get(ctx, who, id)
	if err != nil {
		return Connection{}, err
	}
	var handles []string
	for _, a := range found {
		if a.RemoteID == want.RemoteID {
			saved, err := s.save(ctx, who, want.Network, s.RedirectURI, a)
			return Connection{Account: saved}, err
		}
		handles = append(handles, a.Handle)
	}
	came := "nobody"
	if len(handles) > 0 {
		came = strings.Join(handles, ", ")
	}
	return Connection{}, &apperr.Error{Kind: apperr.KindConflict, Code: "other_identity", Message: fmt.Sprintf(
		"Access was granted for %s, but the account to reconnect is %s. Nothing was changed. Log in to the network "+
			"as %s first, or connect %s as a separate account.",
		came, want.Handle, want.Handle, came)}
}

func (s *Service) connector(at Instance) (network.Connector, string, error) {
	connector, ok := s.Connectors.Connector(at.Network)
	if !ok {
		return nil, "", invalid("network", "unknown", "Unknown network.")
	}
	base, err := s.baseURL(at)
	return connector, base, err
}

// baseURL returns the base URL of the instance.
func (s *Service) baseURL(at Instance) (string, error) {
	given, box := strings.TrimSpace(at.BaseURL), s.sandboxURL(at.Network)
	if at.Sandbox {
		switch {
		case box == "":
			return "", invalid("sandbox", "unavailable", "The sandbox is off, or does not have this network.")
		case given != "" && given != box:
			return "", invalid("base_url", "invalid", "Omit the address: the sandbox sets it.")
		}
		return box, nil
	}
	adapter, _ := s.Connectors.Get(at.Network)
	federated, many := adapter.(network.Federated)
	switch {
	case given != "" && given == box:
		return box, nil
	case given == "" && !many:
		return "", nil
	case given == "" && federated.DefaultInstance() != "":
		return federated.DefaultInstance(), nil
	}
	u, err := url.Parse(given)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return "", invalid("base_url", "invalid", "Give the address of the instance, like https://social.example.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}
