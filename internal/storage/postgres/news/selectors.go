package news

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/news/article"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/pipeline"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// SiteSelectors returns the extraction configuration of a site.
func (s *ArticleStore) SiteSelectors(ctx context.Context, domain int) (site pipeline.Site, err error) {
	r, err := s.q.GetSiteSelectors(ctx, domain)
	if err != nil {
		return site, err
	}
	site = pipeline.Site{DomainID: r.ID, Domain: r.Domain, Zone: r.TimeZone, Version: r.Version}
	if err = json.Unmarshal(r.Marks, &site.Marks); err == nil && r.Version > 0 {
		err = json.Unmarshal(r.Config, &site.Config)
	}
	return site, err
}

// OverdueSelectorActions lists domains whose requested action was not done within age.
func (s *ArticleStore) OverdueSelectorActions(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	return s.q.OverdueSelectorActions(ctx, db.OverdueSelectorActionsParams{
		Seconds: age.Seconds(), Batch: limit,
	})
}

// ExtractionHealth returns the extraction state of a site.
func (s *ArticleStore) ExtractionHealth(ctx context.Context, domain int) (h pipeline.Health, err error) {
	r, err := s.q.GetSiteMonitor(ctx, domain)
	if tx.NoRows(err) {
		return pipeline.Health{LearningEnabled: true, RequestedAction: selector.ActionNone}, nil
	}
	if err != nil {
		return h, err
	}
	h = pipeline.Health{
		Zone: r.TimeZone, LearningEnabled: r.LearningEnabled,
		RequestedAction: actionFromRow(r.RequestedAction), ActionField: article.Field(r.ActionField),
		ActionReason: column.ReadMessage(r.ActionReason), ActionRequestedAt: r.ActionRequestedAt,
		Pages: r.Pages, Articles: r.Articles, NonArticles: r.NonArticles, Failed: r.Failed, LastErrorAt: r.LastErrorAt,
	}
	if reason, detail, found := strings.Cut(r.LastError, ": "); found {
		h.LastErrorReason, h.LastError = pipeline.NoArticleReason(reason), detail
	}
	if err := json.Unmarshal(r.NoArticleReasons, &h.NoArticleReasons); err != nil {
		return h, err
	}
	if err := json.Unmarshal(r.Marks, &h.Marks); err != nil {
		return h, err
	}
	return h, json.Unmarshal(r.Monitor, &h.Monitor)
}

// UpdateMarks changes what editors marked on the pages of a site.
func (s *ArticleStore) UpdateMarks(
	ctx context.Context, domain crawl.Domain, workspaceID uuid.UUID,
	update func([]pipeline.Mark) ([]pipeline.Mark, error),
) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil {
			return err
		}
		var marks []pipeline.Mark
		if err := json.Unmarshal(row.Marks, &marks); err != nil {
			return err
		}
		if marks, err = update(marks); err != nil {
			return err
		}
		encoded, err := json.Marshal(marks)
		if err != nil {
			return err
		}
		if err := q.SaveMarks(ctx, db.SaveMarksParams{DomainID: domain.ID, Marks: encoded}); err != nil {
			return err
		}
		return auditExtractionChange(ctx, q, domain, workspaceID, 0)
	})
}

// RequeueArticlePages queues the newest pages of a site that contain an article to be extracted again.
func (s *ArticleStore) RequeueArticlePages(ctx context.Context, domain int, limit int) error {
	return s.q.RequeueArticlePages(ctx, db.RequeueArticlePagesParams{DomainID: domain, Batch: limit})
}

func actionFromRow(w db.SelectorAction) selector.Action {
	if w == db.SelectorActionNone {
		return selector.ActionNone
	}
	return selector.Action(w)
}

