package scheduling

import (
	"context"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// Retry publishes failed targets of a post again; no target ids mean all.
func (s *Scheduler) Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) { return s.Store.Retry(ctx, g, targets) })
}

// Discard discards dead letters of a post; no target ids mean all.
func (s *Scheduler) Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) { return s.Store.Discard(ctx, g, targets) })
}

// Confirm records that an uncertain post exists at a URL.
func (s *Scheduler) Confirm(ctx context.Context, g post.Guard, target uuid.UUID, address, remoteID string) (post.Post, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{Field: "url", Code: "invalid", Message: "Give the URL of the published post."})
	}
	if remoteID == "" {
		// Most networks end a permalink with the post's id.
		segments := strings.Split(strings.Trim(u.Path, "/"), "/")
		remoteID = segments[len(segments)-1]
	}
	switch {
	case remoteID == "":
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{Field: "url", Code: "invalid", Message: "The URL does not contain a post id. Give the URL of the post itself."})
	case !isValidText(address) || !isValidText(remoteID):
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{Field: "url", Code: "invalid", Message: "The address and the id must be valid UTF-8 without NUL."})
	}
	return s.notifyChange(ctx, func() (post.Post, error) {
		return s.Store.Decide(ctx, g, post.Decision{TargetID: target, Exists: true, RemoteID: remoteID, RemoteURL: address})
	})
}

// Resend records that an uncertain post does not exist, and publishes it again.
func (s *Scheduler) Resend(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) {
		return s.Store.Decide(ctx, g, post.Decision{TargetID: target})
	})
}

// maxBulk limits the posts of one bulk request; the caller repeats it while there are
// more.
const maxBulk = 1000

// DeadLetterResult is the result of a bulk request.
type DeadLetterResult struct {
	Posts   []uuid.UUID // changed
	Matched int         // dead letters found
	HasMore bool        // there are more than the limit
}

// BulkDeadLetters retries or discards all matching dead letters. It never resends
// uncertain ones.
func (s *Scheduler) BulkDeadLetters(ctx context.Context, actor string, f post.DeadLetterFilter, discard, dryRun bool) (DeadLetterResult, error) {
	f.Limit = maxBulk
	if !discard {
		f.Status = post.TargetFailed
	}
	letters, err := s.Store.DeadLetters(ctx, f)
	if err != nil {
		return DeadLetterResult{}, err
	}
	done := DeadLetterResult{Matched: len(letters), HasMore: len(letters) == maxBulk}
	targets := map[uuid.UUID][]uuid.UUID{}
	for _, l := range letters {
		if targets[l.PostID] == nil {
			done.Posts = append(done.Posts, l.PostID)
		}
		targets[l.PostID] = append(targets[l.PostID], l.TargetID)
	}
	if dryRun {
		return done, nil
	}
	changed := done.Posts[:0]
	for _, id := range done.Posts {
		g := post.Guard{WorkspaceID: f.WorkspaceID, PostID: id, Actor: actor}
		if discard {
			_, err = s.Discard(ctx, g, targets[id])
		} else {
			_, err = s.Retry(ctx, g, targets[id])
		}
		if isConflict(err) {
			continue // a concurrent request changed it
		}
		if err != nil {
			return done, err
		}
		changed = append(changed, id)
	}
	done.Posts = changed
	return done, nil
}
