package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dateline/internal/post"
	"dateline/web"
)

// callbackRoute is where networks send people back to.
const callbackRoute = "/api/v1/oauth/callback"

// landingKey is set for requests of people who come back from a network: they are
// shown a page, also of what is refused.
const landingKey = "landing"

// landings finds out who comes back from a network in a browser. Programs that
// follow a network's redirect get problem documents like everywhere.
func (s *Server) landings() gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.FullPath() == callbackRoute && strings.Contains(c.GetHeader("Accept"), "text/html") {
			c.Set(landingKey, s)
		}
	}
}

// land leads somebody who comes back from a network without an account to the page
// of accounts, which says why in their language. The address names a reason and
// holds no sentence: anybody can make up an address. Without a dashboard the
// sentence is a page of its own. It is false for all other requests.
func land(c *gin.Context, status int, code, detail string, problems []post.Problem) bool {
	s, ok := c.Value(landingKey).(*Server)
	if !ok {
		return false
	}
	c.Abort()
	reason, sentence := code, detail
	if len(problems) > 0 {
		reason, sentence = problems[0].Code, problems[0].Message
		if code != "invalid_request" {
			reason = code
		}
	}
	if s.Dashboard {
		// Relative to the callback (RFC 9110, 10.2.2), wherever all of this is published.
		c.Header("Location", "../../../app/accounts?refused="+known(reason))
		c.Status(http.StatusSeeOther)
		c.Writer.WriteHeaderNow()
		return true
	}
	page, err := web.Connection{Title: "Not connected", Message: sentence}.HTML()
	if err != nil {
		c.Status(http.StatusInternalServerError)
		return true
	}
	c.Data(status, "text/html; charset=utf-8", []byte(page))
	return true
}

// known is a reason that the dashboard has words for.
func known(reason string) string {
	switch reason {
	case "not_allowed", "unknown", "other_session", "other_identity", "nobody", "network_unreachable", "network_refused", "not_configured":
		return reason
	}
	return "failed"
}
