package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// visibility is what the Web UI and the visibility store show about the post.
type visibility struct {
	status    post.Status
	at        time.Time
	platforms string
	account   string
}

// updateVisibility updates search attributes and details. Platform names all
// networks; AccountID is set for a post to a single account.
func (r *postRun) updateVisibility() error {
	now := visibilityOf(r.view.Status, r.view.ScheduledTime, r.view.Targets)
	workflow.SetCurrentDetails(r.ctx, fmt.Sprintf("**%s**, due %s, to %s (%d accounts)",
		now.status, now.at.Format(time.RFC3339), now.platforms, len(r.view.Targets)))
	if now.equal(r.visible) {
		return nil
	}
	r.visible = now
	return workflow.UpsertTypedSearchAttributes(r.ctx, now.updates()...)
}

func visibilityOf(status post.Status, at time.Time, targets []delivery.TargetView) visibility {
	s := visibility{status: status, at: at}
	var networks []string
	for _, t := range targets {
		networks = append(networks, t.Network)
	}
	slices.Sort(networks)
	s.platforms = strings.Join(slices.Compact(networks), ",")
	if len(targets) == 1 {
		s.account = targets[0].AccountID.String()
	}
	return s
}

func (s visibility) equal(other visibility) bool {
	return s.status == other.status && s.at.Equal(other.at) && s.platforms == other.platforms &&
		s.account == other.account
}

func (s visibility) updates() []temporal.SearchAttributeUpdate {
	account := AccountIDKey.ValueUnset()
	if s.account != "" {
		account = AccountIDKey.ValueSet(s.account)
	}
	return []temporal.SearchAttributeUpdate{
		PostStatusKey.ValueSet(string(s.status)), PublishAtKey.ValueSet(s.at),
		PlatformKey.ValueSet(s.platforms), account,
	}
}

// visibilityAtStart is the visibility that the workflow was started with, see
// AttributesOf.
func visibilityAtStart(ctx workflow.Context) visibility {
	attributes := workflow.GetTypedSearchAttributes(ctx)
	status, _ := attributes.GetKeyword(PostStatusKey)
	at, _ := attributes.GetTime(PublishAtKey)
	platforms, _ := attributes.GetKeyword(PlatformKey)
	account, _ := attributes.GetKeyword(AccountIDKey)
	return visibility{status: post.Status(status), at: at, platforms: platforms, account: account}
}

// AttributesOf returns the search attributes of a new post. A workflow that is
// started with them need not set them first, which would cost an event and a write
// to the visibility store.
func AttributesOf(p post.Post) temporal.SearchAttributes {
	var targets []delivery.TargetView
	for _, t := range p.Targets {
		targets = append(targets, delivery.TargetView{AccountID: t.AccountID, Network: t.Network})
	}
	s := visibilityOf(p.Status, p.ScheduledTime, targets)
	updates := s.updates()
	if s.account == "" {
		updates = updates[:3] // there is nothing to unset yet
	}
	return temporal.NewSearchAttributes(updates...)
}
