package bluesky

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The fields of the form.
const (
	fieldHandle   = "handle"
	fieldPassword = "app_password"
	fieldServer   = "pds"
)

// invalidHandle is what servers return for an account whose handle does not
// resolve back to it. https://atproto.com/specs/handle
const invalidHandle = "handle.invalid"

// fullAccess is the scope of sessions that were created with the account's main
// password (pds/src/auth-scope.ts).
const fullAccess = "com.atproto.access"

// Fields are a handle and an app password.
func (b *Bluesky) Fields() []network.FormField {
	return []network.FormField{
		{Name: fieldHandle, Label: "Handle", Help: "The account's handle, such as desk.bsky.social or news.example."},
		{
			Name: fieldPassword, Label: "App password", Secret: true,
			Help: "Create one in Bluesky under Settings, Privacy and security, App passwords. Dateline does " +
				"not store it.",
		},
		{
			Name: fieldServer, Label: "Server", Optional: true,
			Help: "The address of the account's own server (PDS). Leave empty to look it up.",
		},
	}
}

// ConnectForm creates a session. The password is sent to the account's own
// server, to which the handle resolves, and is not stored: the session can be
// refreshed.
func (b *Bluesky) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	password := values[fieldPassword]
	name := normalizeHandle(values[fieldHandle].Reveal())
	if password.Empty() {
		return nil, formError(fieldPassword, "missing", "Enter an app password.")
	}
	server := strings.TrimSpace(values[fieldServer].Reveal())
	if server == "" {
		server = baseURL
	}
	found := identity{server: server}
	// The entryway hosts no posts, but it knows which server does.
	if server == "" || server == b.DefaultInstance() {
		var err error
		if found, err = b.resolveIdentity(ctx, b.completeHandle(name)); err != nil {
			return nil, err
		}
		name = found.did
	}
	base, err := b.base(found.server)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, formError(fieldHandle, "missing", "Enter the account's handle.")
	}
	account, err := b.createSession(ctx, base, name, password)
	if err != nil {
		return nil, err
	}
	if found.did != "" && account.RemoteID != found.did {
		return nil, formError(fieldHandle, "wrong_server",
			"The server "+hostOf(base)+" created a session of another account.")
	}
	if len(account.Scopes) == 1 && account.Scopes[0] == fullAccess {
		// A session with full access to the account is ended immediately.
		if err := b.Revoke(ctx, network.App{}, account); err != nil {
			return nil, err
		}
		return nil, formError(fieldPassword, "main_password",
			"This is the account's main password. Create an app password in Bluesky under Settings, Privacy "+
				"and security.")
	}
	account.Name, account.AvatarURL = b.profile(ctx, account)
	return []network.Account{account}, nil
}

// DefaultInstance returns the entryway, through which servers are found for
// accounts that name none.
func (b *Bluesky) DefaultInstance() string { return b.options.Entryway }

// Identify reads the session's account (com.atproto.server.getSession).
func (b *Bluesky) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	res, err := b.do(ctx, account.BaseURL, "com.atproto.server.getSession", nil, call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
	if err != nil {
		return account, err
	}
	var body struct {
		DID    string `json:"did"`
		Handle string `json:"handle"`
	}
	if err := res.Decode(&body); err != nil {
		return account, err
	}
	if !isDID(body.DID) {
		return account, res.MalformedError("it contains no DID")
	}
	account.RemoteID = body.DID
	if body.Handle != "" && body.Handle != invalidHandle {
		account.Handle = "@" + body.Handle
	}
	account.Name, account.AvatarURL = b.profile(ctx, account)
	return account, nil
}

// normalizeHandle removes what copying adds: spaces, an @, and the invisible
// marks that Bluesky's pages put around handles.
func normalizeHandle(typed string) string {
	typed = strings.TrimFunc(typed, func(r rune) bool {
		return isSpace(r) || r == '@' || r >= 0x2000 && r <= 0x206f
	})
	if isDID(typed) {
		return typed
	}
	return strings.ToLower(typed)
}

// completeHandle adds the entryway's domain to a handle without a domain, like
// Bluesky's own login.
func (b *Bluesky) completeHandle(name string) string {
	if name == "" || strings.Contains(name, ".") || isDID(name) {
		return name
	}
	return name + "." + hostOf(b.options.Entryway)
}

// createSession logs in (com.atproto.server.createSession).
func (b *Bluesky) createSession(
	ctx context.Context, base, identifier string, password secret.Text,
) (network.Account, error) {
	body, err := call.JSON(map[string]string{"identifier": identifier, "password": password.Reveal()})
	if err != nil {
		return network.Account{}, notSent(err)
	}
	res, err := b.do(ctx, base, "com.atproto.server.createSession", nil,
		call.Request{Method: http.MethodPost, Body: body, Secrets: []secret.Text{password}})
	if err != nil {
		e := network.AsError(err)
		if e.Class == network.Auth {
			e.Field = fieldPassword
			if e.Code == "AuthFactorTokenRequired" {
				e.Message = "This is the account's main password. Create an app password in Bluesky under Settings, " +
					"Privacy and security."
			}
		}
		return network.Account{}, e
	}
	return sessionAccount(res, network.Account{BaseURL: base})
}

// profile returns the display name of an account, or its handle, and the address of
// its picture, which its server publishes as a blob; empty: none.
func (b *Bluesky) profile(ctx context.Context, account network.Account) (name, avatar string) {
	var profile struct {
		DisplayName string `json:"displayName"`
		Avatar      struct {
			Ref struct {
				Link string `json:"$link"`
			} `json:"ref"`
		} `json:"avatar"`
	}
	_, err := b.getRecord(ctx, account, recordAt{account.RemoteID, "app.bsky.actor.profile", "self"},
		b.options.EnrichTimeout, &profile)
	if err == nil && profile.Avatar.Ref.Link != "" {
		avatar = account.BaseURL + "/xrpc/com.atproto.sync.getBlob?" + url.Values{
			"did": {account.RemoteID},
			"cid": {profile.Avatar.Ref.Link},
		}.Encode()
	}
	if name = strings.TrimSpace(profile.DisplayName); err == nil && name != "" {
		return name, avatar
	}
	return strings.TrimPrefix(account.Handle, "@"), avatar
}

func formError(field, code, message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: message}
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
