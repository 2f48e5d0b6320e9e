package delivery

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Store is the database as a Publisher uses it.
type Store interface {
	PostStore
	ClaimStore
	LedgerStore
	OutcomeStore
	StagingStore
}

// PostStore reads posts and the objects they refer to.
type PostStore interface {
	Post(ctx context.Context, id uuid.UUID) (post.Post, error)
	Parent(ctx context.Context, postID, accountID uuid.UUID) (status post.TargetStatus, remoteID string, err error)
	MediaByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error)
	PublishedSegments(ctx context.Context, targetID uuid.UUID) ([]post.PublishedSegment, error)
}

// ClaimStore claims targets. A claim is a lease with a fencing token.
type ClaimStore interface {
	Claim(ctx context.Context, c post.Call, lease time.Duration) (claimed post.Call, ok bool, err error)
	RenewClaim(ctx context.Context, targetID uuid.UUID, fence int64, lease time.Duration) (ok bool, err error)
	TakeOver(ctx context.Context, c post.Call, fence int64, lease time.Duration) (newFence int64, ok bool, err error)
	OpenCall(ctx context.Context, targetID uuid.UUID) (c post.Call, found bool, err error)
	LastEpoch(ctx context.Context, targetID uuid.UUID, segment int, revision int64) (int, error)
}

// LedgerStore reads and marks recorded calls.
type LedgerStore interface {
	CountUnresolvedSends(ctx context.Context, targetID uuid.UUID, segment int, revision int64) (int, error)
	UnresolvedSince(ctx context.Context, targetID uuid.UUID, segment int, except uuid.UUID) (sent time.Time, found bool,
		err error)
	SetCallState(ctx context.Context, operationID uuid.UUID, state string, evidence map[string]any) error
	ClaimedRemoteIDs(ctx context.Context, accountID uuid.UUID, since time.Time) (map[string]bool, error)
	SimilarCalls(ctx context.Context, accountID uuid.UUID, call post.Call, since time.Time) (post.SimilarCalls, error)
}

// OutcomeStore records outcomes and timeline events.
type OutcomeStore interface {
	RecordOutcome(ctx context.Context, o post.Outcome) (p post.Post, ok bool, err error)
	AddEvent(ctx context.Context, postID uuid.UUID, targetID *uuid.UUID, event, actor string, data map[string]any) error
	AddEventOnce(ctx context.Context, postID, targetID uuid.UUID, event, actor string, data map[string]any) (added bool,
		err error)
}

// StagingStore saves uploads and prepared objects at a network.
type StagingStore interface {
	SetPlatformMedia(ctx context.Context, postID uuid.UUID, revision int64, accountID uuid.UUID,
		handles json.RawMessage) error
}

// Accounts opens an account's tokens at the time of use, and renews them.
type Accounts interface {
	Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error)
	Renew(ctx context.Context, id uuid.UUID, version int64) (account.Renewal, error)
	Refused(ctx context.Context, id uuid.UUID, version int64, e *network.Error) (noted bool, err error)
}

// Networks finds the adapter of a network.
type Networks interface {
	Get(name string) (network.Network, bool)
}

// LiveBus notifies open streams that a post has new events.
type LiveBus interface {
	Changed(ctx context.Context, postID uuid.UUID)
}
