package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/search"
)

// writeProblem responds with a problem document (RFC 9457) and ends the request.
func writeProblem(c *gin.Context, status int, code, detail string, problems []apperr.FieldError) {
	writeError(c, status, &apperr.Error{Code: code, Message: detail, Fields: problems})
}

func writeError(c *gin.Context, status int, e *apperr.Error) {
	if land(c, status, e.Code, e.Message, e.Fields) {
		return
	}
	p := spec.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail: &e.Message, Params: messageParams(e.Params),
	}
	if len(e.Fields) > 0 {
		list := problemsJSON(e.Fields)
		p.Errors = &list
	}
	body, err := json.Marshal(p)
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.Abort()
	c.Data(status, "application/problem+json", body)
}

// refuse converts a handler's error to a response.
func refuse(c *gin.Context, log *slog.Logger, err error) {
	var e *apperr.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		writeError(c, statusOf(e.Kind), e)
	case errors.As(err, &tooLarge):
		writeTooLarge(c, tooLarge.Limit)
	case errors.Is(err, http.ErrAbortHandler):
		cut(c)
	case errors.Is(err, search.ErrBusy):
		c.Header("Retry-After", "2")
		writeProblem(c, http.StatusServiceUnavailable, "search_busy",
			"Too many searches at once. Try again in a moment.", nil)
	case errors.Is(err, context.Canceled):
		c.AbortWithStatus(499) // nginx's code for a client that disconnected; only logged
	default:
		_ = c.Error(err)
		log.ErrorContext(c.Request.Context(), "request failed", "route", c.FullPath(), "error", err)
		c.Header("Retry-After", "5")
		writeProblem(c, http.StatusServiceUnavailable, "unavailable",
			"This cannot be done right now. Check whether the change was made, then try again.", nil)
	}
}

// cut aborts the connection of a response that cannot be completed, so that the client
// notices that it is incomplete.
func cut(c *gin.Context) {
	c.Abort()
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Unix(1, 0)) // prevents writing the final chunk
}

func statusOf(kind apperr.Kind) int {
	switch kind {
	case apperr.KindNotFound:
		return http.StatusNotFound
	case apperr.KindNotComputable:
		return http.StatusBadRequest
	case apperr.KindConflict:
		return http.StatusConflict
	case apperr.KindPreconditionFailed:
		return http.StatusPreconditionFailed
	case apperr.KindPreconditionRequired:
		return http.StatusPreconditionRequired // RFC 6585, 3
	case apperr.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case apperr.KindInsufficientStorage:
		return http.StatusInsufficientStorage // RFC 4918, 11.5
	default:
		return http.StatusUnprocessableEntity
	}
}

// principal returns the principal of a request, which authenticate has stored.
func principal(ctx context.Context) workspace.Principal {
	who, _ := ctx.Value(principalKey).(workspace.Principal)
	return who
}
