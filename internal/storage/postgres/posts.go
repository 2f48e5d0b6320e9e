package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// CreatePost stores a post with its targets. replayed means that an earlier request with
// the same key created the returned post. A key that was used for a different request
// returns an error with code idempotency_key_reused.
func (s *Store) CreatePost(ctx context.Context, n post.NewPost) (created post.Post, replayed bool, err error) {
	if isSingleInsert(n) {
		row, err := insertPost(ctx, s.q, n)
		if err != nil {
			return post.Post{}, false, err
		}
		created, err = withNewTargets(ctx, s.q, row)
		return created, false, err
	}
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
		if n.DecisionID != uuid.Nil {
			// Whoever finishes the decision waits until the post is stored.
			if _, err := q.LockReservedDecision(ctx,
				db.LockReservedDecisionParams{ID: n.DecisionID, PostID: &id}); noRows(err) {
				return post.ErrDecided
			} else if err != nil {
				return err
			}
		}
		row, err := insertPost(ctx, q, n)
		if err != nil {
			return err
		}
		created, err = withNewTargets(ctx, q, row)
		return err
	})
	if err != nil {
		return post.Post{}, false, err
	}
	return created, replayed, nil
}

// isSingleInsert reports whether insertPost runs a single statement for a post, which
// needs no transaction of its own.
func isSingleInsert(n post.NewPost) bool {
	return n.Idempotency.Key == "" && n.DecisionID == uuid.Nil && n.Post.LinkBase == "" &&
		len(n.Post.LabelIDs) == 0 && len(mediaOf(n.Post, n.Overrides)) == 0
}

// insertPost inserts a post with its targets and first events.
func insertPost(ctx context.Context, q *db.Queries, n post.NewPost) (db.ScheduledPost, error) {
	p := n.Post
	thread, err := threadJSON(p.Thread)
	if err != nil {
		return db.ScheduledPost{}, err
	}
	options, err := optionsJSON(p.Options)
	if err != nil {
		return db.ScheduledPost{}, err
	}
	status := p.Status
	if status == "" {
		status = post.Scheduled
	}
	if err := lockMedia(ctx, q, mediaOf(p, n.Overrides)); err != nil {
		return db.ScheduledPost{}, err
	}
	if _, err := lockLabels(ctx, q, p.WorkspaceID, p.LabelIDs); err != nil {
		return db.ScheduledPost{}, err
	}
	in := db.InsertPostParams{
		PostID: p.ID, WorkspaceID: p.WorkspaceID, UserID: p.UserID, Content: p.Content,
		ScheduledTime: timeOrNil(p.ScheduledTime), TimeZone: p.TimeZone, Status: db.PostStatus(status),
		AttachmentIds: orEmpty(p.AttachmentIDs), AttachmentUrls: orEmpty(p.AttachmentURLs),
		Thread: thread, Options: options, LateLimitMinutes: minutes(p.LateLimit),
		ThreadID: p.ThreadID, ThreadParentID: p.ThreadParentID, Language: p.Language, LinkBase: orNil(p.LinkBase),
		QueueGroupID: p.QueueGroupID, LabelIds: orEmpty(p.LabelIDs), Utm: utmJSON(p.UTM),
		Approval: approvalState(p.Approval.State),
		Actor:    n.Actor,
	}
	for _, account := range n.AccountIDs {
		text, err := overrideJSON(n.Overrides[account])
		if err != nil {
			return db.ScheduledPost{}, err
		}
		in.TargetIds, in.AccountIds = append(in.TargetIds, n.TargetID(account)), append(in.AccountIds, account)
		in.Overrides = append(in.Overrides, text)
		in.Fingerprints = append(in.Fingerprints, p.Fingerprint(post.Target{Override: n.Overrides[account]}))
	}
	data := map[string]any{"accounts": n.AccountIDs, "status": status}
	if in.ScheduledTime != nil {
		data["scheduled_time"] = in.ScheduledTime.UTC().Truncate(time.Microsecond) // as it is stored
	}
	created, err := object(data)
	if err != nil {
		return db.ScheduledPost{}, err
	}
	in.EventTypes, in.EventData = []string{post.EventCreated}, []string{string(created)}
	if p.Approval.State == post.ApprovalPending {
		in.EventTypes, in.EventData = append(in.EventTypes, post.EventSubmitted), append(in.EventData, "{}")
	}
	row, err := q.InsertPost(ctx, in)
	if err != nil {
		return row, slotError(err)
	}
	return row, savePostLinks(ctx, q, p, draftTargets(n.AccountIDs, n.Overrides))
}

