package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Retry publishes failed targets of a post again; no target ids mean all. It skips
// uncertain targets: a user must decide first whether they exist.
func (s *LedgerStore) Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error) {
	return s.onDead(ctx, g, func(q *queries, row db.ScheduledPost) (db.ScheduledPost, error) {
		return redrive(ctx, q, row, targets, true, g.Actor, "asked")
	})
}

// RedriveReconnected publishes targets again that failed because their account was
// disconnected. Their lateness still counts from the scheduled time.
func (s *LedgerStore) RedriveReconnected(ctx context.Context, postID uuid.UUID) (post.Post, error) {
	g := post.Guard{PostID: postID, Actor: post.ActorDateline}
	return s.onDead(ctx, g, func(q *queries, row db.ScheduledPost) (db.ScheduledPost, error) {
		targets, err := q.ReconnectedTargets(ctx, postID)
		if err != nil {
			return row, err
		}
		if len(targets) == 0 {
			return row, post.NotDeadLetter()
		}
		return redrive(ctx, q, row, targets, false, g.Actor, "reconnected")
	})
}

// redrive schedules failed targets of a locked post again.
func redrive(
	ctx context.Context, q *queries, row db.ScheduledPost, targets []uuid.UUID, byPerson bool, actor, reason string,
) (db.ScheduledPost, error) {
	again, err := q.RedriveTargets(ctx, db.RedriveTargetsParams{PostID: row.PostID, TargetIds: column.List(targets)})
	if err != nil {
		return row, err
	}
	if len(again) == 0 {
		return row, post.NotDeadLetter()
	}
	row, err = q.RedrivePost(ctx, db.RedrivePostParams{PostID: row.PostID, ByPerson: byPerson})
	if err != nil {
		return row, err
	}
	return row, addEvent(ctx, q, row, nil, post.EventRedriven, actor, map[string]any{
		"targets": again, "reason": reason,
	})
}

// Deleted records that a target was deleted at its network.
func (s *LedgerStore) Deleted(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error) {
	return s.onDead(ctx, g, func(q *queries, row db.ScheduledPost) (db.ScheduledPost, error) {
		deleted, err := q.DeletedTarget(ctx, db.DeletedTargetParams{ID: target, PostID: g.PostID})
		if tx.NoRows(err) {
			return row, post.NotDeletable()
		}
		if err != nil {
			return row, err
		}
		data := map[string]any{"url": optional.Value(deleted.RemoteUrl), "remote_id": optional.Value(deleted.RemoteID)}
		if err := addEvent(ctx, q, row, &target, post.EventDeleted, g.Actor, data); err != nil {
			return row, err
		}
		if err := recordPost(ctx, q, row, g.Actor, audit.PostDeletedThere,
			map[string]any{"target": target}); err != nil {
			return row, err
		}
		return rollUp(ctx, q, row)
	})
}

// Discard discards dead letters of a post, and keeps published targets that differ from
// what was asked: all of them if targets is empty.
func (s *LedgerStore) Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error) {
	return s.onDead(ctx, g, func(q *queries, row db.ScheduledPost) (db.ScheduledPost, error) {
		discarded, err := q.DiscardTargets(ctx,
			db.DiscardTargetsParams{PostID: g.PostID, TargetIds: column.List(targets)})
		if err != nil {
			return row, err
		}
		accepted, err := q.AcceptDifferences(ctx, db.AcceptDifferencesParams{
			PostID: g.PostID, TargetIds: column.List(targets),
		})
		if err != nil {
			return row, err
		}
		for _, target := range accepted {
			if err := addEvent(ctx, q, row, &target, post.EventAccepted, g.Actor, nil); err != nil {
				return row, err
			}
		}
		switch {
		case len(discarded)+len(accepted) == 0:
			return row, post.NotDeadLetter()
		case len(discarded) == 0:
			return rollUp(ctx, q, row)
		}
		if err := addEvent(ctx, q, row, nil, post.EventDiscarded, g.Actor,
			map[string]any{"targets": discarded}); err != nil {
			return row, err
		}
		if err := recordPost(ctx, q, row, g.Actor, audit.PostDiscarded,
			map[string]any{"targets": discarded}); err != nil {
			return row, err
		}
		return rollUp(ctx, q, row)
	})
}

