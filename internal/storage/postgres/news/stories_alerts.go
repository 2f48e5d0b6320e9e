package news

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/news/story"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// StoryPreferences returns the settings of a workspace about stories.
func (s *StoryStore) StoryPreferences(ctx context.Context, workspaceID uuid.UUID) (story.StoredPreferences, error) {
	row, err := s.q.GetStoryPreferences(ctx, workspaceID)
	if tx.NoRows(err) {
		return story.StoredPreferences{Preferences: story.DefaultPreferences(), WorkspaceID: workspaceID}, nil
	}
	if err != nil {
		return story.StoredPreferences{}, err
	}
	return storyPreferencesFromRow(row)
}

func storyPreferencesFromRow(r db.StoryPreference) (story.StoredPreferences, error) {
	p := story.StoredPreferences{WorkspaceID: r.WorkspaceID, UserID: r.UserID, Version: r.Version}
	err := json.Unmarshal(r.Preferences, &p.Preferences)
	p.Owners = orNoOwners(p.Owners)
	return p, err
}

// SaveStoryPreferences stores the settings of a workspace.
func (s *StoryStore) SaveStoryPreferences(
	ctx context.Context, p story.StoredPreferences,
) (saved story.StoredPreferences, err error) {
	raw, err := json.Marshal(p.Preferences)
	if err != nil {
		return saved, err
	}
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.SaveStoryPreferences(ctx, db.SaveStoryPreferencesParams{
			WorkspaceID: p.WorkspaceID, UserID: p.UserID, Preferences: raw,
		})
		if err != nil {
			return err
		}
		if saved, err = storyPreferencesFromRow(row); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, p.WorkspaceID, audit.StoryAlertsChanged, "workspace", p.WorkspaceID,
			map[string]any{"alert_enabled": p.AlertEnabled, "min_owners": p.MinOwners})
	})
	return saved, err
}

// AlertingWorkspaces returns the settings of workspaces with alerts.
func (s *StoryStore) AlertingWorkspaces(ctx context.Context) ([]story.StoredPreferences, error) {
	rows, err := s.q.AlertingStoryWorkspaces(ctx)
	out := make([]story.StoredPreferences, len(rows))
	for i, r := range rows {
		if out[i], err = storyPreferencesFromRow(r); err != nil {
			return nil, err
		}
	}
	return out, err
}

// AddStoryAlerts adds waiting alerts.
func (s *StoryStore) AddStoryAlerts(ctx context.Context, workspaceID uuid.UUID, stories []uuid.UUID) error {
	if len(stories) == 0 {
		return nil
	}
	posts := make([]uuid.UUID, len(stories))
	for i := range posts {
		posts[i] = column.NewID()
	}
	return s.q.AddStoryAlerts(ctx, db.AddStoryAlertsParams{WorkspaceID: workspaceID, StoryIds: stories, PostIds: posts})
}

// DueStoryAlerts returns the waiting alerts that are due.
func (s *StoryStore) DueStoryAlerts(ctx context.Context, workspaceID uuid.UUID, limit int) ([]story.Alert, error) {
	rows, err := s.q.DueStoryAlerts(ctx, db.DueStoryAlertsParams{WorkspaceID: workspaceID, Batch: limit})
	out := make([]story.Alert, len(rows))
	for i, r := range rows {
		out[i] = story.Alert{WorkspaceID: r.WorkspaceID, StoryID: r.StoryID, PostID: r.PostID}
	}
	return out, err
}

// SendStoryAlert raises the event of a waiting alert. The row of the story is locked, so
// that a merge either sees the alert as sent or prevents it.
func (s *StoryStore) SendStoryAlert(
	ctx context.Context, a story.Alert, about story.Summary, hasDraft bool,
) (isSent bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if isMerged, err := q.LockStory(ctx, a.StoryID); err != nil || isMerged {
			return err
		}
		n, err := q.SendStoryAlert(ctx, db.SendStoryAlertParams{
			WorkspaceID: a.WorkspaceID, StoryID: a.StoryID, HasDraft: hasDraft, Owners: about.Owners,
		})
		if isSent = n > 0; err != nil || !isSent {
			return err
		}
		data := map[string]any{
			"story_id": a.StoryID, "title": about.Headline.Title, "url": about.Headline.URL,
			"owners": about.Owners,
		}
		if hasDraft {
			data["post_id"] = a.PostID
		}
		raw, err := column.Object(data)
		if err != nil {
			return err
		}
		return q.InsertStoryMissed(ctx, db.InsertStoryMissedParams{WorkspaceID: a.WorkspaceID, Data: raw})
	})
	return isSent && err == nil, err
}

// CoverStoryAlert ends a waiting alert without an event.
func (s *StoryStore) CoverStoryAlert(ctx context.Context, a story.Alert) error {
	return s.inTx(ctx, func(q *queries) error {
		isMerged, err := q.LockStory(ctx, a.StoryID)
		if err != nil {
			return err
		}
		if isMerged {
			return q.DeleteWaitingStoryAlert(ctx, db.DeleteWaitingStoryAlertParams{
				WorkspaceID: a.WorkspaceID, StoryID: a.StoryID,
			})
		}
		return q.CoverStoryAlert(ctx, db.CoverStoryAlertParams{WorkspaceID: a.WorkspaceID, StoryID: a.StoryID})
	})
}

// MuteStoryAlert silences the alert about a story.
func (s *StoryStore) MuteStoryAlert(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		if err := q.MuteStoryAlert(ctx, db.MuteStoryAlertParams{
			WorkspaceID: workspaceID, StoryID: id,
			PostID: column.NewID(),
		}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.StoryAlertMuted, "story", id, nil)
	})
}
