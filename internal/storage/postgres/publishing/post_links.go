package publishing

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
)

// errLinkTaken reports that a code is used by another link, which takes a
// collision of 59 bits.
var errLinkTaken = errors.New("the short-link code is already in use")

// savePostLinks creates the missing short links of a post on its targets.
func savePostLinks(ctx context.Context, q *queries, p post.Post, targets []post.Target) error {
	if p.LinkBase == "" {
		return nil
	}
	in := db.InsertPostLinksParams{WorkspaceID: p.WorkspaceID, UserID: optional.Of(p.UserID), PostID: p.ID}
	for _, t := range targets {
		for _, l := range p.Links(t) {
			in.Codes, in.AccountIds, in.Urls = append(in.Codes, l.Code), append(in.AccountIds,
				t.AccountID), append(in.Urls, l.URL)
		}
	}
	if len(in.Codes) == 0 {
		return nil
	}
	n, err := q.InsertPostLinks(ctx, in)
	if err == nil && int(n) != len(in.Codes) {
		err = errLinkTaken
	}
	return err
}

// draftTargets returns targets before they have rows.
func draftTargets(accounts []uuid.UUID, overrides map[uuid.UUID]*post.Override) []post.Target {
	targets := make([]post.Target, len(accounts))
	for i, id := range accounts {
		targets[i] = post.Target{AccountID: id, Override: overrides[id]}
	}
	return targets
}
