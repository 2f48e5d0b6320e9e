package store

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/idempotency"
	"dateline/internal/post"
	"dateline/internal/store/db"
)

// Idempotency makes the repetition of a creating request harmless.
type Idempotency = idempotency.Key

// NewPost is what CreatePost stores.
type NewPost struct {
	Post        post.Post // ID, WorkspaceID, UserID and the author's fields
	AccountIDs  []uuid.UUID
	Overrides   map[uuid.UUID]*post.Override // by account
	Actor       string
	Idempotency Idempotency
}

// CreatePost stores a post with its targets. replayed says that the same
// request created the returned post before. A key that was used for another
// request is refused with code idempotency_key_reused.
func (s *Store) CreatePost(ctx context.Context, n NewPost) (created post.Post, replayed bool, err error) {
	id := n.Post.ID
	err = s.inTx(ctx, func(q *db.Queries) error {
		earlier, err := claimKey(ctx, q, n.Post.WorkspaceID, n.Idempotency, id)
		if err != nil {
			return err
		}
		if earlier != uuid.Nil {
			replayed = true
			row, err := q.GetPost(ctx, earlier)
			created, err = withTargets(ctx, q, row, err)
			return err
		}
		row, err := insertPost(ctx, q, n)
		if err != nil {
			return err
		}
		created, err = withTargets(ctx, q, row, nil)
		return err
	})
	if err != nil {
		return post.Post{}, false, err
	}
	return created, replayed, nil
}

// insertPost writes a post with its targets and its first event.
func insertPost(ctx context.Context, q *db.Queries, n NewPost) (db.ScheduledPost, error) {
	p := n.Post
	thread, err := threadJSON(p.Thread)
	if err != nil {
		return db.ScheduledPost{}, err
	}
	status := p.Status
	if status == "" {
		status = post.Scheduled
	}
	row, err := q.InsertPost(ctx, db.InsertPostParams{
		PostID: p.ID, WorkspaceID: p.WorkspaceID, UserID: p.UserID, Content: p.Content,
		ScheduledTime: timeOrNil(p.ScheduledTime), TimeZone: p.TimeZone, Status: db.PostStatus(status),
		AttachmentIds: orEmpty(p.AttachmentIDs), AttachmentUrls: orEmpty(p.AttachmentURLs),
		Thread: thread, LateLimitMinutes: minutes(p.LateLimit),
		ThreadID: p.ThreadID, ThreadParentID: p.ThreadParentID, Language: p.Language, Approval: approvalState(p.Approval.State),
	})
	if err != nil {
		return row, err
	}
	if err := insertTargets(ctx, q, p, n.AccountIDs, n.Overrides); err != nil {
		return row, err
	}
	data := map[string]any{"accounts": n.AccountIDs, "status": status}
	if row.ScheduledTime != nil {
		data["scheduled_time"] = row.ScheduledTime
	}
	if err := addEvent(ctx, q, row, nil, post.EventCreated, n.Actor, data); err != nil || p.Approval.State != post.Pending {
		return row, err
	}
	return row, addEvent(ctx, q, row, nil, post.EventSubmitted, n.Actor, nil)
}

// claimKey takes an idempotency key for a new resource. It returns the
// resource that the same request made before, or the nil id.
func claimKey(ctx context.Context, q *db.Queries, workspace uuid.UUID, i Idempotency, resource uuid.UUID) (uuid.UUID, error) {
	if i.Key == "" {
		return uuid.Nil, nil
	}
	// A concurrent holder of the key makes this wait until it commits.
	n, err := q.InsertIdempotencyKey(ctx, db.InsertIdempotencyKeyParams{
		WorkspaceID: workspace, Key: i.Key, RequestHash: i.RequestHash, ResourceID: resource})
	if err != nil || n == 1 {
		return uuid.Nil, err
	}
	return resourceOfKey(ctx, q, workspace, i)
}

// ReplayedPost finds the post that the same request made before.
func (s *Store) ReplayedPost(ctx context.Context, workspace uuid.UUID, i Idempotency) (p post.Post, found bool, err error) {
	if i.Key == "" {
		return post.Post{}, false, nil
	}
	id, err := resourceOfKey(ctx, s.q, workspace, i)
	if noRows(err) {
		return post.Post{}, false, nil
	}
	if err != nil {
		return post.Post{}, false, err
	}
	p, err = s.Post(ctx, id)
	return p, err == nil, err
}

func resourceOfKey(ctx context.Context, q *db.Queries, workspace uuid.UUID, i Idempotency) (uuid.UUID, error) {
	row, err := q.GetIdempotencyKey(ctx, db.GetIdempotencyKeyParams{WorkspaceID: workspace, Key: i.Key})
	if err != nil {
		return uuid.Nil, err
	}
	if !bytes.Equal(row.RequestHash, i.RequestHash) {
		return uuid.Nil, &post.Error{Kind: post.Invalid, Code: "idempotency_key_reused",
			Message: "This Idempotency-Key was used for a different request. Use a new key for a new request.",
			Problems: []post.Problem{{Field: "Idempotency-Key", Code: "reused",
				Message: "The key belongs to a different request."}}}
	}
	return row.ResourceID, nil
}

