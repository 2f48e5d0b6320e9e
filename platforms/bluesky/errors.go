package bluesky

import (
	"encoding/json"
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// failure is how every call says what is wrong.
// https://atproto.com/specs/xrpc#error-responses
type failure struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// refusal classifies an answer that is no success.
func refusal(res *call.Response, method string) *network.Error {
	var f failure
	_ = json.Unmarshal(res.Body, &f) // an error page is no reason to lose the status
	if strings.ContainsFunc(f.Error, func(r rune) bool { return !isAlnum(r) && r != '_' }) {
		f.Message, f.Error = strings.TrimSpace(f.Error+" "+f.Message), "" // that is no name of an error
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
	case res.Status < 500 && tokenRefused(f.Error):
		e.Class = network.Auth
	case res.Status == http.StatusBadRequest && f.Error == "BlobNotFound":
		// actor-store/blob/transactor.ts looks for the blobs of a record before
		// it commits anything.
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
		e.Message = "The server has dropped the uploaded attachment: it must be uploaded again."
	}
	return e
}

// tokenRefused knows the errors that are about the token or the login and not
// about this call. Most come with status 400 (pds/src/auth-verifier.ts).
func tokenRefused(code string) bool {
	switch code {
	case "ExpiredToken", "InvalidToken", "AuthMissing", "AuthenticationRequired", "AuthFactorTokenRequired",
		"AccountTakedown", "AccountDeactivated", "AccountSuspended", "AccountNotFound", "MissingTokenId":
		return true
	default:
		return false
	}
}
