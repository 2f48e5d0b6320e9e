package crawl

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/internal/infra/message"
)

// Problem returns why a fetch failed from its stored form: a code and an explanation,
// such as "trap: it redirects in a circle". status is that of the last response; 0: unknown.
func Problem(stored string, status int) message.Message {
	code, reason, found := strings.Cut(stored, ": ")
	if stored == "" {
		return message.Message{}
	}
	if !found {
		code, reason = "", stored
	}
	_, _ = fmt.Sscanf(reason, "the server responded with %d", &status)
	switch code {
	case "not_found":
		return explain("fetch_not_found", reason, status)
	case "client_error":
		return explain("fetch_client_error", reason, status)
	case "server_error":
		return explain("fetch_server_error", reason, status)
	case "throttled":
		return explain("fetch_throttled", reason, status)
	case "blocked_by_robots":
		if strings.HasPrefix(reason, "robots.txt") {
			return message.New("fetch_robots_unreachable", "robots.txt could not be fetched.")
		}
		return message.New("fetch_blocked_by_robots", "robots.txt disallows the page[: {rule}].", reason)
	case "timeout":
		return explain("fetch_timeout", reason, 0)
	case "too_big":
		return explain("fetch_too_big", reason, 0)
	case "wrong_type":
		return explain("fetch_wrong_type", reason, 0)
	case "blocked_address":
		return explain("fetch_blocked_address", reason, 0)
	case "unreachable":
		return explain("fetch_unreachable", reason, 0)
	case "trap":
		return explain("fetch_trap", reason, 0)
	case "invalid":
		return explain("fetch_invalid", reason, 0)
	case "moved":
		return explain("fetch_moved", reason, 0)
	case "unrendered":
		return explain("fetch_unrendered", reason, 0)
	}
	return explain("fetch_failed", reason, 0)
}

// explain makes a sentence of an explanation.
func explain(code, reason string, status int) message.Message {
	first, size := utf8.DecodeRuneInString(reason)
	if text := string(unicode.ToUpper(first)) + reason[size:]; size > 0 {
		reason = text
	}
	m := message.New(code, "{reason}", strings.TrimSuffix(reason, ".")+".")
	if status > 0 {
		m.Params["http_status"] = status
	}
	return m
}