// insertTargets adds accounts to a post, of which the text and the thread are
// given.
func insertTargets(ctx context.Context, q *db.Queries, p post.Post, accounts []uuid.UUID, overrides map[uuid.UUID]*post.Override) error {
	in := db.InsertTargetsParams{PostID: p.ID}
	for _, account := range accounts {
		text, err := overrideJSON(overrides[account])
		if err != nil {
			return err
		}
		in.Ids, in.AccountIds = append(in.Ids, newID()), append(in.AccountIds, account)
		in.Overrides = append(in.Overrides, text)
		in.Fingerprints = append(in.Fingerprints, p.Fingerprint(post.Target{Override: overrides[account]}))
	}
	return q.InsertTargets(ctx, in)
}

// Post reads a post with its targets, whatever its workspace.
func (s *Store) Post(ctx context.Context, id uuid.UUID) (post.Post, error) {
	row, err := s.q.GetPost(ctx, id)
	return withTargets(ctx, s.q, row, err)
}

// PostInWorkspace reads a post with its targets, if it belongs to workspace.
func (s *Store) PostInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Post, error) {
	row, err := s.q.GetPostInWorkspace(ctx, db.GetPostInWorkspaceParams{PostID: id, WorkspaceID: workspace})
	return withTargets(ctx, s.q, row, err)
}

// withTargets reads through q, so that inside a transaction a change is
// answered with what it made, not with what came after it.
func withTargets(ctx context.Context, q *db.Queries, row db.ScheduledPost, err error) (post.Post, error) {
	if noRows(err) {
		return post.Post{}, post.Missing("post")
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

// Filter chooses posts of one workspace. Zero values choose everything.
type Filter struct {
	WorkspaceID uuid.UUID
	Statuses    []post.Status
	From, To    *time.Time // of the scheduled time; To is exclusive
	AccountID   *uuid.UUID
	SeriesID    *uuid.UUID
	Approvals   []post.ApprovalState
	Ascending   bool
	AfterTime   *time.Time // the cursor: continue behind this post
	AfterID     *uuid.UUID
	Limit       int
}

// Posts lists posts by scheduled time.
func (s *Store) Posts(ctx context.Context, f Filter) ([]post.Post, error) {
	statuses := make([]string, len(f.Statuses))
	for i, st := range f.Statuses {
		statuses[i] = string(st)
	}
	approvals := make([]string, len(f.Approvals))
	for i, a := range f.Approvals {
		approvals[i] = string(a)
	}
	params := db.ListPostsAscendingParams{Approvals: approvals, WorkspaceID: f.WorkspaceID, Statuses: statuses,
		FromTime: f.From, ToTime: f.To, AccountID: f.AccountID, SeriesID: f.SeriesID,
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

// addPublished says of threads which segments are out.
func addPublished(ctx context.Context, q *db.Queries, posts []post.Post, threads []uuid.UUID) error {
	rows, err := q.PublishedOfPosts(ctx, threads)
	if err != nil {
		return err
	}
	published := map[uuid.UUID][]post.Published{}
	for _, r := range rows {
		published[r.TargetID] = append(published[r.TargetID], post.Published{Segment: int(r.Segment), RemoteID: r.RemoteID,
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
		Language: r.Language, Thread: readThread(r.Thread), RedrivenAt: r.RedrivenAt,
		Version: r.Version, Revision: r.Revision, PostedAt: r.PostedAt,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Approval: post.Approval{State: post.ApprovalState(r.Approval), SubmittedBy: r.SubmittedBy, SubmittedAt: r.SubmittedAt,
			DecidedBy: r.ApprovalBy, DecidedAt: r.ApprovalAt, Note: r.ApprovalNote}}
	if r.ScheduledTime != nil {
		p.ScheduledTime = r.ScheduledTime.UTC()
	}
	if r.SeriesID != nil {
		p.Series = &post.Occurrence{SeriesID: *r.SeriesID, Name: deref(r.Occurrence),
			Untouched: r.SeriesRevision != nil && *r.SeriesRevision == r.Revision}
		if r.SeriesTemplateRevision != nil {
			p.Series.TemplateRevision = *r.SeriesTemplateRevision
		}
	}
	if r.LateLimitMinutes != nil {
		p.LateLimit = time.Duration(*r.LateLimitMinutes) * time.Minute
	}
	return p
}

func addEvent(ctx context.Context, q *db.Queries, row db.ScheduledPost, target *uuid.UUID, kind, actor string, data map[string]any) error {
	raw, err := object(data)
	if err != nil {
		return err
	}
	_, err = q.InsertEvent(ctx, db.InsertEventParams{PostID: &row.PostID, WorkspaceID: row.WorkspaceID,
		TargetID: target, Type: kind, Actor: actor, Data: raw})
	return err
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
