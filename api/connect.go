package api

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/web"
)

// ListNetworks lists networks and how to connect their accounts.
func (s *AccountHandler) ListNetworks(
	ctx context.Context, _ spec.ListNetworksRequestObject,
) (spec.ListNetworksResponseObject, error) {
	offers, err := s.Accounts.Networks(ctx)
	out := spec.ListNetworks200JSONResponse{Networks: []spec.Network{}}
	for _, o := range offers {
		out.Networks = append(out.Networks, networkJSON(o))
	}
	return out, err
}

func networkJSON(o account.NetworkInfo) spec.Network {
	n := spec.Network{
		Name: o.Name, Ways: []spec.NetworkWays{}, Configured: o.Configured,
		Missing: optional.Of(o.SetupHint), Instances: o.Instances,
		DefaultInstance: optional.Of(o.Instance), Sandbox: o.Sandbox, Renews: o.CanRenew, Revokes: o.CanRevoke,
	}
	if o.OAuth {
		n.Ways = append(n.Ways, spec.Oauth)
	}
	if o.Fields != nil {
		n.Ways = append(n.Ways, spec.Form)
		fields := []spec.FormField{}
		for _, f := range o.Fields {
			fields = append(fields, spec.FormField{
				Name: f.Name, Label: f.Label, Help: optional.Of(f.Help), Secret: f.Secret, Optional: f.Optional,
			})
		}
		n.Fields = &fields
		if len(o.SandboxValues) > 0 {
			n.SandboxValues = &o.SandboxValues
		}
	}
	if l := o.Limits; l != nil {
		n.Limits = &spec.UsualLimits{
			MaxCharacters: positive(l.MaxCharacters), MaxMedia: l.MaxMedia,
			MaxImageBytes: positive(l.MaxImageBytes), MaxVideoBytes: positive(l.MaxVideoBytes),
			SupportsReply: l.SupportsReply,
		}
	}
	return n
}

func positive[N int | int64](n N) *N {
	if n <= 0 {
		return nil
	}
	return &n
}

// ConnectAccountWithToken connects the account of an access token.
func (s *AccountHandler) ConnectAccountWithToken(
	ctx context.Context, r spec.ConnectAccountWithTokenRequestObject,
) (spec.ConnectAccountWithTokenResponseObject, error) {
	a, err := s.Accounts.ConnectWithToken(ctx, principal(ctx), r.Body.Network, r.Body.BaseUrl,
		secret.NewText(r.Body.AccessToken))
	return spec.ConnectAccountWithToken201JSONResponse(s.accountJSON(a)), err
}

// ConnectAccountByForm connects accounts with the values of the network's form.
func (s *AccountHandler) ConnectAccountByForm(
	ctx context.Context, r spec.ConnectAccountByFormRequestObject,
) (spec.ConnectAccountByFormResponseObject, error) {
	values := make(map[string]secret.Text, len(r.Body.Values))
	for name, text := range r.Body.Values {
		values[name] = secret.NewText(text)
	}
	at := account.Instance{
		Network: r.Body.Network, BaseURL: optional.Value(r.Body.BaseUrl),
		Sandbox: optional.Value(r.Body.Sandbox),
	}
	made, err := s.Accounts.ConnectForm(ctx, principal(ctx), at, values)
	if err != nil {
		return nil, err
	}
	if made.Choice != nil {
		return spec.ConnectAccountByForm202JSONResponse(choiceJSON(*made.Choice)), nil
	}
	return spec.ConnectAccountByForm201JSONResponse(s.accountJSON(made.Account)), nil
}

// StartConnection returns the URL of a network's consent page.
func (s *AccountHandler) StartConnection(
	ctx context.Context, r spec.StartConnectionRequestObject,
) (spec.StartConnectionResponseObject, error) {
	link, err := s.Accounts.StartAuthorization(ctx, principal(ctx), account.Instance{
		Network: r.Body.Network, BaseURL: optional.Value(r.Body.BaseUrl), Sandbox: optional.Value(r.Body.Sandbox),
	})
	return spec.StartConnection200JSONResponse{AuthorizeUrl: link}, err
}

// ReconnectAccount returns the URL of the consent page for an existing account.
func (s *AccountHandler) ReconnectAccount(
	ctx context.Context, r spec.ReconnectAccountRequestObject,
) (spec.ReconnectAccountResponseObject, error) {
	link, err := s.Accounts.Reconnect(ctx, principal(ctx), r.Id)
	return spec.ReconnectAccount200JSONResponse{AuthorizeUrl: link}, err
}

