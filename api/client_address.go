package api

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/internal/infra/clientaddr"
)

const clientKey = "client-address"

// proxyWatch remembers when a trusted proxy last sent a browser's request without
// X-Forwarded-For. Requests of programs may come from the machine itself.
type proxyWatch struct{ missingAt atomic.Int64 }

const proxyWatchPeriod = time.Hour

func (w *proxyWatch) isMissing(now time.Time) bool {
	at := w.missingAt.Load()
	return at != 0 && now.Sub(time.Unix(at, 0)) < proxyWatchPeriod
}

// noteClient finds the address of the client once, for all limits.
func (s *Server) noteClient(proxies clientaddr.Proxies) gin.HandlerFunc {
	return func(c *gin.Context) {
		address := ""
		if a := proxies.Client(c.Request); a.IsValid() {
			address = a.String()
		}
		c.Set(clientKey, address)
		missing := proxies.IsMissing(c.Request)
		if missing && strings.HasPrefix(c.GetHeader("User-Agent"), "Mozilla/") {
			s.proxies.missingAt.Store(time.Now().Unix())
		}
		if c.Request.URL.Path == "/livez" && len(proxies) > 0 {
			said := clientaddr.ForwardedYes
			if missing {
				said = clientaddr.ForwardedMissing
			}
			c.Header(clientaddr.ForwardedHeader, said)
		}
	}
}

// clientIP returns the address of the client.
func clientIP(c *gin.Context) string { return c.GetString(clientKey) }
