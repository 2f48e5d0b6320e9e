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

// shown is what the Web UI and the visibility store show of the post.
type shown struct {
	status    post.Status
	at        time.Time
	platforms string
	account   string
}

// show brings search attributes and details up to date. Platform names all
// networks; AccountID is set for a post to a single account.
func (r *postRun) show() error {
	now := shownOf(r.view.Status, r.view.ScheduledTime, r.view.Targets)
	workflow.SetCurrentDetails(r.ctx, fmt.Sprintf("**%s**, due %s, to %s (%d accounts)",
		now.status, now.at.Format(time.RFC3339), now.platforms, len(r.view.Targets)))
	if now.same(r.shown) {
		return nil
	}
	r.shown = now
	return workflow.UpsertTypedSearchAttributes(r.ctx, now.updates()...)
}

func shownOf(status post.Status, at time.Time, targets []delivery.TargetView) shown {
	s := shown{status: status, at: at}
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

func (s shown) same(other shown) bool {
	return s.status == other.status && s.at.Equal(other.at) && s.platforms == other.platforms && s.account == other.account
}

func (s shown) updates() []temporal.SearchAttributeUpdate {
	account := AccountIDKey.ValueUnset()
	if s.account != "" {
		account = AccountIDKey.ValueSet(s.account)
	}
	return []temporal.SearchAttributeUpdate{PostStatusKey.ValueSet(string(s.status)), PublishAtKey.ValueSet(s.at),
		PlatformKey.ValueSet(s.platforms), account}
}

// shownAtStart is what the workflow was started with, see AttributesOf.
func shownAtStart(ctx workflow.Context) shown {
	attributes := workflow.GetTypedSearchAttributes(ctx)
	status, _ := attributes.GetKeyword(PostStatusKey)
	at, _ := attributes.GetTime(PublishAtKey)
	platforms, _ := attributes.GetKeyword(PlatformKey)
	account, _ := attributes.GetKeyword(AccountIDKey)
	return shown{status: post.Status(status), at: at, platforms: platforms, account: account}
}

// AttributesOf are the search attributes of a post as it is made. A workflow
// that is started with them need not set them first, which would cost an event
// and a write to the visibility store.
func AttributesOf(p post.Post) temporal.SearchAttributes {
	var targets []delivery.TargetView
	for _, t := range p.Targets {
		targets = append(targets, delivery.TargetView{AccountID: t.AccountID, Network: t.Network})
	}
	s := shownOf(p.Status, p.ScheduledTime, targets)
	updates := s.updates()
	if s.account == "" {
		updates = updates[:3] // nothing is set yet that could be unset
	}
	return temporal.NewSearchAttributes(updates...)
}
