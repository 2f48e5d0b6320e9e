package linkedin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// codeVersionSunset means that LinkedIn no longer supports the configured
// version.
const codeVersionSunset = "version_sunset"

// errorResponse contains the used fields of an error: of the API (API concepts,
// Error handling; Posts API, error codes) and of the OAuth endpoints (RFC 6749
// §5.2).
type errorResponse struct {
	Code        string `json:"code"`
	ServiceCode int    `json:"serviceErrorCode"`
	Message     string `json:"message"`
	Details     struct {
		Inputs []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"inputErrors"`
	} `json:"errorDetails"`
	OAuth       string `json:"error"`
	Description string `json:"error_description"`
}

func read(res *call.Response) errorResponse {
	var f errorResponse
	_ = json.Unmarshal(res.Body, &f) // an error page is not JSON: the status decides
	for _, input := range f.Details.Inputs {
		if f.Code == "" || input.Code == codeDuplicate {
			f.Code = input.Code
		}
	}
	switch {
	case f.OAuth != "":
		f.Code, f.Message = f.OAuth, f.Description
	case f.Code == "" && f.ServiceCode != 0:
		f.Code = strconv.Itoa(f.ServiceCode)
	}
	return f
}

const codeDuplicate = "DUPLICATE_POST"

// refusal classifies an unsuccessful response.
func (l *LinkedIn) refusal(res *call.Response) *network.Error {
	f := read(res)
	e := res.StatusError(f.Code, f.Message)
	switch {
	case res.Status == http.StatusUpgradeRequired, f.Code == "NONEXISTENT_VERSION", f.Code == "VERSION_MISSING":
		e.Class, e.Code = network.Rejected, codeVersionSunset
		e.Message = fmt.Sprintf("LinkedIn no longer supports version %s of its API: the operator must set a newer one.",
			l.options.Version)
	case f.Code == codeDuplicate:
		e.Class = network.Duplicate
		e.Existing = existingPost(f.Message)
	case res.Status == http.StatusForbidden && strings.Contains(f.Message, "Not enough permissions"):
		// The token lacks a scope, so reconnecting helps. Any other 403 is about
		// this author or content.
		e.Class = network.Auth
	case res.Status == http.StatusConflict:
		// Concurrent changes: LinkedIn did not act and asks for a retry.
		e.Class = network.Transient
	case res.Status == http.StatusTooManyRequests:
		refineThrottled(e, res, f.Message)
	}
	return e
}

// refineThrottled reads from the message whose limit it is and its window. Daily
// limits reset at 00:00 UTC (API concepts, Rate limiting); the reset of others is
// not documented.
func refineThrottled(e *network.Error, res *call.Response, message string) {
	e.Scope = network.ScopeAccount
	if strings.Contains(message, "APPLICATION") && !strings.Contains(message, "MEMBER") {
		e.Scope = network.ScopeApp
	}
	if e.RetryAt.IsZero() && strings.Contains(message, "DAY") {
		now := res.Received.Add(res.ClockSkew())
		e.RetryAt = res.LocalTime(now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour))
	}
}

// existingPost parses the URN in a refusal: "Content is a duplicate of
// urn:li:share:7141138937766391808".
func existingPost(message string) *network.Receipt {
	urn := regexp.MustCompile(`urn:li:(?:share|ugcPost):[0-9]+`).FindString(message)
	if urn == "" {
		return nil
	}
	return &network.Receipt{RemoteID: urn, CreatedAt: createdAt(urn)}
}

// createdAt derives the creation time of a post from its id: the bits above the
// lowest 22 are milliseconds since 1970. LinkedIn does not document this; ids in
// public reports agree with their dates (7141138937766391808 of 2023-12-14,
// 7431329065766260736 of 2026-02-22). Zero if the result is implausible.
func createdAt(urn string) time.Time {
	number, err := strconv.ParseInt(urn[strings.LastIndexByte(urn, ':')+1:], 10, 64)
	if err != nil {
		return time.Time{}
	}
	at := time.UnixMilli(number >> 22).UTC()
	if at.Year() < 2010 || time.Until(at) > 24*time.Hour {
		return time.Time{}
	}
	return at
}

// refineMediaError classifies refusals of a post's media: nothing was published,
// and the post can be sent again when the media is available.
func refineMediaError(e *network.Error, mediaIDs []string) {
	if len(mediaIDs) == 0 || e.Class != network.Rejected {
		return
	}
	switch e.Code {
	case "MEDIA_ASSET_WAITING_UPLOAD":
		// Videos and documents are refused like this while they are being processed (Videos
		// API).
		e.Class, e.Code, e.RetryAt = network.Transient, "media_not_ready", time.Now().Add(notReadyRetryAfter)
		if !isVideo(mediaIDs[0]) && !isDocument(mediaIDs[0]) {
			e.Code, e.RetryAt = network.CodeMediaExpired, time.Time{}
		}
	case "INVALID_URN_ID", "INVALID_VIDEO_ID", "INVALID_IMAGE_ID":
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
}

const notReadyRetryAfter = 30 * time.Second
