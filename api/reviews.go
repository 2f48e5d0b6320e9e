package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/infra/webpage"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/review"
	"dateline/web"
)

// ReviewHandler serves comments and review links.
type ReviewHandler struct {
	Reviews   Reviews
	Store     PostStore
	Scheduler PostPreviewer
	Media     *media.Service
	PublicURL string
	PostChanges
}

// Reviews manages review links and comments.
type Reviews interface {
	CreateLink(ctx context.Context, who workspace.Principal, postID uuid.UUID, name string, days int) (review.Link,
		secret.Text, error)
	Links(ctx context.Context, who workspace.Principal, postID uuid.UUID) ([]review.Link, error)
	Revoke(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	Link(ctx context.Context, plain string) (review.Link, error)
	Decide(ctx context.Context, plain string, approve bool, comment string) (review.Link, post.Post, error)
	Comments(ctx context.Context, who workspace.Principal, postID uuid.UUID) ([]review.Comment, []review.Person, error)
	Comment(ctx context.Context, who workspace.Principal, postID uuid.UUID, text string,
		mentions []uuid.UUID) (review.Comment, error)
	DeleteComment(ctx context.Context, who workspace.Principal, id uuid.UUID) error
}

// reviewRoute is the page of a review link.
const reviewRoute = "/api/v1/review/:secret"

// ListComments lists the comments on a post.
func (s *ReviewHandler) ListComments(
	ctx context.Context, r spec.ListCommentsRequestObject,
) (spec.ListCommentsResponseObject, error) {
	comments, people, err := s.Reviews.Comments(ctx, principal(ctx), r.Id)
	out := spec.ListComments200JSONResponse{Comments: []spec.Comment{}}
	for _, c := range comments {
		out.Comments = append(out.Comments, commentJSON(c))
	}
	for _, p := range people {
		out.People = append(out.People, struct {
			Id   uuid.UUID `json:"id"`
			Name string    `json:"name"`
		}{p.ID, p.Name})
	}
	return out, err
}

// AddComment adds a comment to a post.
func (s *ReviewHandler) AddComment(
	ctx context.Context, r spec.AddCommentRequestObject,
) (spec.AddCommentResponseObject, error) {
	c, err := s.Reviews.Comment(ctx, principal(ctx), r.Id, r.Body.Text, optional.Value(r.Body.Mentions))
	return spec.AddComment201JSONResponse(commentJSON(c)), err
}

// DeleteComment deletes a comment.
func (s *ReviewHandler) DeleteComment(
	ctx context.Context, r spec.DeleteCommentRequestObject,
) (spec.DeleteCommentResponseObject, error) {
	return spec.DeleteComment204Response{}, s.Reviews.DeleteComment(ctx, principal(ctx), r.Id)
}

func commentJSON(c review.Comment) spec.Comment {
	return spec.Comment{
		Id: c.ID, UserId: c.UserID, UserName: c.UserName, Text: c.Text,
		Mentions: append([]uuid.UUID{}, c.Mentions...), CreatedAt: c.CreatedAt,
	}
}

// ListReviewLinks lists the review links of a post.
func (s *ReviewHandler) ListReviewLinks(
	ctx context.Context, r spec.ListReviewLinksRequestObject,
) (spec.ListReviewLinksResponseObject, error) {
	links, err := s.Reviews.Links(ctx, principal(ctx), r.Id)
	out := spec.ListReviewLinks200JSONResponse{ReviewLinks: []spec.ReviewLink{}}
	for _, l := range links {
		out.ReviewLinks = append(out.ReviewLinks, reviewLinkJSON(l))
	}
	return out, err
}

// CreateReviewLink creates a review link.
func (s *ReviewHandler) CreateReviewLink(
	ctx context.Context, r spec.CreateReviewLinkRequestObject,
) (spec.CreateReviewLinkResponseObject, error) {
	l, plain, err := s.Reviews.CreateLink(ctx, principal(ctx), r.Id, r.Body.Name,
		or(r.Body.ExpiresInDays, review.DefaultDays))
	if err != nil {
		return nil, err
	}
	out := reviewLinkJSON(l)
	url := strings.TrimSuffix(s.PublicURL, "/") + "/api/v1/review/" + plain.Reveal()
	out.Url = &url
	return spec.CreateReviewLink201JSONResponse(out), nil
}

// RevokeReviewLink revokes a review link.
func (s *ReviewHandler) RevokeReviewLink(
	ctx context.Context, r spec.RevokeReviewLinkRequestObject,
) (spec.RevokeReviewLinkResponseObject, error) {
	return spec.RevokeReviewLink204Response{}, s.Reviews.Revoke(ctx, principal(ctx), r.Id)
}

func reviewLinkJSON(l review.Link) spec.ReviewLink {
	return spec.ReviewLink{
		Id: l.ID, Name: l.Name, State: spec.ReviewLinkState(l.State), Comment: optional.Of(l.Comment),
		CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, DecidedAt: l.DecidedAt,
	}
}

// ShowReview shows the page of a review link.
func (s *ReviewHandler) ShowReview(
	ctx context.Context, r spec.ShowReviewRequestObject,
) (spec.ShowReviewResponseObject, error) {
	text, err := s.reviewPage(ctx, r.Secret, "", "")
	return spec.ShowReview200TexthtmlResponse{Body: strings.NewReader(text), ContentLength: int64(len(text))}, err
}

// DecideReview approves or rejects a post by a review link.
func (s *ReviewHandler) DecideReview(
	ctx context.Context, r spec.DecideReviewRequestObject,
) (spec.DecideReviewResponseObject, error) {
	comment := optional.Value(r.Body.Comment)
	_, p, err := s.Reviews.Decide(ctx, r.Secret, r.Body.Decision == spec.Approve, comment)
	var refused *apperr.Error
	problem := ""
	switch {
	case errors.As(err, &refused) && refused.Kind != apperr.KindNotFound:
		problem = reviewProblem(lookOf(ctx), refused)
	case err != nil:
		return nil, err
	default:
		s.signal(ctx, p)
	}
	text, err := s.reviewPage(ctx, r.Secret, problem, comment)
	return spec.DecideReview200TexthtmlResponse{Body: strings.NewReader(text), ContentLength: int64(len(text))}, err
}

// reviewProblem says why a decision was refused.
func reviewProblem(look webpage.Preferences, e *apperr.Error) string {
	texts := map[string]webpage.Text{
		"too_late": {
			EN: "The time of the post has passed. Ask the newsroom for a new link.",
			VI: "Thời gian đăng bài đã qua. Hãy đề nghị tòa soạn gửi liên kết mới.",
		},
		"version_mismatch": {
			EN: "The post has changed in the meantime. Ask the newsroom for a new link.",
			VI: "Bài viết vừa được thay đổi. Hãy đề nghị tòa soạn gửi liên kết mới.",
		},
		"required": {EN: "Say what should be changed.", VI: "Hãy cho biết cần sửa gì."},
	}
	code := e.Code
	if len(e.Fields) > 0 {
		code = e.Fields[0].Code
	}
	if text, ok := texts[code]; ok {
		return look.Translate(text)
	}
	return said(e)
}

// reviewPage renders the page of a review link: the post in previews with the form, or
// the link's state.
func (s *ReviewHandler) reviewPage(ctx context.Context, plain, problem, comment string) (string, error) {
	l, err := s.Reviews.Link(ctx, plain)
	if err != nil {
		return "", err
	}
	page := web.Review{
		Look: lookOf(ctx), State: string(l.State), Reviewer: l.Name, Problem: problem, Comment: comment,
		Secret: plain,
	}
	if l.State != review.Open {
		return page.HTML()
	}
	p, files, err := s.reviewedPost(ctx, l)
	if err != nil {
		return "", err
	}
	targets, err := s.Scheduler.PreviewStored(ctx, p)
	if err != nil {
		return "", err
	}
	zone, err := timezone.Load(p.TimeZone)
	if err != nil {
		return "", err
	}
	at := p.ScheduledTime.In(zone)
	page.Time = page.Look.LongTime(at, time.Now()) + " (" + p.TimeZone + ")"
	for i, t := range targets {
		frame, err := web.NewFrame(page.Look, t.Account.Network, message.NetworkName(t.Account.Network),
			t.Account.Handle, t.Account.Name, at)
		if err != nil {
			return "", err
		}
		segments := p.Segments(p.Targets[i])
		for n, one := range t.Segments {
			var shown []web.FrameFile
			for _, id := range segments[n].AttachmentIDs {
				file := files[id]
				shown = append(shown, web.FrameFile{
					ID: id.String(), Name: file.FileName, Description: cmp.Or(file.AltText, file.FileName),
					IsVideo: file.Kind == media.Video, IsDocument: file.Kind == media.Document,
				})
			}
			frame.Add(one.Network, shown)
		}
		page.Frames = append(page.Frames, frame)
	}
	return page.HTML()
}

func (s *ReviewHandler) reviewedPost(ctx context.Context, l review.Link) (post.Post, map[uuid.UUID]media.Item, error) {
	p, err := s.Store.PostInWorkspace(ctx, l.WorkspaceID, l.PostID)
	if err != nil {
		return p, nil, err
	}
	ids := p.MediaIDs()
	files := make(map[uuid.UUID]media.Item, len(ids))
	for _, id := range ids {
		item, err := s.Media.Get(ctx, workspace.Principal{WorkspaceID: l.WorkspaceID}, id)
		if err != nil {
			return p, nil, err
		}
		files[id] = item
	}
	return p, files, nil
}

// GetReviewFile streams a file of the post that a review link shows.
func (s *ReviewHandler) GetReviewFile(
	ctx context.Context, r spec.GetReviewFileRequestObject,
) (spec.GetReviewFileResponseObject, error) {
	l, err := s.Reviews.Link(ctx, r.Secret)
	if err != nil {
		return nil, err
	}
	if l.State != review.Open {
		return nil, review.Closed(l.State)
	}
	p, files, err := s.reviewedPost(ctx, l)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(p.MediaIDs(), r.Id) {
		return nil, apperr.NotFound("file")
	}
	body, err := s.Media.Open(ctx, files[r.Id])
	if err != nil {
		return nil, err
	}
	return reviewFile{item: files[r.Id], body: body}, nil
}

type reviewFile struct {
	item media.Item
	body io.ReadCloser
}

// VisitGetReviewFileResponse writes the file. Its type is one that was detected.
func (f reviewFile) VisitGetReviewFileResponse(w http.ResponseWriter) error {
	defer func() { _ = f.body.Close() }()
	w.Header().Set("Content-Type", f.item.MIMEType)
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, f.body); err != nil {
		return http.ErrAbortHandler
	}
	return nil
}
