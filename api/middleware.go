package api

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/webpage"
	"dateline/web"
)

const principalKey = "principal"

// observe logs every request that changes something or fails, without query, body or IP
// address.
func (s *Server) observe() gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		request := uuid.Must(uuid.NewV7())
		id := request.String()
		c.Header("X-Request-ID", id)
		c.Request = c.Request.WithContext(audit.With(c.Request.Context(), audit.Origin{RequestID: request}))
		c.Next()
		s.count(c, time.Since(start))
		nameSpan(c)
		level := slog.LevelDebug
		switch status := c.Writer.Status(); {
		case c.FullPath() == "/readyz": // its response contains the reason
		case c.GetBool(refusedKey): // one of many; admission logs a summary
		case status >= 500:
			level = slog.LevelError
		case c.Request.Method != http.MethodGet:
			level = slog.LevelInfo
		}
		s.Log.Log(c.Request.Context(), level, "request", "method", c.Request.Method, "route", c.FullPath(),
			"status", c.Writer.Status(), "took", time.Since(start), "request_id", id, "errors", c.Errors.String())
	}
}

// nameSpan names the request's trace span after its route.
func nameSpan(c *gin.Context) {
	span := trace.SpanFromContext(c.Request.Context())
	if !span.IsRecording() {
		return
	}
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	span.SetName(knownMethod(c.Request.Method) + " " + route)
	span.SetAttributes(attribute.String("http.route", route),
		attribute.Int("http.response.status_code", c.Writer.Status()))
	if c.Writer.Status() >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// count counts a response. Unknown paths share one name, because clients can invent any
// number of them.
func (s *Server) count(c *gin.Context, took time.Duration) {
	if s.Meter == nil {
		return
	}
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	s.Meter.Answered(c.Request.Context(), knownMethod(c.Request.Method), route, strconv.Itoa(c.Writer.Status()), took)
}

func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

func (s *Server) recoverPanics() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			if v := recover(); v != nil {
				s.Log.ErrorContext(c.Request.Context(), "panic in a request", "route", c.FullPath(), "panic", v,
					"stack", string(debug.Stack()))
				writeProblem(c, http.StatusInternalServerError, "internal",
					"Something went wrong on our side. The log has the details under the X-Request-ID.", nil)
			}
		}()
		c.Next()
	}
}

// secureHeaders sets a content security policy that allows connections to the API and, for
// direct uploads, to the bucket. The dashboard has its own policy.
func (s *Server) secureHeaders() gin.HandlerFunc {
	reached := strings.TrimSpace("'self' " + s.BucketOrigin)
	policy := "default-src 'none'; style-src " + webpage.StyleSource() + " " + web.ReviewStyleSource() +
		"; script-src 'self'; connect-src " + reached + "; img-src 'self' data:; media-src 'self'; base-uri 'none'; " +
		"form-action 'self'; frame-ancestors 'none'"
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", policy)
		if strings.HasPrefix(c.Request.URL.Path, "/api/") {
			h.Set("Cache-Control", "no-store")
		}
	}
}