// Decide resolves an uncertain target: it exists, or it is sent again.
func (s *LedgerStore) Decide(ctx context.Context, g post.Guard, d post.Decision) (post.Post, error) {
	return s.onDead(ctx, g, func(q *queries, row db.ScheduledPost) (db.ScheduledPost, error) {
		call, err := q.UndecidedOperation(ctx, db.UndecidedOperationParams{PostID: g.PostID, TargetID: d.TargetID})
		if tx.NoRows(err) {
			return row, post.NotUncertain()
		}
		if err != nil {
			return row, err
		}
		current, err := withTargets(ctx, q, row, nil)
		if err != nil {
			return row, err
		}
		if d.Exists {
			err = s.confirm(ctx, q, current, call, d, g.Actor)
		} else {
			err = s.sendAgain(ctx, q, call, g.Actor)
		}
		if err != nil {
			return row, err
		}
		kind, action, data := post.EventResend, audit.PostResent, map[string]any{"segment": call.Segment}
		if d.Exists {
			kind, action, data["url"], data["remote_id"] = post.EventConfirmed, audit.PostConfirmed, d.RemoteURL,
				d.RemoteID
		}
		if err := addEvent(ctx, q, row, &d.TargetID, kind, g.Actor, data); err != nil {
			return row, err
		}
		if err := recordPost(ctx, q, row, g.Actor, action,
			map[string]any{"target": d.TargetID, "segment": call.Segment}); err != nil {
			return row, err
		}
		if err := q.ForgetWorkflow(ctx, row.PostID); err != nil {
			return row, err
		}
		return rollUp(ctx, q, row)
	})
}

func (s *LedgerStore) confirm(
	ctx context.Context, q *queries, p post.Post, call db.Operation, d post.Decision, actor string,
) error {
	now := time.Now().UTC()
	status, postedAt := post.TargetPosted, &now
	for _, t := range p.Targets {
		if t.ID == d.TargetID && call.Segment+1 < len(p.Segments(t)) {
			status, postedAt = post.TargetScheduled, nil // the remaining segments follow
		}
	}
	evidence, err := column.Object(map[string]any{"decided_by": actor, "url": d.RemoteURL})
	if err != nil {
		return err
	}
	if err := q.DecideOperation(ctx, db.DecideOperationParams{
		ID: call.ID, State: db.OperationStateReconciledOk,
		RemoteID: &d.RemoteID, Evidence: evidence,
	}); err != nil {
		return err
	}
	o := post.Outcome{
		TargetID: d.TargetID, Segment: call.Segment, RemoteID: d.RemoteID, RemoteURL: d.RemoteURL,
		SentAt: call.SentAt, PostedAt: &now,
	}
	var remote db.InsertRemotePostsParams
	addRemote(&remote, o)
	added, err := q.InsertRemotePosts(ctx, remote)
	if err != nil {
		return err
	}
	if len(added) == 0 {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "taken", Message: "That URL already belongs to another post of this workspace.",
		})
	}
	_, err = q.DecideTarget(ctx, db.DecideTargetParams{
		ID: d.TargetID, Status: db.TargetStatus(status),
		RemoteID: firstOnly(o, d.RemoteID), RemoteUrl: firstOnly(o, d.RemoteURL), PostedAt: postedAt,
	})
	return err
}

func (s *LedgerStore) sendAgain(ctx context.Context, q *queries, call db.Operation, actor string) error {
	evidence, err := column.Object(map[string]any{"decided_by": actor})
	if err != nil {
		return err
	}
	if err := q.DecideOperation(ctx, db.DecideOperationParams{
		ID: call.ID, State: db.OperationStateReconciledAbsent,
		Evidence: evidence,
	}); err != nil {
		return err
	}
	_, err = q.DecideTarget(ctx, db.DecideTargetParams{ID: call.TargetID, Status: db.TargetStatusScheduled})
	return err
}

