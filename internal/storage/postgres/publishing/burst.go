package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
)

// ClaimAll is Claim for a burst of calls, in one statement. ok reports, in order,
// which calls were claimed.
func (s *LedgerStore) ClaimAll(
	ctx context.Context, calls []post.Call, lease time.Duration,
) (claimed []post.Call, ok []bool, err error) {
	p := db.ClaimTargetsParams{LeaseSeconds: lease.Seconds()}
	at := make(map[uuid.UUID]int, len(calls))
	for i, c := range calls {
		at[c.OperationID] = i
		p.TargetIds = append(p.TargetIds, c.TargetID)
		p.PostIds = append(p.PostIds, c.PostID)
		p.Segments = append(p.Segments, c.Segment)
		p.Revisions = append(p.Revisions, c.Revision)
		p.OperationIds = append(p.OperationIds, c.OperationID)
		p.Epochs = append(p.Epochs, c.Epoch)
		p.IdempotencyKeys = append(p.IdempotencyKeys, c.IdempotencyKey)
		p.Fingerprints = append(p.Fingerprints, c.Fingerprint)
		p.ContentKeys = append(p.ContentKeys, c.ContentKey)
		p.Prepared = append(p.Prepared, string(orJSON(c.Prepared)))
	}
	rows, err := s.q.ClaimTargets(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	claimed, ok = calls, make([]bool, len(calls))
	for _, row := range rows {
		i := at[row.OperationID]
		claimed[i].Fence, claimed[i].SentAt, claimed[i].ClaimedUntil = row.Fence, row.SentAt, *row.ClaimedUntil
		ok[i] = true
	}
	return claimed, ok, nil
}

// RecordPosted is Finish for a burst of calls that the networks accepted. ok
// reports, in order, which of them still held their claim.
func (s *LedgerStore) RecordPosted(ctx context.Context, outcomes []post.Outcome) (ok []bool, err error) {
	ok = make([]bool, len(outcomes))
	err = s.inTx(ctx, func(q *queries) error {
		postIDs := make([]uuid.UUID, len(outcomes))
		for i, o := range outcomes {
			postIDs[i] = o.PostID
		}
		locked, err := q.LockPosts(ctx, postIDs)
		if err != nil {
			return err
		}
		before := make(map[uuid.UUID]db.ScheduledPost, len(locked))
		for _, row := range locked {
			before[row.PostID] = row
		}
		var p db.FinishPostedParams
		at := make(map[uuid.UUID]int, len(outcomes))
		for i, o := range outcomes {
			if before[o.PostID].Revision != o.Revision {
				continue
			}
			at[o.TargetID] = i
			p.TargetIds = append(p.TargetIds, o.TargetID)
			p.Fences = append(p.Fences, o.Fence)
			p.RemoteIds = append(p.RemoteIds, o.RemoteID)
			p.RemoteUrls = append(p.RemoteUrls, o.RemoteURL)
			p.SentAts = append(p.SentAts, *o.SentAt)
			p.PostedAts = append(p.PostedAts, *o.PostedAt)
		}
		done, err := q.FinishPosted(ctx, p)
		if err != nil {
			return err
		}
		finished := make([]post.Outcome, 0, len(done))
		for _, target := range done {
			ok[at[target]] = true
			finished = append(finished, outcomes[at[target]])
		}
		return recordPosted(ctx, q, finished, before)
	})
	return ok, err
}

// recordPosted updates the ledger, posts and timeline for finished targets.
func recordPosted(
	ctx context.Context, q *queries, finished []post.Outcome, before map[uuid.UUID]db.ScheduledPost,
) error {
	var ledger db.AcceptOperationsParams
	var remote db.InsertRemotePostsParams
	var events db.InsertEventsParams
	posts := make([]uuid.UUID, 0, len(finished))
	for _, o := range finished {
		evidence, err := column.Object(o.Evidence)
		if err != nil {
			return err
		}
		data, err := column.Object(o.EventData)
		if err != nil {
			return err
		}
		ledger.OperationIds = append(ledger.OperationIds, o.OperationID)
		ledger.RemoteIds = append(ledger.RemoteIds, o.RemoteID)
		ledger.Evidence = append(ledger.Evidence, string(evidence))
		addRemote(&remote, o)
		posts = append(posts, o.PostID)
		addTo(&events, o.PostID, before[o.PostID].WorkspaceID, o.TargetID, o.Event, string(data))
	}
	if err := q.AcceptOperations(ctx, ledger); err != nil {
		return err
	}
	if _, err := q.InsertRemotePosts(ctx, remote); err != nil {
		return err
	}
	rolled, err := q.RollUpPosts(ctx, db.RollUpPostsParams{PostIds: posts})
	if err != nil {
		return err
	}
	for _, row := range rolled {
		if row.Status != before[row.PostID].Status && post.Status(row.Status).IsFinal() {
			addTo(&events, row.PostID, row.WorkspaceID, uuid.Nil, post.EventStatus,
				`{"status":"`+string(row.Status)+`"}`)
		}
	}
	return q.InsertEvents(ctx, events)
}

func addTo(e *db.InsertEventsParams, postID, workspaceID, target uuid.UUID, kind, data string) {
	e.PostIds = append(e.PostIds, postID)
	e.WorkspaceIds = append(e.WorkspaceIds, workspaceID)
	e.TargetIds = append(e.TargetIds, target)
	e.Types = append(e.Types, kind)
	e.Data = append(e.Data, data)
}

const maxDueCount = 20_000

// CountDue returns the number of posts due in a time window, up to maxDueCount.
func (s *LedgerStore) CountDue(ctx context.Context, from, to time.Time) (int, error) {
	n, err := s.q.CountDue(ctx, db.CountDueParams{FromTime: &from, ToTime: &to, Most: maxDueCount})
	return int(n), err
}
