package cli

import (
	"context"

	"github.com/google/uuid"

	"dateline/activities"
	"dateline/internal/identity/workspace"
	"dateline/internal/news/story"
	"dateline/internal/publishing/scheduling"
)

// storyEditor returns the stories as members use them.
func (p *parts) storyEditor() *story.Editor {
	return &story.Editor{Store: p.store.News.Stories, Drafts: storyDrafts{p.scheduler}}
}

// storyWorker returns the activities of stories.
func (p *parts) storyWorker() *activities.Stories {
	return &activities.Stories{
		Placer: &story.Placer{
			Store: p.store.News.Stories, Thresholds: p.cfg.StoryThresholds,
			Meter: p.telemetry.Articles,
		},
		Maintainer: &story.Maintainer{Store: p.store.News.Stories, Thresholds: p.cfg.StoryThresholds},
		Alerter: &story.Alerter{
			Store: p.store.News.Stories, Drafts: storyDrafts{p.scheduler}, Events: p.bus, Meter: p.telemetry.Articles,
			Now: p.clock.Now, Log: p.log,
		},
	}
}

// storyDrafts creates drafts with the scheduler.
type storyDrafts struct{ scheduler *scheduling.Scheduler }

// CreateStoryDraft creates a draft on the default accounts of the workspace.
func (d storyDrafts) CreateStoryDraft(
	ctx context.Context, who workspace.Principal, id uuid.UUID, text, language string,
) error {
	draft := scheduling.Draft{Content: text, SaveAsDraft: true}
	if len(language) == 2 {
		draft.Language = language
	}
	_, err := d.scheduler.CreateAutomatic(ctx, scheduling.Automatic{ID: id, Who: who, Draft: draft})
	return err
}

// DiscardStoryDraft cancels the draft of an alert that is not sent.
func (d storyDrafts) DiscardStoryDraft(ctx context.Context, workspaceID, id uuid.UUID) error {
	return d.scheduler.DiscardAutomatic(ctx, workspaceID, id)
}
