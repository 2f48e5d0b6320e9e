package linkedin_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
)

// respondWith serves one response to every request.
func respondWith(t *testing.T, handler http.HandlerFunc) (*linkedin.LinkedIn, network.Account) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	l := linkedin.New(server.Client(), linkedin.Options{Sandbox: server.URL})
	return l, network.Account{BaseURL: server.URL, RemoteID: "urn:li:person:1", Token: secret.NewText("secret-token")}
}

func TestRefusals(t *testing.T) {
	const image, video = "urn:li:image:1 A picture", "urn:li:video:1"
	for name, row := range map[string]struct {
		status     int
		body, code string
		media      string
		class      network.Class
	}{
		"Expired": {
			401, `{"status":401,"serviceErrorCode":65602,"code":"EXPIRED_ACCESS_TOKEN","message":"expired"}`,
			"EXPIRED_ACCESS_TOKEN", "", network.Auth,
		},
		"Revoked": {
			401, `{"status":401,"serviceErrorCode":65601,"code":"REVOKED_ACCESS_TOKEN","message":"revoked"}`,
			"REVOKED_ACCESS_TOKEN", "", network.Auth,
		},
		"Scope": {
			403,
			`{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED","message":"Not enough permissions to access: partnerApiPostsExternal.CREATE.20260701"}`, "ACCESS_DENIED", "", network.Auth,
		},
		"Role": {
			403,
			`{"status":403,"code":"ACCESS_DENIED","message":"Organization permissions must be used when using organization as author"}`, "ACCESS_DENIED", "", network.Rejected,
		},
		"Field":    {400, `{"status":400,"serviceErrorCode":77,"message":"bad"}`, "77", "", network.Rejected},
		"Conflict": {409, `{"status":409,"code":"CONFLICT","message":"again"}`, "CONFLICT", "", network.Transient},
		"Sunset": {
			426, `{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version 20260701 is not active"}`,
			"version_sunset", "", network.Rejected,
		},
		"NoVersion": {
			400, `{"status":400,"code":"VERSION_MISSING","message":"A version must be present."}`,
			"version_sunset", "", network.Rejected,
		},
		"Gateway":    {504, `<html>`, "http_504", "", network.Ambiguous},
		"NoID":       {201, ``, "malformed_response", "", network.Ambiguous},
		"OddDetails": {422, `{"status":422,"errorDetails":"none","message":"m"}`, "http_422", "", network.Rejected},
		"VideoNotReady": {
			400, `{"status":400,"code":"MEDIA_ASSET_WAITING_UPLOAD","message":"Media asset is waiting upload"}`,
			"media_not_ready", video, network.Transient,
		},
		"ImageLost": {
			400, `{"status":400,"code":"MEDIA_ASSET_WAITING_UPLOAD","message":"Media asset is waiting upload"}`,
			"media_expired", image, network.Transient,
		},
		"ImageUnknown": {
			400, `{"status":400,"code":"INVALID_URN_ID","message":"This URN Id is invalid"}`,
			"media_expired", image, network.Transient,
		},
		"AuthorUnknown": {
			400, `{"status":400,"code":"INVALID_URN_ID","message":"This URN Id is invalid"}`,
			"INVALID_URN_ID", "", network.Rejected,
		},
		"Unprocessable": {
			400, `{"status":400,"code":"MEDIA_ASSET_PROCESSING_FAILED","message":"failed"}`,
			"MEDIA_ASSET_PROCESSING_FAILED", image, network.Rejected,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Li-Uuid", "call-1")
				w.WriteHeader(row.status)
				_, _ = io.WriteString(w, row.body)
			})
			sub := network.Submission{Text: "t"}
			if row.media != "" {
				sub.MediaIDs = []string{row.media}
			}
			_, err := l.Publish(t.Context(), account, sub)
			e := network.AsError(err)
			if err == nil {
				t.Fatal("err: got nil")
			}
			if e.Class != row.class {
				t.Errorf("e.Class: got %v, want %v", e.Class, row.class)
			}
			if e.Code != row.code {
				t.Errorf("e.Code: got %v, want %v", e.Code, row.code)
			}
			if e.Status != row.status {
				t.Errorf("e.Status: got %v, want %v", e.Status, row.status)
			}
			if e.Message == "" {
				t.Error("e.Message is empty")
			}
			if e.RequestID != "call-1" {
				t.Errorf("e.RequestID: got %q, want %q", e.RequestID, "call-1")
			}
			if row.code == "version_sunset" &&
				(!strings.Contains(e.Message, "202607") || !strings.Contains(e.Message, "operator")) {
				t.Errorf("the message is %q", e.Message)
			}
		})
	}
}