// ListSelectors lists the versions of a site's selectors below before, the newest first.
func (s *ArticleStore) ListSelectors(ctx context.Context, domain int, before, limit int) ([]pipeline.Selectors, error) {
	rows, err := s.q.ListSelectors(ctx, db.ListSelectorsParams{
		DomainID: domain, Before: before, PageSize: limit,
	})
	if err != nil {
		return nil, err
	}
	out := make([]pipeline.Selectors, len(rows))
	for i, r := range rows {
		if out[i], err = selectorsFromRow(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// SelectorsVersion returns one version of a site's selectors.
func (s *ArticleStore) SelectorsVersion(ctx context.Context, domain int, version int) (pipeline.Selectors, error) {
	r, err := s.q.GetSelectors(ctx, db.GetSelectorsParams{DomainID: domain, Version: version})
	if err != nil {
		return pipeline.Selectors{}, tx.OrNotFound(err, "selectors")
	}
	return selectorsFromRow(r)
}

// RecentArticlePages lists the newest pages of a site that contain an article.
func (s *ArticleStore) RecentArticlePages(ctx context.Context, domain int, limit int) ([]pipeline.PageRef, error) {
	rows, err := s.q.RecentArticlePages(ctx, db.RecentArticlePagesParams{DomainID: domain, Batch: limit})
	out := make([]pipeline.PageRef, len(rows))
	for i, r := range rows {
		out[i] = pipeline.PageRef{
			Article: r.ID, URL: r.Url, PageID: r.PageID, ObjectKey: r.ObjectKey, FetchedAt: r.FetchedAt, Title: r.Title,
		}
	}
	return out, err
}

// RequestSelectorAction requests an action on the selectors of a site.
func (s *ArticleStore) RequestSelectorAction(
	ctx context.Context, domain int, what selector.Action, why message.Message,
) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockSiteMonitor(ctx, domain); err != nil {
			return err
		}
		return q.RequestSelectorAction(ctx, db.RequestSelectorActionParams{
			DomainID: domain, Action: db.SelectorAction(what), Reason: column.Message(why),
		})
	})
}

// UpdateExtractionSettings updates the time zone of a site and whether its selectors are
// learned.
func (s *ArticleStore) UpdateExtractionSettings(
	ctx context.Context, domain crawl.Domain, workspaceID uuid.UUID, zone string, learning bool,
) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockSiteMonitor(ctx, domain.ID); err != nil {
			return err
		}
		if err := q.UpdateExtractionSettings(ctx, db.UpdateExtractionSettingsParams{
			DomainID: domain.ID, TimeZone: zone,
			LearningEnabled: learning,
		}); err != nil {
			return err
		}
		return auditExtractionChange(ctx, q, domain, workspaceID, 0)
	})
}

// AddSelectors stores a version of selectors written by a member, and activates it if
// n.State is Active.
func (s *ArticleStore) AddSelectors(
	ctx context.Context, domain crawl.Domain, workspaceID uuid.UUID, n pipeline.Selectors, key idempotency.Key,
) (made pipeline.Selectors, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil {
			return err
		}
		version, err := q.NextSelectorVersion(ctx, domain.ID)
		if err != nil {
			return err
		}
		earlier, err := tx.ClaimKey(ctx, q.tx, workspaceID, key, versionID(domain.ID, version))
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			stored, err := q.GetSelectors(ctx, db.GetSelectorsParams{
				DomainID: domain.ID, Version: int(binary.BigEndian.Uint32(earlier[12:])),
			})
			if err != nil {
				return tx.OrNotFound(err, "selectors")
			}
			made, err = selectorsFromRow(stored)
			return err
		}
		if made, err = addSelectors(ctx, q, domain, row, version, n); err != nil {
			return err
		}
		return auditExtractionChange(ctx, q, domain, workspaceID, version)
	})
	return made, replayed, err
}

// versionID encodes a version of a site's selectors as a UUID, for idempotency keys.
func versionID(domain, version int) (id uuid.UUID) {
	binary.BigEndian.PutUint32(id[:4], uint32(domain))   //nolint:gosec // positive
	binary.BigEndian.PutUint32(id[12:], uint32(version)) //nolint:gosec // positive
	return id
}

// SaveLearnedSelectors stores a learned version and activates it. done is false if the
// action was done or canceled in the meantime.
func (s *ArticleStore) SaveLearnedSelectors(
	ctx context.Context, domain crawl.Domain, n pipeline.Selectors,
) (made pipeline.Selectors, done bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil {
			return err
		}
		if done = row.RequestedAction == db.SelectorActionLearn; !done {
			return nil
		}
		version, err := q.NextSelectorVersion(ctx, domain.ID)
		if err != nil {
			return err
		}
		made, err = addSelectors(ctx, q, domain, row, version, n)
		return err
	})
	return made, done, err
}

