package api

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
)

// offRouter registers the routes of disabled areas differently.
type offRouter struct {
	gin.IRouter
	off map[string]gin.HandlerFunc // by path; nil: there is no such route
}

// enabledRoutes returns the router for the operations. The tag of an operation says to which
// area it belongs. If counting is disabled, its routes do not exist; if the crawler is
// disabled, its routes say so.
func (s *Server) enabledRoutes(r gin.IRouter, doc *openapi3.T) gin.IRouter {
	disabled := map[string]gin.HandlerFunc{}
	if s.Audience == nil {
		disabled["views"] = nil
	}
	if s.News == nil {
		for _, tag := range []string{"crawl", "articles", "search", "rules", "stories"} {
			disabled[tag] = refuseNews
		}
	}
	out := offRouter{IRouter: r, off: map[string]gin.HandlerFunc{}}
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, tag := range op.Tags {
				if instead, isOff := disabled[tag]; isOff {
					out.off[routeOf(path)] = instead
				}
			}
		}
	}
	return out
}

func refuseNews(c *gin.Context) {
	writeProblem(
		c,
		http.StatusConflict,
		"crawl_off",
		"The crawler is disabled (DATELINE_CRAWL), so there are no articles.",
		nil,
	)
}

func (o offRouter) handle(method, path string, handlers []gin.HandlerFunc) gin.IRoutes {
	instead, isOff := o.off[path]
	switch {
	case !isOff:
		o.Handle(method, path, handlers...)
	case instead != nil:
		o.Handle(method, path, instead)
	}
	return o
}

func (o offRouter) GET(path string, h ...gin.HandlerFunc) gin.IRoutes {
	return o.handle(http.MethodGet, path, h)
}

func (o offRouter) POST(path string, h ...gin.HandlerFunc) gin.IRoutes {
	return o.handle(http.MethodPost, path, h)
}

func (o offRouter) PUT(path string, h ...gin.HandlerFunc) gin.IRoutes {
	return o.handle(http.MethodPut, path, h)
}

func (o offRouter) PATCH(path string, h ...gin.HandlerFunc) gin.IRoutes {
	return o.handle(http.MethodPatch, path, h)
}

func (o offRouter) DELETE(path string, h ...gin.HandlerFunc) gin.IRoutes {
	return o.handle(http.MethodDelete, path, h)
}