// claimKey stores an idempotency key for a new resource. It returns the resource that an
// earlier request with the key created, or the nil id.
func claimKey(
	ctx context.Context, q *db.Queries, workspaceID uuid.UUID, i idempotency.Key, resource uuid.UUID,
) (uuid.UUID, error) {
	if i.Key == "" {
		return uuid.Nil, nil
	}
	// Waits until a concurrent request with the same key commits.
	n, err := q.InsertIdempotencyKey(ctx, db.InsertIdempotencyKeyParams{
		WorkspaceID: workspaceID, Key: userKey(i), RequestHash: i.RequestHash, ResourceID: resource,
	})
	if err != nil || n == 1 {
		return uuid.Nil, err
	}
	return resourceOfKey(ctx, q, workspaceID, i)
}

// ReplayedPost returns the post that an earlier request with the key created.
func (s *Store) ReplayedPost(
	ctx context.Context, workspaceID uuid.UUID, i idempotency.Key,
) (p post.Post, found bool, err error) {
	if i.Key == "" {
		return post.Post{}, false, nil
	}
	id, err := resourceOfKey(ctx, s.q, workspaceID, i)
	if noRows(err) {
		return post.Post{}, false, nil
	}
	if err != nil {
		return post.Post{}, false, err
	}
	p, err = s.Post(ctx, id)
	return p, err == nil, err
}

// userKey returns the stored form of an idempotency key, which belongs to one user:
// otherwise members could find out which keys other members have used, and use them
// first. It is hashed because a key may be as long as the column.
func userKey(i idempotency.Key) string {
	sum := sha256.Sum256([]byte(i.UserID.String() + "\n" + i.Key))
	return hex.EncodeToString(sum[:])
}

func resourceOfKey(ctx context.Context, q *db.Queries, workspaceID uuid.UUID, i idempotency.Key) (uuid.UUID, error) {
	row, err := q.GetIdempotencyKey(ctx, db.GetIdempotencyKeyParams{WorkspaceID: workspaceID, Key: userKey(i)})
	if err != nil {
		return uuid.Nil, err
	}
	if !bytes.Equal(row.RequestHash, i.RequestHash) {
		return uuid.Nil, &apperr.Error{
			Kind: apperr.KindInvalid, Code: "idempotency_key_reused",
			Message: "This Idempotency-Key was used for a different request. Use a new key for a new request.",
			Fields: []apperr.FieldError{{
				Field: "Idempotency-Key", Code: "reused",
				Message: "The key belongs to a different request.",
			}},
		}
	}
	return row.ResourceID, nil
}

// insertTargets inserts targets of a post with the given text and thread.
func insertTargets(
	ctx context.Context, q *db.Queries, p post.Post, accounts []uuid.UUID, overrides map[uuid.UUID]*post.Override,
) error {
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
	if err := q.InsertTargets(ctx, in); err != nil {
		return err
	}
	return savePostLinks(ctx, q, p, draftTargets(accounts, overrides))
}

func addEvent(ctx context.Context, q *db.Queries, row db.ScheduledPost, target *uuid.UUID, kind, actor string,
	data map[string]any,
) error {
	raw, err := object(data)
	if err != nil {
		return err
	}
	_, err = q.InsertEvent(ctx, db.InsertEventParams{
		PostID: &row.PostID, WorkspaceID: row.WorkspaceID,
		TargetID: target, Type: kind, Actor: actor, Data: raw,
	})
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
