package publishing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/rule"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateRule stores a rule, unless the workspace has reached the limit.
func (s *RuleStore) CreateRule(
	ctx context.Context, r rule.Rule, limit int, key idempotency.Key,
) (created rule.Rule, replayed bool, err error) {
	definition, err := json.Marshal(r.Definition)
	if err != nil {
		return rule.Rule{}, false, err
	}
	var row db.Rule
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, r.WorkspaceID, key, r.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err = q.GetRule(ctx, earlier)
			return tx.OrNotFound(err, "rule")
		}
		row, err = q.InsertRule(ctx, db.InsertRuleParams{
			ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID,
			Name: r.Name, Definition: definition,
			MaxRules: limit,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_rules",
				Message: fmt.Sprintf("A workspace can have %d rules. Delete one first.", limit),
			}
		}
		if err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, r.WorkspaceID, audit.RuleCreated, "rule", r.ID, map[string]any{"name": r.Name})
	})
	if err != nil {
		return rule.Rule{}, false, ruleNameError(err)
	}
	created, err = s.ruleWithFigures(ctx, row)
	return created, replayed, err
}

// Rules lists the rules of a workspace, the oldest first.
func (s *RuleStore) Rules(ctx context.Context, workspaceID uuid.UUID) ([]rule.Rule, error) {
	rows, err := s.q.ListRules(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	return s.rulesWithFigures(ctx, workspaceID, uuid.Nil, rows)
}

// Rule returns a rule of a workspace.
func (s *RuleStore) Rule(ctx context.Context, workspaceID, id uuid.UUID) (rule.Rule, error) {
	row, err := s.q.GetRuleInWorkspace(ctx, db.GetRuleInWorkspaceParams{ID: id, WorkspaceID: workspaceID})
	if err != nil {
		return rule.Rule{}, tx.OrNotFound(err, "rule")
	}
	return s.ruleWithFigures(ctx, row)
}

// RuleByID returns a rule of any workspace.
func (s *RuleStore) RuleByID(ctx context.Context, id uuid.UUID) (rule.Rule, error) {
	row, err := s.q.GetRule(ctx, id)
	if err != nil {
		return rule.Rule{}, tx.OrNotFound(err, "rule")
	}
	return articleRuleFromRow(row)
}

// UpdateRule stores a changed rule of the given version.
func (s *RuleStore) UpdateRule(ctx context.Context, r rule.Rule, version int64) (rule.Rule, error) {
	definition, err := json.Marshal(r.Definition)
	if err != nil {
		return rule.Rule{}, err
	}
	var row db.Rule
	err = s.inTx(ctx, func(q *queries) (err error) {
		row, err = q.UpdateRule(ctx, db.UpdateRuleParams{
			ID: r.ID, WorkspaceID: r.WorkspaceID, Name: r.Name, Definition: definition, Version: version,
		})
		if tx.NoRows(err) {
			return rule.VersionMismatch()
		}
		if err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, r.WorkspaceID, audit.RuleChanged, "rule", r.ID, nil)
	})
	if err != nil {
		return rule.Rule{}, ruleNameError(err)
	}
	return s.ruleWithFigures(ctx, row)
}

// SetRuleStatus pauses or resumes a rule. One that already has the status stays as it is.
func (s *RuleStore) SetRuleStatus(
	ctx context.Context, workspaceID, id uuid.UUID, status rule.Status, reason rule.PauseReason,
) (rule.Rule, error) {
	err := s.inTx(ctx, func(q *queries) error {
		if _, err := q.GetRuleInWorkspace(ctx,
			db.GetRuleInWorkspaceParams{ID: id, WorkspaceID: workspaceID}); err != nil {
			return tx.OrNotFound(err, "rule")
		}
		if status == rule.Paused {
			return pauseRule(ctx, q, id, reason, "")
		}
		_, err := q.ResumeRule(ctx, id)
		if tx.NoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.RuleResumed, "rule", id, nil)
	})
	if err != nil {
		return rule.Rule{}, err
	}
	return s.Rule(ctx, workspaceID, id)
}

// PauseRule pauses a rule of any workspace.
func (s *RuleStore) PauseRule(ctx context.Context, id uuid.UUID, reason rule.PauseReason) error {
	return s.inTx(ctx, func(q *queries) error { return pauseRule(ctx, q, id, reason, "") })
}

func pauseRule(ctx context.Context, q *queries, id uuid.UUID, reason rule.PauseReason, problem string) error {
	row, err := q.PauseRule(ctx, db.PauseRuleParams{ID: id, Reason: string(reason), Error: problem})
	if tx.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if reason != rule.PausedByMember {
		if err := q.InsertRulePaused(ctx, db.InsertRulePausedParams{
			WorkspaceID: row.WorkspaceID, RuleID: id,
			Name: row.Name, Reason: string(reason), Problem: problem,
		}); err != nil {
			return err
		}
	}
	return tx.Record(ctx, q.tx, row.WorkspaceID, audit.RulePaused, "rule", id, map[string]any{"reason": reason})
}

// DeleteRule deletes a rule and its decisions.
func (s *RuleStore) DeleteRule(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		name, err := q.DeleteRule(ctx, db.DeleteRuleParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return tx.OrNotFound(err, "rule")
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.RuleDeleted, "rule", id, map[string]any{"name": name})
	})
}

func (s *RuleStore) ruleWithFigures(ctx context.Context, row db.Rule) (rule.Rule, error) {
	out, err := s.rulesWithFigures(ctx, row.WorkspaceID, row.ID, []db.Rule{row})
	if err != nil {
		return rule.Rule{}, err
	}
	return out[0], nil
}

// rulesWithFigures adds the figures of all rules of a workspace or of one.
func (s *RuleStore) rulesWithFigures(
	ctx context.Context, workspaceID, id uuid.UUID, rows []db.Rule,
) ([]rule.Rule, error) {
	out := make([]rule.Rule, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = articleRuleFromRow(row); err != nil {
			return nil, err
		}
	}
	figures, err := s.q.RuleFigures(ctx, db.RuleFiguresParams{WorkspaceID: workspaceID, ID: id})
	for _, f := range figures {
		if i := slices.IndexFunc(out, func(r rule.Rule) bool { return r.ID == f.ID }); i >= 0 {
			at := f.LastDecisionAt.UTC()
			out[i].PostsToday, out[i].LastDecisionAt, out[i].AttentionCount = int(f.Posts), &at, int(f.Attention)
		}
	}
	return out, err
}

func articleRuleFromRow(r db.Rule) (rule.Rule, error) {
	out := rule.Rule{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Name: r.Name,
		Status: rule.Status(r.Status), PauseReason: rule.PauseReason(r.PauseReason),
		PauseError: r.PauseError, PausedAt: optional.UTC(r.PausedAt), ActiveSince: r.ActiveSince.UTC(),
		Version:   r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	err := json.Unmarshal(r.Definition, &out.Definition)
	return out, err
}

func articleRulesFromRows(rows []db.Rule) ([]rule.Rule, error) {
	out := make([]rule.Rule, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = articleRuleFromRow(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func ruleNameError(err error) error {
	if tx.Violates(err, "rules_name") {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "name", Code: "taken", Message: "Another rule has this name.",
		})
	}
	return err
}
