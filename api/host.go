package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"

	"dateline/internal/audience/shortlink"
)

// checkHost rejects requests for unknown hosts, against DNS rebinding: a page of another
// site whose name resolves to this server would have the same origin as the API, and a
// browser can reach servers that the site cannot. Such requests have the other site in
// Host. Therefore IP addresses and names of the machine itself are accepted, and so are
// public operations: health, short links and counting. Ports are ignored.
func (s *Server) checkHost() gin.HandlerFunc {
	own := map[string]bool{}
	for _, host := range s.Hosts {
		own[bareHost(host)] = true
	}
	return func(c *gin.Context) {
		if len(own) == 0 || openToAnyHost(c) {
			return
		}
		host := bareHost(c.Request.Host)
		if _, err := netip.ParseAddr(host); err == nil || own[host] || host == "localhost" ||
			strings.HasSuffix(host, ".localhost") {
			return
		}
		// RFC 9110, section 15.5.20.
		writeProblem(c, http.StatusMisdirectedRequest, "unknown_host",
			"This server does not answer for that host. Use the address in DATELINE_PUBLIC_URL, or have the operator "+
				"add the host to DATELINE_ALLOWED_HOSTS.", nil)
	}
}

func openToAnyHost(c *gin.Context) bool {
	route := c.FullPath()
	return route == "/livez" || route == "/readyz" || strings.HasPrefix(route, shortlink.Path)
}

// bareHost returns a host in lower case without port, brackets and trailing dot.
func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
