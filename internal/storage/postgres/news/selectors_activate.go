package news

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/message"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/pipeline"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// selectorEventData is the payload of selector events.
type selectorEventData struct {
	Domain     string `json:"domain"`
	Version    int    `json:"version"`            // active version; 0: none
	Previous   int    `json:"previous,omitempty"` // version that was active before
	CreatedBy  string `json:"created_by,omitempty"`
	Field      string `json:"field,omitempty"` // whose health caused the action
	Reason     string `json:"reason"`
	LearnError string `json:"learn_error,omitempty"` // why nothing better was learned
}

// activate replaces the active version.
func activate(ctx context.Context, q *queries, domain crawl.Domain, row db.SiteMonitor, n *pipeline.Selectors,
	why message.Message,
) error {
	var m selector.Monitor
	if err := json.Unmarshal(row.Monitor, &m); err != nil {
		return err
	}
	if err := q.DeactivateSelectors(ctx,
		db.DeactivateSelectorsParams{
			DomainID: domain.ID, State: db.SelectorStateRetired,
			EndReason: column.Message(why),
		}); err != nil {
		return err
	}
	if err := q.ActivateSelectors(ctx,
		db.ActivateSelectorsParams{DomainID: domain.ID, Version: n.Version}); err != nil {
		return err
	}
	n.State = pipeline.Active
	if err := saveMonitor(ctx, q, domain.ID, m.Activate(n.Config)); err != nil {
		return err
	}
	data := selectorEventData{
		Domain: domain.Name, Version: n.Version, Previous: m.Version, CreatedBy: string(n.CreatedBy),
		Field: row.ActionField, Reason: why.Text,
	}
	if err := raiseSelectorEvent(ctx, q, domain.ID, post.EventSelectorsLearned, data); err != nil {
		return err
	}
	return clearSelectorAction(ctx, q, domain.ID)
}

// previousSelectors returns the version to roll back to: the previously active one,
// unless it was rolled back itself. Version 0: none.
func previousSelectors(
	ctx context.Context, q *queries, row db.SiteMonitor, now db.SiteSelector,
) (back pipeline.Selectors, err error) {
	var m selector.Monitor
	if err := json.Unmarshal(row.Monitor, &m); err != nil {
		return back, err
	}
	if m.Previous > 0 {
		old, err := q.GetSelectors(ctx, db.GetSelectorsParams{DomainID: row.DomainID, Version: m.Previous})
		if err != nil {
			return back, err
		}
		return selectorsFromRow(old)
	}
	older, err := q.ListSelectors(ctx, db.ListSelectorsParams{
		DomainID: row.DomainID, Before: now.Version, PageSize: 20,
	})
	if err != nil {
		return back, err
	}
	for _, o := range older {
		if o.State == db.SelectorStateRetired {
			return selectorsFromRow(o)
		}
	}
	return back, nil
}

func rollBack(ctx context.Context, q *queries, domain crawl.Domain, workspaceID uuid.UUID, row db.SiteMonitor,
	now db.SiteSelector, back *pipeline.Selectors, why message.Message,
) error {
	if err := q.DeactivateSelectors(ctx,
		db.DeactivateSelectorsParams{
			DomainID: domain.ID, State: db.SelectorStateRolledBack,
			EndReason: column.Message(why),
		}); err != nil {
		return err
	}
	var m selector.Monitor
	if back.Version > 0 {
		if err := q.ActivateSelectors(ctx,
			db.ActivateSelectorsParams{DomainID: domain.ID, Version: back.Version}); err != nil {
			return err
		}
		back.State, m = pipeline.Active, m.RollBack(back.Config)
	}
	if err := saveMonitor(ctx, q, domain.ID, m); err != nil {
		return err
	}
	data := selectorEventData{
		Domain: domain.Name, Version: back.Version, Previous: now.Version,
		CreatedBy: string(back.CreatedBy), Field: row.ActionField, Reason: why.Text,
	}
	if err := raiseSelectorEvent(ctx, q, domain.ID, post.EventSelectorsRolledBack, data); err != nil {
		return err
	}
	if err := auditExtractionChange(ctx, q, domain, workspaceID, back.Version); err != nil {
		return err
	}
	return clearSelectorAction(ctx, q, domain.ID)
}

func saveMonitor(ctx context.Context, q *queries, domain int, m selector.Monitor) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return q.SaveSiteMonitor(ctx, db.SaveSiteMonitorParams{DomainID: domain, Monitor: raw})
}

func clearSelectorAction(ctx context.Context, q *queries, domain int) error {
	return q.RequestSelectorAction(ctx, db.RequestSelectorActionParams{DomainID: domain, Action: db.SelectorActionNone})
}

// raiseSelectorEvent raises an event in every workspace that crawls the domain.
func raiseSelectorEvent(ctx context.Context, q *queries, domain int, event string, data selectorEventData) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	actor := post.ActorDateline
	if o := audit.OriginOf(ctx); o.UserID != uuid.Nil {
		actor = "user:" + o.UserID.String()
	}
	return q.InsertSelectorEvents(ctx, db.InsertSelectorEventsParams{
		DomainID: domain, Type: event, Actor: actor, Data: raw,
	})
}

// auditExtractionChange records a change by a member in the audit log. Automatic changes
// only raise events.
func auditExtractionChange(
	ctx context.Context, q *queries, domain crawl.Domain, workspaceID uuid.UUID, version int,
) error {
	if workspaceID == uuid.Nil {
		return nil
	}
	return tx.Record(ctx, q.tx, workspaceID, audit.ExtractionChanged, "domain", crawl.DomainUUID(domain.Name),
		map[string]any{"domain": domain.Name, "version": version})
}
