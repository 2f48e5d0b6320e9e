package delivery_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
)

// memoryStore stores posts and their ledger in memory, by the same rules as Postgres.
// Tests in virtual time (package synctest) need a store without I/O.
type memoryStore struct {
	// before runs before each call with the method's name. If it returns an error, the
	// call returns it and has no effect.
	before func(method string) error

	mu      sync.Mutex
	posts   map[uuid.UUID]*post.Post
	parents map[uuid.UUID]parent
	calls   []*storedCall
	remote  []remotePost
	events  []storedEvent
}

var _ delivery.Store = (*memoryStore)(nil)

type parent struct {
	status   post.TargetStatus
	remoteID string
}

// storedCall is a row of the ledger.
type storedCall struct {
	post.Call
	State    string
	RemoteID string
}

type remotePost struct {
	target  uuid.UUID
	segment post.PublishedSegment
}

type storedEvent struct {
	target uuid.UUID
	kind   string
	data   map[string]any
	at     time.Time
}

var errMemory = errors.New("the database does not respond")

func (s *memoryStore) call(ctx context.Context, method string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.before != nil {
		return s.before(method)
	}
	return nil
}

func (s *memoryStore) target(id uuid.UUID) (*post.Post, *post.Target) {
	for _, p := range s.posts {
		for i := range p.Targets {
			if p.Targets[i].ID == id {
				return p, &p.Targets[i]
			}
		}
	}
	return nil, nil
}

func (s *memoryStore) add(p *post.Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posts == nil {
		s.posts = map[uuid.UUID]*post.Post{}
	}
	s.posts[p.ID] = p
}

// ledger returns the states of a target's calls in order.
func (s *memoryStore) ledger(target uuid.UUID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := []string{}
	for _, c := range s.calls {
		if c.TargetID == target {
			states = append(states, c.State)
		}
	}
	return states
}

