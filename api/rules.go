package api

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/rule"
)

// RuleHandler serves rules.
type RuleHandler struct{ Rules Rules }

// Rules manages rules.
type Rules interface {
	List(ctx context.Context, who workspace.Principal) ([]rule.Rule, error)
	Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (rule.Rule, error)
	Create(ctx context.Context, who workspace.Principal, r rule.Rule, key idempotency.Key) (rule.Rule, bool, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64,
		change func(*rule.Rule)) (rule.Rule, error)
	Pause(ctx context.Context, who workspace.Principal, id uuid.UUID) (rule.Rule, error)
	Resume(ctx context.Context, who workspace.Principal, id uuid.UUID) (rule.Rule, error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
	Preview(ctx context.Context, who workspace.Principal, r rule.Rule) (rule.Preview, error)
	Decisions(ctx context.Context, who workspace.Principal, f rule.DecisionFilter) ([]rule.Decision, error)
	Resolve(ctx context.Context, who workspace.Principal, id uuid.UUID) (rule.Decision, error)
}

// ListRules lists rules.
func (s *RuleHandler) ListRules(
	ctx context.Context, _ spec.ListRulesRequestObject,
) (spec.ListRulesResponseObject, error) {
	all, err := s.Rules.List(ctx, principal(ctx))
	out := spec.ListRules200JSONResponse{Rules: []spec.Rule{}}
	for _, r := range all {
		out.Rules = append(out.Rules, articleRuleJSON(r))
	}
	return out, err
}

// CreateRule creates a rule.
func (s *RuleHandler) CreateRule(
	ctx context.Context, r spec.CreateRuleRequestObject,
) (spec.CreateRuleResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "rule", r.Body)
	if err != nil {
		return nil, err
	}
	one, replayed, err := s.Rules.Create(ctx, principal(ctx), articleRuleOf(r.Body), key)
	location, tag := "/api/v1/rules/"+one.ID.String(), ruleTag(one)
	return spec.CreateRule201JSONResponse{
		Body: articleRuleJSON(one),
		Headers: spec.CreateRule201ResponseHeaders{
			Location: &location, ETag: &tag,
			IdempotentReplayed: ifReplayed(replayed),
		},
	}, err
}

// PreviewRule previews a rule.
func (s *RuleHandler) PreviewRule(
	ctx context.Context, r spec.PreviewRuleRequestObject,
) (spec.PreviewRuleResponseObject, error) {
	p, err := s.Rules.Preview(ctx, principal(ctx), articleRuleOf(r.Body))
	out := spec.PreviewRule200JSONResponse{
		From: p.From, To: p.To, Articles: p.Articles, Partial: p.IsPartial,
		Counts: map[string]int{}, Decisions: []spec.RulePreviewDecision{},
	}
	for reason, n := range p.Counts {
		out.Counts[string(reason)] = n
	}
	for _, d := range p.Decisions {
		one := spec.RulePreviewDecision{
			ArticleId: d.ArticleID, Title: d.Title, Url: d.URL,
			Outcome: spec.RuleOutcome(d.Outcome), Reason: spec.RuleReason(d.Reason),
			Params: paramsJSON(d.Params), DecidedAt: d.DecidedAt, PublishAt: d.PublishAt,
		}
		one.Texts = make([]spec.RuleText, 0, len(d.Texts))
		for _, t := range d.Texts {
			one.Texts = append(one.Texts, spec.RuleText{
				AccountId: t.AccountID, Network: t.Network, Text: t.Text, Characters: t.Length,
				MaxCharacters: optional.Of(t.MaxLength),
			})
		}
		out.Decisions = append(out.Decisions, one)
	}
	return out, err
}

// GetRule gets a rule.
func (s *RuleHandler) GetRule(ctx context.Context, r spec.GetRuleRequestObject) (spec.GetRuleResponseObject, error) {
	answer, err := oneRule(s.Rules.Get(ctx, principal(ctx), r.Id))
	return spec.GetRule200JSONResponse{OneRuleJSONResponse: answer}, err
}

// UpdateRule replaces the name and definition of a rule.
func (s *RuleHandler) UpdateRule(
	ctx context.Context, r spec.UpdateRuleRequestObject,
) (spec.UpdateRuleResponseObject, error) {
	version, err := versionOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	answer, err := oneRule(s.Rules.Update(ctx, principal(ctx), r.Id, version, func(to *rule.Rule) {
		from := articleRuleOf(r.Body)
		to.Name, to.Definition = from.Name, from.Definition
	}))
	return spec.UpdateRule200JSONResponse{OneRuleJSONResponse: answer}, err
}