func addSelectors(
	ctx context.Context, q *queries, domain crawl.Domain, row db.SiteMonitor, version int, n pipeline.Selectors,
) (made pipeline.Selectors, err error) {
	n.Config.Version = version
	config, err := json.Marshal(n.Config)
	if err != nil {
		return made, err
	}
	scores, err := json.Marshal(scoresOf(n.Config))
	if err != nil {
		return made, err
	}
	stored, err := q.InsertSelectors(ctx, db.InsertSelectorsParams{
		DomainID: domain.ID, Version: version,
		Config: config, CreatedBy: db.SelectorCreator(n.CreatedBy),
		Actor: n.Actor, Reason: column.Message(n.Reason), Scores: scores, Pages: n.Pages,
	})
	if err != nil {
		return made, err
	}
	if made, err = selectorsFromRow(stored); err != nil || n.State != pipeline.Active {
		return made, err
	}
	return made, activate(ctx, q, domain, row, &made, n.Reason)
}

// ActivateSelectors activates a version.
func (s *ArticleStore) ActivateSelectors(
	ctx context.Context, domain crawl.Domain, workspaceID uuid.UUID, version int, why message.Message,
) (made pipeline.Selectors, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil {
			return err
		}
		stored, err := q.GetSelectors(ctx, db.GetSelectorsParams{DomainID: domain.ID, Version: version})
		if err != nil {
			return tx.OrNotFound(err, "selectors")
		}
		if made, err = selectorsFromRow(stored); err != nil || made.State == pipeline.Active {
			return err
		}
		if err := activate(ctx, q, domain, row, &made, why); err != nil {
			return err
		}
		return auditExtractionChange(ctx, q, domain, workspaceID, version)
	})
	return made, err
}

// RollBackSelectors activates the previous version. With onlyIfRequested, it does
// nothing unless a rollback is requested. done is false if nothing was rolled back.
func (s *ArticleStore) RollBackSelectors(
	ctx context.Context, domain crawl.Domain, workspaceID uuid.UUID, reason message.Message, onlyIfRequested bool,
) (previous pipeline.Selectors, done bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil {
			return err
		}
		previous, done = pipeline.Selectors{}, false
		if onlyIfRequested {
			if row.RequestedAction != db.SelectorActionRollBack {
				return nil
			}
			reason = column.ReadMessage(row.ActionReason)
		}
		now, err := q.ActiveSelectors(ctx, domain.ID)
		if tx.NoRows(err) {
			return clearSelectorAction(ctx, q, domain.ID)
		}
		if err != nil {
			return err
		}
		done = true
		if previous, err = previousSelectors(ctx, q, row, now); err != nil {
			return err
		}
		return rollBack(ctx, q, domain, workspaceID, row, now, &previous, reason)
	})
	return previous, done, err
}

// RecordLearningFailure records that learning found nothing better.
func (s *ArticleStore) RecordLearningFailure(ctx context.Context, domain crawl.Domain, why string) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.LockSiteMonitor(ctx, domain.ID)
		if err != nil || row.RequestedAction != db.SelectorActionLearn {
			return err
		}
		var m selector.Monitor
		if err := json.Unmarshal(row.Monitor, &m); err != nil {
			return err
		}
		if err := saveMonitor(ctx, q, domain.ID, m.LearnFailed()); err != nil {
			return err
		}
		if m.Version > 0 { // generic extraction is good enough for a site without selectors
			data := selectorEventData{
				Domain: domain.Name, Version: m.Version, Field: row.ActionField,
				Reason: column.ReadMessage(row.ActionReason).Text, LearnError: why,
			}
			if err := raiseSelectorEvent(ctx, q, domain.ID, post.EventSelectorsFailed, data); err != nil {
				return err
			}
		}
		return clearSelectorAction(ctx, q, domain.ID)
	})
}

func selectorsFromRow(r db.SiteSelector) (out pipeline.Selectors, err error) {
	out = pipeline.Selectors{
		DomainID: r.DomainID, Version: r.Version, CreatedBy: pipeline.Creator(r.CreatedBy),
		Actor: r.Actor, State: pipeline.State(r.State), Reason: column.ReadMessage(r.Reason),
		EndReason: column.ReadMessage(r.EndReason), Pages: r.Pages, CreatedAt: r.CreatedAt, ActivatedAt: r.ActivatedAt,
		EndedAt: r.EndedAt,
	}
	if err = json.Unmarshal(r.Config, &out.Config); err != nil {
		return out, err
	}
	return out, json.Unmarshal(r.Scores, &out.Scores)
}

// scoresOf returns the best validation score of each field in any variant.
func scoresOf(c selector.Config) map[article.Field]float64 {
	out := map[article.Field]float64{}
	for _, v := range c.Variants {
		for f, s := range v.Scores {
			out[f] = max(out[f], s)
		}
	}
	return out
}