// timeline returns the types of a target's events.
func (s *memoryStore) timeline(target uuid.UUID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := []string{}
	for _, e := range s.events {
		if e.target == target {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

// lastEvent returns the data of the newest event of a type.
func (s *memoryStore) lastEvent(kind string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.events) {
		if e.kind == kind {
			return e.data
		}
	}
	return nil
}

func (s *memoryStore) Post(ctx context.Context, id uuid.UUID) (post.Post, error) {
	if err := s.call(ctx, "Post"); err != nil {
		return post.Post{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := *s.posts[id]
	p.Targets = slices.Clone(p.Targets)
	return p, nil
}

func (s *memoryStore) Parent(ctx context.Context, id, _ uuid.UUID) (post.TargetStatus, string, error) {
	if err := s.call(ctx, "Parent"); err != nil {
		return "", "", err
	}
	return s.parents[id].status, s.parents[id].remoteID, nil
}

func (s *memoryStore) MediaByID(ctx context.Context, _ uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error) {
	items := map[uuid.UUID]media.Item{}
	for _, id := range ids {
		items[id] = media.Item{ID: id, FileName: "harbour.png", SHA256: id[:]}
	}
	return items, s.call(ctx, "MediaByID")
}

func (s *memoryStore) PublishedSegments(ctx context.Context, target uuid.UUID) ([]post.PublishedSegment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var segments []post.PublishedSegment
	for _, r := range s.remote {
		if r.target == target {
			segments = append(segments, r.segment)
		}
	}
	return segments, s.call(ctx, "PublishedSegments")
}

func (s *memoryStore) Claim(ctx context.Context, c post.Call, lease time.Duration) (post.Call, bool, error) {
	if err := s.call(ctx, "Claim"); err != nil {
		return c, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, t := s.target(c.TargetID)
	now := time.Now()
	free := p.Revision == c.Revision && !p.Status.IsFinal() && t.Status.IsOpen() &&
		(t.ClaimedUntil == nil || t.ClaimedUntil.Before(now))
	for _, other := range s.calls {
		same := other.Segment == c.Segment && other.Revision == c.Revision && other.Epoch == c.Epoch
		free = free && (other.TargetID != c.TargetID || !other.isOpen() && !same)
	}
	for _, r := range s.remote {
		free = free && (r.target != c.TargetID || r.segment.Segment != c.Segment)
	}
	if !free {
		return c, false, nil
	}
	until := now.Add(lease)
	p.Status, t.Status, t.ClaimedUntil = post.Publishing, post.TargetPublishing, &until
	t.Fence++
	c.Fence, c.SentAt, c.ClaimedUntil = t.Fence, now, until
	if p.ScheduledTime.After(now) {
		c.SentAt = p.ScheduledTime
	}
	s.calls = append(s.calls, &storedCall{Call: c, State: post.CallSending})
	s.events = append(s.events, storedEvent{c.TargetID, post.EventSending, nil, now})
	return c, true, nil
}

func (c *storedCall) isOpen() bool {
	return c.State == post.CallSending || c.State == post.CallAmbiguous
}

func (c *storedCall) isUnresolved() bool {
	return c.State == post.CallAmbiguous || c.State == post.CallReconciledAbsent || c.State == post.CallManual
}

func (s *memoryStore) RenewClaim(
	ctx context.Context, target uuid.UUID, fence int64, lease time.Duration,
) (bool, error) {
	if err := s.call(ctx, "RenewClaim"); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, t := s.target(target)
	if t.Fence != fence || t.Status != post.TargetPublishing {
		return false, nil
	}
	until := time.Now().Add(lease)
	t.ClaimedUntil = &until
	return true, nil
}

func (s *memoryStore) TakeOver(
	ctx context.Context, c post.Call, fence int64, lease time.Duration,
) (int64, bool, error) {
	if err := s.call(ctx, "TakeOver"); err != nil {
		return 0, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, t := s.target(c.TargetID)
	now := time.Now()
	if t.Fence != fence || t.Status != post.TargetPublishing || t.ClaimedUntil != nil && !t.ClaimedUntil.Before(now) ||
		!s.find(c.OperationID).isOpen() {
		return 0, false, nil
	}
	until := now.Add(lease)
	t.ClaimedUntil = &until
	t.Fence++
	return t.Fence, true, nil
}

func (s *memoryStore) find(operation uuid.UUID) *storedCall {
	for _, c := range s.calls {
		if c.OperationID == operation {
			return c
		}
	}
	return &storedCall{}
}

func (s *memoryStore) OpenCall(ctx context.Context, target uuid.UUID) (post.Call, bool, error) {
	if err := s.call(ctx, "OpenCall"); err != nil {
		return post.Call{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Backward(s.calls) {
		if c.TargetID == target && c.isOpen() {
			open := c.Call
			open.ContentKey = nil // Postgres does not return it
			return open, true, nil
		}
	}
	return post.Call{}, false, nil
}

func (s *memoryStore) LastEpoch(
	ctx context.Context, target uuid.UUID, segment int, revision int64,
) (epoch int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.TargetID == target && c.Segment == segment && c.Revision == revision {
			epoch = max(epoch, c.Epoch)
		}
	}
	return epoch, s.call(ctx, "LastEpoch")
}

func (s *memoryStore) CountUnresolvedSends(
	ctx context.Context, target uuid.UUID, segment int, revision int64,
) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.TargetID == target && c.Segment == segment && c.Revision == revision && c.isUnresolved() {
			n++
		}
	}
	return n, s.call(ctx, "CountUnresolvedSends")
}

func (s *memoryStore) UnresolvedSince(
	ctx context.Context, target uuid.UUID, segment int, except uuid.UUID,
) (time.Time, bool, error) {
	if err := s.call(ctx, "UnresolvedSince"); err != nil {
		return time.Time{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.TargetID == target && c.Segment == segment && c.OperationID != except && c.isUnresolved() {
			return c.SentAt, true, nil
		}
	}
	return time.Time{}, false, nil
}

func (s *memoryStore) SetCallState(ctx context.Context, operation uuid.UUID, state string, _ map[string]any) error {
	if err := s.call(ctx, "SetCallState"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.find(operation); c.isOpen() {
		c.State = state
	}
	return nil
}

func (s *memoryStore) ClaimedRemoteIDs(ctx context.Context, _ uuid.UUID, since time.Time) (map[string]bool, error) {
	if err := s.call(ctx, "ClaimedRemoteIDs"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimed(since), nil
}

func (s *memoryStore) claimed(since time.Time) map[string]bool {
	ids := map[string]bool{}
	for _, r := range s.remote {
		if r.segment.PostedAt.After(since) {
			ids[r.segment.RemoteID] = true
		}
	}
	return ids
}

func (s *memoryStore) SimilarCalls(
	ctx context.Context, _ uuid.UUID, call post.Call, since time.Time,
) (post.SimilarCalls, error) {
	if err := s.call(ctx, "SimilarCalls"); err != nil {
		return post.SimilarCalls{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := post.SimilarCalls{KnownRemoteIDs: s.claimed(since)}
	for _, c := range s.calls {
		if slices.Equal(c.ContentKey, call.ContentKey) && (c.isOpen() || c.State == post.CallManual) {
			out.Calls = append(out.Calls, post.SimilarCall{
				OperationID: c.OperationID, Fingerprint: hex.EncodeToString(c.Fingerprint), State: c.State,
				SentAt: c.SentAt,
			})
		}
		if c.State == post.CallSending && c.OperationID != call.OperationID {
			out.InFlight++
		}
	}
	return out, nil
}

func (s *memoryStore) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	if err := s.call(ctx, "RecordOutcome"); err != nil {
		return post.Post{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, t := s.target(o.TargetID)
	if p.Revision != o.Revision || t.Fence != o.Fence || !t.Status.IsOpen() {
		return post.Post{}, false, nil
	}
	t.Status, t.ClaimedUntil, t.ErrorClass, t.ErrorCode, t.ErrorMessage, t.PostedAt = o.Status, nil, o.ErrorClass,
		o.ErrorCode, o.Error, o.PostedAt
	t.Attempts += o.Attempts
	if o.RemoteID != "" {
		if o.Status.IsOpen() {
			t.Attempts = 0
		}
		if o.Segment == 0 {
			t.RemoteID, t.RemoteURL, t.SentAt = o.RemoteID, o.RemoteURL, o.SentAt
		}
		s.remote = append(s.remote, remotePost{
			o.TargetID, post.PublishedSegment{
				Segment: o.Segment, RemoteID: o.RemoteID, RemoteURL: o.RemoteURL,
				SentAt: o.SentAt, PostedAt: time.Now(),
			},
		})
	}
	if c := s.find(o.OperationID); c.isOpen() {
		c.State, c.RemoteID = o.Operation, o.RemoteID
	}
	if !slices.ContainsFunc(p.Targets, func(t post.Target) bool {
		return t.Status.IsOpen() ||
			t.Status == post.TargetUncertain
	}) {
		p.Status = post.Failed
		if t.Status == post.TargetPosted {
			p.Status = post.Posted
		}
	}
	s.events = append(s.events, storedEvent{o.TargetID, o.Event, o.EventData, time.Now()})
	return *p, true, nil
}

func (s *memoryStore) AddEvent(
	ctx context.Context, _ uuid.UUID, target *uuid.UUID, event, _ string, data map[string]any,
) error {
	if err := s.call(ctx, "AddEvent"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, storedEvent{*target, event, maps.Clone(data), time.Now()})
	return nil
}

func (s *memoryStore) AddEventOnce(
	ctx context.Context, id, target uuid.UUID, event, actor string, data map[string]any,
) (bool, error) {
	if err := s.call(ctx, "AddEventOnce"); err != nil {
		return false, err
	}
	if kinds := s.timeline(target); len(kinds) > 0 && kinds[len(kinds)-1] == event {
		return false, nil
	}
	return true, s.AddEvent(ctx, id, &target, event, actor, data)
}

func (s *memoryStore) SetPlatformMedia(
	ctx context.Context, id uuid.UUID, _ int64, account uuid.UUID, handles json.RawMessage,
) error {
	if err := s.call(ctx, "SetPlatformMedia"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := json.Marshal(map[string]json.RawMessage{account.String(): handles})
	s.posts[id].PlatformMedia = raw
	return err
}
