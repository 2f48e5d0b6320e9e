package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// Post returns a post of any workspace with its targets.
func (s *Store) Post(ctx context.Context, id uuid.UUID) (post.Post, error) {
	row, err := s.q.GetPost(ctx, id)
	return withTargets(ctx, s.q, row, err)
}

// PostInWorkspace returns a post of a workspace with its targets.
func (s *Store) PostInWorkspace(ctx context.Context, workspaceID, id uuid.UUID) (post.Post, error) {
	row, err := s.q.GetPostInWorkspace(ctx, db.GetPostInWorkspaceParams{PostID: id, WorkspaceID: workspaceID})
	return withTargets(ctx, s.q, row, err)
}

// withTargets reads through q, so that a change returns the result of its own
// transaction.
func withTargets(ctx context.Context, q *db.Queries, row db.ScheduledPost, err error) (post.Post, error) {
	if noRows(err) {
		return post.Post{}, apperr.NotFound("post")
	}
	if err != nil {
		return post.Post{}, err
	}
	posts := []post.Post{fromRow(row)}
	if err := addTargets(ctx, q, posts); err != nil {
		return post.Post{}, err
	}
	return posts[0], nil
}

// Posts lists posts by scheduled time.
func (s *Store) Posts(ctx context.Context, f post.Filter) ([]post.Post, error) {
	statuses := make([]string, len(f.Statuses))
	for i, st := range f.Statuses {
		statuses[i] = string(st)
	}
	approvals := make([]string, len(f.Approvals))
	for i, a := range f.Approvals {
		approvals[i] = string(a)
	}
	params := db.ListPostsAscendingParams{Approvals: approvals, WorkspaceID: f.WorkspaceID, Statuses: statuses,
		FromTime: f.From, ToTime: f.To, AccountID: f.AccountID, SeriesID: f.SeriesID, LabelID: f.LabelID, Patterns: orEmpty(media.Patterns(f.Text)),
		AfterTime: f.AfterTime, AfterID: f.AfterID, PageSize: int32(f.Limit)} //nolint:gosec // the API caps the limit at 200
	list := s.q.ListPostsAscending
	if !f.Ascending {
		list = func(ctx context.Context, p db.ListPostsAscendingParams) ([]db.ScheduledPost, error) {
			return s.q.ListPostsDescending(ctx, db.ListPostsDescendingParams(p))
		}
	}
	rows, err := list(ctx, params)
	if err != nil {
		return nil, err
	}
	posts := make([]post.Post, len(rows))
	for i, row := range rows {
		posts[i] = fromRow(row)
	}
	return posts, addTargets(ctx, s.q, posts)
}

func addTargets(ctx context.Context, q *db.Queries, posts []post.Post) error {
	at := make(map[uuid.UUID]int, len(posts))
	ids := make([]uuid.UUID, len(posts))
	for i, p := range posts {
		at[p.ID], ids[i] = i, p.ID
	}
	rows, err := q.TargetsOfPosts(ctx, ids)
	if err != nil {
		return err
	}
	var threads []uuid.UUID
	for _, r := range rows {
		p := &posts[at[r.PostID]]
		t := post.Target{ID: r.ID, PostID: r.PostID, AccountID: r.AccountID,
			Network: r.Network, Handle: r.Handle, Status: post.TargetStatus(r.Status), Override: readOverride(r.Override),
			Attempts: int(r.Attempts), Fence: r.Fence, ClaimedUntil: r.ClaimedUntil,
			RemoteID: deref(r.RemoteID), RemoteURL: deref(r.RemoteUrl),
			ErrorClass: deref(r.ErrorClass), ErrorCode: deref(r.ErrorCode), ErrorMessage: deref(r.ErrorMessage),
			SentAt: r.SentAt, PostedAt: r.PostedAt, UpdatedAt: r.UpdatedAt}
		if len(p.Segments(t)) > 1 {
			threads = append(threads, p.ID)
		}
		p.Targets = append(p.Targets, t)
	}
	if len(threads) == 0 {
		return nil
	}
	return addPublished(ctx, q, posts, threads)
}

// addPublished adds the published segments of threads.
func addPublished(ctx context.Context, q *db.Queries, posts []post.Post, threads []uuid.UUID) error {
	rows, err := q.PublishedOfPosts(ctx, threads)
	if err != nil {
		return err
	}
	published := map[uuid.UUID][]post.PublishedSegment{}
	for _, r := range rows {
		published[r.TargetID] = append(published[r.TargetID], post.PublishedSegment{Segment: int(r.Segment), RemoteID: r.RemoteID,
			RemoteURL: deref(r.RemoteUrl), SentAt: r.SentAt, PostedAt: r.PostedAt})
	}
	for i := range posts {
		for j := range posts[i].Targets {
			posts[i].Targets[j].Published = published[posts[i].Targets[j].ID]
		}
	}
	return nil
}

func fromRow(r db.ScheduledPost) post.Post {
	p := post.Post{ID: r.PostID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Content: r.Content,
		TimeZone: r.TimeZone, Status: post.Status(r.Status),
		RetryCount: int(r.RetryCount), AttachmentIDs: r.AttachmentIds, AttachmentURLs: r.AttachmentUrls,
		PlatformMedia: r.PlatformMediaIds, ThreadID: r.ThreadID, ThreadParentID: r.ThreadParentID,
		Language: r.Language, LinkBase: deref(r.LinkBase), QueueGroupID: r.QueueGroupID, LabelIDs: r.LabelIds, UTM: readUTM(r.Utm), Thread: readThread(r.Thread), Options: readOptions(r.Options), RedrivenAt: r.RedrivenAt,
		Version: r.Version, Revision: r.Revision, PostedAt: r.PostedAt,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Approval: post.Approval{State: post.ApprovalState(r.Approval), SubmittedBy: r.SubmittedBy, SubmittedAt: r.SubmittedAt,
			DecidedBy: r.ApprovalBy, DecidedAt: r.ApprovalAt, Note: r.ApprovalNote}}
	if r.ScheduledTime != nil {
		p.ScheduledTime = r.ScheduledTime.UTC()
	}
	if r.SeriesID != nil {
		p.Series = &post.Occurrence{SeriesID: *r.SeriesID, Name: deref(r.Occurrence),
			IsUnmodified: r.SeriesRevision != nil && *r.SeriesRevision == r.Revision}
		if r.SeriesTemplateRevision != nil {
			p.Series.TemplateRevision = *r.SeriesTemplateRevision
		}
	}
	if r.LateLimitMinutes != nil {
		p.LateLimit = time.Duration(*r.LateLimitMinutes) * time.Minute
	}
	return p
}
