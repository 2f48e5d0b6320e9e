package scheduling

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
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
func (s *Scheduler) Confirm(
	ctx context.Context, g post.Guard, target uuid.UUID, address, remoteID string,
) (post.Post, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "invalid", Message: "Give the URL of the published post.",
		})
	}
	if remoteID == "" {
		// Most networks end a permalink with the post's id.
		segments := strings.Split(strings.Trim(u.Path, "/"), "/")
		remoteID = segments[len(segments)-1]
	}
	switch {
	case remoteID == "":
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "invalid",
			Message: "The URL does not contain a post id. Give the URL of the post itself.",
		})
	case !isValidText(address) || !isValidText(remoteID):
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "invalid", Message: "The address and the id must be valid UTF-8 without NUL.",
		})
	}
	return s.notifyChange(ctx, func() (post.Post, error) {
		return s.Store.Decide(ctx, g, post.Decision{
			TargetID: target, Exists: true, RemoteID: remoteID, RemoteURL: address,
		})
	})
}

// Resend records that an uncertain post does not exist, and publishes it again.
func (s *Scheduler) Resend(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) {
		return s.Store.Decide(ctx, g, post.Decision{TargetID: target})
	})
}

// DeletePublished deletes what is published of a target at its network, the last segment
// of a thread first. It publishes nothing, now or later: the target stays posted. A
// failed deletion can be repeated, because deleting again is no error.
func (s *Scheduler) DeletePublished(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error) {
	p, err := s.Store.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return post.Post{}, err
	}
	if g.IfVersion != 0 && g.IfVersion != p.Version {
		return post.Post{}, post.VersionMismatch(p.Version)
	}
	i := slices.IndexFunc(p.Targets, func(t post.Target) bool { return t.ID == target })
	if i < 0 || p.Targets[i].Status != post.TargetPosted || p.Targets[i].DeletedAt != nil {
		return post.Post{}, post.NotDeletable()
	}
	published, err := s.Store.PublishedSegments(ctx, target)
	if err != nil {
		return post.Post{}, err
	}
	_, opened, err := s.Accounts.Open(ctx, p.Targets[i].AccountID)
	if err != nil {
		return post.Post{}, err
	}
	adapter, ok := s.Networks.Get(p.Targets[i].Network)
	if !ok || opened.Token.Empty() {
		return post.Post{}, cannotDelete("The account is not connected. Reconnect it, or delete the post " +
			"there yourself.")
	}
	for _, segment := range slices.Backward(published) {
		if e := network.AsError(adapter.Delete(ctx, opened, segment.RemoteID)); e != nil {
			s.Log.WarnContext(ctx, "a published post was not deleted", "post_id", p.ID, "target_id", target, "network",
				adapter.Name(),
				"class", e.Class, "code", e.Code, "status", e.Status, "request_id", e.RequestID)
			if e.Code == network.CodeUnsupported {
				return post.Post{}, cannotDelete("The network does not let Dateline delete posts. Delete it " +
					"there yourself.")
			}
			return post.Post{}, cannotDelete("The network did not delete it: " + e.Message +
				" Try again, or delete it there yourself.")
		}
	}
	// It is gone there: a change of the post meanwhile does not matter.
	g.IfVersion = 0
	return s.notifyChange(context.WithoutCancel(ctx), func() (post.Post, error) {
		return s.Store.Deleted(context.WithoutCancel(ctx), g, target)
	})
}

func cannotDelete(sentence string) *apperr.Error {
	return &apperr.Error{Kind: apperr.KindConflict, Code: "not_deleted", Message: sentence}
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
func (s *Scheduler) BulkDeadLetters(
	ctx context.Context, actor string, f post.DeadLetterFilter, discard, dryRun bool,
) (DeadLetterResult, error) {
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
