package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
	"dateline/internal/audience/shortlink"
	"dateline/internal/infra/optional"
)

// ShortLinkHandler serves short links.
type ShortLinkHandler struct {
	Links    *shortlink.Service
	Redirect *shortlink.Redirector
}

const linkRoute = shortlink.Path + ":code"

// redirectLink redirects a reader of a short link. Previews use HEAD.
func (s *ShortLinkHandler) redirectLink(c *gin.Context) {
	s.Redirect.Serve(c.Writer, c.Request, c.Param("code"), func(status int, code, message string) {
		writeProblem(c, status, code, message, nil)
	})
}

// ListLinks lists short links.
func (s *ShortLinkHandler) ListLinks(
	ctx context.Context, r spec.ListLinksRequestObject,
) (spec.ListLinksResponseObject, error) {
	f := shortlink.Filter{
		WorkspaceID: principal(ctx).WorkspaceID, PostID: r.Params.Post,
		BeforeCode: optional.Value(r.Params.Cursor), Limit: defaultPage,
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	list, err := s.Links.List(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListLinks200JSONResponse{Links: []spec.Link{}}
	if len(list) > limit {
		list = list[:limit]
		page.NextCursor = &list[limit-1].Code
	}
	for _, l := range list {
		page.Links = append(page.Links, s.linkJSON(l))
	}
	return page, nil
}

// CreateLink creates a short link.
func (s *ShortLinkHandler) CreateLink(
	ctx context.Context, r spec.CreateLinkRequestObject,
) (spec.CreateLinkResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "link", r.Body)
	if err != nil {
		return nil, err
	}
	l, replayed, err := s.Links.Create(ctx, principal(ctx), shortlink.Draft{
		URL: r.Body.Url, Title: optional.Value(r.Body.Title),
		PostID: r.Body.PostId,
	}, key)
	location := "/api/v1/links/" + l.Code
	return spec.CreateLink201JSONResponse{
		Body:    s.linkJSON(l),
		Headers: spec.CreateLink201ResponseHeaders{Location: &location, IdempotentReplayed: ifReplayed(replayed)},
	}, err
}

// GetLink returns a short link.
func (s *ShortLinkHandler) GetLink(
	ctx context.Context, r spec.GetLinkRequestObject,
) (spec.GetLinkResponseObject, error) {
	l, err := s.Links.Get(ctx, principal(ctx), r.Code)
	return spec.GetLink200JSONResponse(s.linkJSON(l)), err
}

// DisableLink disables a short link.
func (s *ShortLinkHandler) DisableLink(
	ctx context.Context, r spec.DisableLinkRequestObject,
) (spec.DisableLinkResponseObject, error) {
	l, err := s.Links.SetDisabled(ctx, principal(ctx), r.Code, true)
	return spec.DisableLink200JSONResponse(s.linkJSON(l)), err
}

// EnableLink enables a disabled short link.
func (s *ShortLinkHandler) EnableLink(
	ctx context.Context, r spec.EnableLinkRequestObject,
) (spec.EnableLinkResponseObject, error) {
	l, err := s.Links.SetDisabled(ctx, principal(ctx), r.Code, false)
	return spec.EnableLink200JSONResponse(s.linkJSON(l)), err
}

func (s *ShortLinkHandler) linkJSON(l shortlink.Link) spec.Link {
	return spec.Link{
		Code: l.Code, ShortUrl: s.Links.ShortURL(l), Url: l.URL, Title: l.Title, PostId: l.PostID,
		AccountId: l.AccountID,
		Network:   optional.Of(l.Network), CreatedAt: l.CreatedAt, Disabled: l.DisabledAt != nil, Clicks: l.Clicks,
	}
}