// authenticate determines the principal of a request by its token, or else by the
// browser's session, and checks the principal's access to the operation.
func (s *Server) authenticate(v *validator, load *load, open *streams) gin.HandlerFunc {
	return func(c *gin.Context) {
		op := v.operation(c)
		if op == nil {
			return // pages and openapi.yaml are public
		}
		wanted := op.access
		if wanted.public {
			if wanted.session {
				s.noteSession(c)
			}
			if !alwaysOpen(op.id) {
				load.anonymous(c)
			}
			return
		}
		identify := func(c *gin.Context) (workspace.Principal, bool) { return s.bearer(c, load) }
		again := s.tokenAgain
		if c.GetHeader("Authorization") == "" && s.Login.HasCookie(c.Request) {
			identify, again = s.bySession, s.sessionAgain
		} else if !wanted.token {
			identify = func(c *gin.Context) (workspace.Principal, bool) { return s.refuseToken(c, load) }
		}
		who, ok := identify(c)
		if !ok || !load.paced(c, who) {
			return
		}
		tool := restrictAgent(c, &who)
		if refused := wanted.refuses(who); refused != nil {
			if refused.code == "scope_insufficient" {
				// RFC 6750, 3 and 3.1.
				c.Header("WWW-Authenticate", `Bearer realm="dateline", error="insufficient_scope", scope="`+
					string(wanted.scope)+`"`)
			}
			writeProblem(c, refused.status, refused.code, refused.detail, nil)
			return
		}
		c.Set(principalKey, who)
		origin := audit.OriginOf(c.Request.Context())
		origin.Actor, origin.UserID, origin.TokenID, origin.SessionID = audit.User, who.UserID, who.TokenID,
			who.SessionID
		c.Request = c.Request.WithContext(audit.With(c.Request.Context(), origin))
		if tool != "" && c.Request.Method != http.MethodGet {
			s.auditAgent(c, who, tool, op.id)
		}
		if isStream(op.id) {
			request := c.Request
			open.serve(c, who, func(ctx context.Context) (*refusal, error) {
				now, refused, err := again(request.WithContext(ctx))
				switch {
				case err != nil || refused != nil:
					return refused, err
				case now.WorkspaceID != who.WorkspaceID:
					return &refusal{
						http.StatusForbidden, "workspace_switched",
						"This session looks at another workspace now.",
					}, nil
				}
				return wanted.refuses(now), nil
			})
		}
	}
}

// refuses returns why a principal may not call an operation; nil: it may.
func (a access) refuses(who workspace.Principal) *refusal {
	if !who.Role.AtLeast(a.least) {
		return &refusal{http.StatusForbidden, "role_insufficient", "Your role in this workspace (" + string(who.Role) +
			") does not allow this."}
	}
	if a.scope != "" && !who.Has(a.scope) {
		return &refusal{
			http.StatusForbidden, "scope_insufficient",
			"This API token may not be used for this; it lacks the scope " + string(a.scope) + ".",
		}
	}
	return nil
}

// alwaysOpen lists operations that are not limited by IP address: proxies request health
// checks, and all readers of an office follow links from one address.
func alwaysOpen(operation string) bool {
	return operation == "live" || operation == "ready" || operation == "followLink"
}

// bearer returns the principal of a request's token, or responds with an error. The token
// is looked up by its hash, so that the comparison leaks no timing information. Only
// holders of the whole token learn that it has expired or was revoked.
func (s *Server) bearer(c *gin.Context, load *load) (who workspace.Principal, ok bool) {
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		if !load.anonymous(c) {
			return workspace.Principal{}, false
		}
		c.Header("WWW-Authenticate", `Bearer realm="dateline"`)
		writeProblem(c, http.StatusUnauthorized, "token_required", "Send an API token: Authorization: Bearer <token>.",
			nil)
		return workspace.Principal{}, false
	}
	who, refused, err := s.byToken(c.Request.Context(), token)
	if err != nil {
		refuse(c, s.Log, err)
		return workspace.Principal{}, false
	}
	if refused == nil {
		return who, true
	}
	if !load.anonymous(c) {
		return workspace.Principal{}, false
	}
	c.Header("WWW-Authenticate", `Bearer realm="dateline", error="invalid_token"`)
	writeProblem(c, refused.status, refused.code, refused.detail, nil)
	return workspace.Principal{}, false
}

// byToken returns the principal of a token, or why the token is not valid.
func (s *Server) byToken(ctx context.Context, token string) (workspace.Principal, *refusal, error) {
	who, status, err := s.MemberHandler.Store.Bearer(ctx, workspace.HashToken(token))
	if err != nil {
		return workspace.Principal{}, nil, err
	}
	code, detail := "token_invalid", "This API token is unknown."
	switch status {
	case workspace.TokenActive:
		return who, nil, nil
	case workspace.TokenExpired:
		code, detail = "token_expired", "This API token has expired. Make a new one."
	case workspace.TokenRevoked:
		code, detail = "token_revoked", "This API token is revoked. Use another one."
	case workspace.TokenUnknown:
	}
	return workspace.Principal{}, &refusal{http.StatusUnauthorized, code, detail}, nil
}

// tokenAgain repeats byToken for an accepted request.
func (s *Server) tokenAgain(r *http.Request) (workspace.Principal, *refusal, error) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return s.byToken(r.Context(), token)
}
