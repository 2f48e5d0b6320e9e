package api

import (
	"context"
	"encoding/base64"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/linkcard"
)

// LinkPreviewHandler finds what a text of a post refers to.
type LinkPreviewHandler struct {
	LinkCard LinkCardFetcher
	Mentions MentionFinder
	Avatars  Avatars
}

// LinkCardFetcher fetches what networks show of a linked page.
type LinkCardFetcher interface {
	Get(ctx context.Context, address string) (linkcard.Card, error)
	Image(ctx context.Context, address string, maxWidth int) ([]byte, error)
}

// GetLinkCard returns the card of a page.
func (s *LinkPreviewHandler) GetLinkCard(
	ctx context.Context, r spec.GetLinkCardRequestObject,
) (spec.GetLinkCardResponseObject, error) {
	c, err := s.LinkCard.Get(ctx, r.Params.Url)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "invalid", Message: "The address must be a public http or https URL.",
		})
	}
	out := spec.GetLinkCard200JSONResponse{
		Url: c.URL, Site: c.Site, Title: optional.Of(c.Title), Description: optional.Of(c.Description),
	}
	if len(c.Image) > 0 {
		out.Image = dataURL(c.Image)
	}
	return out, nil
}

func dataURL(jpeg []byte) *string {
	text := "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg)
	return &text
}
