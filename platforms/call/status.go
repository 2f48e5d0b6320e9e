package call

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// maxMessage is the number of characters to quote from an error response.
const maxMessage = 300

// OK reports whether the status is a success.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status < 300 }

// Decode parses the JSON body of a success. An invalid body of a Create request
// is Ambiguous: either the network acted, or a proxy responded.
func (r *Response) Decode(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return r.MalformedError(err.Error())
	}
	return nil
}

// MalformedError returns the error for a success whose body lacks required
// content.
func (r *Response) MalformedError(reason string) *network.Error {
	class := network.Transient
	if r.create {
		class = network.Ambiguous
	}
	return r.NewError(class, "malformed_response", "The network's response cannot be read: "+reason+".")
}

// NewError returns an error with the response's status and request id.
func (r *Response) NewError(class network.Class, code, message string) *network.Error {
	return &network.Error{
		Class:     class,
		Code:      Redact(code, r.secrets...),
		Message:   Redact(message, r.secrets...),
		Status:    r.Status,
		RequestID: r.RequestID,
	}
}

// StatusError classifies a refusal by its status, with the network's code and
// message. Adapters refine the class if the network's code is more specific.
//
// A refusal with status 4xx is never retried, except for 429: networks were
// observed to respond 400 to requests that they processed.
func (r *Response) StatusError(code, message string) *network.Error {
	if code == "" {
		code = "http_" + strconv.Itoa(r.Status)
	}
	if message == "" {
		message = strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
	}
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…"
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		return r.NewError(network.Auth, code, message)
	case r.Status == http.StatusTooManyRequests:
		e := r.NewError(network.Throttled, code, message)
		e.RetryAt = r.RetryAfter()
		return e
	case r.Status >= 500 && r.create, r.Status == http.StatusSeeOther && r.create, r.Status < 300 && r.create:
		return r.NewError(network.Ambiguous, code, message)
	case r.Status >= 500, r.Status < 300:
		e := r.NewError(network.Transient, code, message)
		e.RetryAt = r.RetryAfter()
		return e
	case r.Status < 400:
		return r.NewError(network.Rejected, "moved", fmt.Sprintf(
			"The network redirects to %q. Reconnect the account at its new address.", r.Header.Get("Location")))
	default:
		return r.NewError(network.Rejected, code, message)
	}
}

// RetryAfter parses Retry-After (RFC 9110 §10.2.3) by the local clock; zero if
// there is none.
func (r *Response) RetryAfter() time.Time {
	switch wait, at, ok := retry.ParseAfter(r.Header.Get("Retry-After")); {
	case !ok:
		return time.Time{}
	case at.IsZero():
		return r.Received.Add(wait)
	default:
		return r.LocalTime(at)
	}
}

// LocalTime converts a time by the server's clock to the local clock.
func (r *Response) LocalTime(at time.Time) time.Time { return at.Add(-r.ClockSkew()) }
