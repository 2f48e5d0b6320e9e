package api

import (
	"context"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/media"
)

const mediaContentRoute = "/api/v1/media/:id/content"

// mediaContent streams a file, or a range of it, from the bucket, so that pages need no
// URL of the bucket. The content type is one of the detected types, and secureHeaders
// disables sniffing in browsers.
func (s *MediaHandler) mediaContent(c *gin.Context) {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		refuseParameter(c, errors.New("parameter id: must be a UUID"), http.StatusBadRequest)
		return
	}
	item, err := s.Media.Get(c, principal(c), id)
	if err != nil {
		refuse(c, s.Log, err)
		return
	}
	body, err := s.Media.Open(c, item)
	if err != nil {
		refuse(c, s.Log, err)
		return
	}
	defer func() { _ = body.Close() }()
	h := c.Writer.Header()
	h.Set("Content-Type", item.MIMEType)
	h.Set("ETag", `"`+hex.EncodeToString(item.SHA256)+`"`)
	if item.FileName != "" {
		look := "inline"
		if item.Kind == media.Document {
			look = "attachment" // a document can contain scripts and forms
		}
		h.Set("Content-Disposition", mime.FormatMediaType(look, map[string]string{"filename": item.FileName}))
	}
	http.ServeContent(&problemWriter{c.Writer, c}, c.Request, "", item.CreatedAt, body)
}

// problemWriter converts errors of http.ServeContent to problem documents.
type problemWriter struct {
	http.ResponseWriter
	c *gin.Context
}

func (w *problemWriter) WriteHeader(status int) {
	if status < 400 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	h := w.Header()
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Disposition", "ETag", "Last-Modified"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store") // net/http removes it from errors
	if status == http.StatusPreconditionFailed {
		writeProblem(w.c, status, "precondition_failed", "The file is not the one that the request asks for.", nil)
		return
	}
	writeProblem(w.c, status, "range_not_satisfiable", "The file has no such range.",
		[]apperr.FieldError{
			{Field: "Range", Code: "invalid", Message: "Request bytes within the file; Content-Range has its size."},
		})
}

func (w *problemWriter) Write(p []byte) (int, error) {
	if w.c.IsAborted() {
		return len(p), nil // drop the plain text of the error
	}
	return w.ResponseWriter.Write(p)
}

// GetMediaFitness reports for each account whether it accepts a file.
func (s *MediaHandler) GetMediaFitness(
	ctx context.Context, r spec.GetMediaFitnessRequestObject,
) (spec.GetMediaFitnessResponseObject, error) {
	found, err := s.Scheduler.MediaFit(ctx, principal(ctx), r.Id, optional.Value(r.Params.Account))
	if err != nil {
		return nil, err
	}
	out := spec.GetMediaFitness200JSONResponse{Accounts: []spec.AccountFitness{}}
	for _, f := range found {
		one := spec.AccountFitness{
			AccountId: f.Account.ID, Network: f.Account.Network, Handle: f.Account.Handle,
			Fits:    spec.FitnessVerdict(f.Verdict),
			Changes: notesJSON(f.Changes), Reasons: []spec.FitnessReason{},
		}
		for _, r := range f.Reasons {
			one.Reasons = append(one.Reasons, spec.FitnessReason{
				Code: r.Code, Message: r.Message, Params: messageParams(r.Params),
			})
		}
		out.Accounts = append(out.Accounts, one)
	}
	return out, nil
}
