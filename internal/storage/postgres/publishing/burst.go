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

// RecordPosted is RecordOutcome for a burst of calls that the networks accepted, in one
// statement. ok reports, in order, which of them still held their claim.
func (s *LedgerStore) RecordPosted(ctx context.Context, outcomes []post.Outcome) (ok []bool, err error) {
	var p db.RecordPostedParams
	at := make(map[uuid.UUID]int, len(outcomes))
	for i, o := range outcomes {
		evidence, err := column.Object(o.Evidence)
		if err != nil {
			return nil, err
		}
		data, err := column.Object(o.EventData)
		if err != nil {
			return nil, err
		}
		at[o.OperationID] = i
		p.TargetIds = append(p.TargetIds, o.TargetID)
		p.PostIds = append(p.PostIds, o.PostID)
		p.Revisions = append(p.Revisions, o.Revision)
		p.Fences = append(p.Fences, o.Fence)
		p.OperationIds = append(p.OperationIds, o.OperationID)
		p.RemoteIds = append(p.RemoteIds, o.RemoteID)
		p.RemoteUrls = append(p.RemoteUrls, o.RemoteURL)
		p.SentAts = append(p.SentAts, *o.SentAt)
		p.PostedAts = append(p.PostedAts, *o.PostedAt)
		p.Evidence = append(p.Evidence, string(evidence))
		p.Data = append(p.Data, string(data))
	}
	recorded, err := s.q.RecordPosted(ctx, p)
	if err != nil {
		return nil, err
	}
	ok = make([]bool, len(outcomes))
	for _, operation := range recorded {
		ok[at[operation]] = true
	}
	return ok, nil
}

const maxDueCount = 20_000

// CountDue returns the number of posts due in a time window, up to maxDueCount.
func (s *LedgerStore) CountDue(ctx context.Context, from, to time.Time) (int, error) {
	n, err := s.q.CountDue(ctx, db.CountDueParams{FromTime: &from, ToTime: &to, Most: maxDueCount})
	return int(n), err
}
