package x

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// CodeThreadNotAllowed means that X refused a post because it is a reply. Since
// February 2026, apps on self-serve plans may reply only to posts whose author
// mentioned or quoted the account
// (https://docs.x.com/x-api/posts/manage-tweets/integrate, Reply restrictions).
// It is not documented whether an account may reply to itself.
const CodeThreadNotAllowed = "thread_not_allowed"

// capRetryAfter is how long to wait if X reports that a cap is reached, but not
// when it ends.
const capRetryAfter = 15 * time.Minute

// problem contains X's error formats: RFC 9457, the older formats of some
// endpoints, and RFC 6749 for token requests.
// https://docs.x.com/x-api/fundamentals/response-codes-and-errors
type problem struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Message string `json:"message"`
	Errors  []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Detail  string `json:"detail"`
	} `json:"errors"`
	OAuth            string `json:"error"`
	OAuthDescription string `json:"error_description"`
}

func problemOf(body []byte) problem {
	var p problem
	_ = json.Unmarshal(body, &p) // an error page is not JSON: the status decides
	return p
}

// code returns the last segment of the problem's type, such as invalid-request.
func (p problem) code() string {
	kind := p.Type
	if kind == "" && len(p.Errors) > 0 {
		kind = p.Errors[0].Type
	}
	switch {
	case isCode(p.OAuth):
		return p.OAuth
	case strings.Contains(kind, "/problems/") && isCode(path.Base(kind)):
		return path.Base(kind)
	default:
		return ""
	}
}

// isCode reports whether a text is a code. Sentences may repeat what was sent.
func isCode(text string) bool {
	return text != "" && len(text) <= 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// text returns everything that the response says for users.
func (p problem) text() string {
	var reported []string
	for _, text := range []string{p.OAuthDescription, p.Detail, p.Message} {
		if text != "" {
			reported = append(reported, text)
		}
	}
	if p.OAuth != "" && !isCode(p.OAuth) {
		reported = append(reported, p.OAuth)
	}
	for _, e := range p.Errors {
		for _, text := range []string{e.Message, e.Detail} {
			if text != "" {
				reported = append(reported, text)
			}
		}
	}
	if len(reported) == 0 {
		return p.Title
	}
	return strings.Join(reported, " ")
}

// refusal classifies an unsuccessful response.
func refusal(res *call.Response, reported []network.RateStatus) *network.Error {
	p := problemOf(res.Body)
	text := p.text()
	e := res.StatusError(p.code(), text)
	e.Rates = reported
	switch {
	case res.Status == http.StatusTooManyRequests:
		throttle(e, res)
	case res.Status == http.StatusPaymentRequired:
		e.Code, e.Message = "no_credits", "The credit for X's API is used up. Add credit in X's developer console."
	case res.Status == http.StatusForbidden && strings.Contains(text, "duplicate content"):
		// X does not name the existing post.
		e.Class, e.Code = network.Duplicate, "duplicate_content"
	case res.Status == http.StatusBadRequest && strings.Contains(text, "media IDs are invalid"):
		// Checked before anything is created.
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	return e
}

// isThreadRefusal reports whether a 403 refuses the reply, and not the post for
// another reason.
func isThreadRefusal(e *network.Error) bool {
	return e.Status == http.StatusForbidden && e.Class == network.Rejected && !slices.ContainsFunc(
		[]string{"too long", "suspended", "locked", "deleted or not visible", "cashtag"},
		func(other string) bool { return strings.Contains(e.Message, other) })
}

// partialError returns the error of a success with errors and without data, which
// X returns for deleted or hidden objects.
func partialError(res *call.Response, what string) *network.Error {
	p := problemOf(res.Body)
	if len(p.Errors) == 0 {
		return res.MalformedError("it contains no " + what)
	}
	e := res.MalformedError("it contains no " + what + " but errors: " + p.text())
	if e.Class == network.Ambiguous { // of a call that publishes
		return e
	}
	switch p.code() {
	case "resource-not-found", "not-authorized-for-resource", "resource-unavailable", "disallowed-resource":
		e.Class, e.Code = network.Rejected, p.code()
	}
	return e
}
