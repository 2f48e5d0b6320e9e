package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/review"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateReviewLink stores a link to the current version of a post that is pending
// approval.
func (s *ReviewStore) CreateReviewLink(
	ctx context.Context, l review.Link, hash []byte,
) (created review.Link, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.InsertReviewLink(ctx, db.InsertReviewLinkParams{
			ID: l.ID, WorkspaceID: l.WorkspaceID, PostID: l.PostID, SecretHash: hash, Name: l.Name,
			CreatedBy: l.CreatedBy, ExpiresAt: l.ExpiresAt,
		})
		if err != nil {
			return err
		}
		created = reviewLinkFromRow(row, true, row.CreatedAt)
		return tx.Record(ctx, q.tx, l.WorkspaceID, audit.ReviewLinkCreated, "post", l.PostID, map[string]any{
			"review_link": l.ID, "reviewer": l.Name, "expires_at": row.ExpiresAt,
		})
	})
	if !tx.NoRows(err) {
		return created, err
	}
	p, err := s.posts().PostInWorkspace(ctx, l.WorkspaceID, l.PostID)
	if err == nil {
		err = post.NotPending(p)
	}
	return created, err
}

// ReviewLinks lists the links to a post, newest first.
func (s *ReviewStore) ReviewLinks(ctx context.Context, workspaceID, postID uuid.UUID) ([]review.Link, error) {
	rows, err := s.q.ListReviewLinks(ctx, db.ListReviewLinksParams{WorkspaceID: workspaceID, PostID: postID})
	if err == nil && len(rows) == 0 {
		_, err = s.posts().PostInWorkspace(ctx, workspaceID, postID)
	}
	out := make([]review.Link, len(rows))
	for i, r := range rows {
		out[i] = reviewLinkFromRow(r.ReviewLink, r.IsCurrent, r.Now)
	}
	return out, err
}

// ReviewLink returns the link with the hash of a secret.
func (s *ReviewStore) ReviewLink(ctx context.Context, hash []byte) (review.Link, error) {
	r, err := s.q.GetReviewLink(ctx, hash)
	return reviewLinkFromRow(r.ReviewLink, r.IsCurrent, r.Now), tx.OrNotFound(err, "review link")
}

// RevokeReviewLink ends a link that nobody has used.
func (s *ReviewStore) RevokeReviewLink(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.RevokeReviewLink(ctx, db.RevokeReviewLinkParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return tx.OrNotFound(err, "review link")
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.ReviewLinkRevoked, "post", row.PostID, map[string]any{
			"review_link": id, "reviewer": row.Name,
		})
	})
}

// decideByLink records that a link was used for a decision, in its transaction.
func decideByLink(ctx context.Context, q *queries, g post.Guard, decision review.State) error {
	if g.Review == nil {
		return nil
	}
	n, err := q.DecideReviewLink(ctx, db.DecideReviewLinkParams{
		ID: g.Review.LinkID, WorkspaceID: g.WorkspaceID, Decision: optional.Of(string(decision)),
		Comment: g.Review.Comment,
	})
	if err == nil && n == 0 {
		err = review.Closed(review.Revoked)
	}
	return err
}

// reviewData names the reviewer in events and in the audit log.
func reviewData(g post.Guard, data map[string]any) map[string]any {
	if g.Review == nil {
		return data
	}
	out := map[string]any{"reviewer": g.Review.Name, "review_link": g.Review.LinkID}
	if g.Review.Comment != "" {
		out["comment"] = g.Review.Comment
	}
	for k, v := range data {
		out[k] = v
	}
	return out
}

func reviewLinkFromRow(r db.ReviewLink, isCurrent bool, now time.Time) review.Link {
	l := review.Link{
		ID: r.ID, WorkspaceID: r.WorkspaceID, PostID: r.PostID, PostVersion: r.PostVersion, Name: r.Name,
		Comment: r.Comment, State: review.Open,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), DecidedAt: r.DecidedAt,
	}
	switch {
	case r.Decision != nil:
		l.State = review.State(*r.Decision)
	case r.RevokedAt != nil:
		l.State = review.Revoked
	case !isCurrent:
		l.State = review.Outdated
	case !r.ExpiresAt.After(now):
		l.State = review.Expired
	}
	return l
}

// Comments lists the comments on a post, oldest first, and the members.
func (s *ReviewStore) Comments(
	ctx context.Context, workspaceID, postID uuid.UUID,
) ([]review.Comment, []review.Person, error) {
	rows, err := s.q.ListComments(ctx, db.ListCommentsParams{WorkspaceID: workspaceID, PostID: postID})
	if err == nil && len(rows) == 0 {
		_, err = s.posts().PostInWorkspace(ctx, workspaceID, postID)
	}
	if err != nil {
		return nil, nil, err
	}
	comments := make([]review.Comment, len(rows))
	for i, r := range rows {
		comments[i] = review.Comment{
			ID: r.ID, PostID: r.PostID, UserID: r.UserID, UserName: r.UserName, Text: r.Text,
			Mentions: r.Mentions, CreatedAt: r.CreatedAt.UTC(),
		}
	}
	members, err := s.q.ListPeople(ctx, workspaceID)
	people := make([]review.Person, len(members))
	for i, m := range members {
		people[i] = review.Person{ID: m.UserID, Name: m.Name}
	}
	return comments, people, err
}

// AddComment stores a comment and its event, by which the people it mentions are
// notified.
func (s *ReviewStore) AddComment(
	ctx context.Context, workspaceID uuid.UUID, c review.Comment, actor string,
) (review.Comment, error) {
	err := s.inTx(ctx, func(q *queries) error {
		row, err := q.InsertComment(ctx, db.InsertCommentParams{
			ID: c.ID, WorkspaceID: workspaceID, PostID: c.PostID, UserID: c.UserID, Text: c.Text,
			Mentions: column.List(c.Mentions),
		})
		if err != nil {
			return err
		}
		c.CreatedAt = row.CreatedAt.UTC()
		return addEvent(ctx, q, db.ScheduledPost{PostID: c.PostID, WorkspaceID: workspaceID}, nil, post.EventCommented,
			actor, map[string]any{"comment": c.ID, "mentions": column.List(c.Mentions)})
	})
	if tx.NoRows(err) {
		if _, err := s.posts().PostInWorkspace(ctx, workspaceID, c.PostID); err != nil {
			return c, err
		}
		return c, apperr.InvalidFields(apperr.FieldError{
			Field: "mentions", Code: "unknown", Message: "Mention members of this workspace.",
		})
	}
	return c, err
}

// DeleteComment deletes a comment of a user.
func (s *ReviewStore) DeleteComment(ctx context.Context, workspaceID, id, userID uuid.UUID) error {
	_, err := s.q.DeleteComment(ctx, db.DeleteCommentParams{ID: id, WorkspaceID: workspaceID, UserID: userID})
	return tx.OrNotFound(err, "comment")
}
