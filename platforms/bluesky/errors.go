package bluesky

import (
	"encoding/json"
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// errorResponse is the error of every call.
// https://atproto.com/specs/xrpc#error-responses
type errorResponse struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// refusal classifies an unsuccessful response.
func refusal(res *call.Response, method string) *network.Error {
	var f errorResponse
	_ = json.Unmarshal(res.Body, &f) // an error page is not JSON: the status decides
	if strings.ContainsFunc(f.Error, func(r rune) bool { return !isAlnum(r) && r != '_' }) {
		f.Message, f.Error = strings.TrimSpace(f.Error+" "+f.Message), "" // not the name of an error
	}
	e := res.StatusError(f.Error, f.Message)
	e.Rates = rates(res, method)
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if len(e.Rates) > 0 {
			e.Scope = e.Rates[0].Scope
		}
		if at := rateReset(res); at.After(e.RetryAt) {
			e.RetryAt = at
		}
	case res.Status < 500 && isTokenError(f.Error):
		e.Class = network.Auth
	case res.Status == http.StatusBadRequest && f.Error == "BlobNotFound":
		// actor-store/blob/transactor.ts looks up the blobs of a record before it
		// commits anything.
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
		e.Message = "The server deleted the uploaded attachment. It has to be uploaded again."
	}
	return e
}

// isTokenError reports whether an error is about the token or the login, and not
// about this call. Most have status 400 (pds/src/auth-verifier.ts).
func isTokenError(code string) bool {
	switch code {
	case "ExpiredToken", "InvalidToken", "AuthMissing", "AuthenticationRequired", "AuthFactorTokenRequired",
		"AccountTakedown", "AccountDeactivated", "AccountSuspended", "AccountNotFound", "MissingTokenId":
		return true
	default:
		return false
	}
}
