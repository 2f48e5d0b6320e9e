package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// docsRoutes serves the documentation, which is public.
func (s *Server) docsRoutes(r *gin.Engine) {
	if s.Docs == nil {
		return
	}
	serve := func(c *gin.Context) { s.Docs.ServeHTTP(c.Writer, c.Request) }
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		// Links of the pages are absolute, so /docs needs no redirect.
		r.Handle(method, "/docs", serve)
		r.Handle(method, "/docs/*page", serve)
	}
}
