package publishing

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
	"dateline/platforms/network"
)

// Claim claims the right to send c once and inserts its ledger row, in one statement. ok
// is false if the post changed or is no longer open, if another attempt holds the claim,
// or if the outcome of an earlier call is unknown.
func (s *LedgerStore) Claim(
	ctx context.Context, c post.Call, lease time.Duration,
) (claimed post.Call, ok bool, err error) {
	all, oks, err := s.ClaimAll(ctx, []post.Call{c}, lease)
	if err != nil {
		return c, false, err
	}
	return all[0], oks[0], nil
}

// OpenCall returns the newest call of a target whose outcome is unknown.
func (s *LedgerStore) OpenCall(ctx context.Context, targetID uuid.UUID) (c post.Call, found bool, err error) {
	row, err := s.q.OpenOperation(ctx, targetID)
	if tx.NoRows(err) {
		return post.Call{}, false, nil
	}
	if err != nil {
		return post.Call{}, false, err
	}
	c = post.Call{
		OperationID: row.ID, TargetID: row.TargetID, Segment: row.Segment, Revision: row.Revision,
		Epoch: row.Epoch, Fence: row.Fence,
		IdempotencyKey: row.IdempotencyKey, Fingerprint: row.Fingerprint, Prepared: row.Prepared,
	}
	if row.SentAt != nil {
		c.SentAt = *row.SentAt
	}
	return c, true, nil
}

// LastEpoch counts the sends of a segment in one revision.
func (s *LedgerStore) LastEpoch(ctx context.Context, targetID uuid.UUID, segment int, revision int64) (int, error) {
	n, err := s.q.LastEpoch(ctx, db.LastEpochParams{TargetID: targetID, Segment: segment, Revision: revision})
	return n, err
}

// CountUnresolvedSends counts the sends of a segment without a conclusive response.
func (s *LedgerStore) CountUnresolvedSends(
	ctx context.Context, targetID uuid.UUID, segment int, revision int64,
) (int, error) {
	n, err := s.q.CountUnresolvedSends(ctx, db.CountUnresolvedSendsParams{
		TargetID: targetID, Segment: segment, Revision: revision,
	})
	return int(n), err
}

// TakeOver fences off the holder of an open call whose lease has expired. ok is false if
// the lease is valid, if another attempt took over first, or if the holder has recorded
// an outcome.
func (s *LedgerStore) TakeOver(
	ctx context.Context, c post.Call, fence int64, lease time.Duration,
) (newFence int64, ok bool, err error) {
	var row db.PostTarget
	err = s.inTx(ctx, func(q *queries) error {
		if err := q.LockTarget(ctx, c.TargetID); err != nil {
			return err
		}
		var err error
		row, err = q.TakeOverTarget(ctx, db.TakeOverTargetParams{
			ID: c.TargetID, OperationID: c.OperationID, Fence: fence, LeaseSeconds: lease.Seconds(),
		})
		return err
	})
	if tx.NoRows(err) {
		return 0, false, nil
	}
	return row.Fence, err == nil, err
}

