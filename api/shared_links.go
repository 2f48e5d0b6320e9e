package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
	"dateline/internal/audience/sharedlink"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/optional"
)

// SharedLinkHandler serves links to reports.
type SharedLinkHandler struct {
	SharedLinks *sharedlink.Service
	SharedPages *sharedlink.Pages
}

// sharedReportRoute is a page for browsers and not part of openapi.yaml.
const sharedReportRoute = sharedlink.Path + ":token"

// sharedReport serves a shared report to readers without a login.
func (s *SharedLinkHandler) sharedReport(c *gin.Context) {
	s.SharedPages.Serve(c.Writer, c.Request, c.Param("token"), clientIP(c))
}

// sharedRoutes adds the pages for readers of reports if counting is enabled.
func (s *Server) sharedRoutes(r *gin.Engine) {
	if s.Audience == nil {
		return
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		r.Handle(method, sharedReportRoute, s.sharedReport)
		r.Handle(method, unsubscribeRoute, s.unsubscribe)
	}
}

// ListSharedLinks lists the shared links of a site.
func (s *SharedLinkHandler) ListSharedLinks(
	ctx context.Context, r spec.ListSharedLinksRequestObject,
) (spec.ListSharedLinksResponseObject, error) {
	links, err := s.SharedLinks.List(ctx, principal(ctx), r.Id)
	out := spec.ListSharedLinks200JSONResponse{SharedLinks: []spec.SharedLink{}}
	for _, l := range links {
		out.SharedLinks = append(out.SharedLinks, sharedLinkJSON(l))
	}
	return out, err
}

// CreateSharedLink shares a report.
func (s *SharedLinkHandler) CreateSharedLink(
	ctx context.Context, r spec.CreateSharedLinkRequestObject,
) (spec.CreateSharedLinkResponseObject, error) {
	b := r.Body
	d := sharedlink.Draft{
		Name: b.Name, Password: secret.NewText(optional.Value(b.Password)),
		EmbedOrigins: optional.Value(b.EmbedOrigins), ExpiresAt: b.ExpiresAt,
	}
	var err error
	if d.Filters, err = reportFilters(optional.Value(b.Filters)); err != nil {
		return nil, err
	}
	l, address, err := s.SharedLinks.Create(ctx, principal(ctx), r.Id, d)
	if err != nil {
		return nil, err
	}
	out := spec.CreateSharedLink201JSONResponse(sharedLinkJSON(l))
	text := address.Reveal()
	out.Url = &text
	return out, nil
}

// DeleteSharedLink revokes a shared link.
func (s *SharedLinkHandler) DeleteSharedLink(
	ctx context.Context, r spec.DeleteSharedLinkRequestObject,
) (spec.DeleteSharedLinkResponseObject, error) {
	return spec.DeleteSharedLink204Response{}, s.SharedLinks.Revoke(ctx, principal(ctx), r.Id, r.Link)
}

func sharedLinkJSON(l sharedlink.Link) spec.SharedLink {
	return spec.SharedLink{
		Id: l.ID, Filters: l.Filters.Texts(), Name: l.Name, HasPassword: l.PasswordHash != nil,
		EmbedOrigins: notNil(l.EmbedOrigins), ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt,
	}
}
