package discord

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// errorResponse is Discord's error object; 429 has additional fields.
// https://docs.discord.com/developers/reference#error-messages
type errorResponse struct {
	Code       int     `json:"code"`
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"` // seconds
	Global     bool    `json:"global"`
}

// Error codes of
// https://docs.discord.com/developers/topics/opcodes-and-status-codes#json.
const (
	unknownChannel    = 10003
	unknownMessage    = 10008
	unknownWebhook    = 10015
	missingAccess     = 50001
	missingPermission = 50013
	webhookToken      = 50027
)

func refusal(res *call.Response) *network.Error {
	var f errorResponse
	_ = json.Unmarshal(res.Body, &f) // an error page is not JSON: the status decides
	code := ""
	if f.Code != 0 {
		code = strconv.Itoa(f.Code)
	}
	e := res.StatusError(code, f.Message)
	e.Rates = rates(res)
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if f.Global || res.Header.Get("X-RateLimit-Global") != "" || res.Header.Get("X-RateLimit-Scope") == "global" {
			e.Scope = network.ScopeApp
			e.Rates = nil
		}
		if f.RetryAfter > 0 {
			e.RetryAt = res.Received.Add(time.Duration(math.Ceil(f.RetryAfter*1000)) * time.Millisecond)
		}
	case f.Code == unknownWebhook, f.Code == unknownChannel, f.Code == missingAccess, f.Code == missingPermission,
		f.Code == webhookToken:
		// A user has to grant access again. Retrying would also count towards the
		// limit of 10,000 refused requests in 10 minutes, after which Discord
		// blocks the IP address.
		e.Class = network.Auth
	}
	return e
}

// bucket is Discord's limit of messages per channel. Every response reports its
// size, which usually is 5 in 5 seconds.
const bucket = "messages"

func quotas() []network.Quota {
	return []network.Quota{{
		Bucket: bucket, Scope: network.ScopeAccount, Requests: 5, Per: 5 * time.Second,
		Default: true,
		Costs:   map[network.CallKind]int{network.CallPublish: 1},
	}}
}

// rates parses the headers of
// https://docs.discord.com/developers/topics/rate-limits.
func rates(res *call.Response) []network.RateStatus {
	limit, errLimit := strconv.Atoi(res.Header.Get("X-RateLimit-Limit"))
	remaining, errRemaining := strconv.Atoi(res.Header.Get("X-RateLimit-Remaining"))
	after, errAfter := strconv.ParseFloat(res.Header.Get("X-RateLimit-Reset-After"), 64)
	if errLimit != nil || errRemaining != nil || errAfter != nil {
		return nil
	}
	if limit < 1 || remaining < 0 || after < 0 || after > 1e6 {
		return nil
	}
	return []network.RateStatus{{
		Bucket: bucket, Scope: network.ScopeAccount, Limit: limit,
		Remaining: min(remaining, limit),
		ResetAt:   res.Received.Add(time.Duration(after * float64(time.Second))),
	}}
}
