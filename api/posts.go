package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// PostHandler serves posts.
type PostHandler struct {
	Store     PostStore
	Scheduler interface {
		PostScheduler
		PostReviewer
		PostPreviewer
	}
	PostChanges
}

// SchedulePost is the short form of CreatePost.
func (s *PostHandler) SchedulePost(
	ctx context.Context, r spec.SchedulePostRequestObject,
) (spec.SchedulePostResponseObject, error) {
	created, err := s.create(ctx, r.Body, r.Params.IdempotencyKey)
	return spec.SchedulePost201JSONResponse{CreatedJSONResponse: created}, err
}

// CreatePost schedules a post.
func (s *PostHandler) CreatePost(
	ctx context.Context, r spec.CreatePostRequestObject,
) (spec.CreatePostResponseObject, error) {
	created, err := s.create(ctx, r.Body, r.Params.IdempotencyKey)
	return spec.CreatePost201JSONResponse{CreatedJSONResponse: created}, err
}

func (s *PostHandler) create(
	ctx context.Context, body *spec.PostCreate, key *string,
) (spec.CreatedJSONResponse, error) {
	idempotency, err := idempotencyOf(ctx, key, "post", body)
	if err != nil {
		return spec.CreatedJSONResponse{}, err
	}
	p, replayed, err := s.Scheduler.Schedule(ctx, principal(ctx), draftOf(body), idempotency)
	if err != nil {
		return spec.CreatedJSONResponse{}, err
	}
	if p.Status == post.Scheduled {
		s.logSignalError(p, s.Workflows.Start(context.WithoutCancel(ctx), p))
	}
	answer := spec.CreatedJSONResponse{Body: s.postJSON(p)}
	location, tag := "/api/v1/posts/"+p.ID.String(), etag(p)
	answer.Headers.Location, answer.Headers.ETag = &location, &tag
	if replayed {
		yes := "true"
		answer.Headers.IdempotentReplayed = &yes
	}
	return answer, nil
}

// idempotencyOf hashes the parsed body, so that white space does not matter.
func idempotencyOf(ctx context.Context, key *string, kind string, body any) (idempotency.Key, error) {
	if key == nil {
		return idempotency.Key{}, nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return idempotency.Key{}, err
	}
	return namedRequest(ctx, *key, kind, raw)
}

func namedRequest(ctx context.Context, key, kind string, request []byte) (idempotency.Key, error) {
	if !utf8.ValidString(key) {
		return idempotency.Key{},
			apperr.InvalidFields(apperr.FieldError{
				Field: "Idempotency-Key", Code: "invalid", Message: "The key must be valid UTF-8.",
			})
	}
	sum := sha256.Sum256(append([]byte(kind+"\n"), request...))
	return idempotency.Key{UserID: principal(ctx).UserID, Key: key, RequestHash: sum[:]}, nil
}

// GetPost returns a post.
func (s *PostHandler) GetPost(ctx context.Context, r spec.GetPostRequestObject) (spec.GetPostResponseObject, error) {
	p, err := s.Store.PostInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	return spec.GetPost200JSONResponse{PostJSONResponse: s.postAnswer(p)}, err
}

// EditPost changes a post.
func (s *PostHandler) EditPost(ctx context.Context, r spec.EditPostRequestObject) (spec.EditPostResponseObject, error) {
	b := r.Body
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Edit(ctx, g, scheduling.Edit{
			Content: b.Content, ScheduledTime: b.ScheduledTime,
			TimeZone:    b.TimeZone,
			Attachments: b.Attachments, Accounts: b.Accounts, Language: b.Language, Thread: threadOf(b.Thread),
			Options: optionsOf(b.Options), Overrides: changedOverrides(b.Overrides), LateLimit: b.DropIfLateMinutes,
			TrackLinks: b.TrackLinks, UTM: changedUTM(b.Utm),
			When: string(optional.Value(b.When)), QueueGroupID: optional.Value(b.QueueGroupId),
		})
	})
	return spec.EditPost200JSONResponse{PostJSONResponse: answer}, err
}

// CancelPost cancels a post.
func (s *PostHandler) CancelPost(
	ctx context.Context, r spec.CancelPostRequestObject,
) (spec.CancelPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Cancel(ctx, g)
	})
	return spec.CancelPost200JSONResponse{PostJSONResponse: answer}, err
}

