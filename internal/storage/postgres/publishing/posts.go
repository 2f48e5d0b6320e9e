package publishing

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// CreatePost stores a post with its targets. replayed means that an earlier request with
// the same key created the returned post. A key that was used for a different request
// returns an error with code idempotency_key_reused.
func (s *PostStore) CreatePost(ctx context.Context, n post.NewPost) (created post.Post, replayed bool, err error) {
	if isSingleInsert(n) {
		created, err = insertPost(ctx, s.q, n)
		return created, false, err
	}
	id := n.Post.ID
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, n.Post.WorkspaceID, n.Idempotency, id)
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
				db.LockReservedDecisionParams{ID: n.DecisionID, PostID: &id}); tx.NoRows(err) {
				return post.ErrDecided
			} else if err != nil {
				return err
			}
		}
		created, err = insertPost(ctx, q, n)
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
func insertPost(ctx context.Context, q *queries, n post.NewPost) (post.Post, error) {
	p := n.Post
	thread, err := threadJSON(p.Thread)
	if err != nil {
		return post.Post{}, err
	}
	options, err := optionsJSON(p.Options)
	if err != nil {
		return post.Post{}, err
	}
	status := p.Status
	if status == "" {
		status = post.Scheduled
	}
	if err := lockMedia(ctx, q, mediaOf(p, n.Overrides)); err != nil {
		return post.Post{}, err
	}
	if _, err := lockLabels(ctx, q, p.WorkspaceID, p.LabelIDs); err != nil {
		return post.Post{}, err
	}
	in := db.InsertPostParams{
		PostID: p.ID, WorkspaceID: p.WorkspaceID, UserID: p.UserID, Content: p.Content,
		ScheduledTime: optional.OfTime(p.ScheduledTime), TimeZone: p.TimeZone, Status: db.PostStatus(status),
		AttachmentIds: column.List(p.AttachmentIDs), AttachmentUrls: column.List(p.AttachmentURLs),
		Thread: thread, Options: options, LateLimitMinutes: minutes(p.LateLimit),
		ThreadID: p.ThreadID, ThreadParentID: p.ThreadParentID, Language: p.Language,
		LinkBase:     optional.Of(p.LinkBase),
		QueueGroupID: p.QueueGroupID, LabelIds: column.List(p.LabelIDs), Utm: column.UTM(p.UTM),
		Approval: approvalState(p.Approval.State),
		Actor:    n.Actor,
	}
	for _, account := range n.AccountIDs {
		text, err := overrideJSON(n.Overrides[account])
		if err != nil {
			return post.Post{}, err
		}
		in.TargetIds, in.AccountIds = append(in.TargetIds, n.TargetID(account)), append(in.AccountIds, account)
		in.Overrides = append(in.Overrides, text)
		in.Fingerprints = append(in.Fingerprints, p.Fingerprint(post.Target{Override: n.Overrides[account]}))
	}
	data := map[string]any{"accounts": n.AccountIDs, "status": status}
	if in.ScheduledTime != nil {
		data["scheduled_time"] = in.ScheduledTime.UTC().Truncate(time.Microsecond) // as it is stored
	}
	created, err := column.Object(data)
	if err != nil {
		return post.Post{}, err
	}
	in.EventTypes, in.EventData = []string{post.EventCreated}, []string{string(created)}
	if p.Approval.State == post.ApprovalPending {
		in.EventTypes, in.EventData = append(in.EventTypes, post.EventSubmitted), append(in.EventData, "{}")
	}
	row, err := q.InsertPost(ctx, in)
	if err != nil {
		return post.Post{}, slotError(err)
	}
	stored := fromRow(row.ScheduledPost)
	if stored.Targets, err = newTargets(stored, row.Accounts, in); err != nil {
		return post.Post{}, err
	}
	return stored, savePostLinks(ctx, q, p, draftTargets(n.AccountIDs, n.Overrides))
}

// newTargets returns the targets of a post that was just inserted, in the order of their accounts.
func newTargets(p post.Post, accounts json.RawMessage, in db.InsertPostParams) ([]post.Target, error) {
	var of []struct {
		ID       uuid.UUID `json:"id"`
		TargetID uuid.UUID `json:"target_id"`
		Network  string    `json:"network"`
		Handle   string    `json:"handle"`
	}
	if err := json.Unmarshal(accounts, &of); err != nil {
		return nil, err
	}
	var targets []post.Target
	for _, a := range of {
		override := in.Overrides[slices.Index(in.TargetIds, a.TargetID)]
		targets = append(targets, targetFromRow(db.PostTarget{
			ID: a.TargetID, PostID: p.ID, AccountID: a.ID, Status: db.TargetStatusScheduled,
			Override: json.RawMessage(override), UpdatedAt: p.UpdatedAt, Differences: json.RawMessage("[]"),
		}, a.Network, a.Handle))
	}
	return targets, nil
}

// ReplayedPost returns the post that an earlier request with the key created.
func (s *PostStore) ReplayedPost(
	ctx context.Context, workspaceID uuid.UUID, i idempotency.Key,
) (p post.Post, found bool, err error) {
	if i.Key == "" {
		return post.Post{}, false, nil
	}
	id, err := tx.ResourceOfKey(ctx, s.q.tx, workspaceID, i)
	if tx.NoRows(err) {
		return post.Post{}, false, nil
	}
	if err != nil {
		return post.Post{}, false, err
	}
	p, err = s.Post(ctx, id)
	return p, err == nil, err
}

// insertTargets inserts targets of a post with the given text and thread.
func insertTargets(
	ctx context.Context, q *queries, p post.Post, accounts []uuid.UUID, overrides map[uuid.UUID]*post.Override,
) error {
	in := db.InsertTargetsParams{PostID: p.ID}
	for _, account := range accounts {
		text, err := overrideJSON(overrides[account])
		if err != nil {
			return err
		}
		in.Ids, in.AccountIds = append(in.Ids, column.NewID()), append(in.AccountIds, account)
		in.Overrides = append(in.Overrides, text)
		in.Fingerprints = append(in.Fingerprints, p.Fingerprint(post.Target{Override: overrides[account]}))
	}
	if err := q.InsertTargets(ctx, in); err != nil {
		return err
	}
	return savePostLinks(ctx, q, p, draftTargets(accounts, overrides))
}

func addEvent(ctx context.Context, q *queries, row db.ScheduledPost, target *uuid.UUID, kind, actor string,
	data map[string]any,
) error {
	raw, err := column.Object(data)
	if err != nil {
		return err
	}
	_, err = q.InsertEvent(ctx, db.InsertEventParams{
		PostID: &row.PostID, WorkspaceID: row.WorkspaceID,
		TargetID: target, Type: kind, Actor: actor, Data: raw,
	})
	return err
}