// CompleteConnection is the OAuth callback. The state parameter proves that this
// workspace started the connection. If a browser session started it, the same session is
// required.
func (s *AccountHandler) CompleteConnection(
	ctx context.Context, r spec.CompleteConnectionRequestObject,
) (spec.CompleteConnectionResponseObject, error) {
	if r.Params.Error != nil || optional.Value(r.Params.Code) == "" {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "code", Code: "not_allowed",
			Message: "The network did not allow access. Start the connection again and allow it there.",
		})
	}
	made, err := s.Accounts.CompleteAuthorization(ctx, account.Callback{
		State: r.Params.State, Code: *r.Params.Code, SessionID: sessionID(ctx),
	})
	if err != nil {
		return nil, err
	}
	if there := s.connectedInDashboard(ctx, made); there != "" {
		return spec.CompleteConnection303Response{Headers: spec.CompleteConnection303ResponseHeaders{Location: &there}},
			nil
	}
	page := connected(lookOf(ctx), s.Dashboard, made.Account)
	if made.Choice != nil {
		page = choicePage(lookOf(ctx), *made.Choice, "")
	}
	text, err := page.HTML()
	return spec.CompleteConnection200TexthtmlResponse{Body: strings.NewReader(text), ContentLength: int64(len(text))},
		err
}

// ChooseInBrowser connects the accounts that were chosen on the callback's page.
func (s *AccountHandler) ChooseInBrowser(
	ctx context.Context, r spec.ChooseInBrowserRequestObject,
) (spec.ChooseInBrowserResponseObject, error) {
	look := lookOf(ctx)
	made, err := s.Accounts.ChooseWithKey(ctx, r.Body.Choice, r.Body.Key, optional.Value(r.Body.RemoteId))
	var page web.Connection
	var refused *apperr.Error
	switch {
	case errors.As(err, &refused):
		page, err = s.chooseAgain(ctx, r.Body.Choice, r.Body.Key, refused)
	case err == nil:
		if there := s.dashboardAddress(ctx, made...); there != "" {
			return spec.ChooseInBrowser303Response{Headers: spec.ChooseInBrowser303ResponseHeaders{Location: &there}},
				nil
		}
		page = connected(look, s.Dashboard, made...)
	}
	if err != nil {
		return nil, err
	}
	text, err := page.HTML()
	return spec.ChooseInBrowser200TexthtmlResponse{Body: strings.NewReader(text), ContentLength: int64(len(text))}, err
}

// chooseAgain shows a choice again with the error, or why it does not exist.
func (s *AccountHandler) chooseAgain(
	ctx context.Context, id uuid.UUID, key string, refused *apperr.Error,
) (web.Connection, error) {
	look := lookOf(ctx)
	choice, err := s.Accounts.ChoiceWithKey(ctx, id, key)
	var none *apperr.Error
	if errors.As(err, &none) {
		return web.Connection{
			Look: look, Title: look.Translate(notConnected()),
			Message: refusedText(look, none.Code, said(none)), Dashboard: s.Dashboard,
		}, nil
	}
	code := refused.Code
	if len(refused.Fields) > 0 {
		code = refused.Fields[0].Code
	}
	return choicePage(look, choice, refusedText(look, code, said(refused))), err
}

func said(e *apperr.Error) string {
	if len(e.Fields) > 0 {
		return e.Fields[0].Message
	}
	return e.Message
}

// GetAccountChoice returns the accounts that a login can post as.
func (s *AccountHandler) GetAccountChoice(
	ctx context.Context, r spec.GetAccountChoiceRequestObject,
) (spec.GetAccountChoiceResponseObject, error) {
	c, err := s.Accounts.Choice(ctx, principal(ctx), r.Id)
	return spec.GetAccountChoice200JSONResponse(choiceJSON(c)), err
}

// MakeAccountChoice connects the chosen accounts.
func (s *AccountHandler) MakeAccountChoice(
	ctx context.Context, r spec.MakeAccountChoiceRequestObject,
) (spec.MakeAccountChoiceResponseObject, error) {
	made, err := s.Accounts.Choose(ctx, principal(ctx), r.Id, r.Body.RemoteIds)
	return spec.MakeAccountChoice201JSONResponse(s.accountList(made)), err
}

func choiceJSON(c account.Choice) spec.AccountChoice {
	out := spec.AccountChoice{Id: c.ID, Network: c.Network, Accounts: []spec.AccountCandidate{}, ExpiresAt: c.ExpiresAt}
	for _, one := range c.Accounts {
		out.Accounts = append(out.Accounts, spec.AccountCandidate{
			RemoteId: one.RemoteID, Handle: one.Handle,
			Name: one.Name,
			Kind: spec.AccountCandidateKind(kindOf(string(one.Kind))),
		})
	}
	return out
}
