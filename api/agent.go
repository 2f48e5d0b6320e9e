package api

import (
	"strings"

	"github.com/gin-gonic/gin"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
)

// Headers that the tools of agents send; api/mcp has the same names. They only restrict
// what the token of a request allows, so that any client may send them.
const (
	maxRoleHeader   = "Dateline-Max-Role"
	agentToolHeader = "Dateline-Agent-Tool"
	maxToolName     = 64
)

// restrictAgent limits the role of a principal to the one that the request names, and
// returns the tool that the request comes from; empty: none.
func restrictAgent(c *gin.Context, who *workspace.Principal) (tool string) {
	if limit := c.GetHeader(maxRoleHeader); limit != "" {
		role := workspace.Role(limit)
		if role != workspace.Owner && role != workspace.Editor && role != workspace.Author {
			role = workspace.Viewer
		}
		if who.Role.AtLeast(role) {
			who.Role = role
		}
	}
	tool = strings.ToValidUTF8(c.GetHeader(agentToolHeader), "")
	return tool[:min(len(tool), maxToolName)]
}

// auditAgent records that a tool of an agent is about to change something. Without the
// entry the request is refused.
func (s *Server) auditAgent(c *gin.Context, who workspace.Principal, tool, operation string) {
	err := s.Audit(c.Request.Context(), who.WorkspaceID, audit.AgentActed, map[string]any{
		"tool": tool, "operation": operation,
	})
	if err != nil {
		refuse(c, s.Log, err)
		c.Abort()
		return
	}
}
