package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
)

// described returns the path of openapi.yaml that matches a URL: the one with the earliest
// fixed segments (OpenAPI 3.1, "Path Templating Matching"). The router matches the method
// first and treats GET /posts/preview as a post called preview, although that path only
// supports POST.
func (v *validator) described(address string) (path string, item *openapi3.PathItem) {
	if item := v.doc.Paths.Value(address); item != nil {
		return address, item
	}
	for _, path := range v.paths {
		if matches(path, address) {
			return path, v.doc.Paths.Value(path)
		}
	}
	return "", nil
}

func matches(path, address string) bool {
	for {
		want, restOfPath, more := strings.Cut(path, "/")
		got, restOfAddress, moreToCome := strings.Cut(address, "/")
		if more != moreToCome || want != got && (got == "" || !strings.HasPrefix(want, "{")) {
			return false
		}
		if !more {
			return true
		}
		path, address = restOfPath, restOfAddress
	}
}

// refuseMethod responds to unsupported methods with the supported ones (RFC 9110, section
// 15.5.6).
func (v *validator) refuseMethod(c *gin.Context) {
	if _, item := v.described(c.Request.URL.Path); item != nil {
		c.Header("Allow", strings.Join(slices.Sorted(maps.Keys(item.Operations())), ", "))
	}
	writeProblem(c, http.StatusMethodNotAllowed, "method_not_allowed", "This address does not know the method "+
		c.Request.Method+".", nil)
}

// fixedFirst rejects a request whose last segment the router treats as a parameter
// although a path with that fixed segment exists.
func (v *validator) fixedFirst(c *gin.Context) {
	route := c.FullPath()
	if !strings.HasPrefix(route[strings.LastIndexByte(route, '/')+1:], ":") {
		return
	}
	path, item := v.described(c.Request.URL.Path)
	if item != nil && routeOf(path) != route && item.GetOperation(c.Request.Method) == nil {
		v.refuseMethod(c)
	}
}
