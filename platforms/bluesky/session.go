package bluesky

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// sessionAccount converts a response of createSession or refreshSession to an
// account.
func sessionAccount(res *call.Response, account network.Account) (network.Account, error) {
	var body struct {
		DID        string `json:"did"`
		Handle     string `json:"handle"`
		AccessJWT  string `json:"accessJwt"`
		RefreshJWT string `json:"refreshJwt"`
	}
	if err := res.Decode(&body); err != nil {
		return account, err
	}
	if !isDID(body.DID) || body.AccessJWT == "" || body.RefreshJWT == "" {
		return account, res.MalformedError("it contains no DID or no tokens")
	}
	access, refresh := readClaims(body.AccessJWT), readClaims(body.RefreshJWT)
	account.RemoteID = body.DID
	if body.Handle != "" && (body.Handle != invalidHandle || account.Handle == "") {
		account.Handle = "@" + body.Handle
	}
	account.Token, account.RefreshToken = secret.NewText(body.AccessJWT), secret.NewText(body.RefreshJWT)
	account.TokenExpiresAt, account.RefreshTokenExpiresAt = access.expiry(res), refresh.expiry(res)
	account.Scopes = strings.Fields(access.Scope)
	return account, nil
}

// claims are the used claims of a session's token. They are not verified, because
// only the server that issued the token relies on it.
type claims struct {
	Scope   string `json:"scope"`
	Expires int64  `json:"exp"`
}

// readClaims parses a JSON Web Token (RFC 7519); other tokens have no claims.
func readClaims(token string) claims {
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return claims{}
	}
	return c
}

func (c claims) expiry(res *call.Response) time.Time {
	if c.Expires < 1 {
		return time.Time{}
	}
	return res.LocalTime(time.Unix(c.Expires, 0)).UTC()
}

// Refresh refreshes both tokens (com.atproto.server.refreshSession). The old
// refresh token stays valid for two hours and returns the same successor
// (pds/src/account-manager/account-manager.ts), so a lost response is harmless.
func (b *Bluesky) Refresh(ctx context.Context, _ network.App, account network.Account) (network.Account, error) {
	res, err := b.do(ctx, account.BaseURL, "com.atproto.server.refreshSession", nil,
		call.Request{Method: http.MethodPost, Token: account.RefreshToken, Secrets: []secret.Text{account.Token}})
	if err != nil {
		return account, err
	}
	renewed, err := sessionAccount(res, account)
	if err != nil {
		return account, err
	}
	if account.RemoteID != "" && renewed.RemoteID != account.RemoteID {
		return account, res.NewError(network.Auth, "wrong_account",
			"The server refreshed the session of another account. Reconnect the account.")
	}
	return renewed, nil
}

// Revoke ends the session (com.atproto.server.deleteSession). Servers do not look
// up access tokens: an issued one expires within two hours.
func (b *Bluesky) Revoke(ctx context.Context, _ network.App, account network.Account) error {
	_, err := b.do(ctx, account.BaseURL, "com.atproto.server.deleteSession", nil,
		call.Request{Method: http.MethodPost, Token: account.RefreshToken, Secrets: []secret.Text{account.Token}})
	if e := network.AsError(err); e != nil && e.Class != network.Auth {
		return e
	}
	return nil
}
