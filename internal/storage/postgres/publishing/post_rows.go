package publishing

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Post returns a post of any workspace with its targets.
func (s *PostStore) Post(ctx context.Context, id uuid.UUID) (post.Post, error) {
	found, err := s.PostsWithTargets(ctx, []uuid.UUID{id})
	if p, ok := found[id]; ok || err != nil {
		return p, err
	}
	row, err := s.q.GetPost(ctx, id) // a draft without targets, or none
	return withTargets(ctx, s.q, row, err)
}

// PostsWithTargets returns those of the posts that have targets, of any workspace.
func (s *PostStore) PostsWithTargets(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]post.Post, error) {
	rows, err := s.q.GetPostsWithTargets(ctx, ids)
	if err != nil {
		return nil, err
	}
	var posts []post.Post
	for _, r := range rows {
		if n := len(posts); n == 0 || posts[n-1].ID != r.ScheduledPost.PostID {
			posts = append(posts, fromRow(r.ScheduledPost))
		}
		p := &posts[len(posts)-1]
		p.Targets = append(p.Targets, targetFromRow(r.PostTarget, r.Network, r.Handle))
	}
	if err := addPublished(ctx, s.q, posts); err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]post.Post, len(posts))
	for _, p := range posts {
		found[p.ID] = p
	}
	return found, nil
}

// PostInWorkspace returns a post of a workspace with its targets.
func (s *PostStore) PostInWorkspace(ctx context.Context, workspaceID, id uuid.UUID) (post.Post, error) {
	row, err := s.q.GetPostInWorkspace(ctx, db.GetPostInWorkspaceParams{PostID: id, WorkspaceID: workspaceID})
	return withTargets(ctx, s.q, row, err)
}

// withTargets reads through q, so that a change returns the result of its own
// transaction.
func withTargets(ctx context.Context, q *queries, row db.ScheduledPost, err error) (post.Post, error) {
	if tx.NoRows(err) {
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
func (s *PostStore) Posts(ctx context.Context, f post.Filter) ([]post.Post, error) {
	statuses := make([]string, len(f.Statuses))
	for i, st := range f.Statuses {
		statuses[i] = string(st)
	}
	approvals := make([]string, len(f.Approvals))
	for i, a := range f.Approvals {
		approvals[i] = string(a)
	}
	params := db.ListPostsAscendingParams{
		Approvals: approvals, WorkspaceID: f.WorkspaceID, Statuses: statuses,
		FromTime: f.From, ToTime: f.To, AccountID: f.AccountID, SeriesID: f.SeriesID, LabelID: f.LabelID,
		Patterns:  column.List(media.Patterns(f.Text)),
		AfterTime: f.AfterTime, AfterID: f.AfterID, PageSize: f.Limit,
	}
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

func addTargets(ctx context.Context, q *queries, posts []post.Post) error {
	if err := readTargets(ctx, q, posts); err != nil {
		return err
	}
	return addPublished(ctx, q, posts)
}

func readTargets(ctx context.Context, q *queries, posts []post.Post) error {
	at := make(map[uuid.UUID]int, len(posts))
	ids := make([]uuid.UUID, len(posts))
	for i, p := range posts {
		at[p.ID], ids[i] = i, p.ID
	}
	rows, err := q.TargetsOfPosts(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range rows {
		p := &posts[at[r.PostTarget.PostID]]
		p.Targets = append(p.Targets, targetFromRow(r.PostTarget, r.Network, r.Handle))
	}
	return nil
}

func targetFromRow(r db.PostTarget, network, handle string) post.Target {
	return post.Target{
		ID: r.ID, PostID: r.PostID, AccountID: r.AccountID,
		Network: network, Handle: handle, Status: post.TargetStatus(r.Status), Override: readOverride(r.Override),
		Attempts: r.Attempts, Fence: r.Fence, ClaimedUntil: r.ClaimedUntil,
		RemoteID: optional.Value(r.RemoteID), RemoteURL: optional.Value(r.RemoteUrl),
		ErrorClass: optional.Value(r.ErrorClass), ErrorCode: optional.Value(r.ErrorCode),
		ErrorMessage: optional.Value(r.ErrorMessage),
		SentAt:       r.SentAt, PostedAt: r.PostedAt, UpdatedAt: r.UpdatedAt,
		Differences: readDifferences(r.Differences), NeedsReview: r.NeedsReview, DeletedAt: r.DeletedAt,
	}
}

func readDifferences(raw json.RawMessage) (all []post.Difference) {
	_ = json.Unmarshal(raw, &all) // written by differencesOf
	return all
}

// addPublished adds the published segments of threads.
func addPublished(ctx context.Context, q *queries, posts []post.Post) error {
	var threads []uuid.UUID
	for _, p := range posts {
		if slices.ContainsFunc(p.Targets, func(t post.Target) bool { return len(p.Segments(t)) > 1 }) {
			threads = append(threads, p.ID)
		}
	}
	if len(threads) == 0 {
		return nil
	}
	rows, err := q.PublishedOfPosts(ctx, threads)
	if err != nil {
		return err
	}
	published := map[uuid.UUID][]post.PublishedSegment{}
	for _, r := range rows {
		published[r.TargetID] = append(published[r.TargetID],
			post.PublishedSegment{
				Segment: r.Segment, RemoteID: r.RemoteID,
				RemoteURL: optional.Value(r.RemoteUrl), SentAt: r.SentAt, PostedAt: r.PostedAt,
			})
	}
	for _, p := range posts {
		for j, t := range p.Targets {
			p.Targets[j].Published = published[t.ID]
		}
	}
	return nil
}

func fromRow(r db.ScheduledPost) post.Post {
	p := post.Post{
		ID: r.PostID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Content: r.Content,
		TimeZone: r.TimeZone, Status: post.Status(r.Status),
		RetryCount: r.RetryCount, AttachmentIDs: r.AttachmentIds, AttachmentURLs: r.AttachmentUrls,
		PlatformMedia: r.PlatformMediaIds, ThreadID: r.ThreadID, ThreadParentID: r.ThreadParentID,
		Language: r.Language, LinkBase: optional.Value(r.LinkBase), QueueGroupID: r.QueueGroupID, LabelIDs: r.LabelIds,
		UTM: column.ReadUTM(r.Utm), Thread: readThread(r.Thread), Options: readOptions(r.Options),
		RedrivenAt: r.RedrivenAt,
		Version:    r.Version, Revision: r.Revision, PostedAt: r.PostedAt,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Approval: post.Approval{
			State: post.ApprovalState(r.Approval), SubmittedBy: r.SubmittedBy,
			SubmittedAt: r.SubmittedAt,
			DecidedBy:   r.ApprovalBy, DecidedAt: r.ApprovalAt, Note: r.ApprovalNote,
		},
	}
	if r.ScheduledTime != nil {
		p.ScheduledTime = r.ScheduledTime.UTC()
	}
	if r.SeriesID != nil {
		p.Series = &post.Occurrence{
			SeriesID: *r.SeriesID, Name: optional.Value(r.Occurrence),
			IsUnmodified: r.SeriesRevision != nil && *r.SeriesRevision == r.Revision,
		}
		if r.SeriesTemplateRevision != nil {
			p.Series.TemplateRevision = *r.SeriesTemplateRevision
		}
	}
	if r.LateLimitMinutes != nil {
		p.LateLimit = time.Duration(*r.LateLimitMinutes) * time.Minute
	}
	return p
}