// RecordOutcome records an outcome in target, ledger, post and timeline in one
// transaction. ok is false if another attempt holds the claim; then nothing changes.
func (s *LedgerStore) RecordOutcome(ctx context.Context, o post.Outcome) (p post.Post, ok bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		before, err := q.LockPost(ctx, o.PostID)
		if err != nil {
			return err
		}
		if before.Revision != o.Revision {
			return pgx.ErrNoRows // changed since it was read: roll back
		}
		differences, needsReview, err := differencesOf(o)
		if err != nil {
			return err
		}
		_, err = q.FinishTarget(ctx, db.FinishTargetParams{
			Differences: differences, NeedsReview: needsReview,
			ID: o.TargetID, Fence: o.Fence, Status: db.TargetStatus(o.Status),
			Tries: o.Attempts, NextSegment: o.RemoteID != "" && o.Status.IsOpen(),
			RemoteID: firstOnly(o, o.RemoteID), RemoteUrl: firstOnly(o, o.RemoteURL),
			ErrorClass: optional.Of(o.ErrorClass), ErrorCode: optional.Of(o.ErrorCode),
			ErrorMessage: optional.Of(o.Error),
			SentAt:       firstSent(o), PostedAt: o.PostedAt, WaitsUntil: o.WaitsUntil,
		})
		if err != nil {
			return err
		}
		if err := addRemotePost(ctx, q, o); err != nil {
			return err
		}
		if o.OperationID != uuid.Nil {
			if err := setOperation(ctx, q, o.OperationID, o.Operation, o.RemoteID, o.Evidence); err != nil {
				return err
			}
		}
		retries := 0
		if o.Event == post.EventRetrying {
			retries = 1
		}
		rows, err := q.RollUpPosts(ctx, db.RollUpPostsParams{PostIds: []uuid.UUID{o.PostID}, Retries: retries})
		if err != nil {
			return err
		}
		row := rows[0] // exists, because the post is locked
		if err := addEvent(ctx, q, row, &o.TargetID, o.Event, post.ActorDateline, o.EventData); err != nil {
			return err
		}
		if len(o.Differences) > 0 {
			data := map[string]any{
				"url": o.RemoteURL, "serious": needsReview, post.Evidence: o.Differences.Text(),
				post.EvidenceParts: o.Differences,
			}
			if err := addEvent(ctx, q, row, &o.TargetID, post.EventDiffers, post.ActorDateline, data); err != nil {
				return err
			}
		}
		if row.Status != before.Status && post.Status(row.Status).IsFinal() {
			if err := addEvent(ctx, q, row, nil, post.EventStatus, post.ActorDateline,
				map[string]any{"status": row.Status}); err != nil {
				return err
			}
		}
		p, err = withTargets(ctx, q, row, nil)
		return err
	})
	if tx.NoRows(err) {
		return post.Post{}, false, nil
	}
	if err != nil {
		return post.Post{}, false, err
	}
	return p, true, nil
}

// differencesOf returns what the network made otherwise than asked as the target stores
// it, and whether a person has to decide on it.
func differencesOf(o post.Outcome) (raw json.RawMessage, needsReview bool, err error) {
	all := make([]post.Difference, len(o.Differences))
	for i, d := range o.Differences {
		all[i] = post.Difference{Message: d, Segment: o.Segment}
		needsReview = needsReview || network.IsSerious(d.Code)
	}
	raw, err = json.Marshal(all)
	return raw, needsReview, err
}

// A target has the remote id and URL of its first segment.
func firstOnly(o post.Outcome, text string) *string {
	if o.Segment > 0 {
		return nil
	}
	return optional.Of(text)
}

func firstSent(o post.Outcome) *time.Time {
	if o.Segment > 0 {
		return nil
	}
	return o.SentAt
}

// errTaken means that a found remote post already belongs to another Dateline post.
var errTaken = errors.New("the post that was found belongs to another one by now")

// addRemotePost stores a published segment. A remote post that a search found must not
// belong to another post; one that the network returned is stored as it is.
func addRemotePost(ctx context.Context, q *queries, o post.Outcome) error {
	if o.RemoteID == "" {
		return nil
	}
	p := db.InsertRemotePostsParams{}
	addRemote(&p, o)
	added, err := q.InsertRemotePosts(ctx, p)
	if err == nil && len(added) == 0 && o.Operation == post.CallReconciledOK {
		return errTaken
	}
	return err
}

func addRemote(p *db.InsertRemotePostsParams, o post.Outcome) {
	posted := time.Now().UTC()
	if o.PostedAt != nil {
		posted = *o.PostedAt
	}
	sent := posted
	if o.SentAt != nil {
		sent = *o.SentAt
	}
	p.TargetIds = append(p.TargetIds, o.TargetID)
	p.Segments = append(p.Segments, o.Segment)
	p.RemoteIds = append(p.RemoteIds, o.RemoteID)
	p.RemoteUrls = append(p.RemoteUrls, o.RemoteURL)
	p.SentAts = append(p.SentAts, sent)
	p.PostedAts = append(p.PostedAts, posted)
}

// PublishedSegments lists the published segments of a target in order.
func (s *LedgerStore) PublishedSegments(ctx context.Context, targetID uuid.UUID) ([]post.PublishedSegment, error) {
	rows, err := s.q.PublishedSegments(ctx, targetID)
	if err != nil {
		return nil, err
	}
	out := make([]post.PublishedSegment, len(rows))
	for i, r := range rows {
		out[i] = post.PublishedSegment{
			Segment: r.Segment, RemoteID: r.RemoteID, RemoteURL: optional.Value(r.RemoteUrl),
			SentAt: r.SentAt, PostedAt: r.PostedAt,
		}
	}
	return out, nil
}