// PublishNow makes a post due at once.
func (s *PostHandler) PublishNow(
	ctx context.Context, r spec.PublishNowRequestObject,
) (spec.PublishNowResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.PublishNow(ctx, g)
	})
	return spec.PublishNow200JSONResponse{PostJSONResponse: answer}, err
}

// ScheduleDraft schedules a draft.
func (s *PostHandler) ScheduleDraft(
	ctx context.Context, r spec.ScheduleDraftRequestObject,
) (spec.ScheduleDraftResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.ScheduleDraft(ctx, g, scheduling.Time{
			ScheduledTime: optional.Value(r.Body.ScheduledTime),
			TimeZone:      optional.Value(r.Body.TimeZone),
			When:          string(optional.Value(r.Body.When)), QueueGroupID: optional.Value(r.Body.QueueGroupId),
		})
	})
	return spec.ScheduleDraft200JSONResponse{PostJSONResponse: answer}, err
}

func etag(p post.Post) string { return `"` + strconv.FormatInt(p.Version, 10) + `"` }

// versionOf parses If-Match (RFC 9110, 13.1.1): 0 if missing or *.
func versionOf(ifMatch *string) (int64, error) {
	if ifMatch == nil || strings.TrimSpace(*ifMatch) == "*" {
		return 0, nil
	}
	v, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(*ifMatch), `"`), 10, 64)
	if err != nil || v < 1 {
		return 0, apperr.InvalidFields(apperr.FieldError{
			Field: "If-Match", Code: "invalid", Message: "Send the ETag of the version you read, or omit the header.",
		})
	}
	return v, nil
}

const defaultPage = 50

// ListPosts lists posts by scheduled time.
func (s *PostHandler) ListPosts(
	ctx context.Context, r spec.ListPostsRequestObject,
) (spec.ListPostsResponseObject, error) {
	f := post.Filter{
		WorkspaceID: principal(ctx).WorkspaceID, From: r.Params.From, To: r.Params.To,
		AccountID: r.Params.Account, SeriesID: r.Params.Series, LabelID: r.Params.Label,
		Text:      optional.Value(r.Params.Q),
		Ascending: r.Params.Order != nil && *r.Params.Order == spec.ListPostsParamsOrder("asc"), Limit: defaultPage,
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	for _, status := range optional.Value(r.Params.Status) {
		f.Statuses = append(f.Statuses, post.Status(status))
	}
	for _, state := range optional.Value(r.Params.Approval) {
		f.Approvals = append(f.Approvals, post.ApprovalState(state))
	}
	if cursor := optional.Value(r.Params.Cursor); cursor != "" {
		var err error
		if f.AfterTime, f.AfterID, err = readCursor(cursor); err != nil {
			return nil, err
		}
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	posts, err := s.Store.Posts(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListPosts200JSONResponse{Posts: []spec.Post{}}
	if len(posts) > limit {
		posts = posts[:limit]
		next := cursorOf(posts[limit-1])
		page.NextCursor = &next
	}
	for _, p := range posts {
		page.Posts = append(page.Posts, s.postJSON(p))
	}
	return page, nil
}

// cursorOf returns a post's position in the list: drafts without a time are listed at
// their creation time.
func cursorOf(p post.Post) string {
	at := p.ScheduledTime
	if at.IsZero() {
		at = p.CreatedAt
	}
	return cursor(at, p.ID)
}

func cursor(at time.Time, id uuid.UUID) string {
	return base64.RawURLEncoding.EncodeToString([]byte(at.Format(time.RFC3339Nano) + " " + id.String()))
}

func readCursor(text string) (*time.Time, *uuid.UUID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	at, id, _ := strings.Cut(string(raw), " ")
	t, errTime := time.Parse(time.RFC3339Nano, at)
	u, errID := uuid.Parse(id)
	if err != nil || errTime != nil || errID != nil {
		return nil, nil, apperr.InvalidFields(apperr.FieldError{
			Field: "cursor", Code: "invalid", Message: "Send next_cursor of the previous page unchanged.",
		})
	}
	return &t, &u, nil
}
