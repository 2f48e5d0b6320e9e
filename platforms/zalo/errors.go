package zalo

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The error codes that matter here. Responses have the status 200 whatever happened.
// https://developers.zalo.me/docs/official-account/phu-luc/ma-loi (not verified)
const (
	codeTooManyCalls = "-32"  // of a minute
	codeMediaFailed  = "-200" // an image could not be fetched
	codeParameter    = "-201" // also an unknown article, and a token that is none
	codeDisabled     = "-204" // the account
	codeNoAccount    = "-205"
	codeProcessing   = "-214"
	codeBadToken     = "-216"
	codeAppRemoved   = "-219"
	codeExpired      = "-220" // the token
	codeNotVerified  = "-221"
	codeNotAllowed   = "-223" // by the account's administrator
	codePlanTooLow   = "-224"
)

// refusal classifies a response that is not a success; nil: it is one. All codes from -299
// to -200 are refusals. Others may hide an error of Zalo's servers: a call that creates may
// have acted then.
func refusal(res *call.Response) *network.Error {
	var body struct {
		Error   number `json:"error"`
		Message string `json:"message"`
	}
	err := json.Unmarshal(res.Body, &body)
	// The query of an image's address authorizes whoever has it to read the image.
	body.Message = regexp.MustCompile(`(https?:[^\s?"']+)\?[^\s"']*`).ReplaceAllString(body.Message, "$1")
	code := string(body.Error)
	switch {
	case !res.OK(): // an error page is not JSON: the status decides
		e := res.StatusError("", body.Message)
		e.Scope = network.ScopeAccount
		return e
	case err != nil:
		return res.MalformedError(err.Error())
	case code == "":
		return res.MalformedError("it is neither a success nor an error")
	case code == "0":
		return nil
	}
	e := res.StatusError(code, body.Message)
	explained := func(code, message string) *network.Error {
		return &network.Error{
			Class: network.Rejected, Code: code, Message: message, Status: res.Status, RequestID: res.RequestID,
		}
	}
	n, _ := strconv.Atoi(code)
	// Several codes say that the account's token is none. Only article/verify has another one.
	said := strings.ToLower(body.Message)
	isToken := strings.Contains(said, "token") &&
		(!strings.HasSuffix(res.URL, "/verify") || strings.Contains(said, "access"))
	switch {
	case code == codeTooManyCalls:
		e.Class, e.Scope, e.RetryAt = network.Throttled, network.ScopeAccount, res.Received.Add(time.Minute)
		e.Rates = rates(res)
	case slices.Contains([]string{
		codeDisabled, codeNoAccount, codeBadToken, codeAppRemoved, codeExpired, codeNotAllowed,
	}, code), isToken:
		e.Class = network.Auth
	case code == codeProcessing:
		e.Class = network.Transient
	case code == codePlanTooLow:
		return explained("plan_too_low", "The plan of the Official Account does not include this. Upgrade it in OA "+
			"Manager.")
	case code == codeNotVerified:
		return explained("oa_not_verified", "Zalo has not verified the Official Account. Verify it in OA Manager.")
	case n <= -200 && n > -300:
		e.Class = network.Rejected
	}
	return e
}

// rates returns the limit of calls that a response reports.
func rates(res *call.Response) []network.RateStatus {
	limit, err := strconv.Atoi(res.Header.Get("X-RateLimit-Limit"))
	left, leftErr := strconv.Atoi(res.Header.Get("X-RateLimit-Remain"))
	if err != nil || leftErr != nil || limit < 1 || left < 0 || left > limit {
		return nil
	}
	return []network.RateStatus{{
		Bucket: bucketCalls, Scope: network.ScopeAccount, Limit: limit, Remaining: left, Per: time.Minute,
		ResetAt: res.Received.Truncate(time.Minute).Add(time.Minute),
	}}
}

func hasCode(err error, code string) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Status == http.StatusOK && e.Code == code
}

// isRemoved reports whether a call that names nothing but an article was refused because
// there is none.
func isRemoved(err error) bool {
	return hasCode(err, codeParameter) && network.AsError(err).Class == network.Rejected
}

// isProcessing reports whether Zalo has not finished an article.
func isProcessing(err error) bool { return hasCode(err, codeProcessing) }
