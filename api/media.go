package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"dateline/api/spec"
	"dateline/internal/media"
	"dateline/internal/post"
)

const maxFormField = 64 << 10 // bytes of a text field beside the file

// UploadMedia takes a file. The parts are read as they come: alt_text has to
// stand before the file, which is not kept in memory.
func (s *Server) UploadMedia(ctx context.Context, r spec.UploadMediaRequestObject) (spec.UploadMediaResponseObject, error) {
	altText := ""
	for {
		part, err := r.Body.NextPart()
		if err == io.EOF { //nolint:errorlint // wrapped, it says that the form ended early
			return nil, post.InvalidFields(post.Problem{Field: "file", Code: "required", Message: "Send the file in a part named file."})
		}
		if err != nil {
			return nil, brokenUpload(err)
		}
		switch part.FormName() {
		case "alt_text":
			raw, err := io.ReadAll(io.LimitReader(part, maxFormField))
			if err != nil {
				return nil, brokenUpload(err)
			}
			altText = string(raw)
		case "file":
			item, err := s.Media.Upload(ctx, principal(ctx), part.FileName(), altText, part)
			if err != nil {
				return nil, err
			}
			return spec.UploadMedia201JSONResponse(mediaJSON(item)), nil
		default:
			return nil, post.InvalidFields(post.Problem{Field: part.FormName(), Code: "unknown_field", Message: "The form has the fields alt_text and file."})
		}
	}
}

func brokenUpload(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return post.InvalidFields(post.Problem{Field: "body", Code: "invalid", Message: "The form is broken or did not arrive whole."})
}

// GetMedia reads what is known of a file.
func (s *Server) GetMedia(ctx context.Context, r spec.GetMediaRequestObject) (spec.GetMediaResponseObject, error) {
	item, err := s.Store.MediaItem(ctx, principal(ctx).WorkspaceID, r.Id)
	return spec.GetMedia200JSONResponse(mediaJSON(item)), err
}

func mediaJSON(m media.Item) spec.Media {
	out := spec.Media{Id: m.ID, MimeType: m.MIMEType, Bytes: m.Bytes, AltText: m.AltText, FileName: m.FileName, CreatedAt: m.CreatedAt}
	if m.Width > 0 {
		out.Width, out.Height = &m.Width, &m.Height
	}
	return out
}