func setOperation(
	ctx context.Context, q *queries, id uuid.UUID, state, remoteID string, evidence map[string]any,
) error {
	raw, err := column.Object(evidence)
	if err != nil {
		return err
	}
	return q.SetOperationState(ctx, db.SetOperationStateParams{
		ID: id, State: db.OperationState(state), RemoteID: optional.Of(remoteID), Evidence: raw,
	})
}

// ClaimedRemoteIDs lists the remote posts of an account that already belong to Dateline
// posts, so that none is matched twice.
func (s *LedgerStore) ClaimedRemoteIDs(
	ctx context.Context, accountID uuid.UUID, since time.Time,
) (map[string]bool, error) {
	ids, err := s.q.RemoteIDsClaimed(ctx, db.RemoteIDsClaimedParams{AccountID: accountID, Since: since})
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	return known, nil
}

// Parent returns the state of the parent of a reply on an account.
func (s *LedgerStore) Parent(
	ctx context.Context, postID, accountID uuid.UUID,
) (status post.TargetStatus, remoteID string, err error) {
	row, err := s.q.RemoteIDOnAccount(ctx, db.RemoteIDOnAccountParams{PostID: postID, AccountID: accountID})
	if tx.NoRows(err) {
		return post.TargetCanceled, "", nil
	}
	return post.TargetStatus(row.Status), row.RemoteID, err
}

// RenewClaim extends a claim during its call. ok is false if another attempt holds it.
func (s *LedgerStore) RenewClaim(
	ctx context.Context, targetID uuid.UUID, fence int64, lease time.Duration,
) (ok bool, err error) {
	n, err := s.q.RenewClaim(ctx, db.RenewClaimParams{ID: targetID, Fence: fence, LeaseSeconds: lease.Seconds()})
	return n == 1, err
}

// SetCallState records the state of a call whose target has no outcome yet.
func (s *LedgerStore) SetCallState(
	ctx context.Context, operationID uuid.UUID, state string, evidence map[string]any,
) error {
	return setOperation(ctx, s.q, operationID, state, "", evidence)
}

// AddEvent adds an entry to a post's timeline. Like every change it locks the post,
// so that a reader that resumes after the newest event cannot miss an older one.
func (s *LedgerStore) AddEvent(
	ctx context.Context, postID uuid.UUID, targetID *uuid.UUID, event, actor string, data map[string]any,
) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockPost(ctx, postID)
		if err != nil {
			return err
		}
		return addEvent(ctx, q, row, targetID, event, actor, data)
	})
}

// CountPlanned returns the number of calls planned for an account in a time window,
// counting at most limit posts.
func (s *PostStore) CountPlanned(
	ctx context.Context, workspaceID, account uuid.UUID, from, to time.Time, limit int,
) (int, error) {
	n, err := s.q.CountPlanned(ctx, db.CountPlannedParams{
		WorkspaceID: workspaceID, AccountID: account, FromTime: from, ToTime: to, Most: limit,
	})
	return int(n), err
}

// AddEventOnce is AddEvent for states that may last long: it adds nothing if the
// newest entry about the target has the same type.
func (s *LedgerStore) AddEventOnce(
	ctx context.Context, postID, targetID uuid.UUID, event, actor string, data map[string]any,
) (said bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockPost(ctx, postID)
		if err != nil {
			return err
		}
		last, err := q.LastEventType(ctx, db.LastEventTypeParams{PostID: postID, TargetID: &targetID})
		if err != nil && !tx.NoRows(err) || last == event {
			return err
		}
		said = true
		return addEvent(ctx, q, row, &targetID, event, actor, data)
	})
	return said && err == nil, err
}

// SetPlatformMedia stores the network's handles of media uploaded for an account.
func (s *LedgerStore) SetPlatformMedia(
	ctx context.Context, postID uuid.UUID, revision int64, accountID uuid.UUID, handles json.RawMessage,
) error {
	return s.q.SetPlatformMedia(ctx, db.SetPlatformMediaParams{
		PostID: postID, Revision: revision, AccountID: accountID.String(), Handles: handles,
	})
}

func orJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