// onDead changes a post with dead letters under its lock.
func (s *LedgerStore) onDead(
	ctx context.Context, g post.Guard, do func(*queries, db.ScheduledPost) (db.ScheduledPost, error),
) (changed post.Post, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockPost(ctx, g.PostID)
		if tx.NoRows(err) || err == nil && g.WorkspaceID != uuid.Nil && row.WorkspaceID != g.WorkspaceID {
			return apperr.NotFound("post")
		}
		if err != nil {
			return err
		}
		if g.IfVersion != 0 && g.IfVersion != row.Version {
			return post.VersionMismatch(row.Version)
		}
		if row, err = do(q, row); err != nil {
			return err
		}
		if err := recordCommand(ctx, q, g); err != nil {
			return err
		}
		changed, err = withTargets(ctx, q, row, nil)
		return err
	})
	return changed, err
}

func rollUp(ctx context.Context, q *queries, before db.ScheduledPost) (db.ScheduledPost, error) {
	rows, err := q.RollUpPosts(ctx, db.RollUpPostsParams{PostIds: []uuid.UUID{before.PostID}})
	if err != nil {
		return before, err
	}
	row := rows[0] // exists, because the post is locked
	if row.Status != before.Status && post.Status(row.Status).IsFinal() {
		err = addEvent(ctx, q, row, nil, post.EventStatus, post.ActorDateline, map[string]any{"status": row.Status})
	}
	return row, err
}

// DeadLetters lists dead letters, newest first.
func (s *LedgerStore) DeadLetters(ctx context.Context, f post.DeadLetterFilter) ([]post.DeadLetter, error) {
	rows, err := s.q.DeadLetters(ctx, db.DeadLettersParams{
		WorkspaceID: f.WorkspaceID, Reasons: column.List(f.Reasons),
		Networks:  column.List(f.Networks),
		AccountID: f.AccountID, PostIds: column.List(f.PostIDs), TargetStatus: optional.Of(string(f.Status)),
		BeforeTime: f.BeforeTime, BeforeID: f.BeforeID, PageSize: f.Limit,
	})
	if err != nil {
		return nil, err
	}
	letters := make([]post.DeadLetter, len(rows))
	for i, r := range rows {
		letters[i] = post.DeadLetter{
			TargetID: r.ID, PostID: r.PostID, AccountID: r.AccountID, Network: r.Network,
			Handle: r.Handle,
			Status: post.TargetStatus(r.Status), Reason: r.Reason, Code: optional.Value(r.ErrorCode),
			Message:  optional.Value(r.ErrorMessage),
			Attempts: r.Attempts, Content: r.Content, TimeZone: r.TimeZone, Since: r.UpdatedAt.UTC(),
		}
		if r.Reason == post.ReasonDiffers {
			letters[i].Code, letters[i].Message = "", ""
			for _, d := range readDifferences(r.Differences) {
				letters[i].Differences = append(letters[i].Differences, d.Message)
			}
			letters[i].Message = letters[i].Differences.Text()
		}
		if r.ScheduledTime != nil {
			letters[i].ScheduledTime = r.ScheduledTime.UTC()
		}
	}
	return letters, nil
}

// CountDeadLetters counts a workspace's dead letters by kind.
func (s *LedgerStore) CountDeadLetters(ctx context.Context, workspaceID uuid.UUID) ([]post.DeadLetterCount, error) {
	rows, err := s.q.CountDeadLetters(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	counts := make([]post.DeadLetterCount, len(rows))
	for i, r := range rows {
		counts[i] = post.DeadLetterCount{
			Status: post.TargetStatus(r.Status), Reason: r.Reason, Network: r.Network,
			Count: int(r.Letters), Oldest: r.Oldest.UTC(),
		}
	}
	return counts, nil
}

// ListReconnected lists posts that failed because an account was disconnected that is
// connected again.
func (s *LedgerStore) ListReconnected(ctx context.Context, limit int) ([]uuid.UUID, error) {
	return s.q.ReconnectedPosts(ctx, limit)
}

// MarkLate adds an event to every unpublished post that is late by more than after, once
// per post.
func (s *LedgerStore) MarkLate(ctx context.Context, after time.Duration, limit int) ([]uuid.UUID, error) {
	return s.q.MarkLatePosts(ctx, db.MarkLatePostsParams{AfterSeconds: after.Seconds(), Batch: limit})
}
