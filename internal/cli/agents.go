package cli

import (
	"net/http"

	"dateline/api/mcp"
)

// agents adds the tools for agents at /mcp to the API, unless they are off.
func (p *parts) agents(api http.Handler) http.Handler {
	if p.cfg.MCPRole == "off" {
		return api
	}
	return mcp.Handler(api, p.of.version, p.cfg.MCPRole)
}
