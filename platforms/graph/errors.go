package graph

import (
	"encoding/json"
	"strconv"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// blockedRetryAfter is how long to wait for an account that Meta blocked for
// posting too fast (code 368). Earlier attempts extend such blocks.
const blockedRetryAfter = time.Hour

// ErrorObject is the error object of the Graph APIs.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
type ErrorObject struct {
	Message     string `json:"message"`
	Type        string `json:"type"`
	Code        int    `json:"code"`
	Subcode     int    `json:"error_subcode"`
	Transient   bool   `json:"is_transient"`
	Title       string `json:"error_user_title"`
	UserMessage string `json:"error_user_msg"`
	Trace       string `json:"fbtrace_id"`
}

// Matches reports whether the error has the code and the subcode; 0 matches any.
func (f ErrorObject) Matches(code, subcode int) bool {
	return (code == 0 || f.Code == code) && (subcode == 0 || f.Subcode == subcode)
}

// errorCode returns the code as text: 100, or 100/33 with its subcode.
func (f ErrorObject) errorCode() string {
	switch {
	case f.Code == 0:
		return ""
	case f.Subcode == 0:
		return strconv.Itoa(f.Code)
	default:
		return strconv.Itoa(f.Code) + "/" + strconv.Itoa(f.Subcode)
	}
}

// userMessage prefers the message that Meta wrote for users.
func (f ErrorObject) userMessage() string {
	switch {
	case f.UserMessage != "" && f.Title != "":
		return f.Title + ": " + f.UserMessage
	case f.UserMessage != "":
		return f.UserMessage
	default:
		return f.Message
	}
}

// parseError finds the error in a response body. There are two forms besides the
// error object: uploads (rupload.facebook.com) use debug_info, and Instagram's
// token endpoint (api.instagram.com) uses error_type and error_message.
func parseError(body []byte) ErrorObject {
	var response struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"error_message"`
		Type    string          `json:"error_type"`
		Debug   struct {
			Retriable bool   `json:"retriable"`
			Type      string `json:"type"`
			Message   string `json:"message"`
		} `json:"debug_info"`
	}
	_ = json.Unmarshal(body, &response) // an error page is not JSON: the status decides
	f := ErrorObject{Message: response.Message, Type: response.Type}
	if response.Debug.Message != "" || response.Debug.Type != "" {
		f = ErrorObject{Message: response.Debug.Message, Type: response.Debug.Type, Transient: response.Debug.Retriable}
	}
	_ = json.Unmarshal(response.Error, &f)
	return f
}

// refusal classifies an unsuccessful response: by code and subcode, because most
// errors have status 400, or by the status if there is no code.
func (a *API) refusal(res *call.Response, create bool) *network.Error {
	f := parseError(res.Body)
	if f.Trace != "" {
		res.RequestID = f.Trace
	}
	e := res.StatusError(f.errorCode(), f.userMessage())
	switch {
	case f.isRateLimit():
		e.Class, e.Scope, e.RetryAt = network.Throttled, f.scope(), res.RetryAfter()
	case f.Matches(368, 4854002): // waiting does not help until the user confirms their identity
		e.Class = network.Rejected
	case f.Code == 368:
		e.Class, e.RetryAt = network.Throttled, res.Received.Add(blockedRetryAfter)
	case f.Code == 190, f.Code == 102:
		e.Class = network.Auth
	case f.Code == 506:
		e.Class = network.Duplicate
	case f.Code == 3, f.Code == 10, f.Code >= 200 && f.Code <= 299, f.Code == 100:
		e.Class = network.Rejected
	case f.Transient, f.Code == 1, f.Code == 2:
		e.Class = network.Transient
		if create {
			e.Class = network.Ambiguous
		}
	}
	if a.options.Refine != nil {
		a.options.Refine(f, create, e)
	}
	if e.Class == network.Throttled {
		if e.Scope == "" {
			e.Scope = network.ScopeAccount
		}
		if at := res.Received.Add(ParseUsage(res.Header).RegainIn); at.After(e.RetryAt) && at.After(res.Received) {
			e.RetryAt = at
		}
	}
	return e
}

// isRateLimit reports whether the code is that of a rate limit.
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting
func (f ErrorObject) isRateLimit() bool {
	switch f.Code {
	case 4, 17, 32, 341, 613:
		return true
	}
	return f.Code >= 80000 && f.Code <= 80014
}

// scope returns whose limit a code is about: 4 and 341 are limits of the app.
func (f ErrorObject) scope() network.Scope {
	if f.Code == 4 || f.Code == 341 {
		return network.ScopeApp
	}
	return network.ScopeAccount
}
