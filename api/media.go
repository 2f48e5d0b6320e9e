package api

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/media"
)

// MediaHandler serves media.
type MediaHandler struct {
	Media     *media.Service
	Scheduler PostPreviewer
	PostChanges
}

const maxFormField = 64 << 10 // bytes of a text field

// UploadMedia uploads a file. The parts of the form come in any order; the file is not
// kept in memory.
func (s *MediaHandler) UploadMedia(
	ctx context.Context, r spec.UploadMediaRequestObject,
) (spec.UploadMediaResponseObject, error) {
	in := media.NewFile{IdempotencyKey: optional.Value(r.Params.IdempotencyKey)}
	if err := checkKey(ctx, in.IdempotencyKey); err != nil {
		return nil, err
	}
	file, err := readFields(r.Body, &in)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "file", Code: "required", Message: "Send the file in a part named file.",
		})
	}
	in.FileName, in.Body = file.FileName(), file
	in.ReadRest = func(in *media.NewFile) error {
		second, err := readFields(r.Body, in)
		if second != nil {
			return apperr.InvalidFields(apperr.FieldError{
				Field: "file", Code: "too_many", Message: "Send one file per request.",
			})
		}
		return err
	}
	item, replayed, err := s.Media.Save(ctx, principal(ctx), in)
	if err != nil {
		return nil, err
	}
	return spec.UploadMedia201JSONResponse{MediaCreatedJSONResponse: created(item, replayed)}, nil
}

// readFields reads the text fields of an upload up to the file, or to the end: then file
// is nil.
func readFields(form *multipart.Reader, in *media.NewFile) (file *multipart.Part, err error) {
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // wrapped, it says that the form ended early
			return nil, nil
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
			in.AltText = string(raw)
		case "file":
			return part, nil
		default:
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: part.FormName(), Code: "unknown_field", Message: "The form has the fields alt_text and file.",
			})
		}
	}
}

// checkKey rejects a key that the database cannot store.
func checkKey(ctx context.Context, key string) error {
	_, err := namedRequest(ctx, key, "media", nil)
	return err
}

func created(item media.Item, replayed bool) spec.MediaCreatedJSONResponse {
	location := "/api/v1/media/" + item.ID.String()
	answer := spec.MediaCreatedJSONResponse{Body: mediaJSON(item)}
	answer.Headers.Location = &location
	if replayed {
		yes := "true"
		answer.Headers.IdempotentReplayed = &yes
	}
	return answer
}

func brokenUpload(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return apperr.InvalidFields(apperr.FieldError{
		Field: "body", Code: "invalid", Message: "The form is invalid or incomplete.",
	})
}

// FetchMedia adds a file from a URL.
func (s *MediaHandler) FetchMedia(
	ctx context.Context, r spec.FetchMediaRequestObject,
) (spec.FetchMediaResponseObject, error) {
	key := optional.Value(r.Params.IdempotencyKey)
	if err := checkKey(ctx, key); err != nil {
		return nil, err
	}
	item, replayed, err := s.Media.Fetch(ctx, principal(ctx), r.Body.Url, optional.Value(r.Body.AltText), key)
	if err != nil {
		return nil, err
	}
	return spec.FetchMedia201JSONResponse{MediaCreatedJSONResponse: created(item, replayed)}, nil
}

// ListMedia lists files, newest first.
func (s *MediaHandler) ListMedia(
	ctx context.Context, r spec.ListMediaRequestObject,
) (spec.ListMediaResponseObject, error) {
	f := media.Filter{WorkspaceID: principal(ctx).WorkspaceID, Search: optional.Value(r.Params.Q), Limit: defaultPage}
	if r.Params.Kind != nil {
		f.Kind = media.Kind(*r.Params.Kind)
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	if text := optional.Value(r.Params.Cursor); text != "" {
		var err error
		if f.BeforeTime, f.BeforeID, err = readCursor(text); err != nil {
			return nil, err
		}
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	items, err := s.Media.List(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListMedia200JSONResponse{Media: []spec.Media{}}
	if len(items) > limit {
		items = items[:limit]
		next := cursor(items[limit-1].CreatedAt, items[limit-1].ID)
		page.NextCursor = &next
	}
	for _, item := range items {
		page.Media = append(page.Media, mediaJSON(item))
	}
	return page, nil
}

// GetMedia returns a file's item.
func (s *MediaHandler) GetMedia(
	ctx context.Context, r spec.GetMediaRequestObject,
) (spec.GetMediaResponseObject, error) {
	item, err := s.Media.Get(ctx, principal(ctx), r.Id)
	return spec.GetMedia200JSONResponse(mediaJSON(item)), err
}

// EditMedia changes a file's name or alt text.
func (s *MediaHandler) EditMedia(
	ctx context.Context, r spec.EditMediaRequestObject,
) (spec.EditMediaResponseObject, error) {
	item, posts, err := s.Media.Edit(ctx, principal(ctx), r.Id, media.Edit{
		FileName: r.Body.FileName, AltText: r.Body.AltText,
	})
	if len(posts) > 0 {
		s.nudgeAll(ctx, posts)
	}
	return spec.EditMedia200JSONResponse(mediaJSON(item)), err
}

// DeleteMedia removes a file from the library.
func (s *MediaHandler) DeleteMedia(
	ctx context.Context, r spec.DeleteMediaRequestObject,
) (spec.DeleteMediaResponseObject, error) {
	return spec.DeleteMedia204Response{}, s.Media.Delete(ctx, principal(ctx), r.Id)
}

func mediaJSON(m media.Item) spec.Media {
	out := spec.Media{
		Id: m.ID, Kind: spec.MediaKind(m.Kind), MimeType: m.MIMEType, Bytes: m.Bytes,
		Sha256:  hex.EncodeToString(m.SHA256),
		AltText: m.AltText, FileName: m.FileName, CreatedAt: m.CreatedAt,
		VideoCodec: optional.Of(m.VideoCodec), AudioCodec: optional.Of(m.AudioCodec),
	}
	out.LocationRemoved, out.MetadataRemoved = m.LocationRemoved(), make([]spec.MediaMetadata, len(m.MetadataRemoved))
	for i, c := range m.MetadataRemoved {
		out.MetadataRemoved[i] = spec.MediaMetadata(c)
	}
	if m.Width > 0 {
		out.Width, out.Height = &m.Width, &m.Height
	}
	if m.Frames > 1 {
		out.Frames = &m.Frames
	}
	if m.Pages > 0 {
		out.Pages = &m.Pages
	}
	if m.Duration > 0 {
		seconds := m.Duration.Seconds()
		out.DurationSeconds = &seconds
	}
	if m.FrameRate > 0 {
		out.FrameRate = &m.FrameRate
	}
	if m.BitRate > 0 {
		out.BitRate = &m.BitRate
	}
	if m.Rotation != 0 {
		out.Rotation = &m.Rotation
	}
	return out
}
