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

// CodeThreadNotAllowed says that X refused a post because it answers another.
// Since February 2026 apps on self-serve plans may only answer posts whose
// author has mentioned or quoted the account
// (https://docs.x.com/x-api/posts/manage-tweets/integrate, Reply restrictions);
// whether an account may answer itself is not written.
const CodeThreadNotAllowed = "thread_not_allowed"

// capPause is how long to wait when X says that a cap is reached and not when it
// ends.
const capPause = 15 * time.Minute

// problem is what X's answers say of a failure: RFC 9457, the older forms that
// some calls still use, and RFC 6749's of the calls for tokens.
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
	_ = json.Unmarshal(body, &p) // an error page is no reason to lose the status
	return p
}

// code is the last part of the problem's type, such as invalid-request.
func (p problem) code() string {
	kind := p.Type
	if kind == "" && len(p.Errors) > 0 {
		kind = p.Errors[0].Type
	}
	switch {
	case word(p.OAuth):
		return p.OAuth
	case strings.Contains(kind, "/problems/") && word(path.Base(kind)):
		return path.Base(kind)
	default:
		return ""
	}
}

// word tells a code from a sentence, which may repeat what was sent.
func word(text string) bool {
	return text != "" && len(text) <= 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// text is all that the answer says for people.
func (p problem) text() string {
	var said []string
	for _, text := range []string{p.OAuthDescription, p.Detail, p.Message} {
		if text != "" {
			said = append(said, text)
		}
	}
	if p.OAuth != "" && !word(p.OAuth) {
		said = append(said, p.OAuth)
	}
	for _, e := range p.Errors {
		for _, text := range []string{e.Message, e.Detail} {
			if text != "" {
				said = append(said, text)
			}
		}
	}
	if len(said) == 0 {
		return p.Title
	}
	return strings.Join(said, " ")
}

// refusal classifies an answer that is no success.
func refusal(res *call.Response, said []network.RateStatus) *network.Error {
	p := problemOf(res.Body)
	text := p.text()
	e := res.StatusError(p.code(), text)
	e.Rates = said
	switch {
	case res.Status == http.StatusTooManyRequests:
		throttle(e, res)
	case res.Status == http.StatusPaymentRequired:
		e.Code, e.Message = "no_credits", "The credit for X's API is used up: add some in X's developer console."
	case res.Status == http.StatusForbidden && strings.Contains(text, "duplicate content"):
		// X does not say which post it is.
		e.Class, e.Code = network.Duplicate, "duplicate_content"
	case res.Status == http.StatusBadRequest && strings.Contains(text, "media IDs are invalid"):
		// Checked before anything is made.
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	return e
}

// threadRefused tells a refusal to answer a post from the other reasons for 403.
func threadRefused(e *network.Error) bool {
	return e.Status == http.StatusForbidden && e.Class == network.Rejected && !slices.ContainsFunc(
		[]string{"too long", "suspended", "locked", "deleted or not visible", "cashtag"},
		func(other string) bool { return strings.Contains(e.Message, other) })
}

// partial is the error of a success that holds errors and no data, as answers
// about things that are gone or hidden do.
func partial(res *call.Response, what string) *network.Error {
	p := problemOf(res.Body)
	if len(p.Errors) == 0 {
		return res.MalformedError("it has no " + what)
	}
	e := res.MalformedError("it has no " + what + " but errors: " + p.text())
	if e.Class == network.Ambiguous { // of a call that publishes
		return e
	}
	switch p.code() {
	case "resource-not-found", "not-authorized-for-resource", "resource-unavailable", "disallowed-resource":
		e.Class, e.Code = network.Rejected, p.code()
	}
	return e
}