func TestRefusal_ThrottledUntilMidnight(t *testing.T) {
	for name, row := range map[string]struct {
		message, after string
		scope          network.Scope
		bucket         string
		midnight       bool
	}{
		"Member": {
			"Resource level throttle MEMBER DAY limit for calls to this resource is reached.", "",
			network.ScopeAccount, "member_posts", true,
		},
		"Both": {
			"Resource level throttle APPLICATION_AND_MEMBER DAY limit for calls to this resource is reached.",
			"", network.ScopeAccount, "member_posts", true,
		},
		"App": {
			"Resource level throttle APPLICATION DAY limit for calls to this resource is reached.", "",
			network.ScopeApp, "app_posts", true,
		},
		"Burst":  {"Too many requests", "", network.ScopeAccount, "", false},
		"Header": {"Too many requests", "30", network.ScopeAccount, "member_posts", false},
	} {
		t.Run(name, func(t *testing.T) {
			l, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
				if row.after != "" {
					w.Header().Set("Retry-After", row.after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = fmt.Fprintf(w, `{"status":429,"serviceErrorCode":101,"message":%q}`, row.message)
			})
			_, err := l.Publish(t.Context(), account, network.Submission{Text: "t"})
			e := network.AsError(err)
			if e.Class != network.Throttled || e.Scope != row.scope {
				t.Fatalf("%+v", e)
			}
			if row.midnight && (!e.RetryAt.Equal(e.RetryAt.Truncate(24*time.Hour)) ||
				time.Until(e.RetryAt) > 24*time.Hour || time.Until(e.RetryAt) < -time.Minute) {
				t.Errorf("retry at %v, which is not the next 00:00 UTC", e.RetryAt)
			}
			if !row.midnight && row.after == "" && !e.RetryAt.IsZero() {
				t.Errorf("retry at %v, want none", e.RetryAt)
			}
			if (row.bucket == "") != (len(e.Rates) == 0) || row.bucket != "" &&
				(e.Rates[0].Bucket != row.bucket || e.Rates[0].Remaining != 0) {
				t.Errorf("rates %+v", e.Rates)
			}
		})
	}
}

// The response was observed in production.
func TestRefusal_DuplicateNamesExistingPost(t *testing.T) {
	l, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w,
			`{"errorDetailType":"com.linkedin.common.error.BadRequest","message":"com.linkedin.content.common.exception.BadRequestResponseException: Content is a duplicate of urn:li:share:7141138937766391808","errorDetails":{"inputErrors":[{"description":"Duplicate post is detected","input":{},"code":"DUPLICATE_POST"}]},"status":422}`)
	})
	_, err := l.Publish(t.Context(), account, network.Submission{Text: "t"})
	e := network.AsError(err)
	if e.Class != network.Duplicate || e.Existing == nil || e.Existing.RemoteID != "urn:li:share:7141138937766391808" {
		t.Fatalf("%+v", e)
	}
	if e.Existing.CreatedAt.Format(time.DateOnly) != "2023-12-14" ||
		e.Existing.URL != account.BaseURL+"/feed/update/urn:li:share:7141138937766391808" {
		t.Errorf("earlier %+v", e.Existing)
	}
}
