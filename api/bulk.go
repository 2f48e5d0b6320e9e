package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

const (
	bulkRoute   = "/api/v1/posts/bulk"
	bulkMaxBody = 32 << 20
	bulkMaxRows = 10_000
)

// createPosts schedules many posts. It is not part of the generated server, because the
// body is NDJSON or CSV.
func (s *PostHandler) createPosts(c *gin.Context, reader *rowReader) {
	raw, err := io.ReadAll(c.Request.Body)
	if err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); !errors.As(err, &tooLarge) {
			err = apperr.InvalidFields(apperr.FieldError{
				Field: "body", Code: "incomplete", Message: "The body is incomplete.",
			})
		}
		refuse(c, s.Log, err)
		return
	}
	options := scheduling.BulkOptions{SkipInvalid: c.Query("mode") == "valid", DryRun: c.Query("dry_run") == "true"}
	var key idempotency.Key
	if header := c.GetHeader("Idempotency-Key"); header != "" {
		if key, err = namedRequest(c, header, fmt.Sprintf("bulk %s %v", c.ContentType(), options.SkipInvalid),
			raw); err != nil {
			refuse(c, s.Log, err)
			return
		}
	}
	rows, err := reader.read(c.ContentType(), raw)
	if err != nil {
		refuse(c, s.Log, err)
		return
	}
	done, err := s.Scheduler.ScheduleRows(c, principal(c), rows, options, key)
	if err != nil {
		refuse(c, s.Log, err)
		return
	}
	s.startAll(c.Request.Context(), done.Posts)
	answerBulk(c, done, options)
}

// startAll starts the workflows of new posts after the response was sent, see nudgeAll.
func (s *PostHandler) startAll(ctx context.Context, posts []post.Post) {
	posts = slices.DeleteFunc(slices.Clone(posts), func(p post.Post) bool { return p.Status != post.Scheduled })
	inBackground(ctx, posts, func(ctx context.Context, p post.Post) error {
		err := s.Workflows.Start(ctx, p)
		s.logSignalError(p, err)
		return err
	})
}

func answerBulk(c *gin.Context, done scheduling.BulkResult, o scheduling.BulkOptions) {
	all := spec.BulkResult{
		Total: len(done.Rows), Valid: done.Valid, Invalid: len(done.Rows) - done.Valid,
		Rows: make([]spec.BulkRow, len(done.Rows)),
	}
	var wrong []spec.BulkRow
	var price post.Price
	for i, r := range done.Rows {
		row := spec.BulkRow{Row: r.Row}
		if r.PostID != uuid.Nil {
			row.Id = &r.PostID
			all.Created++
		}
		if r.Approval != "" {
			state := spec.ApprovalState(r.Approval)
			row.Approval = &state
		}
		row.Price = priceJSON(r.Price)
		price.Add(r.Price)
		if len(r.Warnings) > 0 {
			warnings := warningsJSON(r.Warnings, "")
			row.Warnings = &warnings
		}
		if len(r.Problems) > 0 {
			problems := problemsJSON(r.Problems)
			row.Errors = &problems
			wrong = append(wrong, row)
		}
		all.Rows[i] = row
	}
	all.Price = priceJSON(price)
	switch {
	case done.Stored:
		if done.Replayed {
			c.Header("Idempotent-Replayed", "true")
		}
		c.JSON(http.StatusCreated, all)
	case o.DryRun || o.SkipInvalid:
		c.JSON(http.StatusOK, all)
	default:
		detail := fmt.Sprintf("%d of %d rows are wrong, so nothing is stored. Correct them, or send mode=valid to "+
			"store the others.", all.Invalid, all.Total)
		c.Header("Content-Type", "application/problem+json")
		c.JSON(http.StatusUnprocessableEntity,
			spec.BulkProblem{
				Type: "about:blank", Title: http.StatusText(http.StatusUnprocessableEntity),
				Status: http.StatusUnprocessableEntity, Code: "rows_invalid", Detail: &detail, Total: all.Total,
				Valid: all.Valid, Invalid: all.Invalid, Rows: wrong,
			})
	}
}
