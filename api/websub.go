package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/internal/infra/throttle"
	"dateline/internal/news/crawl/websub"
)

// HubHandler serves the hubs of feeds.
type HubHandler struct {
	Hubs HubCallback // nil: WebSub is off
}

// hubRoute is the callback of WebSub hubs. It is not part of openapi.yaml: the W3C
// recommendation defines it, and only hubs know the addresses.
const hubRoute = websub.CallbackPath + ":token"

// HubCallback handles the requests of WebSub hubs: websub.Callback.
type HubCallback interface {
	Verify(ctx context.Context, token string, query url.Values) (status int, text string, err error)
	Deliver(ctx context.Context, token string, header http.Header, body io.Reader) (status int, err error)
}

const (
	hubRequestsPerSecond = 100 // of one address: one hub serves many feeds
	hubReadTimeout       = 30 * time.Second
)

// hubRoutes adds the callback of hubs, if WebSub is on.
func (s *HubHandler) hubRoutes(r *gin.Engine) {
	if s.Hubs == nil {
		return
	}
	requests := throttle.PerSecond(hubRequestsPerSecond)
	limited := func(serve gin.HandlerFunc) gin.HandlerFunc {
		return func(c *gin.Context) {
			if _, ok := requests.Allow(throttle.ClientKey(clientIP(c)), time.Now()); !ok {
				c.Header("Retry-After", "1")
				c.Status(http.StatusTooManyRequests)
				return
			}
			serve(c)
		}
	}
	r.GET(hubRoute, limited(s.verifyHub))
	r.POST(hubRoute, limited(s.receiveDelivery))
}

func (s *HubHandler) verifyHub(c *gin.Context) {
	status, text, err := s.Hubs.Verify(c.Request.Context(), c.Param("token"), c.Request.URL.Query())
	if err != nil {
		_ = c.Error(err)
		c.Status(http.StatusServiceUnavailable)
		return
	}
	c.Data(status, "text/plain; charset=utf-8", []byte(text))
}

func (s *HubHandler) receiveDelivery(c *gin.Context) {
	// A hub that sends slowly must not occupy a connection for long.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(hubReadTimeout))
	status, err := s.Hubs.Deliver(c.Request.Context(), c.Param("token"), c.Request.Header, c.Request.Body)
	if err != nil { // the hub repeats it
		_ = c.Error(err)
		status = http.StatusServiceUnavailable
	}
	c.Status(status)
}
