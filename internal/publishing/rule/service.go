package rule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/account"
)

// Store stores rules and decisions for members.
type Store interface {
	CreateRule(ctx context.Context, r Rule, limit int, key idempotency.Key) (created Rule, replayed bool, err error)
	Rules(ctx context.Context, workspace uuid.UUID) ([]Rule, error)
	Rule(ctx context.Context, workspace, id uuid.UUID) (Rule, error)
	UpdateRule(ctx context.Context, r Rule, ifVersion int64) (Rule, error)
	SetRuleStatus(ctx context.Context, workspace, id uuid.UUID, s Status, reason PauseReason) (Rule, error)
	DeleteRule(ctx context.Context, workspace, id uuid.UUID) error
	RuleDecisions(ctx context.Context, f DecisionFilter) ([]Decision, error)
	ResolveDecision(ctx context.Context, workspace, id uuid.UUID) (Decision, error)
}

// Lookup finds what rules refer to.
type Lookup interface {
	AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]account.Account, error)
	Groups(ctx context.Context, workspace uuid.UUID) ([]account.Group, error)
}

// DecisionFilter selects decisions of a workspace. Zero values select all.
type DecisionFilter struct {
	WorkspaceID    uuid.UUID
	RuleID         *uuid.UUID
	Outcome        Outcome
	NeedsAttention bool
	Before         uuid.UUID // only older ones; uuid.Max: all
	Limit          int
}

// Service manages rules for the members of a workspace.
type Service struct {
	Store  Store
	Lookup Lookup
	Engine *Engine
}

// List lists the rules of a workspace, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Rule, error) {
	return s.Store.Rules(ctx, who.WorkspaceID)
}

// Get returns a rule.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Rule, error) {
	return s.Store.Rule(ctx, who.WorkspaceID, id)
}

// Create stores a rule. It evaluates the articles that are stored from now on.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, r Rule, key idempotency.Key,
) (Rule, bool, error) {
	r.ID, r.WorkspaceID, r.UserID = uuid.Must(uuid.NewV7()), who.WorkspaceID, who.UserID
	if err := s.check(ctx, &r); err != nil {
		return Rule{}, false, err
	}
	return s.Store.CreateRule(ctx, r, MaxRules, key)
}

// Update changes a rule. Posts that it has created stay as they are.
func (s *Service) Update(
	ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, change func(*Rule),
) (Rule, error) {
	r, err := s.Store.Rule(ctx, who.WorkspaceID, id)
	if err != nil {
		return Rule{}, err
	}
	if ifVersion != 0 && ifVersion != r.Version {
		return Rule{}, VersionMismatch()
	}
	version := r.Version
	change(&r)
	if err := s.check(ctx, &r); err != nil {
		return Rule{}, err
	}
	return s.Store.UpdateRule(ctx, r, version)
}

// VersionMismatch refuses a change of a rule that was changed in the meantime.
func VersionMismatch() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindPreconditionFailed, Code: "version_mismatch",
		Message: "The rule was changed in the meantime. Load it again.",
	}
}

// Pause pauses a rule. Articles that arrive meanwhile are not evaluated later.
func (s *Service) Pause(ctx context.Context, who workspace.Principal, id uuid.UUID) (Rule, error) {
	return s.Store.SetRuleStatus(ctx, who.WorkspaceID, id, Paused, PausedByMember)
}

// Resume makes a paused rule evaluate the articles that are stored from now on.
func (s *Service) Resume(ctx context.Context, who workspace.Principal, id uuid.UUID) (Rule, error) {
	r, err := s.Store.Rule(ctx, who.WorkspaceID, id)
	if err != nil {
		return Rule{}, err
	}
	if err := s.check(ctx, &r); err != nil {
		return Rule{}, err
	}
	return s.Store.SetRuleStatus(ctx, who.WorkspaceID, id, Active, "")
}

// Delete deletes a rule and its decisions. Its posts stay.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteRule(ctx, who.WorkspaceID, id)
}

// Decisions lists decisions, the newest first.
func (s *Service) Decisions(ctx context.Context, who workspace.Principal, f DecisionFilter) ([]Decision, error) {
	f.WorkspaceID = who.WorkspaceID
	if f.Before == uuid.Nil {
		f.Before = uuid.Max
	}
	return s.Store.RuleDecisions(ctx, f)
}

// Resolve records that a member has looked at a post that needed attention.
func (s *Service) Resolve(ctx context.Context, who workspace.Principal, id uuid.UUID) (Decision, error) {
	return s.Store.ResolveDecision(ctx, who.WorkspaceID, id)
}

// Preview returns what a rule would have decided about the articles of the last seven
// days. It stores nothing.
func (s *Service) Preview(ctx context.Context, who workspace.Principal, r Rule) (Preview, error) {
	r.ID, r.WorkspaceID, r.UserID = uuid.Nil, who.WorkspaceID, who.UserID
	if err := s.check(ctx, &r); err != nil {
		return Preview{}, err
	}
	now := s.Engine.now()
	return s.Engine.Preview(ctx, r, now.Add(-previewPeriod), now)
}

const previewPeriod = 7 * 24 * time.Hour

// check normalizes a rule and names its invalid fields, also those that refer to
// something unknown.
func (s *Service) check(ctx context.Context, r *Rule) error {
	r.normalize()
	p := r.validate()
	known, err := s.Lookup.AccountsByID(ctx, r.WorkspaceID, r.AccountIDs)
	if err != nil {
		return err
	}
	for _, id := range r.AccountIDs {
		if !slices.ContainsFunc(known,
			func(a account.Account) bool { return a.ID == id && a.Status != account.Disconnected }) {
			p.add("account_ids", "unknown", "There is no connected account %s.", id)
		}
	}
	if r.GroupID != nil {
		groups, err := s.Lookup.Groups(ctx, r.WorkspaceID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(groups, func(g account.Group) bool { return g.ID == *r.GroupID })
		switch {
		case at < 0:
			p.add("group_id", "unknown", "There is no account group %s.", *r.GroupID)
		case r.Timing.When == NextFree && len(groups[at].Slots) == 0:
			p.add("group_id", "no_slots", "The queue of %s has no slots. Add some first.", groups[at].Name)
		}
	}
	if id := r.Trigger.SavedSearchID; id != nil {
		if _, err := s.Engine.Searches.MatchingArticles(ctx, r.WorkspaceID, *id, nil); isNotFound(err) {
			p.add("trigger.saved_search_id", "unknown", "There is no saved search %s.", *id)
		} else if err != nil {
			return err
		}
	}
	if len(p) == 0 {
		return nil
	}
	for i := range p {
		if p[i].Field != "name" {
			p[i].Field = "definition." + p[i].Field
		}
	}
	return apperr.InvalidFields(p...)
}
