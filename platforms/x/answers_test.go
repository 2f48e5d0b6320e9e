package x_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/x"
)

// respondWith serves one response to every request.
func respondWith(t *testing.T, handler http.HandlerFunc) (*x.X, network.Account) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return x.New(client, x.Options{Sandbox: server.URL, SegmentRetryDelay: time.Millisecond}),
		network.Account{
			BaseURL: server.URL, RemoteID: "1", Handle: "@desk", Token: secret.NewText("secret-token"),
			RefreshToken: secret.NewText("secret-refresh"),
		}
}

func textIs(t *testing.T, status int, body string) (*x.X, network.Account) {
	t.Helper()
	return respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Transaction-Id", "7a")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func TestRefusals(t *testing.T) {
	const blank = `"type":"about:blank","title":"Forbidden","status":403`
	for name, row := range map[string]struct {
		status        int
		replyTo, body string
		class         network.Class
		code          string
	}{
		"Duplicate": {403, "", `{"detail":"You are not allowed to create a Tweet with duplicate content.",` +
			blank + `}`, network.Duplicate, "duplicate_content"},
		"DuplicateReply": {403, "9", `{"detail":"You are not allowed to create a Tweet with duplicate content.",` +
			blank + `}`, network.Duplicate, "duplicate_content"},
		"Thread": {
			403, "9", `{"detail":"You are not permitted to perform this action.",` + blank + `}`,
			network.Rejected, "thread_not_allowed",
		},
		"ThreadSuspended": {
			403, "9", `{"detail":"Your account is suspended.",` + blank + `}`, network.Rejected,
			"http_403",
		},
		"ParentGone": {
			403, "9", `{"detail":"You attempted to reply to a Tweet that is deleted or not visible to you.",` + blank +
				`}`, network.Rejected, "http_403",
		},
		"NoReply": {
			403, "", `{"detail":"You are not permitted to perform this action.",` + blank + `}`,
			network.Rejected, "http_403",
		},
		"Unauthorized": {
			401, "", `{"detail":"Unauthorized","type":"about:blank","title":"Unauthorized","status":401}`,
			network.Auth, "http_401",
		},
		"UnauthReply": {401, "9", `{"detail":"Unauthorized"}`, network.Auth, "http_401"},
		"NoCredits": {
			402, "", `{"title":"CreditsDepleted","type":"https://api.x.com/2/problems/credits"}`,
			network.Rejected, "no_credits",
		},
		"Invalid": {
			400, "", `{"title":"Invalid Request","detail":"d","type":"https://api.x.com/2/problems/invalid-request"}`,
			network.Rejected, "invalid-request",
		},
		"MediaGone": {
			400, "",
			`{"errors":[{"parameters":{"media.media_ids":["1"]},"message":"Your media IDs are invalid."}],"title":"Invalid Request",` +
				`"detail":"One or more parameters to your request was invalid.","type":"https://api.x.com/2/problems/invalid-request"}`, network.Transient, "media_expired",
		},
		"Internal": {
			500, "", `{"type":"https://api.x.com/2/problems/internal-error","title":"e","detail":"d"}`,
			network.Ambiguous, "internal-error",
		},
		"Unavailable": {503, "9", `upstream connect error`, network.Ambiguous, "http_503"},
		"ErrorsNoData": {
			200, "",
			`{"errors":[{"title":"Not Found Error","detail":"gone","type":"https://api.x.com/2/problems/resource-not-found"}]}`, network.Ambiguous, "malformed_response",
		},
		"EmptyObject":    {201, "", `{}`, network.Ambiguous, "malformed_response"},
		"NoNumber":       {201, "", `{"data":{"id":"new","text":""}}`, network.Ambiguous, "malformed_response"},
		"NoBody":         {204, "", ``, network.Ambiguous, "malformed_response"},
		"OlderForm":      {400, "", `{"code":32,"message":"Could not read."}`, network.Rejected, "http_400"},
		"NoProblemAtAll": {418, "", `<html>`, network.Rejected, "http_418"},
	} {
		t.Run(name, func(t *testing.T) {
			n, account := textIs(t, row.status, row.body)
			_, err := n.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t", ReplyTo: row.replyTo})
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
			if e.RequestID != "7a" {
				t.Errorf("e.RequestID: got %q, want %q", e.RequestID, "7a")
			}
			if e.Existing != nil {
				t.Errorf("e.Existing: got %v, want nil", e.Existing)
			}
		})
	}
}

