package wordpress

import (
	"net/http"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// errorResponse is the error of every call (class WP_Error).
type errorResponse struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    struct {
		TermID  int64 `json:"term_id"` // of term_exists
		Details map[string]struct {
			Data struct {
				Status int `json:"status"`
			} `json:"data"`
		} `json:"details"` // of rest_invalid_param, by parameter
	} `json:"data"`
}

// isAnonymous reports whether WordPress treated the call as one without a login. It does so
// with a wrong or revoked password: the call is refused for what it asks, such as drafts.
func (f errorResponse) isAnonymous() bool {
	for _, detail := range f.Data.Details {
		if detail.Data.Status == http.StatusUnauthorized {
			return true
		}
	}
	return false
}

// refusal classifies an unsuccessful response.
func refusal(res *call.Response, create bool) *network.Error {
	var f errorResponse
	_ = decode(res, &f) // an error page is not JSON: the status decides
	e := res.StatusError(f.Code, f.Message)
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
	case res.Status == http.StatusUnauthorized && f.Code == "" &&
		strings.HasPrefix(strings.ToLower(res.Header.Get("WWW-Authenticate")), "basic"):
		return refused(res, &network.Error{
			Class: network.Auth, Code: "site_password",
			Message: "The web server asks for a password of its own before WordPress. Allow /wp-json/ without it.",
		})
	case res.Status == http.StatusUnauthorized, res.Status == http.StatusBadRequest && f.isAnonymous():
		return refused(res, &network.Error{
			Class: network.Auth, Code: "password_not_seen",
			Message: "WordPress did not see the password. Either it is wrong or was revoked, or the web server or a " +
				"proxy removes the Authorization header or does not tell WordPress that the site is reached by https.",
		})
	case res.Status == http.StatusForbidden && strings.HasPrefix(f.Code, "rest_cannot_"):
		e.Class = network.Auth // the role of the user was lowered
	case res.Status == http.StatusRequestEntityTooLarge:
		e.Message = "The site's web server does not accept a file of this size. Raise its limit or use a smaller file."
	case f.Code == "rest_upload_sideload_error", f.Code == "rest_upload_unknown_error", f.Code == "db_insert_error":
		e.Class = network.Rejected // with status 500
	case f.Code == "rest_upload_hash_mismatch":
		e.Class = network.Transient // with status 412
	case res.Status == http.StatusServiceUnavailable && f.Code == "wp_die":
		e.Class, e.RetryAt = network.Transient, res.RetryAfter() // maintenance: nothing was done
	case res.Status >= http.StatusInternalServerError && create:
		// A plugin may have failed after WordPress acted.
		e.Class = network.Ambiguous
	}
	return e
}

// refused adds the response to an error that explains it.
func refused(res *call.Response, e *network.Error) *network.Error {
	e.Status, e.RequestID = res.Status, res.RequestID
	return e
}

func rejected(field, code, message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: message}
}
