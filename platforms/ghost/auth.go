package ghost

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// signature is the login of one call.
type signature struct {
	token   secret.Text
	secrets []secret.Text // that no error may contain
}

// tokenLifetime is the longest that Ghost accepts.
const tokenLifetime = 5 * time.Minute

// sign returns a token (JWT, HS256) for an Admin API key, which consists of an id and a
// secret. https://docs.ghost.org/admin-api/#token-authentication
func sign(key secret.Text, now time.Time) (signature, error) {
	id, digits, _ := strings.Cut(key.Reveal(), ":")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) < 16 || id == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return signature{}, &network.Error{
			Class: network.Auth, Code: "bad_admin_key", Field: fieldKey, Message: "This is not an Admin API key. It " +
				"consists of two parts with a colon between them; the Content API key has none.",
		}
	}
	part := func(value map[string]any) string {
		out, _ := json.Marshal(value) // text and numbers only
		return base64.RawURLEncoding.EncodeToString(out)
	}
	signed := part(map[string]any{"alg": "HS256", "typ": "JWT", "kid": id}) + "." + part(map[string]any{
		"aud": "/admin/", "iat": now.Unix(), "exp": now.Add(tokenLifetime).Unix(),
	})
	mac := hmac.New(sha256.New, raw)
	_, _ = mac.Write([]byte(signed)) // cannot fail
	token := secret.NewText(signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	return signature{token, []secret.Text{key, secret.NewText(digits), token}}, nil
}

// apiError is an error in the body of a refusal.
type apiError struct {
	Message string `json:"message"`
	Context string `json:"context"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

// The types and codes of errors that matter here.
const (
	notFound     = "NotFoundError"
	noPermission = "NoPermissionError"
	invalidToken = "INVALID_JWT"
)

// refusal classifies an unsuccessful response.
func refusal(res *call.Response) *network.Error {
	var first apiError // an error page is not JSON: the status decides
	if all, err := list[apiError](res, "errors"); err == nil && len(all) > 0 {
		first = all[0]
	}
	text := strings.TrimSpace(first.Message + " " + first.Context)
	e := res.StatusError(cmp.Or(first.Code, first.Type), text)
	explained := func(code, message string) *network.Error {
		return &network.Error{
			Class: network.Auth, Code: code, Message: message, Status: res.Status, RequestID: res.RequestID,
		}
	}
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
	case strings.Contains(text, "jwt expired"), strings.Contains(text, "maxAge exceeded"):
		return explained("clock_behind", "Ghost treats the call as more than five minutes old. Set the clock of the "+
			"computer on which Dateline runs.")
	case res.Status == http.StatusUnauthorized, first.Code == invalidToken, first.Type == noPermission:
		return explained("key_refused", "Ghost does not accept the Admin API key. It was replaced, or its integration "+
			"was deleted. Copy the key again from Settings, Integrations.")
	case res.Status == http.StatusRequestEntityTooLarge:
		e.Message = "The site's web server does not accept a file of this size. Raise its limit or use a smaller file."
	}
	return e
}

func rejected(field, code, message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: message}
}

// isRemoved reports whether there is no such post.
func isRemoved(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound && e.Code == notFound
}

// isCollision reports whether a change was refused because of an earlier one.
func isCollision(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Status == http.StatusConflict
}
