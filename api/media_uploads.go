package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/media"
)

// StartMediaUpload starts a direct upload to the bucket.
func (s *MediaHandler) StartMediaUpload(
	ctx context.Context, r spec.StartMediaUploadRequestObject,
) (spec.StartMediaUploadResponseObject, error) {
	key := optional.Value(r.Params.IdempotencyKey)
	if err := checkKey(ctx, key); err != nil {
		return nil, err
	}
	t, err := s.Media.StartUpload(ctx, principal(ctx),
		media.UploadRequest{
			FileName: r.Body.FileName, AltText: optional.Value(r.Body.AltText),
			Bytes: r.Body.Bytes, MIMEType: optional.Value(r.Body.MimeType), SHA256: optional.Value(r.Body.Sha256),
			IdempotencyKey: key,
		})
	answer := spec.StartMediaUpload201JSONResponse{Body: ticketJSON(t)}
	if t.Replayed {
		yes := "true"
		answer.Headers.IdempotentReplayed = &yes
	}
	return answer, err
}

// GetMediaUpload returns what the client still has to send.
func (s *MediaHandler) GetMediaUpload(
	ctx context.Context, r spec.GetMediaUploadRequestObject,
) (spec.GetMediaUploadResponseObject, error) {
	t, err := s.Media.ReadUpload(ctx, principal(ctx), r.Id)
	return spec.GetMediaUpload200JSONResponse(ticketJSON(t)), err
}

// CompleteMediaUpload verifies the uploaded object and adds it to the library.
func (s *MediaHandler) CompleteMediaUpload(
	ctx context.Context, r spec.CompleteMediaUploadRequestObject,
) (spec.CompleteMediaUploadResponseObject, error) {
	item, err := s.Media.CompleteUpload(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	return spec.CompleteMediaUpload201JSONResponse{MediaCreatedJSONResponse: created(item, false)}, nil
}

func ticketJSON(t media.UploadTicket) spec.MediaUpload {
	out := spec.MediaUpload{Id: t.ID, Bytes: t.Bytes, MediaId: t.MediaID, ExpiresAt: t.ExpiresAt()}
	if t.Single != nil {
		out.Method, out.Url, out.Headers = &t.Single.Method, &t.Single.URL, &t.Single.Header
	}
	if t.PartBytes > 0 {
		out.PartBytes = &t.PartBytes
		parts := []spec.MediaUploadPart{}
		for _, p := range t.Parts {
			parts = append(parts, spec.MediaUploadPart{
				Number: p.Number, Bytes: p.Bytes, Method: p.Method, Url: p.URL, Headers: p.Header,
			})
		}
		out.Parts = &parts
	}
	return out
}