func TestRefusal_ThrottledScope(t *testing.T) {
	soon, later := time.Now().Add(5*time.Minute), time.Now().Add(7*time.Hour)
	epoch := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	for name, row := range map[string]struct {
		header map[string]string
		scope  network.Scope
		until  time.Time
	}{
		"Account": {map[string]string{
			"x-rate-limit-limit": "100", "x-rate-limit-remaining": "0",
			"x-rate-limit-reset":       epoch(soon),
			"x-app-limit-24hour-limit": "10000", "x-app-limit-24hour-remaining": "12",
			"x-app-limit-24hour-reset": epoch(later),
		}, network.ScopeAccount, soon},
		"App": {map[string]string{
			"x-rate-limit-limit": "100", "x-rate-limit-remaining": "50",
			"x-rate-limit-reset":       epoch(soon),
			"x-app-limit-24hour-limit": "10000", "x-app-limit-24hour-remaining": "0",
			"x-app-limit-24hour-reset": epoch(later),
		}, network.ScopeApp, later},
		"AccountDay": {map[string]string{
			"x-rate-limit-limit": "100", "x-rate-limit-remaining": "0",
			"x-rate-limit-reset":        epoch(soon),
			"x-user-limit-24hour-limit": "17", "x-user-limit-24hour-remaining": "0",
			"x-user-limit-24hour-reset": epoch(later),
		}, network.ScopeAccount, later},
		"Cap":        {nil, network.ScopeApp, time.Now().Add(15 * time.Minute)},
		"RetryAfter": {map[string]string{"Retry-After": "300"}, network.ScopeApp, soon},
	} {
		t.Run(name, func(t *testing.T) {
			n, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
				for key, value := range row.header {
					w.Header().Set(key, value)
				}
				w.WriteHeader(http.StatusTooManyRequests)
			})
			_, err := n.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
			e := network.AsError(err)
			if e == nil || e.Class != network.Throttled || e.Scope != row.scope ||
				e.RetryAt.Sub(row.until).Abs() > 5*time.Second {
				t.Errorf("%+v, want %s until %v", e, row.scope, row.until)
			}
		})
	}
}

func TestRates_UseServerClock(t *testing.T) {
	n, account := respondWith(t, func(w http.ResponseWriter, _ *http.Request) {
		server := time.Now().Add(-time.Hour) // its clock is an hour behind
		w.Header().Set("Date", server.UTC().Format(http.TimeFormat))
		for prefix, left := range map[string]string{
			"X-Rate-Limit-": "99", "X-User-Limit-24hour-": "16",
			"X-App-Limit-24hour-": "9999",
		} {
			w.Header().Set(prefix+"Limit", "10000")
			w.Header().Set(prefix+"Remaining", left)
			w.Header().Set(prefix+"Reset", strconv.FormatInt(server.Add(2*time.Minute).Unix(), 10))
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data":{"id":"1800000000000000000","text":"t"}}`)
	})
	receipt, err := n.Publish(t.Context(), account, network.Submission{Key: "k", Text: "t"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"posts": 99, "posts_day": 16, "posts_app": 9999}
	for _, rate := range receipt.Rates {
		if rate.Remaining != want[rate.Bucket] || (time.Until(rate.ResetAt)-2*time.Minute).Abs() > 5*time.Second ||
			(rate.Scope == network.ScopeApp) != (rate.Bucket == "posts_app") {
			t.Errorf("rate %+v", rate)
		}
		delete(want, rate.Bucket)
	}
	if len(want) > 0 {
		t.Errorf("no limit reported for %v", want)
	}
	// 1800000000000000000 was issued on 10 June 2024.
	if at := time.UnixMilli(1288834974657 + 1800000000000000000>>22); !receipt.CreatedAt.Equal(at) ||
		receipt.CreatedAt.Year() != 2024 {
		t.Errorf("created at %v, want %v", receipt.CreatedAt, at)
	}
}

func TestDelete_Responses(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		class  network.Class // empty: no error
	}{
		"Deleted":    {200, `{"data":{"deleted":true}}`, ""},
		"Gone":       {404, `{"type":"https://api.x.com/2/problems/resource-not-found"}`, ""},
		"GoneErrors": {200, `{"errors":[{"type":"https://api.x.com/2/problems/resource-not-found","detail":"d"}]}`, ""},
		"Kept":       {200, `{"data":{"deleted":false}}`, network.Transient},
		"NotOurs":    {403, `{"detail":"You are not authorized to delete this Tweet."}`, network.Rejected},
		"Later":      {503, ``, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			n, account := textIs(t, row.status, row.body)
			err := n.Delete(t.Context(), account, "1")
			if row.class == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := network.AsError(err); e == nil || e.Class != row.class {
				t.Errorf("%v, want %s", err, row.class)
			}
		})
	}
}
