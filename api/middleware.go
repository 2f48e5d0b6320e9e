package api

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/internal/people"
)

const principalKey = "principal"

// observe logs every request that changes something or fails, without query,
// body or address.
func (s *Server) observe() gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		id := uuid.Must(uuid.NewV7()).String()
		c.Header("X-Request-ID", id)
		c.Next()
		level := slog.LevelDebug
		switch status := c.Writer.Status(); {
		case c.FullPath() == "/readyz": // says itself what is wrong
		case status >= 500:
			level = slog.LevelError
		case c.Request.Method != http.MethodGet:
			level = slog.LevelInfo
		}
		s.Log.Log(c.Request.Context(), level, "request", "method", c.Request.Method, "route", c.FullPath(),
			"status", c.Writer.Status(), "took", time.Since(start), "request_id", id, "errors", c.Errors.String())
	}
}

func (s *Server) recoverPanics() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			if v := recover(); v != nil {
				s.Log.Error("panic in a request", "route", c.FullPath(), "panic", v, "stack", string(debug.Stack()))
				writeProblem(c, http.StatusInternalServerError, "internal", "Something went wrong on our side. The log has the details under the X-Request-ID.", nil)
			}
		}()
		c.Next()
	}
}

func secureHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		if strings.HasPrefix(c.Request.URL.Path, "/api/") {
			h.Set("Cache-Control", "no-store")
		}
	}
}

// authenticate finds out whose token a request carries. The token is looked up
// by its hash, so that comparing it leaks nothing through time.
func (s *Server) authenticate(v *validator) gin.HandlerFunc {
	return func(c *gin.Context) {
		if v.public(c) {
			return
		}
		scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			c.Header("WWW-Authenticate", `Bearer realm="dateline"`)
			writeProblem(c, http.StatusUnauthorized, "token_required", "Send an API token: Authorization: Bearer <token>.", nil)
			return
		}
		who, found, err := s.Store.Bearer(c.Request.Context(), people.HashToken(token))
		if err != nil {
			s.refuse(c, err)
			return
		}
		if !found {
			c.Header("WWW-Authenticate", `Bearer realm="dateline", error="invalid_token"`)
			writeProblem(c, http.StatusUnauthorized, "token_invalid", "This API token is unknown, expired or revoked.", nil)
			return
		}
		if c.Request.Method != http.MethodGet && !mayUse(who.Role, c.FullPath()) {
			writeProblem(c, http.StatusForbidden, "role_insufficient", "Your role in this workspace ("+string(who.Role)+") does not allow this.", nil)
			return
		}
		c.Set(principalKey, who)
	}
}

// mayUse says whether a role may send requests that change something.
func mayUse(role people.Role, route string) bool {
	if strings.HasPrefix(route, "/api/v1/accounts") || strings.HasPrefix(route, "/api/v1/webhooks") {
		return role.MayConnect()
	}
	return role.MayWrite()
}
