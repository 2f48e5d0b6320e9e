package api

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/account"
)

// How long a response waits for avatars, and how wide they are at most.
const (
	avatarTimeout = 2 * time.Second
	avatarWidth   = 96
)

// MentionFinder searches for accounts that a post can mention.
type MentionFinder interface {
	Find(ctx context.Context, who workspace.Principal, id uuid.UUID, query string) ([]account.Mention, error)
}

// FindMentions searches for accounts to mention.
func (s *LinkPreviewHandler) FindMentions(
	ctx context.Context, r spec.FindMentionsRequestObject,
) (spec.FindMentionsResponseObject, error) {
	found, err := s.Mentions.Find(ctx, principal(ctx), r.Id, r.Params.Q)
	if err != nil {
		return nil, err
	}
	// Avatars come from any server, so they are fetched from public addresses only and
	// re-encoded. Without one, the account is still listed.
	imagesCtx, cancel := context.WithTimeout(ctx, avatarTimeout)
	defer cancel()
	out := spec.FindMentions200JSONResponse{Mentions: make([]spec.Mention, len(found))}
	var all sync.WaitGroup
	for i, m := range found {
		out.Mentions[i] = spec.Mention{Handle: m.Handle, Name: m.Name}
		if m.AvatarURL == "" {
			continue
		}
		all.Go(func() {
			if jpeg, err := s.LinkCard.Image(imagesCtx, m.AvatarURL, avatarWidth); err == nil {
				out.Mentions[i].Avatar = dataURL(jpeg)
			}
		})
	}
	all.Wait()
	return out, nil
}