// PauseRule pauses a rule.
func (s *RuleHandler) PauseRule(
	ctx context.Context, r spec.PauseRuleRequestObject,
) (spec.PauseRuleResponseObject, error) {
	answer, err := oneRule(s.Rules.Pause(ctx, principal(ctx), r.Id))
	return spec.PauseRule200JSONResponse{OneRuleJSONResponse: answer}, err
}

// ResumeRule resumes a rule.
func (s *RuleHandler) ResumeRule(
	ctx context.Context, r spec.ResumeRuleRequestObject,
) (spec.ResumeRuleResponseObject, error) {
	answer, err := oneRule(s.Rules.Resume(ctx, principal(ctx), r.Id))
	return spec.ResumeRule200JSONResponse{OneRuleJSONResponse: answer}, err
}

// DeleteRule deletes a rule.
func (s *RuleHandler) DeleteRule(
	ctx context.Context, r spec.DeleteRuleRequestObject,
) (spec.DeleteRuleResponseObject, error) {
	return spec.DeleteRule204Response{}, s.Rules.Delete(ctx, principal(ctx), r.Id)
}

// ListRuleDecisions lists decisions.
func (s *RuleHandler) ListRuleDecisions(
	ctx context.Context, r spec.ListRuleDecisionsRequestObject,
) (spec.ListRuleDecisionsResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	all, err := s.Rules.Decisions(ctx, principal(ctx),
		rule.DecisionFilter{
			RuleID: r.Params.RuleId, Outcome: rule.Outcome(optional.Value(r.Params.Outcome)),
			NeedsAttention: optional.Value(r.Params.NeedsAttention), Before: optional.Value(r.Params.Cursor),
			Limit: limit + 1,
		})
	if err != nil {
		return nil, err
	}
	out := spec.ListRuleDecisions200JSONResponse{Decisions: []spec.RuleDecision{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = &all[limit-1].ID
	}
	for _, d := range all {
		out.Decisions = append(out.Decisions, decisionJSON(d))
	}
	return out, nil
}

// ResolveRuleDecision records that a post needs no more attention.
func (s *RuleHandler) ResolveRuleDecision(
	ctx context.Context, r spec.ResolveRuleDecisionRequestObject,
) (spec.ResolveRuleDecisionResponseObject, error) {
	d, err := s.Rules.Resolve(ctx, principal(ctx), r.Id)
	return spec.ResolveRuleDecision200JSONResponse(decisionJSON(d)), err
}

func oneRule(r rule.Rule, err error) (spec.OneRuleJSONResponse, error) {
	tag := ruleTag(r)
	return spec.OneRuleJSONResponse{Body: articleRuleJSON(r), Headers: spec.OneRuleResponseHeaders{ETag: &tag}}, err
}

func ruleTag(r rule.Rule) string { return `"` + strconv.FormatInt(r.Version, 10) + `"` }

// ruleOf reads a rule. Definitions have the same JSON in the API and in the database.
func articleRuleOf(b *spec.RuleCreate) rule.Rule {
	r := rule.Rule{Name: b.Name}
	copyJSON(b.Definition, &r.Definition)
	return r
}

func articleRuleJSON(r rule.Rule) spec.Rule {
	out := spec.Rule{
		Id: r.ID, Name: r.Name, Status: spec.RuleStatus(r.Status),
		PauseReason: (*spec.RulePauseReason)(optional.Of(string(r.PauseReason))), PauseError: optional.Of(r.PauseError),
		PausedAt: r.PausedAt, PostsLast24Hours: r.PostsToday, AttentionCount: r.AttentionCount,
		LastDecisionAt: r.LastDecisionAt, Version: r.Version,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	copyJSON(r.Definition, &out.Definition)
	return out
}

func decisionJSON(d rule.Decision) spec.RuleDecision {
	out := spec.RuleDecision{
		Id: d.ID, RuleId: d.RuleID, ArticleId: d.ArticleID, Title: d.Title, Url: d.URL,
		Outcome: spec.RuleOutcome(d.Outcome), Reason: spec.RuleReason(d.Reason),
		Params: paramsJSON(d.Params), Attention: (*spec.RuleDecisionAttention)(optional.Of(string(d.Attention))),
		DecidedAt: d.DecidedAt,
	}
	if d.Outcome == rule.Created {
		out.PostId = d.PostID
	}
	if d.Round > 0 {
		out.Round = &d.Round
	}
	return out
}

func paramsJSON(p rule.Params) map[string]any {
	if p == nil {
		return map[string]any{}
	}
	return p
}

// copyJSON copies a value to a type with the same JSON.
func copyJSON(from, to any) {
	raw, err := json.Marshal(from)
	if err == nil {
		_ = json.Unmarshal(raw, to)
	}
}
